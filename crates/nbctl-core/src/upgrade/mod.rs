//! Upgrade: the same data under another version.
//!
//! Purpose: a deploy of the new version with what an upgrade needs beside it (`reference/deploy.md` 9.2): metad's data
//! kept aside before the new one touches it, the storageds' data rewritten where the way says so.
//! Duties: refuse ways that do not exist; everything that can be refused is refused before the first daemon stops; all
//! daemons are down between the versions, since builds must not be mixed; what is there already is not done again.

mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use crate::deploy::{self, Facts, Given, Observed, roots};
use crate::facts::{HostFacts, PathFact, quoted};
use crate::failure::Failure;
use crate::inventory::{Cluster, Daemon, DaemonRole, Install, Layout, Version};
use crate::package::PackageName;
use crate::plan::{Action, Delete, Plan, Step};
use crate::units::{HostName, RemotePath};

pub use rules::{Way, way};

const QUICK: Duration = Duration::from_mins(1);
/// Copying metad's data; rewriting a storaged's.
const COPY: Duration = Duration::from_hours(1);
const REWRITE: Duration = Duration::from_hours(24);

/// A planned upgrade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Upgrade {
    /// Empty when every daemon runs the new version.
    pub plan: Plan,
    /// What the user has to know.
    pub remarks: Vec<String>,
    /// Where metad's data is kept, one sentence each.
    pub backups: Vec<String>,
}

/// The oldest version that a host's `current` leads to, told by the package it was unpacked from; `None` when the
/// package is not in the cache any more, or nothing is deployed.
pub fn deployed(cluster: &Cluster, facts: &Facts) -> Option<Version> {
    let of_host = |(host, facts): (&HostName, &HostFacts)| {
        let of_root = |root: RemotePath| version_of(&root, facts);
        roots(cluster, host).into_iter().filter_map(of_root).min()
    };
    facts.iter().filter_map(of_host).min()
}

fn version_of(root: &RemotePath, facts: &HostFacts) -> Option<Version> {
    let sha = current(root, facts)?;
    let mut names = facts.cached.keys().map(RemotePath::name);
    names.find_map(|name| {
        let package = name.strip_prefix(&sha)?.strip_prefix('-')?;
        Version::parse(&PackageName::parse(package).ok()?.version).ok()
    })
}

/// The 12 digits that `current` leads to.
fn current(root: &RemotePath, facts: &HostFacts) -> Option<String> {
    match facts.paths.get(&Layout::new(root.clone()).current()) {
        Some(PathFact::Link { target, .. }) => Some(target.strip_prefix("versions/")?.to_owned()),
        _ => None,
    }
}

/// What the running cluster says, as far as the new version may believe it: whether storageds have to be added is
/// another matter behind 3.0.
pub fn believed(observed: &Observed, from: Version, to: Version) -> Observed {
    let mut observed = observed.clone();
    if to.needs_add_hosts() && !from.needs_add_hosts() {
        observed.storageds = None;
    }
    observed
}

/// The steps from the version that is there to that of `given`.
///
/// # Errors
/// There is no way; those of a deploy.
pub fn plan(given: &Given<'_>, from: Version) -> Result<Upgrade, Failure> {
    let to = given.cluster.version;
    let (way, remark) = way(from, to)?;
    let upgrading = Upgrading { given, from, to };
    let deploy = deploy::plan(given)?;
    let mut plan = Plan::default();
    let moved = upgrading.moved(&deploy);
    if !moved.is_empty() {
        plan.stage(
            "look for room",
            moved.iter().map(|d| upgrading.room(d)).collect(),
        );
    }
    for stage in deploy.stages {
        if stage.name == "switch version" {
            let keep = moved.iter().map(|d| upgrading.keep(d));
            plan.stage("back up metad data", keep.collect());
        }
        let (name, rewrites) = (stage.name.clone(), way == Way::DbUpgrader);
        plan.stages.push(stage);
        match name.as_str() {
            "install" if rewrites => plan.stage("look for db_upgrader", upgrading.tools()),
            "wait for metad" if rewrites => plan.stage("rewrite data", upgrading.rewrites()),
            _ => {}
        }
    }
    let backups = moved
        .iter()
        .map(|d| format!("{}: {}", d.host, upgrading.backup(d)));
    Ok(Upgrade {
        plan,
        remarks: remark.into_iter().collect(),
        backups: backups.collect(),
    })
}

struct Upgrading<'a> {
    given: &'a Given<'a>,
    from: Version,
    to: Version,
}

