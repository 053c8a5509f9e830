//! Error numbers and names of each release, and what an error means to a caller.

mod classify;
mod release;
mod unified;
mod v2_0;

pub use classify::{ErrorClass, ErrorKind, classify};
pub use release::Release;

use self::unified::UNIFIED;
use self::v2_0::GRAPH;

/// One number, and the releases in which it has this name.
#[derive(Debug)]
struct Row {
    code: i32,
    name: &'static str,
    since: Release,
    until: Release,
}

impl Row {
    const fn between(code: i32, name: &'static str, since: Release, until: Release) -> Self {
        Self {
            code,
            name,
            since,
            until,
        }
    }

    const fn always(code: i32, name: &'static str) -> Self {
        Self::between(code, name, Release::V2_0, Release::V3_4)
    }

    const fn since(code: i32, name: &'static str, since: Release) -> Self {
        Self::between(code, name, since, Release::V3_4)
    }

    const fn until(code: i32, name: &'static str, until: Release) -> Self {
        Self::between(code, name, Release::V2_0, until)
    }

    fn holds_in(&self, release: Release) -> bool {
        (self.since..=self.until).contains(&release)
    }
}

const fn table(release: Release) -> &'static [Row] {
    match release {
        Release::V2_0 => GRAPH,
        _ => UNIFIED,
    }
}

/// Name of a number, such as `E_SESSION_INVALID`; `SUCCEEDED` for 0. A [`crate::Line`] will do
/// for `release` where only that is known.
pub fn name(release: impl Into<Release>, code: i32) -> Option<&'static str> {
    let release = release.into();
    let mut rows = table(release).iter();
    let row = rows.find(|row| row.code == code && row.holds_in(release))?;
    Some(row.name)
}

/// Number of a name such as `E_SESSION_INVALID`.
pub fn number(release: impl Into<Release>, name: &str) -> Option<i32> {
    let release = release.into();
    let mut rows = table(release).iter();
    let row = rows.find(|row| row.name == name && row.holds_in(release))?;
    Some(row.code)
}

/// The table's own copy of a name, whatever its release.
fn known_name(name: &str) -> Option<&'static str> {
    let mut rows = UNIFIED.iter().chain(GRAPH);
    rows.find(|row| row.name == name).map(|row| row.name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Line;

    const RELEASES: [Release; 7] = [
        Release::V2_0,
        Release::V2_5,
        Release::V2_6,
        Release::V3_0,
        Release::V3_1,
        Release::V3_3,
        Release::V3_4,
    ];

    #[test]
    fn numbers_follow_the_release() {
        for (release, code, want) in [
            (Release::V2_0, -5, Some("E_SESSION_INVALID")),
            (Release::V2_5, -5, Some("E_SPACE_NOT_FOUND")),
            (Release::V2_0, -1005, None),
            (Release::V3_4, -1005, Some("E_EXECUTION_ERROR")),
            (Release::V2_6, -13, Some("E_GROUP_NOT_FOUND")),
            (Release::V3_0, -13, Some("E_MACHINE_NOT_FOUND")),
            (Release::V3_1, -2013, None),
            (Release::V3_3, -2013, Some("E_SCHEMA_NAME_EXISTS")),
            (Release::V3_4, -2013, Some("E_LISTENER_CONFLICT")),
            (Release::V3_4, -2016, Some("E_RELATED_SPACE_EXISTS")),
            (Release::V3_0, -3062, Some("E_WORKER_ID_FAILED")),
            (Release::V3_1, -3062, Some("E_ID_FAILED")),
            (Release::V2_5, -3061, None),
            (Release::V2_6, -3529, None),
            (Release::V3_0, -3529, Some("E_RAFT_BUFFER_OVERFLOW")),
            (Release::V3_4, 0, Some("SUCCEEDED")),
        ] {
            assert_eq!(name(release, code), want, "{code} in {release:?}");
        }
    }

    #[test]
    fn a_release_gives_a_number_one_name_and_a_name_one_number() {
        for release in RELEASES {
            let rows: Vec<_> = table(release)
                .iter()
                .filter(|r| r.holds_in(release))
                .collect();
            let codes: HashSet<_> = rows.iter().map(|row| row.code).collect();
            let names: HashSet<_> = rows.iter().map(|row| row.name).collect();
            assert_eq!(codes.len(), rows.len(), "a number twice in {release:?}");
            assert_eq!(names.len(), rows.len(), "a name twice in {release:?}");
            for row in rows {
                assert_eq!(number(release, row.name), Some(row.code));
            }
        }
    }

    #[test]
    fn versions_map_to_releases() {
        for (version, want) in [
            ("2.0.1", Release::V2_0),
            ("2.6.2", Release::V2_6),
            ("3.2.1", Release::V3_1),
            ("3.3.0", Release::V3_3),
            ("v3.8.0", Release::V3_4),
        ] {
            assert_eq!(Release::of_version(version), Some(want), "{version}");
        }
        assert_eq!(Release::from(Line::V3), Release::V3_4);
    }
}
