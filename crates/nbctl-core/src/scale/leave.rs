//! Daemons that leave the cluster.
//!
//! Duties: say what is in the way; what is stopped and deleted goes the way of a teardown, so nothing without our marker is
//! touched; a host that keeps other daemons keeps their folders.

use std::time::Duration;

use serde::Serialize;

use super::lost::Lost;
use super::{Moving, StorageHost, gates, host_port};
use crate::config::Space;
use crate::deploy::{Facts, Observed, Patience, claimed, process, remove_unit, run, stop};
use crate::facts::quoted;
use crate::failure::Failure;
use crate::inventory::{Cluster, Daemon, DaemonRole, Install, Selection};
use crate::owner::{Standing, standing};
use crate::plan::{Action, Delete, Plan, Statement, Step};
use crate::teardown;
use crate::units::{HostName, RemotePath};

const QUICK: Duration = Duration::from_mins(1);

/// What a scale in is planned from.
#[derive(Debug, Clone, Copy)]
pub struct Leaving<'a> {
    /// The cluster, with the daemons that leave.
    pub cluster: &'a Cluster,
    /// Those that leave.
    pub selection: &'a Selection,
    /// Facts of the hosts.
    pub facts: &'a Facts,
    /// Flags of the daemons.
    pub observed: &'a Observed,
    /// SHOW HOSTS; `None`: nobody answered.
    pub hosts: Option<&'a [StorageHost]>,
    /// Spaces with their copies; `None`: nobody answered.
    pub spaces: Option<&'a [Space]>,
    /// Hosts that do not answer and never will; they are left as they are.
    pub lost: Option<Lost<'a>>,
}

/// A planned scale in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shrink {
    /// Storageds to be emptied first, as statements name them.
    pub drain: Vec<String>,
    /// The same, `address:port`.
    pub endpoints: Vec<String>,
    /// Spaces they have partitions of.
    pub spaces: Vec<String>,
    /// What follows: drop, stop, delete.
    pub after: Plan,
    /// What the inventory should not name any more.
    pub to_remove: Vec<String>,
    /// What stays on hosts that are lost, one sentence each.
    pub behind: Vec<String>,
}

impl Shrink {
    /// Nothing to do.
    pub fn is_empty(&self) -> bool {
        self.spaces.is_empty() && self.after.is_empty()
    }
}

/// What is to be done that the selected daemons are no part of the cluster any more.
///
/// # Errors
/// A metad is among them, or what stays could not hold the data; then nothing may be done.
pub fn shrink(given: &Leaving<'_>) -> Result<Shrink, Failure> {
    let faults = refusals(given);
    if !faults.is_empty() {
        return Err(
            Failure::usage("these daemons cannot leave; nothing was changed").lines(faults),
        );
    }
    let leaving = given.leaving();
    let storageds: Vec<&Daemon> = given.storageds();
    let full: Vec<&Daemon> = storageds
        .iter()
        .copied()
        .filter(|daemon| {
            given
                .row(daemon)
                .is_some_and(|row| !row.partitions.is_empty())
        })
        .collect();
    let rows = full.iter().filter_map(|daemon| given.row(daemon));
    let mut spaces: Vec<String> = rows.flat_map(|r| r.partitions.keys().cloned()).collect();
    spaces.sort();
    spaces.dedup();
    let mut after = Plan::default();
    after.stage("drop hosts", given.drops(&storageds));
    after.extend(given.clear());
    Ok(Shrink {
        drain: full.iter().map(|daemon| host_port(daemon)).collect(),
        endpoints: full.iter().map(|daemon| daemon.endpoint()).collect(),
        spaces,
        after,
        to_remove: leaving.iter().map(|d| given.place(d)).collect(),
        behind: given
            .lost
            .map(|lost| lost.behind(given))
            .unwrap_or_default(),
    })
}

