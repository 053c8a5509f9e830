//! `nbctl scale out|in`: more daemons, or fewer, while the cluster runs.

mod fewer;
mod more;

use nbctl_core::failure::ExitCode;

use crate::cli::Scale;
use crate::context::Context;

pub(super) async fn run(ctx: &Context, args: &Scale) -> anyhow::Result<ExitCode> {
    match args {
        Scale::Out { no_balance } => more::run(ctx, *no_balance).await,
        Scale::In { host, role, lost } => fewer::run(ctx, host, role, *lost).await,
    }
}
