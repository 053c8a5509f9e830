//! The output folder: interrupted generations show, foreign files are safe.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use snb_datagen::{Config, Error, MANIFEST, Manifest, Stage, generate};

use crate::{CONFIG, make};

#[test]
fn interrupted_generation_is_visible_and_starts_over() {
    let dir = tempfile::tempdir().unwrap();
    let complete = make(dir.path(), &CONFIG);
    let interrupted = catch_unwind(AssertUnwindSafe(|| {
        let other = Config {
            persons: 500,
            seed: 1,
        };
        generate(&other, dir.path(), &mut |progress| {
            assert!(
                progress.stage != Stage::Activity || progress.done < 128,
                "killed here"
            );
        })
    }));
    assert!(interrupted.is_err());
    assert_eq!(Manifest::load(dir.path()).unwrap(), None);
    assert_eq!(make(dir.path(), &CONFIG), complete);
    crate::check::layout(dir.path(), &complete);
}

#[test]
fn foreign_files_are_refused_and_kept() {
    type Prepare = fn(&Path);
    let cases: [(&str, Prepare); 6] = [
        ("some file", |dir| {
            fs::write(dir.join("notes.txt"), "mine").unwrap();
        }),
        ("a data set of somebody else", |dir| {
            fs::create_dir(dir.join("dynamic")).unwrap();
            fs::write(dir.join("dynamic/person_0_0.csv"), "id|firstName\n").unwrap();
        }),
        ("a manifest of another program", |dir| {
            fs::write(dir.join(MANIFEST), r#"{"format":1,"generator":"other"}"#).unwrap();
        }),
        ("a file beside ours", |dir| {
            make(dir, &CONFIG);
            fs::write(dir.join("dynamic/mine.csv"), "x").unwrap();
        }),
        ("a folder in place of a file", |dir| {
            make(dir, &CONFIG);
            fs::remove_file(dir.join("static/tag_0_0.csv")).unwrap();
            fs::create_dir(dir.join("static/tag_0_0.csv")).unwrap();
        }),
        ("a link in place of a file", |dir| {
            make(dir, &CONFIG);
            fs::remove_file(dir.join("static/tag_0_0.csv")).unwrap();
            std::os::unix::fs::symlink("/dev/null", dir.join("static/tag_0_0.csv")).unwrap();
        }),
    ];
    for (what, prepare) in cases {
        let dir = tempfile::tempdir().unwrap();
        prepare(dir.path());
        let before = listing(dir.path());
        let error = generate(&CONFIG, dir.path(), &mut |_| ()).unwrap_err();
        assert!(
            matches!(error, Error::Foreign(_) | Error::Manifest { .. }),
            "{what}: {error}"
        );
        assert!(error.to_string().contains("hint: "), "{what}: {error}");
        assert_eq!(listing(dir.path()), before, "{what}");
    }
}

#[test]
fn numbers_of_persons_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    for persons in [0, u64::MAX] {
        let out = dir.path().join("new");
        let error = generate(&Config { persons, seed: 1 }, &out, &mut |_| ()).unwrap_err();
        assert!(
            matches!(error, Error::Persons(_)) && !out.exists(),
            "{error}"
        );
    }
}

/// Names and sizes of everything below `dir`.
fn listing(dir: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let meta = fs::symlink_metadata(entry.path()).unwrap();
        found.push((entry.path().display().to_string(), meta.len()));
        if meta.is_dir() {
            found.extend(listing(&entry.path()));
        }
    }
    found.sort();
    found
}