fn refusals(given: &Leaving<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let (cluster, leaving) = (given.cluster, given.leaving());
    let stays = |role| {
        let mut of_role = cluster.daemons_of(role);
        of_role.any(|daemon| !given.selection.has_daemon(daemon))
    };
    for daemon in &leaving {
        if daemon.role == DaemonRole::Metad {
            faults.push(format!(
                "{}: metads cannot be added or removed; leave it with --role graphd,storaged",
                daemon.id()
            ));
        } else if !stays(daemon.role) {
            faults.push(format!("{}: no other {} stays", daemon.id(), daemon.role));
        }
    }
    if !given.storageds().is_empty() {
        faults.extend(of_storageds(given));
    }
    if let Some(lost) = given.lost {
        faults.extend(lost.refusals(given));
    }
    faults
}

/// Data must have somewhere to go.
fn of_storageds(given: &Leaving<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let (Some(hosts), Some(spaces)) = (given.hosts, given.spaces) else {
        return vec!["no graphd answers, so it is not known where the data lies".to_owned()];
    };
    let leaving: Vec<String> = given.storageds().iter().map(|d| d.endpoint()).collect();
    let staying: Vec<&StorageHost> = hosts
        .iter()
        .filter(|row| !leaving.contains(&row.endpoint))
        .collect();
    let online = staying.iter().filter(|row| row.online).count();
    for space in spaces
        .iter()
        .filter(|space| online < space.replicas as usize)
    {
        faults.push(format!(
            "space {} keeps {} copies of each partition, and {online} storaged would be left ONLINE",
            space.name, space.replicas
        ));
    }
    let full = given.storageds().into_iter().filter_map(|d| given.row(d));
    let full: Vec<&StorageHost> = full.filter(|row| !row.partitions.is_empty()).collect();
    if full.is_empty() {
        return faults;
    }
    let mut absent: Vec<&str> = staying
        .iter()
        .filter(|row| !row.online)
        .map(|r| r.endpoint.as_str())
        .collect();
    let single = |row: &&&StorageHost| {
        let mut held = row.partitions.keys();
        !row.online && held.any(|name| spaces.iter().any(|s| s.name == *name && s.replicas < 2))
    };
    // Of hosts that are lost it is known partition by partition.
    if given.lost.is_none() {
        absent.extend(full.iter().filter(single).map(|row| row.endpoint.as_str()));
    }
    for endpoint in absent {
        faults.push(format!(
            "{endpoint} is OFFLINE, and partitions would have to move; start it, or take it out first"
        ));
    }
    faults.extend(given.closed_gates());
    faults
}

