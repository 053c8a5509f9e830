//! Connect: one ssh master for every host of the cluster.

use nbctl_core::failure::Failure;
use nbctl_core::inventory::Host;

use crate::context::Context;
use crate::remote::{Fleet, FleetDirs, Target, default_control_dir};

/// Connects every host.
///
/// # Errors
/// One line for every host that cannot be reached.
pub async fn all(ctx: &Context) -> Result<Fleet, Failure> {
    some(ctx, |_| true).await
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
