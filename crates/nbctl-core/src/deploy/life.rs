//! Life of a deployed cluster: start, stop, restart by role and host, and the reset of its data.
//!
//! Duties: NebulaGraph's order; what is not deployed is refused, what is already so is left out; a stop finds every
//! process below our folder that is called like the daemon, wherever its pid file says it is.

use std::collections::BTreeSet;
use std::time::Duration;

use super::start::Starting;
use super::{Facts, Observed, Patience, claimed, process, roots, scripts};
use crate::facts::{HostFacts, PathFact, Process};
use crate::failure::Failure;
use crate::inventory::{Cluster, Daemon, DaemonRole, Install, Layout, Selection};
use crate::plan::{Action, Delete, Plan, Step};
use crate::units::{HostName, RemotePath};

/// Flags that name further folders with data.
const DATA_FLAGS: [&str; 3] = ["wal_path", "listener_path", "rocksdb_wal_dir"];

/// What the plans are made from.
#[derive(Debug, Clone, Copy)]
pub struct Life<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// Hosts that answered; every selected one must have.
    pub facts: &'a Facts,
    /// What the running cluster says.
    pub observed: &'a Observed,
    /// What is meant.
    pub selection: &'a Selection,
}

impl<'a> Life<'a> {
    /// Starts what is selected and does not run.
    ///
    /// # Errors
    /// Something selected is not deployed, or no metad runs afterwards.
    pub fn start(&self) -> Result<Plan, Failure> {
        let idle = self
            .selected()
            .filter(|daemon| self.process(daemon).is_none());
        let mut plan = Plan::default();
        self.start_these(idle.collect(), self.observed, &mut plan)?;
        Ok(plan)
    }

    /// Stops what is selected and runs, clients first; removes pid files whose process is gone.
    pub fn stop(&self, patience: Patience) -> Plan {
        let mut plan = Plan::default();
        for role in DaemonRole::STOP_ORDER {
            let of_role = self.selected().filter(|daemon| daemon.role == role);
            let steps = of_role.filter_map(|daemon| self.stop_one(daemon, patience));
            plan.stage(format!("stop {role}"), steps.collect());
        }
        plan
    }

    /// Stops what is selected and starts all of it.
    ///
    /// # Errors
    /// As [`Life::start`].
    pub fn restart(&self, patience: Patience) -> Result<Plan, Failure> {
        let mut plan = self.stop(patience);
        self.start_these(self.selected().collect(), self.observed, &mut plan)?;
        Ok(plan)
    }

    /// Wipes data, WAL and cluster ids of all hosts together and starts a fresh cluster with the same programs and
    /// configuration.
    ///
    /// # Errors
    /// As [`Life::start`].
    pub fn reset_data(&self) -> Result<Plan, Failure> {
        let mut plan = self.stop(Patience::DROP_DATA);
        plan.stage("delete data", self.delete_data());
        plan.stage("create folders", self.create_data());
        let fresh = Observed::default();
        self.start_these(self.selected().collect(), &fresh, &mut plan)?;
        Ok(plan)
    }

    /// What of the selection runs, strays included: nothing may, after a stop.
    pub fn running(&self) -> Vec<String> {
        let processes = self.selected().flat_map(|daemon| {
            let all = self.processes(daemon);
            all.map(|p| format!("{}: pid {} ({})", daemon.id(), p.pid, p.exe))
        });
        processes.collect()
    }

    fn selected(&self) -> impl Iterator<Item = &'a Daemon> + use<'a> {
        let selection = self.selection;
        let all = self.cluster.daemons.iter();
        all.filter(move |daemon| selection.has_daemon(daemon))
    }

