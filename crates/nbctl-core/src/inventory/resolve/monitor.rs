//! The monitoring stack.

use std::collections::{BTreeMap, BTreeSet};

use super::super::at::At;
use super::super::cluster::{Monitor, Registry};
use super::super::names::Role;
use super::super::path::plain;
use super::super::problem::{Problem, Source};
use super::super::spec::{Component, MonitorPortsSpec, MonitorSpec};
use super::{Draft, keep, value};
use crate::duration::parse_duration;
use crate::units::RemotePath;

/// The stack on the host with the monitor role, `None` when no host has it.
pub(super) fn resolve(
    draft: &Draft<'_>,
    source: &Source,
    problems: &mut Vec<Problem>,
) -> Option<Monitor> {
    let host = draft
        .hosts
        .iter()
        .find(|h| h.host.roles.contains(&Role::Monitor))?;
    let spec = draft
        .spec
        .monitor
        .as_ref()
        .map(|m| m.value.clone())
        .unwrap_or_default();
    Some(Monitor {
        host: host.host.name.clone(),
        images: spec.images.as_ref().map(|i| source.local_path(i)),
        registry: registry(&spec, problems),
        docker_socket: socket(&spec, problems)?,
        docker_sudo: spec.docker.sudo.unwrap_or(false),
        retention_s: retention(&spec, problems),
        ports: ports(&spec.ports, problems),
        components: components(&spec),
    })
}

fn registry(spec: &MonitorSpec, problems: &mut Vec<Problem>) -> Option<Registry> {
    let written = spec.registry.as_ref()?;
    let address = keep(
        registry_address(&written.address),
        written.address.place,
        problems,
    );
    Some(Registry {
        address: address?,
        reach: written.reach.unwrap_or_default(),
    })
}

/// An engine takes a first part of a name for a registry only when it has a port (or a dot).
fn registry_address(text: &str) -> Result<String, String> {
    let wrong = || format!("`{text}` is not host:port of a registry, e.g. `registry.lab:5000`");
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let port: u16 = port.parse().map_err(|_| wrong())?;
    if host.is_empty() || !host.chars().all(good) || port == 0 {
        return Err(wrong());
    }
    Ok(text.to_owned())
}

fn socket(spec: &MonitorSpec, problems: &mut Vec<Problem>) -> Option<RemotePath> {
    match &spec.docker.socket {
        Some(socket) => keep(plain(socket), socket.place, problems),
        None => RemotePath::new("/var/run/docker.sock").ok(),
    }
}

fn retention(spec: &MonitorSpec, problems: &mut Vec<Problem>) -> u64 {
    let written = spec.retention.as_ref();
    let time = written.and_then(|r| keep(parse_duration(r), r.place, problems));
    time.map_or(15 * 24 * 3600, |t| t.as_secs())
}

fn components(spec: &MonitorSpec) -> BTreeSet<Component> {
    match &spec.components {
        Some(some) => some.iter().map(|c| c.value).collect(),
        None => Component::ALL.into_iter().collect(),
    }
}

fn ports(spec: &MonitorPortsSpec, problems: &mut Vec<Problem>) -> BTreeMap<Component, u16> {
    let mut number = |component| {
        let written = spec.of(component);
        let port = written.and_then(|p| keep(value::port(p.value), p.place, problems));
        (component, port.unwrap_or(component.default_port()))
    };
    Component::ALL.into_iter().map(&mut number).collect()
}

impl MonitorPortsSpec {
    pub(crate) fn of(&self, component: Component) -> Option<&At<u32>> {
        match component {
            Component::Prometheus => self.prometheus.as_ref(),
            Component::Influxdb => self.influxdb.as_ref(),
            Component::Grafana => self.grafana.as_ref(),
            Component::NodeExporter => self.node_exporter.as_ref(),
            Component::ProcessExporter => self.process_exporter.as_ref(),
            Component::Exporter => self.exporter.as_ref(),
        }
    }
}

impl Component {
    /// Every part, in the order in which they are started.
    pub const ALL: [Self; 6] = [
        Self::Prometheus,
        Self::Influxdb,
        Self::Grafana,
        Self::NodeExporter,
        Self::ProcessExporter,
        Self::Exporter,
    ];

    /// The name in the inventory and on containers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prometheus => "prometheus",
            Self::Influxdb => "influxdb",
            Self::Grafana => "grafana",
            Self::NodeExporter => "node-exporter",
            Self::ProcessExporter => "process-exporter",
            Self::Exporter => "exporter",
        }
    }

    /// The port it listens on when the inventory says nothing.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Prometheus => 9090,
            Self::Influxdb => 8086,
            Self::Grafana => 3000,
            Self::NodeExporter => 9100,
            Self::ProcessExporter => 9256,
            Self::Exporter => 9200,
        }
    }

    /// Whether it runs on every host rather than on the monitor host.
    pub const fn is_everywhere(self) -> bool {
        matches!(self, Self::NodeExporter | Self::ProcessExporter)
    }
}
