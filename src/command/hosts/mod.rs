//! `nbctl hosts …`: before the first deploy.
//!
//! Duties: every host is looked at, whatever happens to the others; what cannot be reached is a row like any other.

mod apply;
mod bootstrap;
mod check;
mod facts;
mod ping;
mod undo;

use nbctl_core::failure::ExitCode;
use nbctl_core::inventory::Selection;

use crate::cli::{Hosts, Pick};
use crate::context::Context;

pub(super) async fn run(args: &Hosts, ctx: &Context) -> anyhow::Result<ExitCode> {
    let selection = |pick: &Pick| Selection::new(&ctx.cluster, &pick.host, &pick.role);
    match args {
        Hosts::Ping { pick } => ping::run(ctx, &selection(pick)?).await,
        Hosts::Check { pick, apply } => check::run(ctx, &selection(pick)?, apply).await,
        Hosts::Undo { pick, folder } => undo::run(ctx, &selection(pick)?, folder.as_deref()).await,
        Hosts::Bootstrap { pick, args } => bootstrap::run(ctx, &selection(pick)?, args).await,
        Hosts::Facts { pick } => facts::run(ctx, &selection(pick)?).await,
    }
}
