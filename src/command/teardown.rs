//! `nbctl teardown [--purge]`: leave nothing.

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::plan::Plan;
use nbctl_core::teardown;

use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::{connect, facts};

pub(super) async fn run(ctx: &Context, purge: bool) -> anyhow::Result<ExitCode> {
    let plan = clear(ctx, purge).await?;
    let name = &ctx.cluster.name;
    if ctx.global.dry_run {
        let text = if plan.is_empty() {
            "nothing to do".to_owned()
        } else {
            plan.to_string()
        };
        ctx.reporter.result(&text, &plan)?;
        return Ok(ExitCode::Good);
    }
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

/// Removes everything, looks again; gives what was to do. A dry run changes nothing.
pub(super) async fn clear(ctx: &Context, purge: bool) -> Result<Plan, Failure> {
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let facts = facts::gather(&ctx.cluster, &fleet).await?;
    let teardown = teardown::plan(&ctx.cluster, &facts, purge);
    for sentence in &teardown.left_alone {
        ctx.sink.warn(sentence.clone());
    }
    let plan = teardown.plan;
    if !plan.is_empty() && !ctx.global.dry_run {
        confirm::destroy(ctx, &plan.to_string())?;
        working.apply(ctx, &fleet, &plan).await?;
        verify(ctx, &fleet, purge).await?;
    }
    fleet.close().await;
    Ok(plan)
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
