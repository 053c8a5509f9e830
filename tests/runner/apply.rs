//! Order, checks, failures, interrupts, journal.

use std::path::Path;
use std::sync::Mutex;

use nbctl::event::{Event, StepOutcome};
use nbctl::runner::{Applied, Journal, NoJournal};
use nbctl_core::failure::{Failure, FailureKind};
use nbctl_core::plan::{Action, Plan, RenderedFile, Step};
use nbctl_core::units::{HostName, RemotePath};

use crate::{Events, fleet, run, runner};

fn append(dir: &Path, host: &str, word: &str, pause: &str) -> Step {
    let log = dir.join("log").display().to_string();
    run(host, format!("sleep {pause}; echo {word} >>{log}"))
}

fn log(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn stages_are_barriers_and_hosts_keep_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let at = |host: &str, word: &str, pause: &str| append(dir.path(), host, word, pause);
    let mut plan = Plan::default();
    plan.stage(
        "one",
        vec![at("a", "a1", "0.6"), at("a", "a2", "0"), at("b", "b1", "0")],
    );
    plan.stage("two", vec![at("b", "b2", "0")]);
    let (fleet, events) = (fleet(&["a", "b"]), Events::default());
    let applied = runner(&fleet, &events, &NoJournal)
        .apply(&plan)
        .await
        .unwrap();
    assert_eq!(
        applied,
        Applied {
            changed: 4,
            already: 0
        }
    );
    assert_eq!(log(dir.path()), ["b1", "a1", "a2", "b2"]);
    let events = events.0.lock().unwrap();
    let phases = events
        .iter()
        .filter(|event| matches!(event, Event::PhaseFinished { .. }));
    assert_eq!(phases.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_time_nothing_is_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("made").display().to_string();
    let host = HostName::new("a");
    let conf = RenderedFile {
        path: RemotePath::new(dir.path().join("x.conf").to_str().unwrap()).unwrap(),
        mode: 0o644,
        text: "--port=1\n".to_owned(),
    };
    let mut plan = Plan::default();
    let make = run("a", format!(": >{file}; echo noise")).unless(format!("test -e {file}"));
    let never = run("a", "exit 9").unless("true");
    let put = Step::on(&host, "put x.conf", Action::Put(conf));
    plan.stage("make", vec![make, never, put]);
    let (fleet, events) = (fleet(&["a"]), Events::default());
    let runner = runner(&fleet, &events, &NoJournal);
    let first = runner.apply(&plan).await.unwrap();
    assert_eq!(
        first,
        Applied {
            changed: 2,
            already: 1
        }
    );
    let second = runner.apply(&plan).await.unwrap();
    assert_eq!(
        second,
        Applied {
            changed: 0,
            already: 3
        }
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn others_finish_their_step_and_all_failures_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let at = |host: &str, word: &str, pause: &str| append(dir.path(), host, word, pause);
    let mut plan = Plan::default();
    let steps = vec![
        run("a", "echo no space >&2; exit 4"),
        at("a", "a2", "0"),
        at("b", "b1", "0.8"),
        at("b", "b2", "0"),
        run("c", "exit 5"),
    ];
    plan.stage("one", steps);
    plan.stage("two", vec![at("b", "never", "0")]);
    let (fleet, events) = (fleet(&["a", "b", "c"]), Events::default());
    let failure = runner(&fleet, &events, &NoJournal)
        .apply(&plan)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Step);
    assert_eq!(failure.what, "2 of 3 hosts failed");
    assert_eq!(failure.detail.len(), 2);
    assert!(
        failure.detail[0].starts_with("a: ")
            && failure.detail[0].ends_with("exit code 4; no space")
    );
    assert!(failure.detail[1].starts_with("c: "));
    assert_eq!(log(dir.path()), ["b1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_failure_keeps_its_evidence() {
    let mut plan = Plan::default();
    plan.stage("one", vec![run("a", "echo port 9559 in use >&2; exit 4")]);
    let (fleet, events) = (fleet(&["a"]), Events::default());
    let failure = runner(&fleet, &events, &NoJournal)
        .apply(&plan)
        .await
        .unwrap_err();
    assert_eq!(failure.place.as_deref(), Some("a"));
    assert_eq!(failure.detail, ["port 9559 in use"]);
    let outcome = |event: &Event| {
        matches!(
            event,
            Event::StepFinished {
                outcome: StepOutcome::Failed,
                ..
            }
        )
    };
    assert!(events.0.lock().unwrap().iter().any(outcome));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_between_steps() {
    let dir = tempfile::tempdir().unwrap();
    let mut plan = Plan::default();
    let steps = ["1", "2"].map(|word| append(dir.path(), "a", word, "0.5"));
    plan.stage("one", steps.to_vec());
    let (fleet, events) = (fleet(&["a"]), Events::default());
    let runner = runner(&fleet, &events, &NoJournal);
    let cancel = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        runner.cancel.cancel();
    };
    let (result, ()) = tokio::join!(runner.apply(&plan), cancel);
    assert_eq!(result.unwrap_err().kind, FailureKind::Interrupted);
    assert_eq!(log(dir.path()), ["1"]);
}

/// Notes whether the file was there when the step began.
#[derive(Debug)]
struct Watching {
    file: std::path::PathBuf,
    seen: Mutex<Vec<bool>>,
    refuse: bool,
}

impl Journal for Watching {
    fn begin(&self, _step: &Step) -> Result<(), Failure> {
        self.seen.lock().unwrap().push(self.file.exists());
        if self.refuse {
            Err(Failure::usage("disk full"))
        } else {
            Ok(())
        }
    }

    fn end(&self, _step: &Step, _outcome: StepOutcome) {
        self.seen.lock().unwrap().push(self.file.exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_comes_before_the_change() {
    for (refuse, expected) in [(false, vec![false, true]), (true, vec![false])] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("made");
        let journal = Watching {
            file: file.clone(),
            seen: Mutex::default(),
            refuse,
        };
        let mut plan = Plan::default();
        plan.stage("one", vec![run("a", format!(": >{}", file.display()))]);
        let (fleet, events) = (fleet(&["a"]), Events::default());
        let result = runner(&fleet, &events, &journal).apply(&plan).await;
        assert_eq!(result.is_err(), refuse);
        assert_eq!(*journal.seen.lock().unwrap(), expected);
        assert_eq!(file.exists(), !refuse);
    }
}
