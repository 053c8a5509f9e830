//! One section a phase.

use super::results::cell;
use super::{Block, Column, Row, Section, Table, charts, hosts};
use crate::report::model::{
    ClocksReport, ImportReport, Percentiles, PhaseReport, Report, StressReport,
};
use crate::report::number::{self, NONE};
use crate::run::{CountCheck, ErrorCount, Outcome};

/// All phases on one time axis.
pub(super) fn overview(report: &Report) -> Section {
    let chart = charts::timeline(report);
    let mut blocks = vec![chart];
    blocks.push(Block::table(Table {
        columns: vec![
            Column::number("#"),
            Column::words("phase"),
            Column::words("began"),
            Column::number("duration"),
            Column::words("outcome"),
        ],
        rows: report.phases.iter().map(overview_row).collect(),
        ..Table::default()
    }));
    Section::new("phases", "Phases", blocks)
}

fn overview_row(phase: &PhaseReport) -> Row {
    let (words, state) = outcome(&phase.outcome);
    let cells = vec![
        phase.index.to_string(),
        phase.name.clone(),
        number::time(phase.window.start_ms),
        number::duration(phase.seconds),
        words,
    ];
    Row::with_state(cells, state)
}

fn outcome(outcome: &Outcome) -> (String, &'static str) {
    match outcome {
        Outcome::Done => ("✓ done".to_owned(), "holds"),
        Outcome::Unfinished => ("… cut off".to_owned(), "fails"),
        Outcome::Failed(text) => {
            let first = text.lines().next().unwrap_or_default();
            (format!("✗ {first}"), "fails")
        }
        Outcome::Skipped(reason) => (format!("– left out: {reason}"), "open"),
    }
}

/// Everything about one phase.
pub(super) fn section(phase: &PhaseReport) -> Section {
    let mut blocks = vec![Block::text(summary(phase))];
    if let Outcome::Failed(text) = &phase.outcome {
        blocks.push(Block::Code { text: text.clone() });
    }
    blocks.extend(phase.notes.iter().map(Block::notice));
    if !phase.facts.is_empty() {
        blocks.push(Block::table(Table::pairs(phase.facts.iter().cloned())));
    }
    if let Some(import) = &phase.import {
        blocks.extend(import_blocks(phase, import));
    }
    if let Some(stress) = &phase.stress {
        blocks.extend(stress_blocks(phase, stress));
    }
    blocks.extend(hosts::blocks(phase));
    Section {
        id: format!("phase-{}", phase.index),
        title: format!("{}. {}", phase.index, phase.name),
        nested: true,
        blocks,
    }
}

fn summary(phase: &PhaseReport) -> String {
    let (words, _) = outcome(&phase.outcome);
    format!(
        "{words} · {} from {}",
        number::duration(phase.seconds),
        number::time(phase.window.start_ms)
    )
}

fn import_blocks(phase: &PhaseReport, import: &ImportReport) -> Vec<Block> {
    let mut blocks = vec![
        Block::table(files(import)),
        Block::table(counts(&import.counts)),
    ];
    blocks.extend(latency(&import.clocks, "of one INSERT statement"));
    blocks.extend(errors(&import.errors));
    blocks.extend(charts::course(phase, charts::Counted::Rows));
    blocks.extend(charts::distribution(phase));
    blocks
}

