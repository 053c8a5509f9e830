//! `nbctl hosts undo`: runs the scripts that `check --apply` kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Selection;
use nbctl_core::plan::{Action, Plan, Script, Step};
use nbctl_core::units::counted;

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
    done(&plan, &folder)?;
    let text = format!(
        "{}: as before on {}",
        ctx.cluster.name,
        counted(plan.len(), "host")
    );
    let value = serde_json::json!({ "cluster": ctx.cluster.name, "hosts": plan.len() });
    ctx.reporter.result(&text, &value)?;
    Ok(ExitCode::Good)
}

/// The next undo without a folder means the change before.
fn done(plan: &Plan, folder: &Path) -> Result<(), Failure> {
    let steps = plan.stages.iter().flat_map(|stage| &stage.steps);
    for host in steps.filter_map(|step| step.host.as_ref()) {
        let file = folder.join(format!("{host}.sh"));
        std::fs::rename(&file, folder.join(format!("{host}.sh.done"))).map_err(|error| {
            Failure::usage(format!("cannot note that it was taken back: {error}"))
                .at(file.display().to_string())
        })?;
    }
    Ok(())
}

/// Of the changes that were not taken back.
fn newest(ctx: &Context) -> Result<PathBuf, Failure> {
    let folder = ctx.cluster_dir().join(FOLDER);
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_left = |path: &PathBuf| {
        entries(path).any(|entry| entry.path().extension().is_some_and(|e| e == "sh"))
    };
    let times = entries(&folder).map(|entry| entry.path());
    times.filter(is_left).max().ok_or_else(|| {
        Failure::usage("nothing is left that `hosts check --apply` changed from here")
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
