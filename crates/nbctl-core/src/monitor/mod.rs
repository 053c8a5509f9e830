//! The monitoring stack: what must run where, and what that changes (`docs/design/monitor.md`).
//!
//! Purpose: `monitor up` and `down` as plans made from (cluster, state of the hosts, `stack.yaml`, image index), without I/O.
//! Duties: render files, describe containers, compare with what is there; [`stats`] turns what daemons say
//! about themselves into Prometheus text.

mod container;
pub mod course;
mod down;
mod files;
mod host;
mod host_plan;
mod images;
pub mod restore;
mod stack;
pub mod stats;
mod up;

use crate::container::OWNER;
use crate::inventory::{Cluster, Component, Host};

pub use self::container::spec as container_of;
pub use self::down::{Leave, down};
pub use self::files::{StackFile, TargetGroup, Templates, files, watched};
pub use self::host::{DockerAccess, EngineState, Found, HostState, Standing, script};
pub use self::host_plan::{Group, HostPlan, Needed, Up};
pub use self::images::{ImageEntry, ImageIndex, OwnImage, bundle_name, image_of};
pub use self::stack::{FileSpec, Network, Part, Scrape, Stack};
pub use self::up::{Desired, up};

/// Name of a component's container and of its volume on an engine.
pub fn object_name(cluster: &Cluster, component: Component) -> String {
    format!("{OWNER}-{}-{}", cluster.name, component.as_str())
}

/// Second tag that images get which nbctl loads or pulls; says that they may go with `--purge`.
pub fn image_mark(cluster_id: &str) -> String {
    format!("{OWNER}-{cluster_id}")
}

/// What runs on `host`: everywhere-components, and on the monitor host all the others.
pub fn components_on(cluster: &Cluster, host: &Host) -> Vec<Component> {
    let Some(monitor) = &cluster.monitor else {
        return Vec::new();
    };
    let wanted = |component: &Component| component.is_everywhere() || host.name == monitor.host;
    Component::ALL
        .into_iter()
        .filter(|c| monitor.components.contains(c))
        .filter(wanted)
        .collect()
}

/// `address:port` of a component on a host.
pub fn endpoint(cluster: &Cluster, host: &Host, component: Component) -> String {
    let port = cluster
        .monitor
        .as_ref()
        .and_then(|m| m.ports.get(&component).copied());
    format!(
        "{}:{}",
        host.address,
        port.unwrap_or(component.default_port())
    )
}
