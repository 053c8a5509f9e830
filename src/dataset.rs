//! A folder of data files, looked at: which files, what columns, what schema.
//!
//! Purpose: the rules are in `nbctl_core::dataset`; here is the reading they need, the same on the control machine
//! (for the schema) and on the load host (for the import).
//! Duties: a missing or damaged file is named; nothing but names, headers and first rows is read.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use nbctl_core::dataset::{DataFile, DatasetError, Dates, Found, HeaderAt, VidType, find};
use nbctl_core::failure::Failure;

/// Folders below a data set's folder that are looked into.
const DEPTH: usize = 3;

/// A data set.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Its folder.
    pub dir: PathBuf,
    /// Files that are imported, vertices before edges.
    pub files: Vec<Part>,
}

/// One file of it.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where it is.
    pub found: Found,
    /// What is in it.
    pub data: DataFile,
    /// Size, bytes.
    pub bytes: u64,
}

impl Part {
    /// Its first line is a header.
    pub fn has_header_line(&self) -> bool {
        self.found.header == HeaderAt::FirstLine
    }
}

impl Folder {
    /// Looks at `dir`.
    ///
    /// # Errors
    /// No such folder, missing files, or headers that do not fit.
    pub fn open(dir: &Path, dates: Dates) -> Result<Self, Failure> {
        let mut paths = Vec::new();
        list(dir, dir, DEPTH, &mut paths)?;
        let found = find(&paths).map_err(|error| failure(dir, &error))?;
        let parts = found
            .into_iter()
            .filter(|file| file.kind.type_name().is_some());
        let files = parts
            .map(|file| part(dir, file, dates))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            dir: dir.to_owned(),
            files,
        })
    }

    /// The file a scenario names, without folder and ending.
    ///
    /// # Errors
    /// When the data set has none of that name.
    pub fn named(&self, name: &str) -> Result<&Part, Failure> {
        let found = self.files.iter().find(|part| part.found.name == name);
        found.ok_or_else(|| {
            Failure::data(format!("the data set has no file `{name}`"))
                .at(self.dir.display().to_string())
        })
    }

    /// Sum of all files, bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|part| part.bytes).sum()
    }
}

/// Type of vertex ids out of `int64` or `fixed_string(N)`.
///
/// # Errors
/// Anything else.
pub fn vid_type(text: &str) -> Result<VidType, Failure> {
    let text = text.trim().to_ascii_lowercase();
    if text == "int64" || text == "int" {
        return Ok(VidType::Int64);
    }
    let inside = text
        .strip_prefix("fixed_string(")
        .and_then(|rest| rest.strip_suffix(')'));
    match inside.and_then(|length| length.trim().parse().ok()) {
        Some(length) => Ok(VidType::FixedString {
            length,
            prefixed: false,
        }),
        None => Err(
            Failure::inventory(format!("vid `{text}` is not a vertex id type"))
                .hint("int64, or fixed_string(N)"),
        ),
    }
}

/// An error of the rules as one a user can act on.
pub(crate) fn failure(dir: &Path, error: &DatasetError) -> Failure {
    let text = error.to_string();
    let (what, hint) = text.split_once("; hint: ").unwrap_or((&text, ""));
    let place = match error {
        DatasetError::Row {
            file, line, column, ..
        } => {
            let column = column.as_deref().unwrap_or("1");
            format!("{}:{line}:{column}", dir.join(file).display())
        }
        _ => dir.display().to_string(),
    };
    let failure = Failure::data(what.to_owned()).at(place);
    if hint.is_empty() {
        failure
    } else {
        failure.hint(hint.to_owned())
    }
}

fn list(root: &Path, dir: &Path, depth: usize, paths: &mut Vec<String>) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| {
        Failure::data(format!("cannot read the data folder: {error}")).at(dir.display().to_string())
    };
    for entry in std::fs::read_dir(dir).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            if depth > 1 {
                list(root, &path, depth - 1, paths)?;
            }
        } else if let Ok(inside) = path.strip_prefix(root) {
            paths.push(inside.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn part(dir: &Path, found: Found, dates: Dates) -> Result<Part, Failure> {
    let path = dir.join(&found.path);
    let cannot = |error: std::io::Error| {
        Failure::data(format!("cannot read it: {error}")).at(path.display().to_string())
    };
    let file = File::open(&path).map_err(cannot)?;
    let bytes = file.metadata().map_err(cannot)?.len();
    let mut lines = BufReader::new(file).lines();
    let mut next = || lines.next().transpose().map_err(cannot);
    let (header, row) = match &found.header {
        HeaderAt::FirstLine => (next()?.unwrap_or_default(), next()?),
        HeaderAt::File(name) => (first_line(&dir.join(name))?, next()?),
    };
    let data = DataFile::derive(&found, &header, row.as_deref(), dates);
    let data = data.map_err(|error| failure(dir, &error))?;
    Ok(Part { found, data, bytes })
}

fn first_line(path: &Path) -> Result<String, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::data(format!("cannot read it: {error}")).at(path.display().to_string())
    };
    let mut line = String::new();
    let file = File::open(path).map_err(cannot)?;
    BufReader::new(file).read_line(&mut line).map_err(cannot)?;
    Ok(line.trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_types_are_read() {
        assert_eq!(vid_type("INT64").unwrap(), VidType::Int64);
        let string = VidType::FixedString {
            length: 20,
            prefixed: false,
        };
        assert_eq!(vid_type("fixed_string(20)").unwrap(), string);
        assert!(vid_type("string").is_err());
    }

    #[test]
    fn a_missing_folder_and_missing_files_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let none = Folder::open(&dir.path().join("none"), Dates::String).unwrap_err();
        assert!(none.to_string().contains("none"), "{none}");
        std::fs::write(dir.path().join("person_0_0.csv"), "id|a\n1|b\n").unwrap();
        let missing = Folder::open(dir.path(), Dates::String).unwrap_err();
        assert!(missing.what.contains("place"), "{missing}");
        let mut named = missing.what.split([' ', ',']);
        assert!(named.all(|name| name != "person"), "{missing}");
        assert!(missing.hint.is_some());
    }
}
