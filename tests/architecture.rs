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
        &["remote/local", "remote/here"],
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
