//! Results over all phases: checks, the table of scenarios, imports.

use super::table::Group;
use super::{Block, Column, Row, Section, Table, charts};
use crate::report::model::{Percentiles, PhaseReport, Report, StressReport};
use crate::report::number::{self, NONE};
use crate::run::{Check, CheckState};

/// Stands in a cell whose samples are too few.
const FEW: &str = "too few";
const RULE: &str = "“too few”: a percentile is shown only when at least ten samples lie above it: \
                    p99 from 1 000 samples on, p99.9 from 10 000 on.";

/// Checks, one row a name; phases are named where one does not hold.
pub(super) fn checks(report: &Report) -> Section {
    let mut names: Vec<&str> = Vec::new();
    for check in &report.checks {
        if !names.contains(&check.name.as_str()) {
            names.push(&check.name);
        }
    }
    let of = |name: &str| -> Vec<&Check> {
        let all = report.checks.iter();
        all.filter(|check| check.name == name).collect()
    };
    let table = Table {
        columns: vec![
            Column::words("outcome"),
            Column::words("check"),
            Column::words("allowed"),
            Column::number("held"),
            Column::words("seen"),
        ],
        rows: names.iter().map(|name| check_row(name, &of(name))).collect(),
        note: "Held: how many of the phases it applies to. Every single check with what was seen is in \
               report.json."
            .to_owned(),
        ..Table::default()
    };
    let lead = "The verdict above is made from these checks and from nothing else. A check that \
                could not be made says so and is not taken for passed.";
    Section::new(
        "checks",
        "Checks",
        vec![Block::text(lead), Block::table(table)],
    )
}

fn check_row(name: &str, checks: &[&Check]) -> Row {
    let worst = checks.iter().map(|check| check.state).max();
    let (state, words) = state_words(worst.unwrap_or(CheckState::Unobserved));
    let mut allowed: Vec<&str> = checks.iter().map(|check| check.allowed.as_str()).collect();
    allowed.dedup();
    let open: Vec<&&Check> = checks
        .iter()
        .filter(|c| c.state != CheckState::Holds)
        .collect();
    let seen = match checks {
        [only] => only.seen.clone(),
        _ => open
            .iter()
            .map(|c| format!("{}: {}", c.phase, c.seen))
            .collect::<Vec<_>>()
            .join("; "),
    };
    let held = format!("{} of {}", checks.len() - open.len(), checks.len());
    let cells = vec![
        words.to_owned(),
        name.to_owned(),
        allowed.join(", "),
        held,
        seen,
    ];
    Row::with_state(cells, state)
}

fn state_words(state: CheckState) -> (&'static str, &'static str) {
    match state {
        CheckState::Holds => ("holds", "✓ holds"),
        CheckState::Unobserved => ("open", "– not observed"),
        CheckState::Reported => ("reported", "! does not hold, reported only"),
        CheckState::Missed => ("fails", "✗ missed"),
        CheckState::Fails => ("fails", "✗ fails"),
    }
}

/// All scenarios at all loads.
pub(super) fn stress(report: &Report) -> Option<Section> {
    let phases: Vec<&PhaseReport> = report
        .phases
        .iter()
        .filter(|p| p.stress.is_some())
        .collect();
    if phases.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::table(stress_table(&phases))];
    blocks.extend(charts::percentiles(&phases));
    blocks.extend(charts::throughput_by_load(&phases));
    Some(Section::new("scenarios", "Scenarios", blocks))
}

fn stress_table(phases: &[&PhaseReport]) -> Table {
    let groups = [
        ("", 2),
        ("requests", 4),
        ("service time, ms", 6),
        ("server time, ms", 2),
        ("CPU", 2),
    ];
    let rows = phases
        .iter()
        .filter_map(|phase| phase.stress.as_ref())
        .map(stress_row);
    Table {
        groups: groups.map(|(title, span)| Group { title, span }).into(),
        columns: stress_columns(),
        rows: rows.collect(),
        note: format!(
            "In flight: requests kept open at once, or the target rate of an open loop. Throughput \
             counts requests that succeeded. Service time runs from send to last byte, server time is \
             NebulaGraph's own. Generator: CPU of the load generator in parts of its cores; cluster: \
             CPU time of all graphd and storaged for one request. A scenario marked ✗ fails a check: its \
             numbers are not results. {RULE}"
        ),
        ..Table::default()
    }
}

