//! The top of the page: verdict, key figures.

use serde::Serialize;

use crate::report::model::{PhaseReport, Report};
use crate::report::number::{self, THIN};
use crate::run::{CheckState, Outcome, VerdictState};
use crate::units::counted;

/// The verdict block.
#[derive(Debug, Serialize)]
pub(crate) struct VerdictView {
    /// `good`, `missed`, `invalid`, `unfinished` or `failed`.
    class: &'static str,
    /// A sign beside the colour.
    sign: &'static str,
    /// The whole line, as printed by the command.
    line: String,
    /// The line without its reasons.
    headline: String,
    /// Why it is not good.
    reasons: Vec<String>,
    /// Checks that do not hold and are only reported.
    remarks: Vec<String>,
    /// With its meaning.
    exit_code: u8,
}

/// A key figure.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    label: String,
    value: String,
    unit: &'static str,
    note: String,
}

pub(super) fn verdict(report: &Report) -> VerdictView {
    let verdict = &report.verdict;
    let (class, sign) = match verdict.state {
        VerdictState::Good => ("good", "✓"),
        VerdictState::Missed => ("missed", "✗"),
        VerdictState::Invalid => ("invalid", "✗"),
        VerdictState::Unfinished => ("unfinished", "…"),
        VerdictState::Failed => ("failed", "✗"),
    };
    let headline = verdict
        .line
        .split_once(" (")
        .map_or(verdict.line.as_str(), |(head, _)| head);
    VerdictView {
        class,
        sign,
        headline: headline.to_owned(),
        line: verdict.line.clone(),
        reasons: verdict.reasons.clone(),
        remarks: verdict.remarks.clone(),
        exit_code: verdict.exit_code,
    }
}

pub(super) fn subtitle(report: &Report) -> String {
    let cluster = &report.cluster;
    let kind = if cluster.sandbox {
        "nebula-sandbox"
    } else {
        "NebulaGraph"
    };
    let hosts = match report.hosts.len() {
        0 => "known by address only".to_owned(),
        some => format!("on {}", counted(some, "host")),
    };
    let started = number::time(report.run.started_ms);
    format!("{kind} {} {hosts} · {started}", cluster.version)
}

/// Only numbers that are results: phases that are done and valid.
pub(super) fn figures(report: &Report) -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(import_figure(report));
    figures.extend(throughput_figure(report));
    figures.extend(p99_figure(report));
    figures.push(errors_figure(report));
    figures.push(duration_figure(report));
    figures
}

fn import_figure(report: &Report) -> Option<Figure> {
    let import = results(report).find_map(|phase| phase.import.as_ref())?;
    Some(Figure {
        label: "Import".to_owned(),
        value: number::short(import.rows_per_second?),
        unit: "rows/s",
        note: format!(
            "{} rows, {}",
            number::count(import.rows),
            number::bytes(number::of(import.bytes))
        ),
    })
}

fn throughput_figure(report: &Report) -> Option<Figure> {
    let rate = |phase: &&PhaseReport| {
        phase
            .stress
            .as_ref()
            .and_then(|s| s.throughput)
            .unwrap_or(0.0)
    };
    let best = results(report)
        .filter(|phase| phase.stress.is_some())
        .max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let stress = best.stress.as_ref()?;
    Some(Figure {
        label: "Highest throughput".to_owned(),
        value: number::short(stress.throughput?),
        unit: "requests/s",
        note: format!("{}, {} in flight", stress.scenario, stress.concurrency),
    })
}

fn p99_figure(report: &Report) -> Option<Figure> {
    let (micros, stress) = results(report)
        .filter(|phase| phase.stress.is_some())
        .filter_map(|phase| {
            let stress = phase.stress.as_ref()?;
            Some((stress.clocks.service?.p99_us?, stress))
        })
        .max_by_key(|(micros, _)| *micros)?;
    Some(Figure {
        label: "Slowest p99".to_owned(),
        value: number::millis(micros),
        unit: "ms",
        note: format!("{}, {} in flight", stress.scenario, stress.concurrency),
    })
}

/// Phases whose numbers are results: done, and no check that counts fails.
fn results(report: &Report) -> impl Iterator<Item = &PhaseReport> {
    let fails = |phase: &PhaseReport| {
        let mut checks = report.checks.iter();
        checks.any(|check| check.phase == phase.name && check.state == CheckState::Fails)
    };
    let phases = report.phases.iter();
    phases.filter(move |phase| phase.outcome == Outcome::Done && !fails(phase))
}

fn errors_figure(report: &Report) -> Figure {
    let stress = || {
        report
            .phases
            .iter()
            .filter_map(|phase| phase.stress.as_ref())
    };
    let failed: u64 = stress().map(|stress| stress.failed).sum();
    let requests: u64 = stress().map(|stress| stress.requests).sum();
    Figure {
        label: "Failed requests".to_owned(),
        value: number::count(failed),
        unit: "",
        note: format!("of {}", number::count(requests)),
    }
}

fn duration_figure(report: &Report) -> Figure {
    let last = report
        .phases
        .last()
        .map_or(report.run.started_ms, |phase| phase.window.end_ms);
    let end = report.run.finished_ms.unwrap_or(last);
    let seconds = crate::run::Window {
        start_ms: report.run.started_ms,
        end_ms: end,
    }
    .seconds();
    Figure {
        label: "Duration".to_owned(),
        value: number::duration(seconds).replace(THIN, "\u{a0}"),
        unit: "",
        note: format!("{} phases", report.phases.len()),
    }
}
