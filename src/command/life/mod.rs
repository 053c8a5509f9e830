//! Life after the first deploy.

mod copy;
mod daemons;
mod exec;
mod history;
mod jobs;
mod lines;
mod logs;
mod reset;
mod scale;
mod unlock;
mod upgrade;

use nbctl_core::failure::ExitCode;

use crate::cli::Life;
use crate::context::Context;
use crate::phase::jobs::Kind;

use self::daemons::Verb;

pub(super) async fn run(args: &Life, ctx: &Context) -> anyhow::Result<ExitCode> {
    match args {
        Life::Start { pick } => daemons::run(ctx, pick, Verb::Start).await,
        Life::Stop { pick, stopping } => daemons::run(ctx, pick, Verb::stop(*stopping)).await,
        Life::Restart { pick, stopping } => daemons::run(ctx, pick, Verb::restart(*stopping)).await,
        Life::Reset { level } => reset::run(ctx, *level).await,
        Life::Exec { pick, args } => exec::run(ctx, pick, args).await,
        Life::Logs { pick, args } => logs::run(ctx, pick, args).await,
        Life::Push { pick, args } => copy::push(ctx, pick, args).await,
        Life::Pull { pick, args } => copy::pull(ctx, pick, args).await,
        Life::Compact { space } => jobs::run(ctx, Kind::Compact, space.as_deref()).await,
        Life::Balance { space } => jobs::run(ctx, Kind::Leaders, space.as_deref()).await,
        Life::Scale(args) => scale::run(ctx, args).await,
        Life::Upgrade(args) => upgrade::run(ctx, args).await,
        Life::Unlock => unlock::run(ctx).await,
        Life::History { last, steps } => history::run(ctx, *last, *steps),
    }
}
