//! Reading generated files back.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use snb_datagen::{FILES, FileSpec, Manifest};

/// One file in memory.
pub(crate) struct Table {
    pub(crate) spec: &'static FileSpec,
    pub(crate) rows: Vec<Vec<String>>,
}

/// `person_knows_person` of `dynamic/person_knows_person_0_0.csv`.
pub(crate) fn stem(path: &str) -> &str {
    path.split_once('/')
        .unwrap()
        .1
        .strip_suffix("_0_0.csv")
        .unwrap()
}

/// Loads every file; headers and numbers of columns are checked on the way.
pub(crate) fn load_all(dir: &Path) -> HashMap<&'static str, Table> {
    FILES
        .iter()
        .map(|spec| (stem(spec.path), load(dir, spec)))
        .collect()
}

pub(crate) fn load(dir: &Path, spec: &'static FileSpec) -> Table {
    let text = fs::read_to_string(dir.join(spec.path)).unwrap();
    assert!(
        text.ends_with('\n') && !text.contains("\n\n") && !text.contains('\r'),
        "{}",
        spec.path
    );
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(spec.header), "{}", spec.path);
    let columns = spec.header.split('|').count();
    let rows: Vec<Vec<String>> = lines
        .map(|line| line.split('|').map(str::to_owned).collect())
        .collect();
    assert!(rows.iter().all(|row| row.len() == columns), "{}", spec.path);
    Table { spec, rows }
}

/// How many friends those have who have any.
pub(crate) fn degrees(dir: &Path) -> Vec<u64> {
    let spec = FILES
        .iter()
        .find(|spec| stem(spec.path) == "person_knows_person")
        .unwrap();
    let mut degrees: HashMap<String, u64> = HashMap::new();
    for row in load(dir, spec).rows {
        for id in row.into_iter().take(2) {
            *degrees.entry(id).or_default() += 1;
        }
    }
    degrees.into_values().collect()
}

/// Rows of a file by its stem.
pub(crate) fn rows(manifest: &Manifest, name: &str) -> u64 {
    manifest
        .files
        .iter()
        .find(|file| stem(&file.path) == name)
        .unwrap()
        .rows
}