impl<'a> Upgrading<'a> {
    /// Metads whose programs change, so that their data is still that of the old version, if there is any.
    fn moved(&self, deploy: &Plan) -> Vec<&'a Daemon> {
        let switches = deploy
            .stages
            .iter()
            .filter(|stage| stage.name == "switch version");
        let hosts: BTreeSet<&HostName> = switches
            .flat_map(|stage| stage.steps.iter().filter_map(|step| step.host.as_ref()))
            .collect();
        let metads = self.given.cluster.daemons_of(DaemonRole::Metad);
        metads
            .filter(|daemon| hosts.contains(&daemon.host))
            .filter(|daemon| self.runs_old(daemon))
            .collect()
    }

    /// Whether another version is there already; else nothing needs to be kept.
    fn runs_old(&self, daemon: &Daemon) -> bool {
        let facts = self.given.facts.get(&daemon.host);
        let wanted = self
            .given
            .packages
            .get(&daemon.host)
            .map(|p| p.sha256.short());
        let there = facts.and_then(|facts| current(&daemon.root, facts));
        there.is_some() && there != wanted
    }

    fn backup(&self, daemon: &Daemon) -> RemotePath {
        let name = format!("meta-{}-before-{}", self.from, self.to);
        Layout::new(daemon.root.clone()).backup().join(&name)
    }

    fn data(daemon: &Daemon) -> String {
        let path = daemon.data_paths.first();
        path.map(|path| quoted(path.as_str())).unwrap_or_default()
    }

    /// Before anything stops: a backup that does not fit is not found out later.
    fn room(&self, daemon: &Daemon) -> Step {
        let (data, root) = (Self::data(daemon), quoted(daemon.root.as_str()));
        let text = format!("data={data}\nroot={root}\n{}", include_str!("room.sh"));
        let title = format!(
            "look for room for a copy of {data} in {}",
            self.backup(daemon).parent()
        );
        Step::on(&daemon.host, title, deploy::run(text, QUICK))
    }

    fn keep(&self, daemon: &Daemon) -> Step {
        let (data, backup) = (Self::data(daemon), self.backup(daemon));
        let to = quoted(backup.as_str());
        // Appears whole or not at all.
        let text = format!(
            "data={data}\nto={to}\nmkdir -p -- \"$(dirname -- \"$to\")\" && rm -rf -- \"$to.part\" &&\n\
             cp -a -- \"$data\" \"$to.part\" && mv -T -- \"$to.part\" \"$to\"\n"
        );
        let title = format!("copy metad's data to {backup}");
        Step::on(&daemon.host, title, deploy::run(text, COPY)).unless(format!("[ -d {to} ]"))
    }

    fn storageds(&self) -> impl Iterator<Item = (&'a Daemon, RemotePath)> {
        let given = self.given;
        let all = given.cluster.daemons_of(DaemonRole::Storaged);
        all.filter_map(|daemon| {
            let package = given.packages.get(&daemon.host)?;
            let layout = Layout::new(daemon.root.clone());
            Some((
                daemon,
                layout.version(package.sha256).join("bin/db_upgrader"),
            ))
        })
    }

    fn tools(&self) -> Vec<Step> {
        let step = |(daemon, tool): (&Daemon, RemotePath)| {
            let path = quoted(tool.as_str());
            let what = format!(
                "there is no {tool}; {} does not read the data of {} without it",
                self.to, self.from
            );
            let text = format!(
                "[ -x {path} ] || {{ echo {} >&2; exit 1; }}\n",
                quoted(&what)
            );
            Step::on(
                &daemon.host,
                format!("look for {tool}"),
                deploy::run(text, QUICK),
            )
        };
        self.storageds().map(step).collect()
    }

    /// Into a folder beside, then in its place; what was there stays.
    fn rewrites(&self) -> Vec<Step> {
        let metads = self.given.cluster.meta_server_addrs();
        let mut steps = Vec::new();
        for (daemon, tool) in self.storageds() {
            for path in &daemon.data_paths {
                let (data, tool) = (quoted(path.as_str()), quoted(tool.as_str()));
                let old = quoted(&format!("{path}.before-{}", self.to));
                let head = format!(
                    "data={data}\nold={old}\ntool={tool}\nmetads={}\n",
                    quoted(&metads)
                );
                let action = deploy::run(head + include_str!("rewrite.sh"), REWRITE);
                let title = format!(
                    "rewrite {path} for {} (the old one stays as {old})",
                    self.to
                );
                steps.push(
                    Step::on(&daemon.host, title, action)
                        .unless(format!("[ -d {old} ] && [ -d {data} ]")),
                );
            }
        }
        steps
    }
}

/// Old versions, their packages and the backups of metad's data, which stay until they are purged.
pub fn purge(cluster: &Cluster, facts: &Facts) -> Plan {
    let mut steps = Vec::new();
    for (host, facts) in facts {
        for root in roots(cluster, host) {
            let Some(sha) = current(&root, facts) else {
                continue;
            };
            let paths = old_paths(&root, &sha, facts);
            steps.extend(
                paths
                    .into_iter()
                    .map(|path| delete(cluster, host, &root, path)),
            );
        }
    }
    let mut plan = Plan::default();
    plan.stage("purge old versions", steps);
    plan
}

fn old_paths(root: &RemotePath, sha: &str, facts: &HostFacts) -> BTreeSet<RemotePath> {
    let layout = Layout::new(root.clone());
    let installed = facts.installed.get(root).into_iter().flatten();
    let shas = installed.filter_map(|path| path.strip_prefix("versions/")?.split('/').next());
    let versions = shas
        .filter(|other| *other != sha)
        .map(|other| layout.versions().join(other));
    let old = |path: &&RemotePath| path.is_within(root) && !path.name().starts_with(sha);
    let cached = facts.cached.keys().filter(old).cloned();
    let backup = Some(layout.backup()).filter(|path| facts.exists(path));
    versions.chain(cached).chain(backup).collect()
}

fn delete(cluster: &Cluster, host: &HostName, root: &RemotePath, path: RemotePath) -> Step {
    let claimed = deploy::claimed(cluster, host).into_iter();
    let owner_root = claimed.into_iter().find(|folder| root.is_within(folder));
    let title = format!("delete {path}");
    let delete = Delete {
        path,
        owner_root: owner_root.unwrap_or_else(|| root.clone()),
        cluster_id: cluster.id.clone(),
        sudo: cluster.install == Install::Rpm,
    };
    Step::on(host, title, Action::Delete(delete))
}