    fn process(&self, daemon: &Daemon) -> Option<&'a Process> {
        process(daemon, self.facts.get(&daemon.host)?)
    }

    /// Processes of this daemon's program below its folder, from a version of ours or not.
    fn processes(&self, daemon: &'a Daemon) -> impl Iterator<Item = &'a Process> + use<'a> {
        let facts = self.facts.get(&daemon.host);
        let all = facts.map(|facts| facts.processes_below(facts.real(&daemon.root)));
        let program = daemon.role.program();
        all.into_iter()
            .flatten()
            .filter(move |process| process.exe.rsplit('/').next() == Some(program))
    }

    fn stop_one(&self, daemon: &'a Daemon, patience: Patience) -> Option<Step> {
        let title = if self.processes(daemon).next().is_some() {
            format!("stop {}", daemon.id())
        } else if self.has_pid_file(daemon) {
            format!("remove the stale pid file of {}", daemon.id())
        } else {
            return None;
        };
        Some(Step::on(
            &daemon.host,
            title,
            scripts::stop(daemon, patience),
        ))
    }

    fn has_pid_file(&self, daemon: &Daemon) -> bool {
        let name = daemon.pid_file.name();
        let facts = self.facts.get(&daemon.host);
        let folder = facts.and_then(|facts| facts.paths.get(&daemon.pid_file.parent()));
        matches!(folder, Some(PathFact::Dir { entries, .. }) if entries.iter().any(|e| e == name))
    }

    fn start_these(
        &self,
        daemons: Vec<&'a Daemon>,
        observed: &Observed,
        plan: &mut Plan,
    ) -> Result<(), Failure> {
        let missing: Vec<String> = daemons
            .iter()
            .filter_map(|d| self.not_deployed(d))
            .collect();
        if !missing.is_empty() {
            return Err(
                Failure::cluster("not everything is deployed; nothing was changed")
                    .lines(missing)
                    .hint("`nbctl deploy` installs and starts it"),
            );
        }
        let runs = |daemon: &&'a Daemon| daemons.contains(daemon) || self.process(daemon).is_some();
        let up: Vec<&Daemon> = self.cluster.daemons.iter().filter(runs).collect();
        if !daemons.is_empty() && !up.iter().any(|daemon| daemon.role == DaemonRole::Metad) {
            return Err(Failure::cluster(
                "no metad runs; the others need one; nothing was changed",
            )
            .hint("start metad as well: --role metad,storaged,graphd"));
        }
        let cluster = self.cluster;
        let starting = Starting {
            cluster,
            observed,
            daemons,
            up,
        };
        starting.plan(plan);
        Ok(())
    }

    fn not_deployed(&self, daemon: &Daemon) -> Option<String> {
        let id = daemon.id();
        let Some(facts) = self.facts.get(&daemon.host) else {
            return Some(format!("{id}: the host did not answer"));
        };
        let current = Layout::new(daemon.root.clone()).current();
        if !matches!(facts.paths.get(&current), Some(PathFact::Link { .. })) {
            return Some(format!("{id}: there is no {current}"));
        }
        let conf = facts.sha256(&daemon.conf);
        conf.is_none()
            .then(|| format!("{id}: there is no {}", daemon.conf))
    }

    fn hosts(&self) -> impl Iterator<Item = (&'a HostName, &'a HostFacts)> + use<'a> {
        self.facts.iter()
    }

    fn delete_data(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (host, facts) in self.hosts() {
            let cluster_ids = roots(self.cluster, host)
                .into_iter()
                .map(|root| Layout::new(root).cluster_id());
            let is_file = |path: &RemotePath| facts.exists(path);
            let cluster_ids: Vec<RemotePath> = cluster_ids.filter(is_file).collect();
            for path in self.data_of(host).into_iter().chain(cluster_ids) {
                steps.extend(self.delete(host, &path));
            }
        }
        steps
    }

    fn create_data(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (host, _) in self.hosts() {
            let paths = self.data_of(host);
            if !paths.is_empty() {
                let paths: Vec<&RemotePath> = paths.iter().collect();
                let title = format!("create {}", super::steps::list(&paths));
                steps.push(Step::on(host, title, scripts::folders(&paths)));
            }
        }
        steps
    }

    /// Folders with data on a host.
    fn data_of(&self, host: &'a HostName) -> BTreeSet<RemotePath> {
        let mut all = BTreeSet::new();
        for daemon in self.cluster.daemons_on(host) {
            all.extend(daemon.data_paths.iter().cloned());
            let flags = DATA_FLAGS.iter().filter_map(|name| daemon.flags.get(*name));
            all.extend(flags.filter_map(|value| RemotePath::new(value).ok()));
        }
        all
    }

    /// `None` for what lies in no folder of ours, which the checks of a deploy refuse.
    fn delete(&self, host: &HostName, path: &RemotePath) -> Option<Step> {
        let mut folders = claimed(self.cluster, host).into_iter();
        let delete = Delete {
            path: path.clone(),
            owner_root: folders.find(|root| path.is_within(root))?,
            cluster_id: self.cluster.id.clone(),
            sudo: self.cluster.install == Install::Rpm,
        };
        Some(Step::on(
            host,
            format!("delete {path}"),
            Action::Delete(delete),
        ))
    }
}

/// How long a daemon may take to end when the user says so; KILL afterwards only when allowed.
pub const fn patience(seconds: u64, force: bool) -> Patience {
    Patience {
        time: Duration::from_secs(seconds),
        kill: force,
    }
}
