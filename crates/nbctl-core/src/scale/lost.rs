//! Hosts that are gone for good and leave the cluster without being asked.
//!
//! Duties: nobody is counted as lost whose storaged still answers; no partition may lose its last copy, nor the majority
//! that its copies need to be moved; metads stay members and must have a majority of their own; say what stays behind.

use std::collections::BTreeMap;

use super::{Copies, Leaving};
use crate::deploy::{claimed, process};
use crate::inventory::{Cluster, Daemon, DaemonRole};
use crate::units::HostName;

/// What a scale in of lost hosts is planned from beside the rest.
#[derive(Debug, Clone, Copy)]
pub struct Lost<'a> {
    /// Hosts that leave and cannot be reached.
    pub hosts: &'a [HostName],
    /// SHOW PARTS of every space; `None`: nobody answered.
    pub copies: Option<&'a [Copies]>,
}

impl Lost<'_> {
    fn has(&self, host: &HostName) -> bool {
        self.hosts.contains(host)
    }

    /// Why these hosts cannot be given up.
    pub(super) fn refusals(&self, given: &Leaving<'_>) -> Vec<String> {
        if self.hosts.is_empty() {
            return Vec::new();
        }
        let mut faults: Vec<String> = self.without_majority(given).into_iter().collect();
        let storageds = given.storageds().into_iter();
        let storageds: Vec<&Daemon> = storageds.filter(|d| self.has(&d.host)).collect();
        let online = |daemon: &&&Daemon| given.row(daemon).is_some_and(|row| row.online);
        for daemon in storageds.iter().filter(online) {
            faults.push(format!(
                "{} is ONLINE, so its host is not lost: make it answer to nbctl, or end the daemon there",
                daemon.id()
            ));
        }
        match (self.copies, given.hosts) {
            _ if storageds.is_empty() => {}
            (Some(copies), Some(_)) => faults.extend(without_copies(given, copies)),
            _ => faults.push("it is not known where the copies of the data lie".to_owned()),
        }
        faults
    }

    /// Nothing is moved or dropped by metads that cannot agree.
    fn without_majority(&self, given: &Leaving<'_>) -> Option<String> {
        let runs = |daemon: &&Daemon| {
            let facts = given.facts.get(&daemon.host);
            !self.has(&daemon.host) && facts.is_some_and(|facts| process(daemon, facts).is_some())
        };
        let all = given.cluster.daemons_of(DaemonRole::Metad).count();
        let up = given.cluster.daemons_of(DaemonRole::Metad);
        let up = up.filter(runs).count();
        (up * 2 <= all).then(|| {
            format!("{up} of {all} metads run, which is no majority: bring another one back first")
        })
    }

    /// What nobody stopped or deleted.
    pub(super) fn behind(&self, given: &Leaving<'_>) -> Vec<String> {
        let hosts = self.hosts.iter();
        hosts.map(|host| left_on(given.cluster, host)).collect()
    }
}

/// Partitions that would lose data or cannot agree on a leader, told by space.
fn without_copies(given: &Leaving<'_>, copies: &[Copies]) -> Vec<String> {
    let rows = given.hosts.unwrap_or_default();
    let online = |peer: &&String| rows.iter().any(|row| row.endpoint == **peer && row.online);
    let (mut gone, mut few) = (BySpace::new(), BySpace::new());
    for copy in copies {
        let left = copy.peers.iter().filter(online).count();
        let group = match left {
            0 => &mut gone,
            left if left * 2 <= copy.peers.len() => &mut few,
            _ => continue,
        };
        group.entry(&copy.space).or_default().push(copy.part);
    }
    let gone = gone.iter().map(|(space, parts)| {
        format!(
            "space {space}: no copy of {} is left elsewhere; without the host this data is gone",
            partitions(parts)
        )
    });
    let few = few.iter().map(|(space, parts)| {
        format!(
            "space {space}: {} would have no majority of copies left, and without one nothing is moved",
            partitions(parts)
        )
    });
    gone.chain(few).collect()
}

fn left_on(cluster: &Cluster, host: &HostName) -> String {
    let folders = claimed(cluster, host);
    let folders: Vec<String> = folders.iter().map(ToString::to_string).collect();
    let mut here = cluster.daemons_on(host);
    let metad = if here.any(|daemon| daemon.role == DaemonRole::Metad) {
        let all = cluster.daemons_of(DaemonRole::Metad).count();
        format!("; its metad stays one of {all}: put a host of the same address in its place")
    } else {
        String::new()
    };
    format!(
        "{host}: {} stays as it is, and whatever starts its daemons there; once the host answers and while the inventory names it, \
         `nbctl scale in --host {host}` stops and deletes them{metad}",
        folders.join(", ")
    )
}

/// Partitions by space.
type BySpace<'a> = BTreeMap<&'a str, Vec<i64>>;

/// `partition 3`, `partitions 1, 2 and 7 more`.
fn partitions(parts: &[i64]) -> String {
    const SHOWN: usize = 5;
    let some: Vec<String> = parts.iter().take(SHOWN).map(ToString::to_string).collect();
    let word = if parts.len() == 1 {
        "partition"
    } else {
        "partitions"
    };
    let more = match parts.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word} {}{more}", some.join(", "))
}
