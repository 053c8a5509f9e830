//! `make bench-report`: how long a report takes and how large it gets.
//!
//! Purpose: a report of a long evening of trials must still open at once and be small enough to mail.
//! Duties: one line a case, `case  value unit  goal  PASS|SHORT`; exit code 1 when a goal is missed. The best
//! of several repetitions counts: others use this machine too.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "a bench prints, and its sample is made of small made-up numbers"
)]

#[path = "../tests/sample_run/mod.rs"]
mod sample_run;

use std::process::ExitCode;
use std::time::Instant;

use nbctl::assets::Assets;
use nbctl::record::RunStore;
use nbctl::report::{Format, load, render};
use nbctl_core::report::{Report, Spectra};
use nbctl_core::run::Manifest;

const REPETITIONS: u32 = 5;
/// Scenarios of a long run.
const MANY: usize = 60;

fn main() -> ExitCode {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let version = std::fs::read_to_string("/proc/version").unwrap_or_default();
    let kernel = version.split(' ').nth(2).unwrap_or("?");
    println!("machine: {cores} cores, Linux {kernel}");
    let root = tempfile::tempdir().unwrap();
    let store = sample_run::write(root.path());
    let folder = store.folder().to_owned();
    let assets = Assets::default();
    let report = load(&store).unwrap();
    let long = long_report(&store);
    let html = |report: &Report| render(report, Format::Html, &assets).unwrap();
    let kib = |report: &Report| html(report).len() as f64 / 1024.0;
    let open = best(|| RunStore::open(&folder).unwrap());
    let cases = [
        ("open a run of 14 phases", open, "ms", 250.0),
        ("render its html", best(|| html(&report)), "ms", 250.0),
        ("size of its html", kib(&report), "KiB", 512.0),
        (
            "render html of 60 scenarios",
            best(|| html(&long)),
            "ms",
            2_000.0,
        ),
        ("size of that html", kib(&long), "KiB", 2_048.0),
    ];
    let mut good = true;
    for (case, value, unit, goal) in cases {
        let met = value <= goal;
        good &= met;
        let word = if met { "PASS" } else { "SHORT" };
        println!("{case:<30} {value:>9.1} {unit:<4} goal {goal:>7.0}  {word}");
    }
    ExitCode::from(u8::from(!good))
}

/// The sample with its scenarios repeated.
fn long_report(store: &RunStore) -> Report {
    let sample = store.manifest();
    let scenarios = sample
        .phases
        .iter()
        .filter(|phase| phase.index > 6 && phase.index < 14);
    let phases = scenarios
        .cycle()
        .take(MANY)
        .zip(1u32..)
        .map(|(phase, index)| {
            let mut phase = phase.clone();
            phase.index = index;
            phase
        });
    let manifest = Manifest {
        phases: phases.collect(),
        ..sample.clone()
    };
    Report::of(&manifest, Spectra::new())
}

/// Shortest of several repetitions, milliseconds.
fn best<T>(work: impl Fn() -> T) -> f64 {
    let once = || {
        let start = Instant::now();
        drop(work());
        start.elapsed().as_secs_f64() * 1000.0
    };
    (0..REPETITIONS)
        .map(|_| once())
        .fold(f64::INFINITY, f64::min)
}