fn files(import: &ImportReport) -> Table {
    let rows = import.files.iter().map(|file| {
        let state = if file.failed_rows > 0 { "fails" } else { "" };
        let cells = vec![
            file.path.clone(),
            file.target.clone(),
            number::count(file.rows),
            number::bytes(number::of(file.bytes)),
            number::duration(file.seconds),
            file.rows_per_second.map_or(NONE.to_owned(), number::short),
            number::count(file.failed_rows),
        ];
        Row::with_state(cells, state)
    });
    Table {
        caption: "Files".to_owned(),
        columns: vec![
            Column::words("file"),
            Column::words("into"),
            Column::number("rows"),
            Column::number("size"),
            Column::number("duration"),
            Column::number("rows/s"),
            Column::number("given up"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}

fn counts(counts: &[CountCheck]) -> Table {
    let rows = counts.iter().map(|count| {
        let (state, words) = if count.holds() {
            ("holds", "✓ equal")
        } else {
            ("fails", "✗ differ")
        };
        let cells = vec![
            format!("{} {}", count.kind, count.name),
            number::count(count.expected),
            number::count(count.found),
            words.to_owned(),
        ];
        Row::with_state(cells, state)
    });
    Table {
        caption: "Counts after the import".to_owned(),
        columns: vec![
            Column::words("what"),
            Column::number("in the files"),
            Column::number("in the graph"),
            Column::words("outcome"),
        ],
        rows: rows.collect(),
        note: "In the graph: SHOW STATS after SUBMIT JOB STATS.".to_owned(),
        ..Table::default()
    }
}

fn stress_blocks(phase: &PhaseReport, stress: &StressReport) -> Vec<Block> {
    let mut blocks = vec![Block::Code {
        text: stress.statement.clone(),
    }];
    blocks.push(Block::text(load_words(stress)));
    blocks.extend(latency(&stress.clocks, "of requests that succeeded"));
    blocks.extend(errors(&stress.errors));
    blocks.extend(charts::course(phase, charts::Counted::Requests));
    blocks.extend(charts::distribution(phase));
    blocks
}

fn load_words(stress: &StressReport) -> String {
    let load = match stress.target_rate {
        Some(rate) => format!("open loop, {} requests/s asked for", number::short(rate)),
        None => format!("closed loop, {} requests in flight", stress.concurrency),
    };
    format!(
        "{load}; warm-up of {} before the window; {} requests, {} failed, {} rows/s returned.",
        number::duration(f64::from(u32::try_from(stress.warmup_ms).unwrap_or(u32::MAX)) / 1000.0),
        number::count(stress.requests),
        number::count(stress.failed),
        stress
            .rows_per_second
            .map_or(NONE.to_owned(), number::short),
    )
}

fn latency(clocks: &ClocksReport, whose: &str) -> Option<Block> {
    let named = [
        ("server time", &clocks.server),
        ("service time", &clocks.service),
        ("response time", &clocks.response),
    ];
    let rows: Vec<Row> = named
        .into_iter()
        .filter_map(|(name, times)| Some(latency_row(name, times.as_ref()?)))
        .collect();
    (!rows.is_empty()).then(|| {
        Block::table(Table {
            caption: format!("Latency {whose}, ms"),
            columns: std::iter::once(Column::words("clock"))
                .chain(
                    [
                        "samples", "min", "mean", "p50", "p90", "p95", "p99", "p99.9", "max",
                    ]
                    .map(Column::number),
                )
                .collect(),
            rows,
            ..Table::default()
        })
    })
}

fn latency_row(name: &str, times: &Percentiles) -> Row {
    let some = Some(times);
    Row::new(vec![
        name.to_owned(),
        number::count(times.count),
        number::millis(times.min_us),
        number::fixed(times.mean_us / 1000.0, 2),
        cell(some, |times| times.p50_us),
        cell(some, |times| times.p90_us),
        cell(some, |times| times.p95_us),
        cell(some, |times| times.p99_us),
        cell(some, |times| times.p999_us),
        number::millis(times.max_us),
    ])
}

fn errors(errors: &[ErrorCount]) -> Option<Block> {
    let rows: Vec<Row> = errors
        .iter()
        .map(|error| {
            Row::new(vec![
                error.class.clone(),
                error
                    .code
                    .map_or("no reply".to_owned(), |code| code.to_string()),
                number::count(error.count),
                error.sample.clone(),
            ])
        })
        .collect();
    (!rows.is_empty()).then(|| {
        Block::table(Table {
            caption: "Errors by class".to_owned(),
            columns: vec![
                Column::words("class"),
                Column::number("code"),
                Column::number("count"),
                Column::words("one of them"),
            ],
            rows,
            ..Table::default()
        })
    })
}
