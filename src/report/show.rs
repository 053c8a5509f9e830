//! Runs as text for the terminal.

use comfy_table::{CellAlignment, Table, presets};
use jiff::Timestamp;
use nbctl_core::run::{Manifest, Outcome, PhaseRecord, PhaseResult, Verdict};

use crate::record::RunSummary;

/// `runs list`: one line a run, oldest first.
pub fn runs_table(runs: &[RunSummary]) -> String {
    let mut table = plain_table(&["run", "cluster", "started (UTC)", "phases", "verdict"]);
    for run in runs {
        table.add_row(vec![
            run.id.clone(),
            run.cluster.clone(),
            run.started_ms.map_or_else(|| "?".to_owned(), time),
            run.phases.to_string(),
            run.verdict.clone(),
        ]);
    }
    align_right(&mut table, 3);
    lines_of(&table)
}

/// `runs show`: verdict and phases of one run.
pub fn show(manifest: &Manifest) -> String {
    let mut table = plain_table(&["#", "phase", "s", "outcome", "result"]);
    for phase in &manifest.phases {
        table.add_row(vec![
            phase.index.to_string(),
            phase.name.clone(),
            format!("{:.1}", phase.window.seconds()),
            outcome(&phase.outcome),
            result(phase),
        ]);
    }
    align_right(&mut table, 2);
    format!(
        "{}\n{} {}, started {} UTC\n\n{}",
        Verdict::of(manifest).line(),
        manifest.cluster.name,
        manifest.cluster.version,
        time(manifest.started_ms),
        lines_of(&table)
    )
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Unfinished => "cut off".to_owned(),
        Outcome::Done => "done".to_owned(),
        Outcome::Failed(text) => format!("failed: {}", text.lines().next().unwrap_or_default()),
        Outcome::Skipped(reason) => format!("left out: {reason}"),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "row and request counts stay far below 2^53"
)]
fn result(phase: &PhaseRecord) -> String {
    let seconds = phase.window.seconds();
    let rate = |count: u64| {
        if seconds > 0.0 {
            count as f64 / seconds
        } else {
            0.0
        }
    };
    match &phase.result {
        PhaseResult::Plain(_) => String::new(),
        PhaseResult::Import(import) => {
            format!("{} rows, {:.0} rows/s", import.rows, rate(import.rows))
        }
        PhaseResult::Stress(stress) => format!(
            "{:.0} requests/s, {} failed",
            rate(stress.requests.saturating_sub(stress.failed)),
            stress.failed
        ),
    }
}

fn plain_table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(head.to_vec());
    table
}

fn align_right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// Without the blanks at the ends of lines.
fn lines_of(table: &Table) -> String {
    table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

fn time(unix_ms: i64) -> String {
    Timestamp::from_millisecond(unix_ms).map_or_else(
        |_| "?".to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}
