//! The load worker against real sandbox processes: import with counts, stress, and what happens when parts die.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "tests start processes and say what they leave out"
)]

mod field;
mod local;
mod sandbox;
mod worker;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nbctl::dataset::Folder;
use nbctl_core::dataset::{Dates, Schema};
use serde_json::{Value, json};

use self::sandbox::Sandbox;
use self::worker::Worker;

fn shared() -> Option<PathBuf> {
    let given = std::env::var_os("NBCTL_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let data = given
        .unwrap_or(beside)
        .join("ldbc/snb-250p-1y-long/social_network");
    data.is_dir().then_some(data)
}

/// The shared data set, else a generated one.
fn data(temp: &Path) -> PathBuf {
    if let Some(folder) = shared() {
        return folder;
    }
    eprintln!("left out: no shared LDBC data; a generated set is imported");
    let folder = temp.join("data");
    let config = snb_datagen::Config {
        persons: 120,
        seed: 7,
    };
    snb_datagen::generate(&config, &folder, &mut |_| {}).unwrap();
    folder
}

fn import(dir: &Path) -> Value {
    json!({"import": {
        "dir": dir, "datetimes": false, "vid": "int64", "batch": 64, "connections": 3, "in_flight": 2,
        "retries": 10, "count": true, "temp": null,
    }})
}

fn stress(dir: &Path, statement: &str, seconds: u64) -> Value {
    let folder = Folder::open(dir, Dates::String).unwrap();
    let person = &folder.named("person").unwrap().found.path;
    json!({"stress": {
        "scenario": "Test", "protocol": "nebula", "statement": statement,
        "forms": {"vid": "number", "columns": []},
        "parameters": {"path": dir.join(person), "header": true},
        "concurrency": 6, "warmup_s": 1, "duration_s": seconds, "seed": 1, "threads": null,
    }})
}

/// (kind, name, count) by another way than the import's: whole lines in sets.
fn counted(dir: &Path) -> BTreeSet<(String, String, u64)> {
    use std::collections::BTreeMap;
    let mut ids: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for part in &Folder::open(dir, Dates::String).unwrap().files {
        let text = std::fs::read_to_string(dir.join(&part.found.path)).unwrap();
        let width = part.data.kind.id_classes().len();
        let kind = if width == 1 { "tag" } else { "edge" };
        let name = part.data.kind.type_name().unwrap().to_owned();
        for line in text.lines().skip(1) {
            let key = line
                .splitn(width + 1, '|')
                .take(width)
                .collect::<Vec<_>>()
                .join("|");
            if width == 1 {
                ids.entry(("space".to_owned(), "vertices".to_owned()))
                    .or_default()
                    .insert(key.clone());
            }
            ids.entry((kind.to_owned(), name.clone()))
                .or_default()
                .insert(key);
        }
    }
    let edges = ids
        .iter()
        .filter(|(key, _)| key.0 == "edge")
        .map(|(_, ids)| ids.len() as u64)
        .sum();
    let mut all: BTreeSet<_> = ids
        .into_iter()
        .map(|((k, n), ids)| (k, n, ids.len() as u64))
        .collect();
    all.insert(("space".to_owned(), "edges".to_owned(), edges));
    all
}

#[test]
fn import_stress_and_faults() {
    let Some(mut sandbox) = Sandbox::start() else {
        return;
    };
    let dir = data(sandbox.dir());
    let folder = Folder::open(&dir, Dates::String).unwrap();
    let files: Vec<_> = folder.files.iter().map(|part| part.data.clone()).collect();
    sandbox.make_space("snb", &Schema::of(&files).unwrap());

    let (code, last) = Worker::start(&sandbox.address(), &import(&dir)).finish();
    assert_eq!(code, 0, "{last}");
    let found = last["result"]["counts"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let expected: BTreeSet<_> = found
        .map(|c| {
            (
                text(&c["kind"]),
                text(&c["name"]),
                c["expected"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(expected, counted(&dir));
    assert_eq!(
        sandbox.stats("snb"),
        expected.into_iter().map(|(_, n, c)| (n, c)).collect()
    );

    let go = "GO 1 STEP FROM {vid:0} OVER KNOWS YIELD KNOWS.creationDate";
    let (code, last) = Worker::start(&sandbox.address(), &stress(&dir, go, 2)).finish();
    let result = &last["result"];
    assert_eq!(code, 0, "{last}");
    assert_eq!(result["failed"], 0, "{last}");
    assert!(result["rows"].as_u64() > Some(0), "{last}");
    assert_eq!(result["clocks"]["service"]["count"], result["requests"]);

    let refused = Worker::start(
        &sandbox.address(),
        &stress(&dir, "FETCH PROP ON Nobody 1 YIELD Nobody.a", 5),
    );
    let (code, last) = refused.finish();
    assert_eq!(code, 4, "{last}");
    assert!(
        text(&last["failure"]["what"]).contains("refuses the scenario"),
        "{last}"
    );

    left_alone_it_ends(&sandbox, &dir);
    graphd_dies(&mut sandbox, &dir);
}

/// Its input ends, or it gets SIGTERM: the load ends at once, with the code of an interrupt.
fn left_alone_it_ends(sandbox: &Sandbox, dir: &Path) {
    for terminate in [false, true] {
        let mut worker = Worker::start(&sandbox.address(), &stress(dir, "YIELD 1", 60));
        worker.line();
        worker.line();
        let begun = Instant::now();
        if terminate {
            worker.terminate();
        } else {
            worker.close();
        }
        let (code, last) = worker.finish();
        assert_eq!(code, 130, "{last}");
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
    }
}

/// Killed and started again: errors by class, and the run goes on; an import loses nothing.
fn graphd_dies(sandbox: &mut Sandbox, dir: &Path) {
    let mut worker = Worker::start(&sandbox.address(), &stress(dir, "YIELD 1", 6));
    worker.line();
    worker.line();
    worker.line();
    sandbox.restart_graphd();
    let (code, last) = worker.finish();
    assert_eq!(code, 0, "{last}");
    let classes: Vec<&str> = last["result"]["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["class"].as_str().unwrap())
        .collect();
    assert!(classes.contains(&"connection closed"), "{last}");

    let mut worker = Worker::start(&sandbox.address(), &import(dir));
    worker.line();
    sandbox.restart_graphd();
    let (code, last) = worker.finish();
    assert_eq!(code, 0, "{last}");
    let files = last["result"]["files"].as_array().unwrap();
    assert!(files.iter().all(|file| file["failed_rows"] == 0), "{last}");
}

#[test]
fn what_cannot_begin_says_why() {
    let temp = tempfile::tempdir().unwrap();
    let (code, last) = Worker::start("127.0.0.1:1", &import(temp.path())).finish();
    assert_eq!(code, 2, "{last}");
    assert!(
        last["failure"]["what"]
            .as_str()
            .unwrap()
            .contains("missing"),
        "{last}"
    );
    let (code, last) = Worker::raw("no job\n").finish();
    assert_eq!(code, 2, "{last}");
}
