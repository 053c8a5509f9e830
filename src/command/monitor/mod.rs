//! `nbctl monitor up|status|down|images`.

mod down;
mod images;
mod status;
mod up;

pub(in crate::command) use self::images::into_folder as images_into_folder;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Monitor;
use nbctl_core::units::HostName;

use tokio_util::sync::CancellationToken;

use crate::cli;
use crate::context::Context;
use crate::phase::lease::{self, Scope};
use crate::phase::monitor::Seen;
use crate::remote::join_failures;

pub(super) async fn run(args: &cli::Monitor, ctx: &Context) -> anyhow::Result<ExitCode> {
    match args {
        cli::Monitor::Up { from } => up::run(ctx, from.as_deref()).await,
        cli::Monitor::Status => status::run(ctx).await,
        cli::Monitor::Images(args) => images::run(args, ctx).await,
        cli::Monitor::Down { data, purge } => down::run(ctx, *data, *purge).await,
    }
}

/// The stack of the inventory.
fn monitor(ctx: &Context) -> Result<&Monitor, Failure> {
    ctx.cluster.monitor.as_ref().ok_or_else(|| {
        Failure::inventory("no host has the role monitor")
            .hint("add `monitor` to the roles of one host")
    })
}

/// Does `work` while nobody else changes the hosts. A host that no cluster was deployed to has no lease to take.
async fn leased<T>(
    ctx: &Context,
    seen: &Seen,
    (command, cancel): (&str, &CancellationToken),
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let fleet = &seen.fleet;
    let scope = Scope {
        ctx,
        fleet,
        cancel,
        command,
    };
    lease::under(&scope, work).await
}

/// Hosts that failed end the command after all others are done.
fn ended(good: usize, failed: Vec<(HostName, Failure)>) -> Result<(), Failure> {
    if failed.is_empty() {
        return Ok(());
    }
    Err(join_failures("failed", good, failed))
}

/// A table without lines.
pub(in crate::command) fn table(head: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_header(head);
    table
}
