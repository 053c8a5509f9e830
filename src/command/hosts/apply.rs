//! `nbctl hosts check --apply`: changes what the table found, and keeps the way back.
//!
//! Duties: every change is shown before; the undo scripts are on disk before the first change; a change that fails is a
//! warning, and the table that is made afterwards says what is left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nbctl_core::deploy::{self, EngineSources, Repair};
use nbctl_core::failure::Failure;
use nbctl_core::plan::Plan;
use nbctl_core::units::HostName;

use super::check::Seen;
use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::bundle;
use crate::remote::Fleet;

/// Folder of a cluster's state that holds a folder for each time.
pub(super) const FOLDER: &str = "undo";

/// Whether something was changed.
pub(super) async fn run(
    ctx: &Context,
    fleet: &Fleet,
    seen: &Seen,
    only: &[String],
) -> Result<bool, Failure> {
    known(seen, only)?;
    let files = bundle::engine(&ctx.state_dir.join(bundle::ENGINE)).await?;
    let sources = EngineSources {
        files: &files,
        network: !ctx.global.offline,
    };
    let repair = seen.given(ctx, |given| {
        deploy::repair(given, &seen.checks, only, &sources)
    });
    if repair.plan.is_empty() {
        ctx.sink.note("nothing that could be changed".to_owned());
        return Ok(false);
    }
    if ctx.global.dry_run {
        ctx.sink.note(format!("would be changed:\n{}", repair.plan));
        return Ok(false);
    }
    confirm::apply(ctx, &format!("under sudo:\n{}", repair.plan))?;
    let working = Working::new(ctx).await?;
    let folder = keep(ctx, &repair)?;
    for stage in &repair.plan.stages {
        let one = Plan {
            stages: vec![stage.clone()],
        };
        if let Err(failure) = working.apply(ctx, fleet, &one).await {
            if working.cancel().is_cancelled() {
                return Err(failure);
            }
            ctx.sink.warn(failure.to_string());
        }
    }
    ctx.sink.note(format!(
        "to take it back: nbctl hosts undo {}",
        folder.display()
    ));
    Ok(true)
}

/// A name that no check of the table has is a typing error.
fn known(seen: &Seen, only: &[String]) -> Result<(), Failure> {
    let is_known = |name: &&String| seen.checks.iter().any(|check| check.check == **name);
    match only.iter().find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(
            Failure::usage(format!("no row of the table is called `{name}`"))
                .hint("`nbctl hosts check -v` shows all of them"),
        ),
    }
}

/// Writes the undo scripts; answers their folder.
fn keep(ctx: &Context, repair: &Repair) -> Result<PathBuf, Failure> {
    let time = jiff::Timestamp::now()
        .strftime("%Y%m%dT%H%M%SZ")
        .to_string();
    let folder = ctx.cluster_dir().join(FOLDER).join(time);
    write(&folder, &repair.undo).map_err(|error| {
        Failure::usage(format!(
            "cannot keep the undo scripts: {error}; nothing was changed"
        ))
        .at(folder.display().to_string())
    })?;
    Ok(folder)
}

fn write(folder: &Path, scripts: &BTreeMap<HostName, String>) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (host, text) in scripts {
        let file = std::fs::File::create(folder.join(format!("{host}.sh")))?;
        std::io::Write::write_all(&mut &file, text.as_bytes())?;
        file.sync_all()?;
    }
    Ok(())
}
