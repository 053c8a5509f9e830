//! Finding the files of a data set among the paths below a folder.
//!
//! Two layouts are known: `NAME_0_0.csv` with its header as first line, as the generators write it (several parts
//! `NAME_1_0.csv`, … when they ran with more threads; nebula-bench would silently leave those out), and
//! `NAME.csv` with the header in `NAME_header.csv`, as nebula-bench's preparation leaves it.

use super::error::DatasetError;
use super::kind::{FILES, FileKind};

/// One data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Path as it was handed in.
    pub path: String,
    /// One of [`FILES`].
    pub name: &'static str,
    /// What the file is.
    pub kind: FileKind,
    /// Where its header line is.
    pub header: HeaderAt,
}

/// Where a header line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderAt {
    /// First line of the data file itself.
    FirstLine,
    /// First line of another file; rows that follow there are copies of the data file's first ones.
    File(String),
}

/// Finds the data files among `paths` (relative, `/` separated), vertices before edges. Other files are passed
/// over; the two skipped ones may be missing.
pub fn find<P: AsRef<str>>(paths: &[P]) -> Result<Vec<Found>, DatasetError> {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for name in FILES {
        let Some(kind) = FileKind::of(name) else {
            continue;
        };
        let of_name = of_name(paths, name, &kind)?;
        if of_name.is_empty() && kind.type_name().is_some() {
            missing.push(name);
        }
        found.extend(of_name);
    }
    if missing.is_empty() {
        return Ok(found);
    }
    Err(DatasetError::Missing {
        names: missing,
        hint: hint(paths),
    })
}

/// What a path is to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Part(u32, u32),
    Bare,
    Header,
}

fn of_name<P: AsRef<str>>(
    paths: &[P],
    name: &'static str,
    kind: &FileKind,
) -> Result<Vec<Found>, DatasetError> {
    let roles = paths
        .iter()
        .filter_map(|path| Some((role(path.as_ref(), name)?, path.as_ref())));
    let mut files: Vec<(Role, &str)> = roles.collect();
    files.sort_unstable();
    refuse_doubles(&files)?;
    let found = |path: &str, header| Found {
        path: path.to_owned(),
        name,
        kind: kind.clone(),
        header,
    };
    match files[..] {
        [(Role::Bare, data), (Role::Header, header)] => {
            Ok(vec![found(data, HeaderAt::File(header.to_owned()))])
        }
        [(Role::Bare, data)] => Err(DatasetError::Header {
            file: data.to_owned(),
            problem: format!("{name}_header.csv is missing"),
            hint: "keep the header file beside the data, or name the file with _0_0",
        }),
        [(Role::Header, _)] => Ok(Vec::new()),
        _ => Ok(files
            .iter()
            .map(|(_, path)| found(path, HeaderAt::FirstLine))
            .collect()),
    }
}

/// Two files of one role, or both layouts at once, would import rows twice.
fn refuse_doubles(files: &[(Role, &str)]) -> Result<(), DatasetError> {
    let is_part = |role: Role| matches!(role, Role::Part(..));
    let clash = |a: Role, b: Role| a == b || is_part(a) != is_part(b);
    match files.windows(2).find(|pair| clash(pair[0].0, pair[1].0)) {
        Some(pair) => Err(DatasetError::Ambiguous {
            first: pair[0].1.to_owned(),
            second: pair[1].1.to_owned(),
        }),
        None => Ok(()),
    }
}

fn role(path: &str, name: &str) -> Option<Role> {
    let file = path.rsplit('/').next()?;
    let rest = file.strip_prefix(name)?.strip_suffix(".csv")?;
    match rest {
        "" => return Some(Role::Bare),
        "_header" => return Some(Role::Header),
        _ => {}
    }
    let (thread, part) = rest.strip_prefix('_')?.split_once('_')?;
    Some(Role::Part(thread.parse().ok()?, part.parse().ok()?))
}

fn hint<P: AsRef<str>>(paths: &[P]) -> &'static str {
    let has = |ends: &[&str]| {
        paths
            .iter()
            .any(|path| ends.iter().any(|end| path.as_ref().ends_with(end)))
    };
    if has(&[".csv.gz", ".csv.zst"]) {
        "unpack the compressed files first"
    } else if has(&["manifest.json.partial"]) {
        "the generation did not finish; run it again"
    } else {
        "name the folder that holds dynamic/ and static/ of a CsvBasic data set"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standard() -> Vec<String> {
        FILES
            .iter()
            .map(|name| format!("dynamic/{name}_0_0.csv"))
            .collect()
    }

    fn split() -> Vec<String> {
        FILES
            .iter()
            .flat_map(|name| [format!("{name}_header.csv"), format!("{name}.csv")])
            .collect()
    }

    #[test]
    fn both_layouts_are_found() {
        for (paths, is_split) in [(standard(), false), (split(), true)] {
            let found = find(&paths).unwrap();
            let names: Vec<&str> = found.iter().map(|file| file.name).collect();
            assert_eq!(names, FILES);
            assert_eq!(
                found
                    .iter()
                    .filter(|file| file.kind.type_name().is_some())
                    .count(),
                31
            );
            let header = |file: &Found| file.header != HeaderAt::FirstLine;
            assert!(found.iter().all(|file| header(file) == is_split));
        }
    }

    #[test]
    fn parts_are_found_and_strangers_passed_over() {
        let mut paths = standard();
        let more = [
            "dynamic/person_1_0.csv",
            "updateStream_0_0_person.csv",
            "dynamic/.person_0_0.csv.crc",
        ];
        paths.extend(more.map(str::to_owned));
        let found = find(&paths).unwrap();
        let persons: Vec<&str> = found
            .iter()
            .filter(|f| f.name == "person")
            .map(|f| f.path.as_str())
            .collect();
        assert_eq!(
            persons,
            ["dynamic/person_0_0.csv", "dynamic/person_1_0.csv"]
        );
        assert_eq!(found.len(), 34);
    }

    /// (what is taken away, what is added, part of the error)
    #[test]
    fn incomplete_and_doubled_sets_are_refused() {
        let cases: [(&[&str], &[&str], &str); 8] = [
            (
                &["post", "person_likes_post"],
                &[],
                "post, person_likes_post missing; hint: name the folder",
            ),
            (&["post"], &["dynamic/post_0_0.csv.gz"], "hint: unpack"),
            (
                &["post"],
                &["manifest.json.partial"],
                "hint: the generation did not finish",
            ),
            (&["post"], &["dynamic/post_header.csv"], "post missing"),
            (
                &["post"],
                &["dynamic/post.csv"],
                "post.csv header: post_header.csv is missing; hint: ",
            ),
            (
                &[],
                &["other/post_0_0.csv"],
                "dynamic/post_0_0.csv and other/post_0_0.csv hold the same",
            ),
            (&[], &["dynamic/post.csv"], "hold the same part"),
            (
                &["person_speaks_language", "person_email_emailaddress"],
                &[],
                "",
            ),
        ];
        for (without, with, expected) in cases {
            let mut paths = standard();
            paths.retain(|path| {
                !without
                    .iter()
                    .any(|name| role(path.as_str(), name).is_some())
            });
            paths.extend(with.iter().map(|path| (*path).to_owned()));
            let got = find(&paths)
                .map_err(|error| error.to_string())
                .err()
                .unwrap_or_default();
            assert!(
                got.contains(expected) && got.is_empty() == expected.is_empty(),
                "{got}"
            );
        }
    }
}
