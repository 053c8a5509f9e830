//! `nbctl reset LEVEL`: design 7, weakest first.

use nbctl_core::config::Limit;
use nbctl_core::deploy::Patience;
use nbctl_core::failure::ExitCode;

use super::daemons::{self, Verb};
use crate::cli::{Level, Pick};
use crate::command::{config, teardown};
use crate::context::Context;

pub(super) async fn run(ctx: &Context, level: Level) -> anyhow::Result<ExitCode> {
    let all = Pick::default();
    match level {
        Level::None => {
            let text = format!("{}: nothing was changed", ctx.cluster.name);
            ctx.reporter
                .result(&text, &serde_json::json!({"steps": 0}))?;
            Ok(ExitCode::Good)
        }
        Level::Set => config::reset(ctx, Limit::Set).await,
        Level::Roll => config::reset(ctx, Limit::Restart).await,
        Level::Restart => daemons::run(ctx, &all, Verb::Restart(Patience::KEEP_DATA)).await,
        Level::Data => daemons::run(ctx, &all, Verb::ResetData).await,
        Level::Full => teardown::run(ctx, false).await,
    }
}
