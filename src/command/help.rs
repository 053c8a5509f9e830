//! `nbctl help [exit-codes | COMMAND…]`.

use clap::CommandFactory as _;
use nbctl_core::failure::{ExitCode, Failure};

use crate::cli::Cli;
use crate::reporter::Reporter;

pub(super) fn run(topic: &[String], reporter: &Reporter) -> anyhow::Result<ExitCode> {
    if topic == ["exit-codes"] {
        return exit_codes(reporter);
    }
    let mut command = Cli::command();
    command.build();
    for name in topic {
        command = command.find_subcommand(name).cloned().ok_or_else(|| {
            Failure::usage(format!("no help on `{}`", topic.join(" "))).hint(
                "`nbctl help` lists the commands; `nbctl help exit-codes` explains exit codes",
            )
        })?;
    }
    let text = command.render_help().to_string();
    reporter.result(&text, &text)?;
    Ok(ExitCode::Good)
}

fn exit_codes(reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let rows = ExitCode::ALL.map(|(code, meaning)| (code.number(), meaning));
    let lines = rows.map(|(number, meaning)| format!("{number:>3}  {meaning}"));
    reporter.result(&lines.join("\n"), &rows)?;
    Ok(ExitCode::Good)
}
