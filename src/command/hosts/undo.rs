//! `nbctl hosts undo`: runs the scripts that `check --apply` kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Selection;
use nbctl_core::plan::{Action, Plan, Script, Step};

use super::apply::FOLDER;
use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::many::Many;

/// Taking an engine away takes longest.
const PATIENCE: Duration = Duration::from_mins(10);

pub(super) async fn run(
    ctx: &Context,
    selection: &Selection,
    folder: Option<&Path>,
) -> anyhow::Result<ExitCode> {
    let folder = match folder {
        Some(folder) => folder.to_owned(),
        None => newest(ctx)?,
    };
    let plan = plan(ctx, selection, &folder)?;
    if ctx.global.dry_run {
        ctx.reporter.result(&plan.to_string(), &plan)?;
        return Ok(ExitCode::Good);
    }
    confirm::apply(ctx, &plan.to_string())?;
    let working = Working::new(ctx).await?;
    let many = Many::connect(ctx, selection).await?;
    let applied = working.apply(ctx, &many.fleet, &plan).await;
    many.fleet.end().await;
    applied?;
    let text = format!("{}: as before on {} hosts", ctx.cluster.name, plan.len());
    let value = serde_json::json!({ "cluster": ctx.cluster.name, "hosts": plan.len() });
    ctx.reporter.result(&text, &value)?;
    Ok(ExitCode::Good)
}

fn newest(ctx: &Context) -> Result<PathBuf, Failure> {
    let folder = ctx.cluster_dir().join(FOLDER);
    let times = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    times.map(|entry| entry.path()).max().ok_or_else(|| {
        Failure::usage("nothing was changed from here by `hosts check --apply`")
            .at(folder.display().to_string())
    })
}

fn plan(ctx: &Context, selection: &Selection, folder: &Path) -> Result<Plan, Failure> {
    let mut steps = Vec::new();
    for host in ctx
        .cluster
        .hosts
        .iter()
        .filter(|host| selection.has_host(host))
    {
        let file = folder.join(format!("{}.sh", host.name));
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        let script = Script {
            text,
            sudo: true,
            timeout: PATIENCE,
        };
        let title = format!("take back what was changed ({})", file.display());
        steps.push(Step::on(&host.name, title, Action::Run(script)));
    }
    if steps.is_empty() {
        return Err(
            Failure::usage("no undo script for any selected host").at(folder.display().to_string())
        );
    }
    let mut plan = Plan::default();
    plan.stage("undo", steps);
    Ok(plan)
}
