//! `nbctl monitor down [--data] [--purge]`.

use std::collections::BTreeMap;
use std::time::Instant;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::monitor::{self, HostPlan, Leave};
use nbctl_core::plan::Plan;
use nbctl_core::units::{HostName, counted};
use serde_json::json;

use crate::command::confirm;
use crate::context::Context;
use crate::interrupt;
use crate::phase::monitor::{Done, Seen, Sources, apply, look};

pub(super) async fn run(ctx: &Context, data: bool, purge: bool) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let wanted = super::monitor(ctx)?;
    let sources = Sources::new(ctx)?;
    let mut seen = look(ctx, wanted, &sources).await?;
    let mut failed = std::mem::take(&mut seen.lost);
    let leave = Leave {
        data: !data,
        images: !purge,
    };
    let plans = plans(ctx, &seen, leave);
    if ctx.global.dry_run {
        let text = whole(&plans).to_string();
        let text = if text.is_empty() {
            "nothing to do".to_owned()
        } else {
            text
        };
        ctx.reporter
            .result(&text, &text.lines().collect::<Vec<_>>())?;
    } else {
        if data && !plans.is_empty() {
            confirm::destroy(ctx, &whole(&plans).to_string())?;
        }
        let done = take_down(ctx, &seen, &plans).await?;
        failed.extend(done.failed);
        verify(ctx, &seen, leave, &mut failed).await;
        let text = summary(ctx, done.changed, leave, begun);
        ctx.reporter.result(
            &text,
            &json!({"cluster": ctx.cluster.name, "changed": done.changed}),
        )?;
    }
    seen.fleet.close().await;
    super::ended(seen.hosts.len().saturating_sub(failed.len()), failed)?;
    Ok(ExitCode::Good)
}

/// With nothing to do no lease is asked for.
async fn take_down(
    ctx: &Context,
    seen: &Seen,
    plans: &BTreeMap<HostName, HostPlan>,
) -> Result<Done, Failure> {
    let cancel = interrupt::token();
    let work = apply(ctx, seen, plans, &cancel);
    if plans.is_empty() {
        return work.await;
    }
    super::leased(ctx, seen, ("monitor down", &cancel), work).await
}

fn plans(ctx: &Context, seen: &Seen, leave: Leave) -> BTreeMap<HostName, HostPlan> {
    let plan = |(name, (state, _)): (&HostName, &(monitor::HostState, _))| {
        let plan = monitor::down(&ctx.cluster, ctx.cluster.host(name)?, state, leave);
        (!plan.is_empty()).then(|| {
            let plan = HostPlan {
                first: plan,
                ..HostPlan::default()
            };
            (name.clone(), plan)
        })
    };
    seen.hosts.iter().filter_map(plan).collect()
}

fn whole(plans: &BTreeMap<HostName, HostPlan>) -> Plan {
    let mut whole = Plan::default();
    for host in plans.values() {
        whole.extend(host.whole());
    }
    whole
}

/// Looks again at every engine: nothing that should be gone may be left.
async fn verify(ctx: &Context, seen: &Seen, leave: Leave, failed: &mut Vec<(HostName, Failure)>) {
    for name in seen.hosts.keys() {
        if failed.iter().any(|(host, _)| host == name) {
            continue;
        }
        if let Err(failure) = verify_host(ctx, seen, leave, name).await {
            failed.push((name.clone(), failure));
        }
    }
}

async fn verify_host(
    ctx: &Context,
    seen: &Seen,
    leave: Leave,
    name: &HostName,
) -> Result<(), Failure> {
    let engine = seen.engines.on(seen.fleet.on(name)?).await?;
    let state = engine.state(&ctx.cluster.id).await?;
    let mut left: Vec<String> = state
        .containers
        .keys()
        .map(|name| format!("container {name}"))
        .collect();
    if !leave.data {
        left.extend(state.volumes.iter().map(|name| format!("volume {name}")));
    }
    if left.is_empty() {
        return Ok(());
    }
    Err(Failure::step("something of the stack is left")
        .at(name.to_string())
        .lines(left))
}

fn summary(ctx: &Context, changed: usize, leave: Leave, begun: Instant) -> String {
    let name = &ctx.cluster.name;
    let seconds = begun.elapsed().as_secs_f64();
    let stays: Vec<&str> = [
        (leave.data, "data (--data removes it)"),
        (leave.images, "images (--purge removes them)"),
    ]
    .into_iter()
    .filter_map(|(stays, what)| stays.then_some(what))
    .collect();
    let stays = if stays.is_empty() {
        "nothing stays".to_owned()
    } else {
        format!("what stays: {}", stays.join(", "))
    };
    match changed {
        0 => format!("{name}: nothing to remove; {stays} ({seconds:.1} s)"),
        steps => {
            let steps = counted(steps, "step");
            format!("{name}: monitoring is down, {steps}; {stays} ({seconds:.1} s)")
        }
    }
}
