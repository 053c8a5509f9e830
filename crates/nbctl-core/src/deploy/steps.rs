//! The steps, stage by stage.
//!
//! Duty: each function plans one stage from what is there, and leaves out what is already so.

use std::collections::BTreeSet;
use std::time::Duration;

use super::scripts::{self, Patience};
use super::start::Starting;
use super::verify::differences;
use super::{Given, state, tls, unit};
use crate::facts::{HostFacts, PathFact};
use crate::inventory::{Daemon, DaemonRole, Host, Install};
use crate::owner::{Claim, Standing, standing};
use crate::package::Package;
use crate::plan::{Action, Plan, Step, Upload};
use crate::units::{HostName, RemotePath};

/// Creating folders on a slow disk.
const CLAIM: Duration = Duration::from_mins(1);

const CLAIM_STAGE: &str = "claim folders";

/// What must happen to a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// Runs as wanted.
    Nothing,
    /// Does not run.
    Start,
    /// Runs, but not as wanted: why.
    Restart(String),
}

struct Planner<'a> {
    given: &'a Given<'a>,
    claim: Claim<'a>,
    needs: Vec<(&'a Daemon, Need)>,
}

/// The steps that make folders ours, and all others: leases can be taken in between.
pub fn split_claims(plan: &Plan) -> (Plan, Plan) {
    let stages = plan.stages.iter().cloned();
    let (claims, rest) = stages.partition(|stage| stage.name == CLAIM_STAGE);
    (Plan { stages: claims }, Plan { stages: rest })
}

/// Where a package lies on a host: beside the first installation, by digest.
pub fn cache_path(root: &RemotePath, package: &Package) -> RemotePath {
    root.join("cache")
        .join(&format!("{}-{}", package.sha256.short(), package.name))
}

pub(super) fn all<'a>(given: &'a Given<'a>, claim: Claim<'a>) -> Plan {
    let daemons = given.cluster.daemons.iter();
    let needs = daemons
        .filter_map(|daemon| Some((daemon, need(given, daemon)?)))
        .collect();
    let planner = Planner {
        given,
        claim,
        needs,
    };
    let mut plan = Plan::default();
    plan.stage(CLAIM_STAGE, planner.on_hosts(Planner::claim_host));
    plan.stage("stage package", planner.on_hosts(Planner::stage));
    // The RPM database drops the old version when it takes the new one: not under running daemons.
    let rpm = given.cluster.install == Install::Rpm;
    let install = planner.on_hosts(Planner::install);
    let (before, after) = if rpm {
        (Vec::new(), install)
    } else {
        (install, Vec::new())
    };
    plan.stage("install", before);
    for role in DaemonRole::STOP_ORDER {
        plan.stage(format!("stop {role}"), planner.stop(role));
    }
    plan.stage("install", after);
    plan.stage("switch version", planner.on_hosts(Planner::switch));
    let mut files = planner.confs();
    files.extend(planner.on_hosts(|p, host, facts, _| tls::steps(p.given.cluster, host, facts)));
    plan.stage("write configuration", files);
    plan.stage("write units", planner.units());
    let starting = planner
        .needs
        .iter()
        .filter(|(_, need)| *need != Need::Nothing);
    let starting = Starting {
        cluster: given.cluster,
        observed: given.observed,
        daemons: starting.map(|(daemon, _)| *daemon).collect(),
        up: given.cluster.daemons.iter().collect(),
    };
    starting.plan(&mut plan);
    plan
}

