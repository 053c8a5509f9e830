//! Teardown: nothing of a cluster stays on its hosts.
//!
//! Purpose: the way back from any state, whole, half or nothing.
//! Duties: stop what runs from our folders, by executable; delete only below folders that carry our
//! marker; leave what others put there and say so; know what must be gone afterwards.
//! The package cache stays unless it is purged, so that the next trial sends no package bytes.

use std::time::Duration;

use serde::Serialize;

use crate::deploy::{
    Facts, Patience, claimed, is_debian, process, remove_rpm, remove_unit, roots, run, run_as_root,
    stop,
};
use crate::facts::{HostFacts, PathFact, quoted};
use crate::inventory::{Cluster, Daemon, DaemonRole, Install, Layout};
use crate::lease::FILE as LEASE;
use crate::owner::{MARKER, Standing, standing};
use crate::plan::{Action, Delete, Plan, Step};
use crate::units::{HostName, RemotePath};

const QUICK: Duration = Duration::from_mins(1);
/// Below `deploy_dir`, kept unless purged.
const CACHE: &str = "cache";

/// What a teardown does, and what it does not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Teardown {
    /// Empty when nothing of ours is there.
    pub plan: Plan,
    /// Folders of the inventory that are not ours and stay, one sentence each.
    pub left_alone: Vec<String>,
}

/// Plans the teardown of everything that the inventory names and that carries our marker. Hosts
/// without facts are left out; the caller decides whether that is a failure.
pub fn plan(cluster: &Cluster, facts: &Facts, purge: bool) -> Teardown {
    let planner = Planner {
        cluster,
        facts,
        purge,
    };
    let mut plan = Plan::default();
    for role in DaemonRole::STOP_ORDER {
        plan.stage(format!("stop {role}"), planner.stop(role));
    }
    plan.stage("remove package", planner.on_hosts(Planner::rpm));
    plan.stage("remove units", planner.units());
    plan.stage("remove links", planner.on_hosts(Planner::links));
    plan.stage("delete", planner.on_hosts(Planner::delete));
    Teardown {
        plan,
        left_alone: planner.left_alone(),
    }
}

/// What is still there after a teardown, one sentence each; `facts` were asked for afterwards.
pub fn leftovers(cluster: &Cluster, facts: &Facts, purge: bool) -> Vec<String> {
    let again = plan(cluster, facts, purge).plan;
    let steps = again.stages.into_iter().flat_map(|stage| stage.steps);
    steps.map(|step| format!("not done: {step}")).collect()
}

struct Planner<'a> {
    cluster: &'a Cluster,
    facts: &'a Facts,
    purge: bool,
}

impl<'a> Planner<'a> {
    fn hosts(&self) -> impl Iterator<Item = (&'a HostName, &'a HostFacts)> {
        let facts = self.facts;
        self.cluster
            .hosts
            .iter()
            .filter_map(|host| Some((&host.name, facts.get(&host.name)?)))
    }

    fn on_hosts(&self, one: fn(&Self, &HostName, &HostFacts) -> Vec<Step>) -> Vec<Step> {
        self.hosts()
            .flat_map(|(host, facts)| one(self, host, facts))
            .collect()
    }

    fn standing(&self, path: &RemotePath, facts: &HostFacts) -> Standing {
        standing(path, &self.cluster.id, facts)
    }

    /// The marked folder that holds `path`.
    fn is_ours(&self, host: &HostName, path: &RemotePath, facts: &HostFacts) -> bool {
        let mut folders = claimed(self.cluster, host).into_iter();
        folders.any(|root| path.is_within(&root) && self.standing(&root, facts) == Standing::Ours)
    }

    fn stop(&self, role: DaemonRole) -> Vec<Step> {
        let runs = |daemon: &&Daemon| {
            self.facts.get(&daemon.host).is_some_and(|facts| {
                process(daemon, facts).is_some() && self.is_ours(&daemon.host, &daemon.root, facts)
            })
        };
        let step = |daemon: &Daemon| {
            let action = stop(daemon, Patience::DROP_DATA);
            Step::on(&daemon.host, format!("stop {}", daemon.id()), action)
        };
        self.cluster
            .daemons_of(role)
            .filter(runs)
            .map(step)
            .collect()
    }

    fn rpm(&self, host: &HostName, facts: &HostFacts) -> Vec<Step> {
        let folders = roots(self.cluster, host);
        let ours = |prefix: &str| {
            let below = |root: &RemotePath| prefix.starts_with(&format!("{root}/versions/"));
            folders
                .iter()
                .any(|root| below(root) && self.is_ours(host, root, facts))
        };
        let packages = facts.rpms.iter().filter(|(_, prefix)| ours(prefix));
        let step = |(package, _): (&String, &String)| {
            let action = remove_rpm(package, is_debian(facts));
            Step::on(host, format!("remove package {package}"), action)
        };
        packages.map(step).collect()
    }

