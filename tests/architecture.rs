//! Who may know whom (design 3): arrows go downwards, and each big crate has one door.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rooms of `src/` by floor; a room uses rooms of lower floors only.
const FLOORS: [&[&str]; 8] = [
    &["event", "assets"],
    &["http", "remote", "record", "reporter", "interrupt"],
    &["runner", "metrics", "report", "dataset"],
    &["graph", "docker", "exporter", "worker", "cli"],
    &["context"],
    &["phase"],
    &["command"],
    &["lib", "main"],
];

/// Text, the files that may have it (by prefix below `src/`), why.
const DOORS: [(&str, &[&str], &str); 4] = [
    (
        "openssh::",
        &["remote/ssh"],
        "only remote::ssh names openssh",
    ),
    ("bollard::", &["docker"], "only docker names bollard"),
    ("Client::builder", &["http"], "only http builds clients"),
    (
        "process::Command",
        &["remote/local", "remote/here", "remote/first"],
        "only remote starts processes",
    ),
];

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut files) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                files.push((name, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(files.len() > 10, "sources not found");
    files
}

/// Code without comments; tests at the end of a file are left out.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn room(file: &str) -> &str {
    let first = file.split('/').next().unwrap();
    first.strip_suffix(".rs").unwrap_or(first)
}

fn used_rooms(code: &str) -> Vec<&str> {
    let word = |rest: &'static str| move |c: char| !(c.is_ascii_alphanumeric() || rest.contains(c));
    let uses = code.split("crate::").skip(1);
    let rooms = uses.map(|rest| rest.split(word("_")).next().unwrap());
    rooms.filter(|room| !room.is_empty()).collect()
}

#[test]
fn arrows_go_downwards() {
    let floors: BTreeMap<&str, usize> = FLOORS
        .iter()
        .enumerate()
        .flat_map(|(floor, rooms)| rooms.iter().map(move |room| (*room, floor)))
        .collect();
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let own = room(&file);
        let Some(floor) = floors.get(own) else {
            wrong.push(format!("{file}: room `{own}` has no floor yet"));
            continue;
        };
        for used in used_rooms(&code(&text)) {
            match floors.get(used) {
                _ if used == own => {}
                Some(other) if other < floor => {}
                _ => wrong.push(format!("{file}: `{own}` must not use `{used}`")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_big_crate_has_one_door() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let code = code(&text);
        for (needle, doors, why) in DOORS {
            let allowed = doors.iter().any(|door| file.starts_with(door));
            if !allowed && code.contains(needle) {
                wrong.push(format!("{file}: has `{needle}`: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a word in backticks names: a file, a test in it, a case of a data file.
fn is_there(root: &Path, named: &str) -> bool {
    let (path, needles) = match (named.split_once("::"), named.split_once('#')) {
        (Some((path, name)), _) => (path, vec![format!("fn {name}(")]),
        (None, Some((path, case))) => (
            path,
            vec![format!("== {case}\n"), format!("name: {case}\n")],
        ),
        (None, None) => return root.join(named).exists(),
    };
    let text = std::fs::read_to_string(root.join(path)).unwrap_or_default();
    needles.iter().any(|needle| text.contains(needle))
}

#[test]
fn every_failure_of_the_field_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/design/failures.md")).unwrap();
    let paths = page.split('`').skip(1).step_by(2).filter(|word| {
        let known = [".rs", ".yaml", ".txt"];
        word.contains('/') && known.iter().any(|ext| word.contains(ext))
    });
    let (all, missing): (Vec<&str>, Vec<&str>) = (
        paths.clone().collect(),
        paths.filter(|named| !is_there(root, named)).collect(),
    );
    assert!(
        all.len() > 60 && missing.is_empty(),
        "{} named, not there: {missing:#?}",
        all.len()
    );
    let rows: Vec<u32> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok())
        .collect();
    let without: Vec<u32> = (1..=43).filter(|number| !rows.contains(number)).collect();
    assert!(without.is_empty(), "no row for {without:?}");
}
