//! `nbctl compact`, `nbctl balance`: until the job has finished.

use nbctl_core::failure::ExitCode;

use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::jobs::{Finished, Jobs, Kind};
use crate::phase::{connect, lease};

pub(super) async fn run(
    ctx: &Context,
    kind: Kind,
    space: Option<&str>,
) -> anyhow::Result<ExitCode> {
    let what = match kind {
        Kind::Compact => "compact",
        Kind::Leaders => "balance",
    };
    let working = Working::new(ctx).await?;
    let place = space.map_or_else(
        || "every space".to_owned(),
        |space| format!("space {space}"),
    );
    if ctx.global.dry_run {
        let text = format!("{what}: {place}");
        ctx.reporter
            .result(&text, &serde_json::json!({"job": what, "space": space}))?;
        return Ok(ExitCode::Good);
    }
    confirm::apply(ctx, &format!("{what}: {place}"))?;
    let fleet = connect::reachable(ctx, |_| false).await?;
    let cancel = working.cancel();
    let jobs = Jobs {
        fleet: &fleet,
        graph: &working.graph,
        version: ctx.cluster.version,
        sink: &*ctx.sink,
        cancel: &cancel,
    };
    let result = lease::under(&working.scope(ctx, &fleet, what), jobs.run(kind, space)).await;
    let leaders = jobs.leaders().await;
    fleet.close().await;
    let all = result?;
    let mut text: Vec<String> = all.iter().map(|done| line(done, what)).collect();
    if text.is_empty() {
        text.push(format!("{}: there is no space", ctx.cluster.name));
    }
    let leaders = leaders.unwrap_or_default();
    if kind == Kind::Leaders {
        text.extend(
            leaders
                .iter()
                .map(|(host, count)| format!("{host}: {count} leaders")),
        );
    }
    let value = serde_json::json!({"finished": all, "leaders": leaders});
    ctx.reporter.result(&text.join("\n"), &value)?;
    Ok(ExitCode::Good)
}

fn line(done: &Finished, what: &str) -> String {
    let Finished {
        space,
        job,
        seconds,
    } = done;
    match job {
        Some(job) => format!("{space}: {what} finished, job {job} ({seconds:.1} s)"),
        None => format!("{what}: leaders stand still ({seconds:.1} s)"),
    }
}