impl<'a> Leaving<'a> {
    pub(super) fn leaving(&self) -> Vec<&'a Daemon> {
        let all = self.cluster.daemons.iter();
        all.filter(|daemon| self.selection.has_daemon(daemon))
            .collect()
    }

    pub(super) fn storageds(&self) -> Vec<&'a Daemon> {
        let all = self.leaving().into_iter();
        all.filter(|d| d.role == DaemonRole::Storaged).collect()
    }

    pub(super) fn row(&self, daemon: &Daemon) -> Option<&'a StorageHost> {
        let endpoint = daemon.endpoint();
        self.hosts?.iter().find(|row| row.endpoint == endpoint)
    }

    fn closed_gates(&self) -> Vec<String> {
        let version = self.cluster.version;
        if Moving::of(version) == Moving::Zones {
            return vec![format!(
                "{version} moves data between zones only; empty the storaged by hand"
            )];
        }
        let graphds = self.cluster.daemons_of(DaemonRole::Graphd);
        let of = |daemon: &Daemon| {
            let read = self.observed.flags.get(&daemon.id());
            let has = |name: &str| {
                read?
                    .get(name)
                    .map(|value| value == &serde_json::Value::Bool(true))
            };
            let closed = gates(version, has).into_iter();
            closed
                .map(|flag| {
                    format!(
                        "{}: {flag} is off, and without it no data moves",
                        daemon.id()
                    )
                })
                .collect::<Vec<_>>()
        };
        graphds.flat_map(of).collect()
    }

    /// 2.x forgets a silent host by itself, a day later.
    fn drops(&self, storageds: &[&Daemon]) -> Vec<Step> {
        if !self.cluster.version.needs_add_hosts() {
            return Vec::new();
        }
        let known = storageds.iter().filter(|daemon| self.row(daemon).is_some());
        let step = |daemon: &&Daemon| {
            let statement = Statement {
                text: format!("DROP HOSTS {}", host_port(daemon)),
                tolerate: Some("not existed".into()),
            };
            let title = format!("drop {} ({})", daemon.id(), daemon.endpoint());
            Step::cluster(title, Action::Query(statement))
        };
        known.map(step).collect()
    }

    /// Stop and delete. Hosts that lose every daemon are torn down, the others lose what is the daemon's alone.
    fn clear(&self) -> Plan {
        let keeps = |host: &HostName| {
            let mut here = self.cluster.daemons_on(host);
            here.any(|daemon| !self.selection.has_daemon(daemon))
        };
        let mut gone = self.cluster.clone();
        gone.daemons
            .retain(|daemon| self.selection.has_daemon(daemon) && !keeps(&daemon.host));
        gone.hosts.retain(|host| !keeps(&host.name));
        for host in &mut gone.hosts {
            host.load_dir = None;
            host.monitor_dir = None;
        }
        let mut plan = teardown::plan(&gone, self.facts, true).plan;
        let partly = self.leaving().into_iter().filter(|d| keeps(&d.host));
        let partly: Vec<&Daemon> = partly.collect();
        for role in DaemonRole::STOP_ORDER {
            let of_role = partly.iter().filter(|d| d.role == role);
            plan.stage(
                format!("stop {role}"),
                of_role.filter_map(|d| self.stop(d)).collect(),
            );
        }
        let unit = |daemon: &&Daemon| {
            self.owner(daemon, &daemon.root)?;
            remove_unit(self.cluster, daemon, self.facts.get(&daemon.host)?)
        };
        plan.stage("remove units", partly.iter().filter_map(unit).collect());
        let deletes = partly.iter().flat_map(|daemon| self.delete(daemon));
        plan.stage("delete", deletes.collect());
        plan
    }

    fn stop(&self, daemon: &Daemon) -> Option<Step> {
        let facts = self.facts.get(&daemon.host)?;
        process(daemon, facts)?;
        self.owner(daemon, &daemon.root)?;
        // What it had is elsewhere by now.
        let action = stop(daemon, Patience::DROP_DATA);
        Some(Step::on(
            &daemon.host,
            format!("stop {}", daemon.id()),
            action,
        ))
    }

    /// The marked folder of ours that holds a path.
    fn owner(&self, daemon: &Daemon, path: &RemotePath) -> Option<RemotePath> {
        let facts = self.facts.get(&daemon.host)?;
        let mut folders = claimed(self.cluster, &daemon.host).into_iter();
        folders.find(|root| {
            path.is_within(root) && standing(root, &self.cluster.id, facts) == Standing::Ours
        })
    }

    fn delete(&self, daemon: &Daemon) -> Vec<Step> {
        let Some(facts) = self.facts.get(&daemon.host) else {
            return Vec::new();
        };
        let folder = |path: &&RemotePath| facts.exists(path);
        let data = daemon.data_paths.iter().filter(folder);
        let step = |path: &RemotePath| {
            let delete = Delete {
                path: path.clone(),
                owner_root: self.owner(daemon, path)?,
                cluster_id: self.cluster.id.clone(),
                sudo: self.cluster.install == Install::Rpm,
            };
            let title = format!("delete {path}");
            Some(Step::on(&daemon.host, title, Action::Delete(delete)))
        };
        let mut steps: Vec<Step> = data.filter_map(step).collect();
        let has_conf = facts.sha256(&daemon.conf).is_some();
        if has_conf && self.owner(daemon, &daemon.conf).is_some() {
            let (conf, pid) = (
                quoted(daemon.conf.as_str()),
                quoted(daemon.pid_file.as_str()),
            );
            let action = run(format!("rm -f -- {conf} {pid}\n"), QUICK);
            let title = format!("remove {}", daemon.conf);
            steps.push(Step::on(&daemon.host, title, action));
        }
        steps
    }

    /// `storaged of h4 (line 12)`.
    fn place(&self, daemon: &Daemon) -> String {
        let line = self
            .cluster
            .host(&daemon.host)
            .map_or(0, |host| host.place.line);
        format!("{} of {} (entry of line {line})", daemon.role, daemon.host)
    }
}
