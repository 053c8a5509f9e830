use nbctl_core::run::{Outcome, PhaseResult, Second, StressResult, VerdictState, Window};
use serde_json::json;

use super::*;
use crate::event::{Event, Sink as _};

const START: i64 = 1_796_000_000_000;

fn new_run() -> NewRun {
    NewRun {
        name: "sf 30/full".to_owned(),
        started_ms: START,
        tool_version: "0.1.0".to_owned(),
        command_line: vec!["nbctl".to_owned(), "bench".to_owned()],
        seed: 7,
        ..NewRun::default()
    }
}

fn second(at: i64) -> Second {
    Second {
        start_ms: START + at * 1000,
        requests: 100,
        failed: 0,
        rows: 300,
        p50_us: 900,
        p99_us: 2_500,
    }
}

fn stress(series: Vec<Second>) -> PhaseResult {
    PhaseResult::Stress(Box::new(StressResult {
        scenario: "Go1Step".to_owned(),
        requests: 200,
        series,
        ..StressResult::default()
    }))
}

#[test]
fn what_was_written_is_read() {
    let root = tempfile::tempdir().unwrap();
    let mut store = RunStore::create(root.path(), new_run(), Redactor::default()).unwrap();
    assert!(
        store
            .manifest()
            .id
            .starts_with("20261130-005320-sf-30-full-"),
        "{}",
        store.manifest().id
    );
    let index = store.begin_phase("stress Go1Step 10", START).unwrap();
    let window = Window {
        start_ms: START,
        end_ms: START + 2000,
    };
    let result = stress(vec![second(0), second(1)]);
    store
        .end_phase(index, window, Outcome::Done, result)
        .unwrap();
    store.note(index, "graphd h2 was slow").unwrap();
    store
        .put_rendered("h1", "/opt/nebula/etc/nebula-graphd.conf", "--port=9669\n")
        .unwrap();
    store.finish(START + 3000).unwrap();

    let back = RunStore::open(store.folder()).unwrap();
    assert_eq!(back.manifest(), store.manifest());
    let phase = store.phase_folder(index).unwrap();
    assert!(phase.ends_with("01-stress-Go1Step-10"));
    let record = std::fs::read_to_string(phase.join("phase.json")).unwrap();
    assert!(
        !record.contains("start_ms\": 1796000001000"),
        "series are in series.csv only"
    );
    assert!(
        store
            .folder()
            .join("rendered/h1/opt/nebula/etc/nebula-graphd.conf")
            .exists()
    );
}

#[test]
fn a_killed_run_is_readable_to_its_last_second() {
    let root = tempfile::tempdir().unwrap();
    let mut store = RunStore::create(root.path(), new_run(), Redactor::default()).unwrap();
    let index = store.begin_phase("import", START).unwrap();
    store
        .append_seconds(index, &[second(0), second(1)])
        .unwrap();
    store.append_seconds(index, &[second(2)]).unwrap();
    let folder = store.folder().to_owned();
    let series = store.phase_folder(index).unwrap().join("series.csv");
    let mut text = std::fs::read_to_string(&series).unwrap();
    text.push_str("179600000");
    std::fs::write(&series, text).unwrap();
    std::fs::create_dir(folder.join("phases/02-half")).unwrap();
    drop(store);

    let back = RunStore::open(&folder).unwrap();
    let phase = &back.manifest().phases[0];
    assert_eq!(phase.outcome, Outcome::Unfinished);
    assert_eq!(phase.window.end_ms, START + 3000);
    let verdict = nbctl_core::run::Verdict::of(back.manifest());
    assert_eq!(verdict.state, VerdictState::Unfinished);
}

#[test]
fn a_resumed_run_goes_on_with_the_next_phase() {
    let root = tempfile::tempdir().unwrap();
    let mut store = RunStore::create(root.path(), new_run(), Redactor::default()).unwrap();
    store.begin_phase("data", START).unwrap();
    let folder = store.folder().to_owned();
    let busy = RunStore::resume(&folder, Redactor::default()).unwrap_err();
    assert!(busy.what.contains("another nbctl"), "{busy}");
    assert_eq!(list(root.path()).unwrap()[0].state, RunState::Running);
    assert!(delete(&folder).is_err());
    drop(store);

    let mut store = RunStore::resume(&folder, Redactor::default()).unwrap();
    assert_eq!(store.begin_phase("import", START).unwrap(), 2);
    drop(store);
    let runs = list(root.path()).unwrap();
    assert_eq!(
        (runs.len(), runs[0].phases, runs[0].state),
        (1, 2, RunState::Ended)
    );
    delete(&folder).unwrap();
    assert!(list(root.path()).unwrap().is_empty());
}

#[test]
fn runs_of_the_same_second_have_folders_of_their_own() {
    let root = tempfile::tempdir().unwrap();
    let ids: std::collections::BTreeSet<String> = (0..5)
        .map(|_| RunStore::create(root.path(), new_run(), Redactor::default()).unwrap())
        .map(|store| store.manifest().id.clone())
        .collect();
    assert_eq!(ids.len(), 5);
}

#[test]
fn a_newer_format_is_refused_by_its_number() {
    let root = tempfile::tempdir().unwrap();
    let newer = json!({"format": 2, "tool_version": "9.0.0", "unheard_of": true});
    std::fs::write(root.path().join("manifest.json"), newer.to_string()).unwrap();
    let failure = RunStore::open(root.path()).unwrap_err();
    assert!(failure.what.contains("format 2"), "{failure}");
    assert!(failure.hint.unwrap().contains("9.0.0"));
}

#[test]
fn secrets_are_in_no_file() {
    let secret = "s3cr\"t-value";
    let root = tempfile::tempdir().unwrap();
    let mut run = new_run();
    run.command_line.push(format!("--note={secret}"));
    let mut store = RunStore::create(root.path(), run, Redactor::new([secret])).unwrap();
    let index = store.begin_phase("deploy", START).unwrap();
    store.note(index, format!("said {secret}")).unwrap();
    store
        .append_plan(&json!({"script": format!("login {secret}")}))
        .unwrap();
    store
        .put_inventory(&format!("password: {secret}\n"))
        .unwrap();
    store
        .event_log(|| START)
        .unwrap()
        .note(format!("event {secret}"));

    let mut files = 0;
    let mut folders = vec![store.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap();
            assert!(!text.contains("s3cr"), "{}: {text}", entry.path().display());
            files += 1;
        }
    }
    assert_eq!(files, 6, "manifest, lock, phase, plan, inventory, events");
}

#[test]
fn events_are_stamped_and_progress_is_left_out() {
    let root = tempfile::tempdir().unwrap();
    let store = RunStore::create(root.path(), new_run(), Redactor::default()).unwrap();
    let log = store.event_log(|| START + 5).unwrap();
    log.note("hello".to_owned());
    log.emit(Event::Progress {
        phase: "import".to_owned(),
        done: 1,
        total: None,
        unit: "rows",
        text: String::new(),
    });
    let text = std::fs::read_to_string(store.folder().join("events.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines,
        [json!({"event": "note", "text": "hello", "at_ms": START + 5})]
    );
}

#[test]
fn a_name_that_climbs_out_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let store = RunStore::create(root.path(), new_run(), Redactor::default()).unwrap();
    for path in ["../../etc/passwd", "/../x"] {
        assert!(store.put_rendered("h1", path, "x").is_err(), "{path}");
    }
    assert!(store.put_text("/etc/x", "x").is_err());
}