/// `None` when the host has no facts or no package, which the checks refuse.
fn need(given: &Given<'_>, daemon: &Daemon) -> Option<Need> {
    let facts = given.facts.get(&daemon.host)?;
    let package = given.packages.get(&daemon.host)?;
    let Some(process) = state::process(daemon, facts) else {
        return Some(Need::Start);
    };
    let version = state::version_of(daemon, process, facts);
    let changed = match given.observed.flags.get(&daemon.id()) {
        Some(read) => differences(&daemon.flags, read),
        None => Vec::new(),
    };
    Some(if version != Some(package.sha256.short().as_str()) {
        Need::Restart(format!("runs version {}", version.unwrap_or("unknown")))
    } else if process.deleted {
        Need::Restart("its executable was replaced".into())
    } else if !conf_is_so(given, daemon, facts) {
        Need::Restart("its configuration changed".into())
    } else if !tls::is_so(given.cluster, daemon, facts) {
        Need::Restart("its certificate changed".into())
    } else if !unit::is_so(daemon, given.rendered.get(&unit::key(daemon)), facts) {
        Need::Restart("its unit changed".into())
    } else if let Some(first) = changed.first() {
        Need::Restart(first.to_string())
    } else {
        Need::Nothing
    })
}

fn conf_is_so(given: &Given<'_>, daemon: &Daemon, facts: &HostFacts) -> bool {
    let wanted = given
        .rendered
        .get(&daemon.id())
        .map(crate::plan::RenderedFile::sha256);
    wanted.is_some() && facts.sha256(&daemon.conf) == wanted
}

impl<'a> Planner<'a> {
    /// Hosts with daemons, in the order of the inventory, with their facts and package.
    fn hosts(&self) -> impl Iterator<Item = (&'a Host, &'a HostFacts, &'a Package)> {
        let given = self.given;
        given.cluster.hosts.iter().filter_map(|host| {
            given.cluster.daemons_on(&host.name).next()?;
            Some((
                host,
                given.facts.get(&host.name)?,
                given.packages.get(&host.name)?,
            ))
        })
    }

    fn on_hosts(&self, one: fn(&Self, &HostName, &HostFacts, &Package) -> Vec<Step>) -> Vec<Step> {
        self.hosts()
            .flat_map(|(host, facts, package)| one(self, &host.name, facts, package))
            .collect()
    }

    fn claim_host(&self, host: &HostName, facts: &HostFacts, _: &Package) -> Vec<Step> {
        let cluster = self.given.cluster;
        let roots = state::claimed(cluster, host);
        let free = |path: &&RemotePath| standing(path, &cluster.id, facts) == Standing::Free;
        let free: Vec<&RemotePath> = roots.iter().filter(free).collect();
        let mut steps = Vec::new();
        if !free.is_empty() {
            let text = self.claim.script(&free, &facts.user.name);
            let closed = |path: &&RemotePath| facts.space.get(*path).is_some_and(|s| !s.writable);
            let action = if free.iter().any(closed) {
                scripts::sudo
            } else {
                scripts::run
            };
            let title = format!("create and mark {}", list(&free));
            steps.push(Step::on(host, title, action(text, CLAIM)));
        }
        let missing = self.missing_folders(host, facts);
        if !missing.is_empty() {
            let missing: Vec<&RemotePath> = missing.iter().collect();
            let title = format!("create {}", list(&missing));
            steps.push(Step::on(host, title, scripts::folders(&missing)));
        }
        steps
    }

    fn missing_folders(&self, host: &HostName, facts: &HostFacts) -> BTreeSet<RemotePath> {
        let wanted = self.given.cluster.daemons_on(host).flat_map(|daemon| {
            let fixed = [
                daemon.conf.parent(),
                daemon.pid_file.parent(),
                daemon.log_dir.clone(),
            ];
            fixed.into_iter().chain(daemon.data_paths.iter().cloned())
        });
        let is_dir =
            |path: &RemotePath| matches!(facts.paths.get(path), Some(PathFact::Dir { .. }));
        wanted.filter(|path| !is_dir(path)).collect()
    }

    /// Folders of the host in which the package is not unpacked yet.
    fn bare_roots(&self, host: &HostName, facts: &HostFacts, package: &Package) -> Vec<RemotePath> {
        let cluster = self.given.cluster;
        let here: Vec<&Daemon> = cluster.daemons_on(host).collect();
        let bare = |root: &RemotePath| {
            let mut of_root = here.iter().filter(|daemon| daemon.root == *root);
            !of_root.all(|daemon| state::is_installed(cluster, daemon, package.sha256, facts))
        };
        state::roots(cluster, host)
            .into_iter()
            .filter(bare)
            .collect()
    }

