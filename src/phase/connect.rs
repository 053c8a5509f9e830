//! Connect: one ssh master for every host of the cluster.

use nbctl_core::failure::Failure;
use nbctl_core::inventory::Host;
use nbctl_core::units::HostName;

use crate::context::Context;
use crate::remote::{Fleet, FleetDirs, Target, default_control_dir, join_failures};

/// Connects every host.
///
/// # Errors
/// One line for every host that cannot be reached.
pub async fn all(ctx: &Context) -> Result<Fleet, Failure> {
    some(ctx, |_| true).await
}

/// Connects every host that can be reached. A host that cannot is told and left out, unless `needed` says that the
/// command cannot do without it.
///
/// # Errors
/// One line for every needed host that cannot be reached.
pub async fn reachable(ctx: &Context, needed: impl Fn(&Host) -> bool) -> Result<Fleet, Failure> {
    let targets = ctx.cluster.hosts.iter().map(Target::from).collect();
    let dirs = FleetDirs {
        config: ctx.cluster_dir(),
        control: default_control_dir()?,
    };
    let (fleet, lost) = Fleet::connect_reachable(targets, &dirs).await?;
    let is_needed = |name: &HostName| ctx.cluster.host(name).is_some_and(&needed);
    let (failed, left_out): (Vec<_>, Vec<_>) =
        lost.into_iter().partition(|(host, _)| is_needed(host));
    if !failed.is_empty() {
        let good = fleet.links().count() + left_out.len();
        fleet.close().await;
        return Err(join_failures("cannot be reached", good, failed));
    }
    for (host, failure) in left_out {
        ctx.sink
            .warn(format!("{host} is left out: {}", failure.what));
    }
    Ok(fleet)
}

/// Connects the hosts that `wanted` picks.
///
/// # Errors
/// One line for every host that cannot be reached.
pub async fn some(ctx: &Context, wanted: impl Fn(&Host) -> bool) -> Result<Fleet, Failure> {
    let targets: Vec<Target> = ctx
        .cluster
        .hosts
        .iter()
        .filter(|host| wanted(host))
        .map(Target::from)
        .collect();
    let dirs = FleetDirs {
        config: ctx.cluster_dir(),
        control: default_control_dir()?,
    };
    Fleet::connect(targets, &dirs).await
}
