//! What stands beside the cluster on a host: the Docker engine that monitoring runs in, and a firewall.

use std::collections::BTreeSet;

use super::Look;
use crate::facts::{DockerSocket, Firewall};
use crate::inventory::{Cluster, Host, Monitor};
use crate::monitor::{DockerAccess, HostState};

pub(super) fn all(look: &mut Look<'_>) {
    let cluster = look.given.cluster;
    if let Some(monitor) = cluster
        .monitor
        .as_ref()
        .filter(|_| look.host.monitor_dir.is_some())
    {
        engine(look, monitor);
    }
    firewall(look);
}

/// The judgement is that of `monitor up`.
fn engine(look: &mut Look<'_>, monitor: &Monitor) {
    let Some(socket) = &look.facts.docker else {
        return;
    };
    let user = &look.facts.user;
    let docker = match socket {
        DockerSocket::None => DockerAccess::None,
        DockerSocket::Usable => DockerAccess::Ok,
        DockerSocket::Denied(owner) if !monitor.docker_sudo => DockerAccess::Denied(owner.clone()),
        DockerSocket::Denied(_) if user.sudo => DockerAccess::Sudo,
        DockerSocket::Denied(_) => DockerAccess::NoSudo("sudo -n is refused".into()),
    };
    let state = HostState {
        user: user.name.clone(),
        docker,
        ..HostState::default()
    };
    match state.check_docker(look.host.name.as_str(), &monitor.docker_socket) {
        Ok(()) => look.pass("engine", format!("{} can be used", monitor.docker_socket)),
        Err(failure) => {
            let fix = failure.hint.unwrap_or_default();
            look.fail("engine", failure.what, &fix);
        }
    }
}

/// Ports that other hosts must reach; which of them a firewall lets in can be known only of some firewalls.
fn firewall(look: &mut Look<'_>) {
    let Some(firewall) = &look.facts.firewall else {
        return;
    };
    let kind = &firewall.kind;
    if !firewall.is_on() {
        return look.pass("firewall", "none is known to be at work");
    }
    let closed = closed_ports(look.given.cluster, look.host, firewall);
    if closed.is_empty() {
        return look.pass("firewall", format!("{kind} lets every port in"));
    }
    let list = ranges(&closed, "-").join(", ");
    let message = if firewall.open.is_some() {
        format!("{kind} is not known to let in {list}")
    } else {
        format!("{kind} is at work and cannot be asked whether it lets in {list}")
    };
    let fix = open_by_hand(kind, &closed);
    look.warn("firewall", message, &fix);
}

/// Ports of the host's daemons that a firewall is not known to let in.
pub(crate) fn closed_ports(cluster: &Cluster, host: &Host, firewall: &Firewall) -> Vec<u16> {
    let daemons = cluster.daemons_on(&host.name);
    let ports = daemons.flat_map(|daemon| daemon.ports(cluster.version).unwrap_or_default());
    let ports: BTreeSet<u16> = ports.map(|port| port.number).collect();
    let closed = ports.into_iter().filter(|port| !firewall.lets_in(*port));
    closed.collect()
}

/// `9559-9560`, `9669`.
pub(crate) fn ranges(ports: &[u16], dash: &str) -> Vec<String> {
    let mut all: Vec<(u16, u16)> = Vec::new();
    for &port in ports {
        match all.last_mut() {
            Some((_, last)) if *last + 1 == port => *last = port,
            _ => all.push((port, port)),
        }
    }
    let text = |(first, last): (u16, u16)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}{dash}{last}")
        }
    };
    all.into_iter().map(text).collect()
}

fn open_by_hand(kind: &str, ports: &[u16]) -> String {
    let options = |ranges: Vec<String>| {
        ranges
            .iter()
            .map(|r| format!("--add-port={r}/tcp"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    match kind {
        "firewalld" => format!(
            "firewall-cmd {} && firewall-cmd --runtime-to-permanent",
            options(ranges(ports, "-"))
        ),
        "ufw" => format!("ufw allow {}/tcp", ranges(ports, ":").join(",")),
        _ => format!(
            "let tcp ports {} in from the hosts of the cluster",
            ranges(ports, "-").join(", ")
        ),
    }
}
