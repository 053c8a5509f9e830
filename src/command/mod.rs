//! One file per verb: build the context, choose the phases, run them, give the result to the reporter.

mod completions;
mod help;
mod init;
mod inventory;

use nbctl_core::failure::ExitCode;

use crate::cli::{Cli, Command};
use crate::reporter::Reporter;

/// Runs a command.
///
/// # Errors
/// A [`nbctl_core::failure::Failure`] for what users can act on; anything else is a bug.
pub fn run(cli: Cli, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    let global = cli.global;
    match cli.command {
        Command::Init(args) => init::run(&args, reporter),
        Command::Inventory(args) => inventory::run(&args, &global, reporter),
        Command::Completions { shell } => completions::run(shell),
        Command::Help { topic } => help::run(&topic, reporter),
    }
}
