//! The four places where one daemon's settings may stand.
//!
//! Duty: one order of strength for ports, folders and flags alike: cluster, then role, then host,
//! then host and role.

use super::at::{At, Place};
use super::flags::Flags;
use super::names::DaemonRole;
use super::spec::{HostSpec, Inventory, NebulaSpec, PinSpec, RoleSpec};

/// What one place says about a daemon.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layer<'a> {
    /// Set when the layer speaks of one role only.
    pub role: Option<DaemonRole>,
    pub port: Option<&'a At<u32>>,
    pub http_port: Option<&'a At<u32>>,
    pub deploy_dir: Option<&'a At<String>>,
    pub data_dir: Option<&'a At<String>>,
    pub data_dirs: Option<&'a At<Vec<At<String>>>>,
    pub log_dir: Option<&'a At<String>>,
    pub pin: Option<&'a PinSpec>,
    pub flags: &'a Flags,
}

/// All layers of one daemon, weakest first.
#[derive(Debug, Clone)]
pub(crate) struct Layers<'a>(Vec<Layer<'a>>);

impl<'a> Layers<'a> {
    pub(crate) fn of(spec: &'a Inventory, host: &'a HostSpec, role: DaemonRole) -> Self {
        let mut all = vec![Layer::of_cluster(&spec.nebula)];
        all.extend(role_of_cluster(&spec.nebula, role).map(|r| Layer::of_role(r, role)));
        all.push(Layer::of_host(host));
        all.extend(role_of_host(host, role).map(|r| Layer::of_role(r, role)));
        Self(all)
    }

    pub(crate) fn weakest_first(&self) -> impl Iterator<Item = &Layer<'a>> {
        self.0.iter()
    }

    /// What the strongest layer says that says anything.
    pub(crate) fn strongest<T>(&self, get: impl Fn(&Layer<'a>) -> Option<T>) -> Option<T> {
        self.0.iter().rev().find_map(get)
    }

    /// The data folders and the place where they are named.
    pub(crate) fn data(&self) -> Option<(Place, Vec<&'a At<String>>)> {
        self.strongest(|layer| match (layer.data_dirs, layer.data_dir) {
            (Some(many), _) => Some((many.place, many.value.iter().collect())),
            (None, Some(one)) => Some((one.place, vec![one])),
            (None, None) => None,
        })
    }
}

impl<'a> Layer<'a> {
    pub(crate) fn of_cluster(nebula: &'a NebulaSpec) -> Self {
        Self {
            role: None,
            port: None,
            http_port: None,
            deploy_dir: nebula.deploy_dir.as_ref(),
            data_dir: nebula.data_dir.as_ref(),
            data_dirs: None,
            log_dir: nebula.log_dir.as_ref(),
            pin: None,
            flags: &nebula.flags,
        }
    }

    pub(crate) fn of_host(host: &'a HostSpec) -> Self {
        Self {
            role: None,
            port: None,
            http_port: None,
            deploy_dir: host.deploy_dir.as_ref(),
            data_dir: host.data_dir.as_ref(),
            data_dirs: None,
            log_dir: host.log_dir.as_ref(),
            pin: None,
            flags: &host.flags,
        }
    }

    pub(crate) fn of_role(spec: &'a RoleSpec, role: DaemonRole) -> Self {
        Self {
            role: Some(role),
            port: spec.port.as_ref(),
            http_port: spec.http_port.as_ref(),
            deploy_dir: spec.deploy_dir.as_ref(),
            data_dir: spec.data_dir.as_ref(),
            data_dirs: spec.data_dirs.as_ref(),
            log_dir: spec.log_dir.as_ref(),
            pin: spec.pin.as_ref(),
            flags: &spec.flags,
        }
    }
}

pub(crate) fn role_of_cluster(nebula: &NebulaSpec, role: DaemonRole) -> Option<&RoleSpec> {
    match role {
        DaemonRole::Metad => nebula.metad.as_ref(),
        DaemonRole::Graphd => nebula.graphd.as_ref(),
        DaemonRole::Storaged => nebula.storaged.as_ref(),
    }
}

pub(crate) fn role_of_host(host: &HostSpec, role: DaemonRole) -> Option<&RoleSpec> {
    match role {
        DaemonRole::Metad => host.metad.as_ref(),
        DaemonRole::Graphd => host.graphd.as_ref(),
        DaemonRole::Storaged => host.storaged.as_ref(),
    }
}

/// Every layer of the file once, for checks that look at what is written rather than what results.
pub(crate) fn written(spec: &Inventory) -> Vec<Layer<'_>> {
    let mut all = vec![Layer::of_cluster(&spec.nebula)];
    for role in DaemonRole::START_ORDER {
        all.extend(role_of_cluster(&spec.nebula, role).map(|r| Layer::of_role(r, role)));
    }
    for host in &spec.hosts.value {
        all.push(Layer::of_host(host));
        for role in DaemonRole::START_ORDER {
            all.extend(role_of_host(host, role).map(|r| Layer::of_role(r, role)));
        }
    }
    all
}
