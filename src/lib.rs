//! nbctl: from bare Linux hosts to a trustworthy benchmark report of a NebulaGraph cluster.
//!
//! Purpose: everything that does I/O; what can be decided without I/O is in `nbctl-core`.
//! Duties: arrows go downwards only: `cli` → `command` → `phase`, `report` → `remote`, `docker`, `http`, `graph`,
//! `metrics`, `record`, `reporter` (`tests/architecture.rs` holds this).

pub mod assets;
pub mod cli;
pub mod command;
pub mod context;
pub mod dataset;
pub mod docker;
pub mod event;
pub mod exporter;
pub mod graph;
pub mod http;
pub mod interrupt;
pub mod metrics;
pub mod phase;
pub mod record;
pub mod remote;
pub mod report;
pub mod reporter;
pub mod runner;
pub mod worker;

use std::ffi::OsString;

use clap::Parser as _;
use nbctl_core::failure::{ExitCode, Failure};

use crate::reporter::{Reporter, Verbosity};

/// Runs the program with `args` (program name first) and gives its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    if let Some(socket) = std::env::var_os(remote::ASKPASS) {
        let answered = remote::answer_askpass(std::path::Path::new(&socket));
        return answered.map_or(ExitCode::Host, |()| ExitCode::Good);
    }
    let cli = match cli::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            drop(error.print());
            // clap also "fails" for --help and --version.
            return if error.use_stderr() {
                ExitCode::Usage
            } else {
                ExitCode::Good
            };
        }
    };
    let reporter = Reporter::new(cli.global.output, verbosity(&cli.global));
    match command::run(cli, &reporter) {
        Ok(code) => code,
        Err(error) => report(&reporter, error),
    }
}

fn verbosity(global: &cli::Global) -> Verbosity {
    match (global.quiet, global.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    }
}

/// A [`Failure`] is for the user; a closed output is nobody's fault; anything else is a bug and says so.
fn report(reporter: &Reporter, error: anyhow::Error) -> ExitCode {
    if error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    {
        return ExitCode::Good;
    }
    match error.downcast::<Failure>() {
        Ok(failure) => {
            reporter.failure(&failure);
            failure.exit_code()
        }
        Err(bug) => {
            let text = format!("unexpected: {bug:#}");
            reporter.failure(&Failure::step(text).hint("this is a bug in nbctl; please report it"));
            ExitCode::Bug
        }
    }
}