    /// One copy per host, in the cache of its first folder.
    fn cached(&self, host: &HostName, package: &Package) -> Option<RemotePath> {
        Some(cache_path(
            state::roots(self.given.cluster, host).first()?,
            package,
        ))
    }

    fn stage(&self, host: &HostName, facts: &HostFacts, package: &Package) -> Vec<Step> {
        let Some(path) = self.cached(host, package) else {
            return Vec::new();
        };
        let there = facts.cached.get(&path) == Some(&package.bytes);
        if there || self.bare_roots(host, facts, package).is_empty() {
            return Vec::new();
        }
        let upload = Upload {
            source: package.source.clone(),
            bytes: package.bytes,
            sha256: package.sha256,
            path,
            mode: 0o644,
        };
        vec![Step::on(
            host,
            format!("upload {}", package.name),
            Action::Upload(upload),
        )]
    }

    fn install(&self, host: &HostName, facts: &HostFacts, package: &Package) -> Vec<Step> {
        let Some(cached) = self.cached(host, package) else {
            return Vec::new();
        };
        let one = |root: &RemotePath| {
            let folder = root.join(&state::version_folder(package.sha256));
            let title = format!("install {} in {folder}", package.name);
            let action = match self.given.cluster.install {
                Install::Rpm => scripts::install_rpm(root, package, &cached, is_debian(facts)),
                Install::Extract => {
                    let programs = state::programs(self.given.cluster, host, root);
                    scripts::install(root, package, &cached, &programs)
                }
            };
            Step::on(host, title, action)
        };
        self.bare_roots(host, facts, package)
            .iter()
            .map(one)
            .collect()
    }

    fn stop(&self, role: DaemonRole) -> Vec<Step> {
        let stopped = self.needs.iter().filter_map(|(daemon, need)| match need {
            Need::Restart(why) if daemon.role == role => Some((daemon, why)),
            _ => None,
        });
        let step = |(daemon, why): (&&Daemon, &String)| {
            let title = format!("stop {}: {why}", daemon.id());
            Step::on(
                &daemon.host,
                title,
                scripts::stop(daemon, Patience::KEEP_DATA),
            )
        };
        stopped.map(step).collect()
    }

    fn switch(&self, host: &HostName, facts: &HostFacts, package: &Package) -> Vec<Step> {
        let mut steps = Vec::new();
        for root in state::roots(self.given.cluster, host) {
            let mut here = self
                .given
                .cluster
                .daemons_on(host)
                .filter(|daemon| daemon.root == root);
            if here.any(|daemon| !state::is_current(daemon, package.sha256, facts)) {
                let title = format!("switch {root} to {}", package.name);
                steps.push(Step::on(host, title, scripts::switch(&root, package)));
            }
        }
        steps
    }

    fn units(&self) -> Vec<Step> {
        let given = self.given;
        let step = |daemon: &Daemon| {
            let file = given.rendered.get(&unit::key(daemon))?;
            let is_so = unit::is_so(daemon, Some(file), given.facts.get(&daemon.host)?);
            (!is_so).then(|| unit::write(given.cluster, daemon, file))
        };
        given.cluster.daemons.iter().filter_map(step).collect()
    }

    fn confs(&self) -> Vec<Step> {
        let given = self.given;
        let changed = given.cluster.daemons.iter().filter(|daemon| {
            given
                .facts
                .get(&daemon.host)
                .is_some_and(|facts| !conf_is_so(given, daemon, facts))
        });
        let put = |daemon: &Daemon| {
            let file = given.rendered.get(&daemon.id())?;
            Some(Step::on(
                &daemon.host,
                format!("write {}", file.path),
                Action::Put(file.clone()),
            ))
        };
        changed.filter_map(put).collect()
    }
}

pub(crate) fn is_debian(facts: &HostFacts) -> bool {
    matches!(facts.system.os.as_str(), "debian" | "ubuntu")
}

pub(super) fn list(paths: &[&RemotePath]) -> String {
    let words: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
    words.join(", ")
}
