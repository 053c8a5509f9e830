//! `nbctl teardown [--purge]`: leave nothing.

use std::path::PathBuf;

use futures_util::future::join_all;
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Selection;
use nbctl_core::plan::Plan;
use nbctl_core::teardown;
use nbctl_core::units::counted;

use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::{connect, facts, lease, logs};
use crate::remote::Fleet;

/// Bytes of a log that are kept, its end.
const KEPT: u64 = 16 << 20;

pub(super) async fn run(ctx: &Context, purge: bool) -> anyhow::Result<ExitCode> {
    let (plan, kept) = clear(ctx, purge).await?;
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
        steps => format!("{name}: gone, verified ({})", counted(steps, "step")),
    };
    let kept = kept.map(|folder| folder.display().to_string());
    let text = match &kept {
        Some(folder) => format!("{text}\nlogs and configuration are kept in {folder}"),
        None => text,
    };
    let value = serde_json::json!({ "cluster": name, "steps": plan.len(), "kept": kept });
    ctx.reporter.result(&text, &value)?;
    Ok(ExitCode::Good)
}

/// Removes everything, looks again; gives what was to do, and where logs are kept. A dry run changes nothing.
pub(super) async fn clear(ctx: &Context, purge: bool) -> Result<(Plan, Option<PathBuf>), Failure> {
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let facts = facts::gather(&ctx.cluster, &fleet).await?;
    let teardown = teardown::plan(&ctx.cluster, &facts, purge);
    for sentence in &teardown.left_alone {
        ctx.sink.warn(sentence.clone());
    }
    let plan = teardown.plan;
    let mut kept = None;
    if !plan.is_empty() && !ctx.global.dry_run {
        confirm::destroy(ctx, &plan.to_string())?;
        let scope = working.scope(ctx, &fleet, "teardown");
        kept = lease::under(&scope, apply(ctx, &working, &fleet, purge)).await?;
    }
    fleet.close().await;
    Ok((plan, kept))
}

/// Plans again, since somebody else may have worked there between the first look and the lease.
async fn apply(
    ctx: &Context,
    working: &Working,
    fleet: &Fleet,
    purge: bool,
) -> Result<Option<PathBuf>, Failure> {
    let facts = facts::gather(&ctx.cluster, fleet).await?;
    let now = teardown::plan(&ctx.cluster, &facts, purge);
    let kept = keep(ctx, fleet).await;
    working.apply(ctx, fleet, &now.plan).await?;
    verify(ctx, fleet, purge).await?;
    Ok(kept)
}

/// What the daemons wrote, and what they were told, goes to the state folder before it goes from the hosts. A teardown
/// is not held up by a host that cannot give it.
async fn keep(ctx: &Context, fleet: &Fleet) -> Option<PathBuf> {
    let folder = logs::folder_of_now(&ctx.cluster_dir().join("kept"));
    let collect = logs::Collect {
        cluster: &ctx.cluster,
        selection: &Selection::default(),
        max: KEPT,
        confs: true,
    };
    let work = fleet.links().map(|link| collect.host(link, &folder));
    let mut files = 0;
    for (link, got) in fleet.links().zip(join_all(work).await) {
        match got {
            Ok(got) => files += got.files,
            Err(failure) => ctx.sink.warn(format!(
                "{}: its logs are not kept: {}",
                link.host(),
                failure.what
            )),
        }
    }
    if files == 0 {
        std::fs::remove_dir_all(&folder).ok();
        return None;
    }
    Some(folder)
}

/// Looks again: a teardown is done when it would have nothing left to do.
async fn verify(ctx: &Context, fleet: &Fleet, purge: bool) -> Result<(), Failure> {
    let facts = facts::gather(&ctx.cluster, fleet).await?;
    let left = teardown::leftovers(&ctx.cluster, &facts, purge);
    if left.is_empty() {
        return Ok(());
    }
    Err(Failure::step("teardown left something behind")
        .lines(left)
        .hint("run it again with -v"))
}
