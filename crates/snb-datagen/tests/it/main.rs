//! Whole data sets: complete, intact, reproducible, and never written over something else.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail like tests"
)]
#![expect(clippy::format_collect, reason = "short digests")]

mod check;
mod folder;
mod table;

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use snb_datagen::{Config, FILES, Manifest, Progress, Stage, generate};

const CONFIG: Config = Config {
    persons: 300,
    seed: 42,
};

fn make(dir: &Path, config: &Config) -> Manifest {
    generate(config, dir, &mut |_| ()).unwrap()
}

#[test]
fn every_reference_and_date_holds() {
    for (persons, seed) in [(1, 1), (30, 2), (300, 42), (1000, 3)] {
        let dir = tempfile::tempdir().unwrap();
        let manifest = make(dir.path(), &Config { persons, seed });
        check::layout(dir.path(), &manifest);
        check::integrity(dir.path());
    }
}

#[test]
fn same_seed_same_bytes_other_seed_other_bytes() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let first = make(dirs[0].path(), &CONFIG);
    assert_eq!(make(dirs[1].path(), &CONFIG), first);
    for file in FILES {
        let read = |dir: &tempfile::TempDir| fs::read(dir.path().join(file.path)).unwrap();
        assert!(read(&dirs[0]) == read(&dirs[1]), "{}", file.path);
    }
    let other = make(dirs[2].path(), &Config { seed: 43, ..CONFIG });
    for (a, b) in first.files.iter().zip(&other.files) {
        assert_eq!(a.path, b.path);
        assert_eq!(
            a.sha256 == b.sha256,
            a.path.starts_with("static/"),
            "{}",
            a.path
        );
    }
}

/// The bytes are part of the contract: a seed names a data set on every machine. When a change of the generator is
/// meant to change them, raise the crate's version and put the new digest here.
#[test]
fn bytes_are_pinned() {
    let dir = tempfile::tempdir().unwrap();
    let mut hash = Sha256::new();
    for file in make(dir.path(), &CONFIG).files {
        hash.update(file.sha256);
    }
    let digest: String = hash
        .finalize()
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(digest, "af9a71cf62a70c96");
}

#[test]
fn degrees_are_skewed_and_amounts_are_like_ldbc() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = make(
        dir.path(),
        &Config {
            persons: 1700,
            seed: 7,
        },
    );
    let mut degrees = table::degrees(dir.path());
    degrees.resize(
        usize::try_from(table::rows(&manifest, "person")).unwrap(),
        0,
    );
    degrees.sort_unstable();
    let at = |percent: usize| degrees[(degrees.len() - 1) * percent / 100];
    // The real data set of 1700 persons: 3, 9, 24, 65, 340.
    let quantiles = [25, 50, 75, 95, 100].map(at);
    let bounds = [(1, 8), (6, 16), (16, 34), (45, 95), (150, 700)];
    for (value, (low, high)) in quantiles.iter().zip(bounds) {
        assert!((low..=high).contains(value), "{quantiles:?}");
    }
    // Rows of the real one, within 40 %.
    for (name, rows) in [
        ("person_knows_person", 14_073),
        ("comment", 151_043),
        ("post", 135_701),
        ("forum", 13_750),
        ("forum_hasMember_person", 123_268),
        ("person_hasInterest_tag", 35_475),
    ] {
        let got = table::rows(&manifest, name);
        assert!(
            (rows * 6 / 10..rows * 14 / 10).contains(&got),
            "{name}: {got} against {rows}"
        );
    }
}

#[test]
fn progress_only_grows() {
    let dir = tempfile::tempdir().unwrap();
    let mut seen: Vec<Progress> = Vec::new();
    let manifest = generate(&CONFIG, dir.path(), &mut |progress| seen.push(progress)).unwrap();
    assert!(seen.windows(2).all(|pair| pair[0].rows <= pair[1].rows));
    let last = seen.last().unwrap();
    assert_eq!(
        (last.stage, last.done, last.total),
        (Stage::Activity, 300, 300)
    );
    assert_eq!(last.rows, manifest.rows());
}
