//! `nbctl history`: the journal of this folder.

use nbctl_core::failure::ExitCode;

use crate::context::Context;
use crate::runner::{Past, read_history};

pub(in crate::command) fn run(ctx: &Context, last: usize, steps: bool) -> anyhow::Result<ExitCode> {
    let past = read_history(&ctx.journal_path())?;
    let shown = &past[past.len().saturating_sub(last)..];
    let lines: Vec<String> = shown.iter().map(|past| line(past, steps)).collect();
    let text = if lines.is_empty() {
        format!("{}: nothing was done from this folder", ctx.cluster.name)
    } else {
        lines.join("\n")
    };
    ctx.reporter.result(&text, &shown)?;
    Ok(ExitCode::Good)
}

fn line(past: &Past, steps: bool) -> String {
    let second = past.time.split('.').next().unwrap_or_default();
    let who = if past.user.is_empty() {
        format!("pid {}", past.pid)
    } else {
        format!("{}@{}", past.user, past.control)
    };
    let outcome = past
        .outcome
        .as_deref()
        .unwrap_or("not ended: it was killed, or still runs");
    let mut text = format!(
        "{}Z  {who}  {}  {} changed, {} already so, {} failed; {outcome}",
        second.trim_end_matches('Z'),
        past.command,
        past.changed,
        past.already,
        past.failed
    );
    if steps {
        for step in &past.steps {
            text.push_str("\n    ");
            text.push_str(step);
        }
    }
    text
}
