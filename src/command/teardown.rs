//! `nbctl teardown [--purge]`: leave nothing.

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::teardown;

use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::{connect, facts};

pub(super) async fn run(ctx: &Context, purge: bool) -> anyhow::Result<ExitCode> {
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let facts = facts::gather(&ctx.cluster, &fleet).await?;
    let teardown = teardown::plan(&ctx.cluster, &facts, purge);
    for sentence in &teardown.left_alone {
        ctx.sink.warn(sentence.clone());
    }
    let plan = teardown.plan;
    if ctx.global.dry_run {
        let text = if plan.is_empty() {
            "nothing to do".to_owned()
        } else {
            plan.to_string()
        };
        ctx.reporter.result(&text, &plan)?;
        fleet.close().await;
        return Ok(ExitCode::Good);
    }
    if !plan.is_empty() {
        confirm::destroy(ctx, &plan.to_string())?;
        working.apply(ctx, &fleet, &plan).await?;
        verify(ctx, &fleet, purge).await?;
    }
    fleet.close().await;
    let name = &ctx.cluster.name;
    let text = match plan.len() {
        0 => format!("{name}: nothing of it is there"),
        steps => format!("{name}: gone, verified ({steps} steps)"),
    };
    ctx.reporter.result(
        &text,
        &serde_json::json!({ "cluster": name, "steps": plan.len() }),
    )?;
    Ok(ExitCode::Good)
}

/// Looks again: a teardown is done when it would have nothing left to do.
async fn verify(ctx: &Context, fleet: &crate::remote::Fleet, purge: bool) -> Result<(), Failure> {
    let facts = facts::gather(&ctx.cluster, fleet).await?;
    let left = teardown::leftovers(&ctx.cluster, &facts, purge);
    if left.is_empty() {
        return Ok(());
    }
    Err(Failure::step("teardown left something behind")
        .lines(left)
        .hint("run it again with -v"))
}