fn stress_columns() -> Vec<Column> {
    vec![
        Column::words("scenario"),
        Column::number("in flight"),
        Column::grouped("total", "requests"),
        Column::grouped("per second", "requests/s"),
        Column::grouped("rows/s", "rows/s"),
        Column::grouped("failed", "failed"),
        Column::grouped("p50", "service p50 ms"),
        Column::grouped("p90", "service p90 ms"),
        Column::grouped("p95", "service p95 ms"),
        Column::grouped("p99", "service p99 ms"),
        Column::grouped("p99.9", "service p99.9 ms"),
        Column::grouped("max", "service max ms"),
        Column::grouped("p50", "server p50 ms"),
        Column::grouped("p99", "server p99 ms"),
        Column::grouped("generator", "generator CPU"),
        Column::grouped("cluster ms", "cluster CPU ms/request"),
    ]
}

fn stress_row(stress: &StressReport) -> Row {
    let service = stress.clocks.service.as_ref();
    let server = stress.clocks.server.as_ref();
    let load = match stress.target_rate {
        Some(rate) => format!("{}/s", number::short(rate)),
        None => number::count(stress.concurrency.into()),
    };
    let mut cells = vec![
        stress.scenario.clone(),
        load,
        number::count(stress.requests),
        optional(stress.throughput),
        optional(stress.rows_per_second),
        number::count(stress.failed),
    ];
    cells.extend([
        cell(service, |times| times.p50_us),
        cell(service, |times| times.p90_us),
        cell(service, |times| times.p95_us),
        cell(service, |times| times.p99_us),
        cell(service, |times| times.p999_us),
        cell(service, |times| Some(times.max_us)),
        cell(server, |times| times.p50_us),
        cell(server, |times| times.p99_us),
        generator(stress),
        stress
            .cluster_cpu_ms_per_request
            .map_or(NONE.to_owned(), |ms| number::fixed(ms, 3)),
    ]);
    if stress.valid {
        return Row::new(cells);
    }
    if let Some(name) = cells.first_mut() {
        *name = format!("✗ {name}");
    }
    Row::with_state(cells, "fails")
}

/// A percentile in milliseconds, or why there is none.
pub(super) fn cell(
    times: Option<&Percentiles>,
    pick: impl Fn(&Percentiles) -> Option<u64>,
) -> String {
    match times {
        None => NONE.to_owned(),
        Some(times) => pick(times).map_or(FEW.to_owned(), number::millis),
    }
}

pub(super) fn optional(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), number::short)
}

fn generator(stress: &StressReport) -> String {
    match stress.generator_cores {
        0 => NONE.to_owned(),
        cores => {
            let share = stress.generator_cpu_percent / f64::from(cores);
            format!("{} %", number::fixed(share, 0))
        }
    }
}

/// All imports.
pub(super) fn imports(report: &Report) -> Option<Section> {
    let phases: Vec<&PhaseReport> = report
        .phases
        .iter()
        .filter(|p| p.import.is_some())
        .collect();
    if phases.is_empty() {
        return None;
    }
    let rows = phases.iter().filter_map(|phase| {
        let import = phase.import.as_ref()?;
        Some(Row::new(vec![
            phase.name.clone(),
            number::count(import.rows),
            number::bytes(number::of(import.bytes)),
            number::duration(phase.seconds),
            optional(import.rows_per_second),
            import
                .bytes_per_second
                .map_or(NONE.to_owned(), |rate| format!("{}/s", number::bytes(rate))),
            format!(
                "{} × {}",
                number::count(import.concurrency.into()),
                number::count(import.batch.into())
            ),
            number::count(import.retries),
            number::count(import.files.iter().map(|file| file.failed_rows).sum()),
        ]))
    });
    let table = Table {
        columns: vec![
            Column::words("import"),
            Column::number("rows"),
            Column::number("CSV read"),
            Column::number("duration"),
            Column::number("rows/s"),
            Column::number("CSV"),
            Column::number("in flight × rows"),
            Column::number("sent again"),
            Column::number("rows given up"),
        ],
        rows: rows.collect(),
        note: "Rates are over the whole duration: first byte read to last row acknowledged."
            .to_owned(),
        ..Table::default()
    };
    Some(Section::new("import", "Import", vec![Block::table(table)]))
}
