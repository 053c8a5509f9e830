//! `nbctl logs`: into a folder, or on the screen in one order.

use std::path::PathBuf;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Daemon, Selection};
use nbctl_core::logs::Level;
use nbctl_core::units::counted;

use super::lines::Lines;
use crate::cli::{Logs, Pick, Severity};
use crate::context::Context;
use crate::interrupt;
use crate::phase::logs::{Collect, Show, folder_of_now};
use crate::phase::many::Many;

/// Lines of the past that `--follow` begins with.
const PAST: u32 = 10;

pub(super) async fn run(ctx: &Context, pick: &Pick, args: &Logs) -> anyhow::Result<ExitCode> {
    let selection = Selection::new(&ctx.cluster, &pick.host, &pick.role)?;
    let daemons = ctx.cluster.daemons.iter();
    let daemons: Vec<&Daemon> = daemons.filter(|d| selection.has_daemon(d)).collect();
    if daemons.is_empty() {
        return Err(Failure::usage("no daemon is selected").into());
    }
    let many = Many::connect(ctx, &selection).await?;
    let result = match (args.follow, args.tail) {
        (false, None) => collect(ctx, &many, &selection, args).await,
        (follow, lines) => {
            let show = Show {
                daemons,
                lines: lines.unwrap_or(PAST),
                follow,
                level: level(args.level),
            };
            shown(ctx, &many, &show).await
        }
    };
    many.fleet.close().await;
    result?;
    Ok(ExitCode::Good)
}

async fn collect(
    ctx: &Context,
    many: &Many,
    selection: &Selection,
    args: &Logs,
) -> anyhow::Result<()> {
    let fallback = || folder_of_now(&ctx.cluster_dir().join("logs"));
    let folder: PathBuf = args.out.clone().unwrap_or_else(fallback);
    let collect = Collect {
        cluster: &ctx.cluster,
        selection,
        max: args.max_mib << 20,
        confs: true,
    };
    let cancel = interrupt::token();
    let all = many
        .each(&cancel, |link| collect.host(link, &folder))
        .await?;
    let files: usize = all.iter().map(|(_, got)| got.files).sum();
    let bytes: u64 = all.iter().map(|(_, got)| got.bytes).sum();
    let cut: usize = all.iter().map(|(_, got)| got.cut).sum();
    let rest = if cut == 0 {
        String::new()
    } else {
        format!("; of {cut} only the last {} MiB (--max-mib)", args.max_mib)
    };
    let folder = folder.display();
    let text = format!(
        "{}, {} KiB in {folder}{rest}",
        counted(files, "file"),
        bytes >> 10
    );
    let value = serde_json::json!({"folder": folder.to_string(), "files": files, "bytes": bytes, "cut": cut});
    ctx.reporter.result(&text, &value)?;
    Ok(())
}

async fn shown(ctx: &Context, many: &Many, show: &Show<'_>) -> anyhow::Result<()> {
    let ids: Vec<String> = show.daemons.iter().map(|daemon| daemon.id()).collect();
    let lines = Lines::new(ctx, ids.iter().cloned());
    let cancel = interrupt::token();
    let mut line = |source: usize, text: &str| {
        if let Some(id) = ids.get(source) {
            lines.show(id, text);
        }
    };
    let result = show.run(many, &cancel, &mut line).await;
    lines.ended()?;
    Ok(result?)
}

fn level(severity: Severity) -> Level {
    match severity {
        Severity::Info => Level::Info,
        Severity::Warning => Level::Warning,
        Severity::Error => Level::Error,
        Severity::Fatal => Level::Fatal,
    }
}
