//! SIGKILL in the middle of a deploy: the same command again finishes the work, and a teardown leaves nothing.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::bed::Bed;
use crate::place::Place;
use crate::ran::Ran;

/// A deploy that takes longer hangs.
const LIMIT: Duration = Duration::from_mins(3);

/// Hosts that a deploy is killed on.
pub(crate) trait Hosts {
    /// The program with the inventory of these hosts.
    fn command(&self, args: &[&str]) -> Command;

    /// The journal of the state folder.
    fn journal(&self) -> String;

    /// What can be seen of a cluster on them.
    fn remains(&self) -> String;

    #[track_caller]
    fn good(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args), args).good()
    }
}

/// Starts a deploy and kills it when so many steps of it have ended; false when it ended before.
fn killed_after(hosts: &impl Hosts, steps: usize) -> bool {
    let ended = |text: &str| {
        let done = text.matches(r#""state":"done""#).count();
        done + text.matches(r#""state":"already-so""#).count()
    };
    let before = ended(&hosts.journal());
    let mut deploy = hosts.command(&["deploy", "--yes"]);
    deploy.stdout(Stdio::null()).stderr(Stdio::null());
    let mut deploy = deploy.spawn().expect("nbctl starts");
    let begun = Instant::now();
    loop {
        if deploy.try_wait().unwrap().is_some() {
            return false;
        }
        if ended(&hosts.journal()) - before >= steps {
            deploy.kill().unwrap();
            deploy.wait().unwrap();
            return true;
        }
        assert!(
            begun.elapsed() < LIMIT,
            "the deploy hangs before step {steps}"
        );
        sleep(Duration::from_millis(2));
    }
}

fn converges(hosts: &impl Hosts) {
    hosts.good(&["deploy", "--yes"]);
    hosts.good(&["deploy", "--yes"]).says("nothing to do");
    hosts.good(&["status"]);
}

fn leaves_nothing(hosts: &impl Hosts, before: &str, steps: usize) {
    hosts.good(&["teardown", "--yes", "--purge", "--cluster", &cluster(hosts)]);
    let left = hosts.remains();
    assert_eq!(
        left, before,
        "killed after {steps} steps: something is left"
    );
}

fn cluster(hosts: &impl Hosts) -> String {
    let shown = hosts.good(&["inventory", "show", "--output", "json"]);
    let shown = shown.json();
    shown["name"].as_str().unwrap().to_owned()
}

/// Every step of a deploy, each once with a deploy and once with a teardown behind it.
fn every_step(hosts: &impl Hosts) {
    leaves_nothing(hosts, &hosts.remains(), 0);
    let before = hosts.remains();
    let begun = Instant::now();
    let mut steps = 0;
    while killed_after(hosts, steps) {
        converges(hosts);
        leaves_nothing(hosts, &before, steps);
        killed_after(hosts, steps);
        leaves_nothing(hosts, &before, steps);
        eprintln!(
            "killed after {steps} steps: converges, leaves nothing ({} s)",
            begun.elapsed().as_secs()
        );
        steps += 1;
    }
    leaves_nothing(hosts, &before, steps);
    assert!(steps > 10, "only {steps} steps were seen");
    eprintln!("PASS: killed twice after each of {steps} steps");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_deploy_converges() {
    let Some(place) = Place::start().await else {
        return;
    };
    let before = place.remains();
    for steps in [1, 6] {
        assert!(
            killed_after(&place, steps),
            "it has more than {steps} steps"
        );
        if steps > 1 {
            converges(&place);
        }
        leaves_nothing(&place, &before, steps);
    }
}

/// `make faults`, where there are no test hosts.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes; make faults runs it"]
async fn killed_after_every_step_here() {
    every_step(&Place::start().await.expect("sshd and nebula-sandbox"));
}

/// `make faults`.
#[test]
#[ignore = "needs test hosts and an hour; make faults runs it"]
fn killed_after_every_step_on_test_hosts() {
    every_step(&Bed::find().expect("test hosts, NBCTL_BED_DIR"));
}
