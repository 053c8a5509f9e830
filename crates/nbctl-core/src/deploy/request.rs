//! What a deploy and a teardown ask of a host, one question for both, and what a status asks.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::state::{claimed, roots};
use crate::facts::FactsRequest;
use crate::inventory::{Cluster, Install, Layout};
use crate::units::{HostName, RemotePath};

/// Name of the package in the RPM database.
pub const RPM_NAME: &str = "nebula-graph";

/// The question for one host.
pub fn facts_request(cluster: &Cluster, host: &HostName) -> FactsRequest {
    let daemons: Vec<_> = cluster.daemons_on(host).collect();
    let layouts = roots(cluster, host).into_iter().map(Layout::new);
    let links = layouts.flat_map(|layout| {
        [
            layout.current(),
            layout.share(),
            layout.cluster_id(),
            layout.backup(),
        ]
    });
    let data = daemons
        .iter()
        .flat_map(|daemon| daemon.data_paths.iter().cloned());
    let folders = daemons
        .iter()
        .flat_map(|d| [d.conf.parent(), d.pid_file.parent(), d.log_dir.clone()]);
    let mut names: Vec<String> = cluster.hosts.iter().map(|h| h.address.clone()).collect();
    names.retain(|name| !is_ip(name));
    names.sort();
    names.dedup();
    let paths: BTreeSet<RemotePath> = links.chain(data.clone()).chain(folders).collect();
    FactsRequest {
        roots: claimed(cluster, host),
        installs: roots(cluster, host),
        paths: paths.into_iter().collect(),
        files: daemons
            .iter()
            .map(|daemon| daemon.conf.clone())
            .chain(super::tls::paths(cluster, host))
            .chain(daemons.iter().filter_map(|daemon| daemon.unit_file()))
            .collect(),
        space: data.collect(),
        names,
        docker_socket: cluster
            .monitor
            .as_ref()
            .map(|monitor| monitor.docker_socket.clone()),
        pid_files: daemons.iter().map(|d| d.pid_file.clone()).collect(),
        rpm: (cluster.install == Install::Rpm).then(|| RPM_NAME.to_owned()),
        sudo: sudo(cluster, host),
        ..FactsRequest::default()
    }
}

/// What a status shows of one host, and no more: each process that a script starts is felt where hosts are many.
pub fn status_request(cluster: &Cluster, host: &HostName) -> FactsRequest {
    let daemons = cluster.daemons_on(host);
    let roots = roots(cluster, host).into_iter();
    FactsRequest {
        roots: claimed(cluster, host),
        paths: roots.map(|root| Layout::new(root).current()).collect(),
        files: daemons.map(|daemon| daemon.conf.clone()).collect(),
        daemons_only: true,
        sudo: sudo(cluster, host),
        ..FactsRequest::default()
    }
}

/// Addresses are IPv4 or names; the inventory sees to that.
pub(crate) fn is_ip(address: &str) -> bool {
    address.parse::<Ipv4Addr>().is_ok()
}

/// Whether `sudo -n` may be used on a host.
pub(crate) fn sudo(cluster: &Cluster, host: &HostName) -> bool {
    cluster.host(host).is_some_and(|h| h.ssh.sudo)
}
