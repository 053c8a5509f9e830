//! Snapshot: what a run is made against, as hosts and daemons tell it themselves.

use std::collections::BTreeMap;

use nbctl_core::deploy::Facts;
use nbctl_core::facts::HostFacts;
use nbctl_core::flags::IDENTITY;
use nbctl_core::inventory::{Cluster, Daemon, Host};
use nbctl_core::run::{ClusterInfo, DaemonInfo, HostInfo};

use crate::phase::observe::Seen;

/// `git_info_sha` by which a daemon of the stand-in marks itself; no build of NebulaGraph has it.
const SANDBOX_SHA: &str = nebula_sandbox::SANDBOX_GIT_SHA;

/// The cluster as its daemons describe it.
pub fn cluster(cluster: &Cluster, seen: &Seen) -> ClusterInfo {
    let daemons: Vec<DaemonInfo> = cluster
        .daemons
        .iter()
        .map(|daemon| info(daemon, seen))
        .collect();
    ClusterInfo {
        name: cluster.name.clone(),
        version: cluster.version.to_string(),
        sandbox: daemons.iter().any(|daemon| daemon.git_sha == SANDBOX_SHA),
        daemons,
    }
}

fn info(daemon: &Daemon, seen: &Seen) -> DaemonInfo {
    let sha = seen
        .answers
        .get(&daemon.id())
        .and_then(|answer| answer.sha.clone());
    DaemonInfo {
        role: daemon.role.to_string(),
        host: daemon.host.to_string(),
        endpoint: daemon.endpoint(),
        git_sha: sha.unwrap_or_default(),
        flags: if seen.observed.flags.contains_key(&daemon.id()) {
            told(&daemon.flags)
        } else {
            BTreeMap::new()
        },
    }
}

/// Who and where a daemon is stays the same for every trial, so no reader needs it in a report.
fn told(flags: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let said = |(name, _): &(&String, &String)| !IDENTITY.contains(&name.as_str());
    flags
        .iter()
        .filter(said)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The hosts as their facts describe them.
pub fn hosts(cluster: &Cluster, facts: &Facts) -> Vec<HostInfo> {
    cluster
        .hosts
        .iter()
        .filter_map(|host| Some(host_info(host, facts.get(&host.name)?)))
        .collect()
}

fn host_info(host: &Host, facts: &HostFacts) -> HostInfo {
    HostInfo {
        name: host.name.to_string(),
        address: host.address.clone(),
        roles: host.roles.iter().map(ToString::to_string).collect(),
        os: facts.system.os_name.clone(),
        kernel: facts.system.kernel.clone(),
        cpus: facts.system.cpus,
        memory_bytes: facts.system.memory,
        boot_id: facts.system.boot_id.clone(),
        clock_offset_ms: facts
            .clock
            .offset
            .map_or(0, |o| i64::midpoint(o.low_ms, o.high_ms)),
    }
}
