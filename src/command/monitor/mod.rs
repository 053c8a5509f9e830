//! `nbctl monitor up|status|down`.

mod down;
mod status;
mod up;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Monitor;
use nbctl_core::units::HostName;

use crate::cli;
use crate::context::Context;
use crate::remote::join_failures;

pub(super) async fn run(args: &cli::Monitor, ctx: &Context) -> anyhow::Result<ExitCode> {
    match args {
        cli::Monitor::Up => up::run(ctx).await,
        cli::Monitor::Status => status::run(ctx).await,
        cli::Monitor::Down { data, purge } => down::run(ctx, *data, *purge).await,
    }
}

/// The stack of the inventory; what cannot be done yet is refused.
fn monitor(ctx: &Context) -> Result<&Monitor, Failure> {
    let monitor = ctx.cluster.monitor.as_ref().ok_or_else(|| {
        Failure::inventory("no host has the role monitor")
            .hint("add `monitor` to the roles of one host")
    })?;
    if monitor.docker_sudo {
        return Err(
            Failure::inventory("monitor.docker.sudo is not supported yet")
                .hint("add the ssh user to the group docker on the hosts instead"),
        );
    }
    Ok(monitor)
}

/// Hosts that failed end the command after all others are done.
fn ended(good: usize, failed: Vec<(HostName, Failure)>) -> Result<(), Failure> {
    if failed.is_empty() {
        return Ok(());
    }
    Err(join_failures("failed", good, failed))
}
