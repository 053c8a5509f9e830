//! `nbctl completions SHELL`.

use clap::CommandFactory as _;
use nbctl_core::failure::ExitCode;

use crate::cli::Cli;

pub(super) fn run(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "nbctl", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(ExitCode::Good)
}
