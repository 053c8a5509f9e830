//! `make bench-deploy`: nbctl and Ansible at the same work, on the same four test hosts, in one run.
//!
//! Purpose: the promise that a deploy between two trials costs next to nothing, against what people use today: a
//! playbook of our own with the steps of nebula-ansible, run by an Ansible that is set up with care (`ansible/`).
//! Duties: the two take turns, so that whatever else this machine does falls on both; what the daemons themselves need
//! (heartbeats, elections) is measured apart and left out of the ratios; one line a case, `case  value unit  goal
//! PASS|SHORT`; exit code 1 when a goal is missed. `tests/bed/bench-deploy.sh` makes the hosts.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, starts programs, and ends when one of them fails"
)]

mod ansible;
mod bed;
mod floor;
mod ours;
mod run;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::ansible::Ansible;
use self::bed::Bed;
use self::ours::Ours;
use self::run::{Run, Runs};

/// Turns; each takes about two minutes on an idle machine.
const TURNS: usize = 2;
/// After this long no further turn is begun.
const LONG: Duration = Duration::from_mins(4);

/// Everything that was measured, turn by turn.
#[derive(Debug, Default)]
struct Measured {
    floor: Runs,
    first: [Runs; 2],
    again: [Runs; 2],
    again_fresh: Runs,
    change: [Runs; 2],
    status: [Runs; 2],
    status_fresh: Runs,
    round_trips: u64,
}

fn main() -> ExitCode {
    let bed = Bed::new();
    bed::print_machine();
    let (ansible, ours) = (Ansible::new(&bed), Ours::new(&bed));
    let mut measured = Measured::default();
    let begun = Instant::now();
    for turn in 0..TURNS {
        if begun.elapsed() > LONG {
            println!("this machine is busy: no further turn");
            break;
        }
        measured.floor.push(floor::stream_and_unpack(&bed));
        turn_of_ansible(&ansible, turn, &mut measured);
        turn_of_ours(&ours, turn, &mut measured);
        print_load(turn);
    }
    ExitCode::from(u8::from(!report(&measured)))
}

/// Other users of this machine show in the load.
fn print_load(turn: usize) {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("turn {} of {TURNS} done, load {}", turn + 1, load.trim());
}

fn turn_of_ansible(ansible: &Ansible<'_>, turn: usize, measured: &mut Measured) {
    ansible.end_masters();
    measured.first[0].push(ansible.play("deploy.yml", turn));
    measured.again[0].push(ansible.play("deploy.yml", turn));
    measured.change[0].push(ansible.play("change.yml", turn + 1));
    measured.status[0].push(ansible.play("status.yml", turn + 1));
    ansible.remove();
    ansible.end_masters();
}

fn turn_of_ours(ours: &Ours<'_>, turn: usize, measured: &mut Measured) {
    ours.inventory(turn);
    measured.first[1].push(ours.nbctl("kept", &["deploy", "--yes"]));
    let again = ours.nbctl("kept", &["deploy", "--yes"]);
    measured.round_trips = measured.round_trips.max(again.round_trips());
    measured.again[1].push(again);
    measured
        .again_fresh
        .push(ours.nbctl("fresh", &["deploy", "--yes"]));
    ours.inventory(turn + 1);
    measured.change[1].push(ours.nbctl("kept", &["deploy", "--yes"]));
    measured.status[1].push(ours.nbctl("kept", &["status"]));
    measured.status_fresh.push(ours.nbctl("fresh", &["status"]));
    ours.nbctl("kept", &["teardown", "--yes", "--purge"]);
}

/// Prints the table; whether every goal was met.
fn report(m: &Measured) -> bool {
    let install = m.first[1].tool() / m.floor.tool();
    let lines = [
        at_least(
            "first install, start, ADD HOSTS",
            &m.first[0],
            &m.first[1],
            5.0,
        ),
        line(
            "the same, of stream and unpack",
            install,
            "x",
            1.5,
            install <= 1.5,
        ),
        at_least("same again, masters kept", &m.again[0], &m.again[1], 20.0),
        at_least("same again, fresh", &m.again[0], &m.again_fresh, 10.0),
        round_trips(m.round_trips),
        at_least("storaged flag changed", &m.change[0], &m.change[1], 10.0),
        at_least("status, masters kept", &m.status[0], &m.status[1], 15.0),
        at_least("status, fresh", &m.status[0], &m.status_fresh, 5.0),
    ];
    println!(
        "\nseconds without (and of) the daemons' own waiting, mean of the turns; Ansible's masters are kept in all but its first"
    );
    details("stream and unpack", &m.floor);
    for (case, [ansible, ours]) in [
        ("first", &m.first),
        ("again", &m.again),
        ("change", &m.change),
        ("status", &m.status),
    ] {
        details(&format!("{case}: ansible"), ansible);
        details(&format!("{case}: nbctl, masters kept"), ours);
    }
    details("again: nbctl, fresh", &m.again_fresh);
    details("status: nbctl, fresh", &m.status_fresh);
    lines.iter().all(|met| *met)
}

fn round_trips(most: u64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    line(
        "same again, round trips a host",
        most as f64,
        "",
        3.0,
        most <= 3,
    )
}

/// How many times faster than Ansible.
fn at_least(case: &str, ansible: &Runs, ours: &Runs, goal: f64) -> bool {
    let ratio = ansible.tool() / ours.tool();
    line(case, ratio, "x", goal, ratio >= goal)
}

fn line(case: &str, value: f64, unit: &str, goal: f64, met: bool) -> bool {
    let word = if met { "PASS" } else { "SHORT" };
    println!("{case:<34} {value:>8.1} {unit:<2} goal {goal:>5.1}  {word}");
    met
}

fn details(what: &str, runs: &Runs) {
    println!("  {what:<30} {:>7.2} ({:.2})", runs.tool(), runs.waited());
}

impl Run {
    fn round_trips(&self) -> u64 {
        let result: serde_json::Value = serde_json::from_str(&self.stdout).unwrap();
        result["round_trips"]
            .as_u64()
            .expect("round trips in the result of a deploy")
    }
}
