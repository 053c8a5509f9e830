//! `nbctl unlock`: who works on the hosts; takes away the leases of commands that are gone.

use std::collections::BTreeMap;

use nbctl_core::failure::ExitCode;
use nbctl_core::lease::{STALE, Seen};
use nbctl_core::units::HostName;

use crate::command::confirm;
use crate::context::Context;
use crate::phase::{connect, lease};

pub(in crate::command) async fn run(ctx: &Context) -> anyhow::Result<ExitCode> {
    let fleet = connect::all(ctx).await?;
    let seen = lease::look(ctx, &fleet).await?;
    let removed = if seen.values().all(Vec::is_empty) || ctx.global.dry_run {
        0
    } else {
        confirm::apply(
            ctx,
            &format!(
                "{}\nremoving a lease does not end the command, which stops at its next step",
                text(&seen)
            ),
        )?;
        lease::remove(ctx, &fleet, &seen).await?
    };
    fleet.close().await;
    let name = &ctx.cluster.name;
    let shown = match (removed, seen.values().all(Vec::is_empty)) {
        (_, true) => format!("{name}: nobody works on its hosts"),
        (0, false) => text(&seen),
        (count, false) => format!("{}\n{name}: {count} leases removed", text(&seen)),
    };
    ctx.reporter.result(
        &shown,
        &serde_json::json!({"leases": seen, "removed": removed}),
    )?;
    Ok(ExitCode::Good)
}

fn text(seen: &BTreeMap<HostName, Vec<Seen>>) -> String {
    let all = seen
        .iter()
        .flat_map(|(host, seen)| seen.iter().map(move |seen| (host, seen)));
    let line = |(host, seen): (&HostName, &Seen)| {
        let state = if seen.age_s > STALE.as_secs() {
            "stale"
        } else {
            "live"
        };
        format!("{host}: {state}: {}", lease::described(seen))
    };
    all.map(line).collect::<Vec<_>>().join("\n")
}