    /// Of daemons whose folder is ours.
    fn units(&self) -> Vec<Step> {
        let step = |daemon: &Daemon| {
            let facts = self.facts.get(&daemon.host)?;
            self.is_ours(&daemon.host, &daemon.root, facts)
                .then(|| remove_unit(self.cluster, daemon, facts))?
        };
        self.cluster.daemons.iter().filter_map(step).collect()
    }

    /// Links are unlinked by name: the deletion itself refuses links, and would be right to.
    fn links(&self, host: &HostName, facts: &HostFacts) -> Vec<Step> {
        let mut steps = Vec::new();
        for root in roots(self.cluster, host) {
            let layout = Layout::new(root.clone());
            let is_link =
                |path: &RemotePath| matches!(facts.paths.get(path), Some(PathFact::Link { .. }));
            let links = [layout.current(), layout.share()]
                .into_iter()
                .filter(is_link);
            let links: Vec<String> = links.map(|link| quoted(link.as_str())).collect();
            if !links.is_empty() && self.is_ours(host, &root, facts) {
                let text = format!(
                    "for link in {}; do [ ! -L \"$link\" ] || rm -f -- \"$link\" || exit 1; done\n",
                    links.join(" ")
                );
                let action = if self.sudo() {
                    run_as_root(text, QUICK)
                } else {
                    run(text, QUICK)
                };
                steps.push(Step::on(host, format!("remove links in {root}"), action));
            }
        }
        steps
    }

    fn delete(&self, host: &HostName, facts: &HostFacts) -> Vec<Step> {
        let mut steps = Vec::new();
        for root in claimed(self.cluster, host) {
            match self.standing(&root, facts) {
                Standing::Ours => steps.extend(self.delete_root(host, &root, facts)),
                // A claim cut short: the folder was made, the marker was not. rmdir takes only what is empty.
                Standing::Free if facts.exists(&root) && !Self::is_mount(&root, facts) => {
                    let path = quoted(root.as_str());
                    let action = run(
                        format!(
                            "rm -f -- {path}/{MARKER}.[0-9]* {path}/{LEASE}* && rmdir -- {path}\n"
                        ),
                        QUICK,
                    );
                    steps.push(Step::on(host, format!("remove empty {root}"), action));
                }
                _ => {}
            }
        }
        steps
    }

    /// An empty folder that is a disk of its own was there before us.
    fn is_mount(path: &RemotePath, facts: &HostFacts) -> bool {
        facts
            .space
            .get(path)
            .is_some_and(|space| space.mount == path.as_str())
    }

    fn delete_root(&self, host: &HostName, root: &RemotePath, facts: &HostFacts) -> Vec<Step> {
        let keeps_cache = !self.purge
            && facts
                .cached
                .keys()
                .any(|file| file.is_within(&root.join(CACHE)));
        if !keeps_cache {
            return vec![self.delete_step(host, root, root)];
        }
        let Some(PathFact::Dir { entries, .. }) = facts.paths.get(root) else {
            return Vec::new();
        };
        // Links have gone before; the lease goes when the command ends.
        let stays = [CACHE, MARKER, LEASE, "current", "share"];
        let goes = |name: &&String| !stays.contains(&name.as_str());
        entries
            .iter()
            .filter(goes)
            .map(|name| self.delete_step(host, &root.join(name), root))
            .collect()
    }

    fn delete_step(&self, host: &HostName, path: &RemotePath, root: &RemotePath) -> Step {
        let delete = Delete {
            path: path.clone(),
            owner_root: root.clone(),
            cluster_id: self.cluster.id.clone(),
            sudo: self.sudo(),
        };
        Step::on(host, format!("delete {path}"), Action::Delete(delete))
    }

    /// What the RPM database put there belongs to root.
    fn sudo(&self) -> bool {
        self.cluster.install == Install::Rpm
    }

    fn left_alone(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (host, facts) in self.hosts() {
            for root in claimed(self.cluster, host) {
                all.extend(
                    why_not(&self.standing(&root, facts))
                        .map(|why| format!("{host}: {root} {why}")),
                );
            }
        }
        all
    }
}

fn why_not(standing: &Standing) -> Option<String> {
    match standing {
        Standing::Free | Standing::Ours => None,
        Standing::Foreign(marker) => Some(format!("belongs to {marker}")),
        Standing::Unmarked(names) => Some(format!(
            "has no marker of ours and holds {}",
            names.join(", ")
        )),
        Standing::Wrong(what) => Some(what.clone()),
    }
}
