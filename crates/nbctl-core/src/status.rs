//! Status: what runs, joined from hosts, protocol and cluster, against the inventory.
//!
//! Purpose: the table of `nbctl status`, and whether the cluster equals its inventory (exit code 4
//! otherwise).
//! Duties: a daemon is well only when its process, its ports, its protocol and the cluster's own view
//! agree; every disagreement is a sentence in its row.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::deploy::{Facts, Observed, Rendered, differences, process, version_of};
use crate::facts::{HostFacts, Process};
use crate::inventory::{Cluster, Daemon, DaemonRole};
use crate::package::{Promise, unpromised, wanted_version};
use crate::units::HostName;

/// Open files below which a daemon fails under load.
const FEW_FILES: u64 = 65_536;

/// What one daemon answered over the network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// metad, storaged: `/status` answered; graphd: a query worked.
    pub serves: bool,
    /// `git_info_sha` of `/status`.
    pub sha: Option<String>,
    /// Version by SHOW HOSTS, where the line tells it.
    pub version: Option<String>,
}

/// One daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// `metad@s1`.
    pub daemon: String,
    /// Host.
    pub host: HostName,
    /// Role.
    pub role: DaemonRole,
    /// `address:port`.
    pub endpoint: String,
    /// Process id.
    pub pid: Option<u32>,
    /// When its process started, seconds since 1970.
    pub started: Option<u64>,
    /// Ports that are open, of those it should have.
    pub ports_open: usize,
    /// Ports it should have.
    pub ports: usize,
    /// It serves its protocol.
    pub serves: bool,
    /// For storageds: ONLINE in SHOW HOSTS; `None` for others and when nobody answered.
    pub online: Option<bool>,
    /// `git_info_sha`.
    pub sha: Option<String>,
    /// By SHOW HOSTS.
    pub version: Option<String>,
    /// The folder of `versions/` it was started from.
    pub package: Option<String>,
    /// Empty when all is well.
    pub problems: Vec<String>,
    /// Worth knowing, no difference to the inventory.
    pub remarks: Vec<String>,
}

/// The table and the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// By host, in start order.
    pub rows: Vec<Row>,
    /// What no row can say: hosts that SHOW HOSTS has and the inventory has not, mixed builds.
    pub problems: Vec<String>,
    /// Worth knowing of the whole cluster, no difference to the inventory.
    pub remarks: Vec<String>,
    /// No problem anywhere.
    pub equal: bool,
}

/// Everything a status is made from.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// What is wanted.
    pub cluster: &'a Cluster,
    /// Hosts that answered.
    pub facts: &'a Facts,
    /// Configuration files as the inventory wants them.
    pub rendered: &'a Rendered,
    /// SHOW HOSTS and flags.
    pub observed: &'a Observed,
    /// By daemon (`metad@s1`).
    pub answers: &'a BTreeMap<String, Answer>,
    /// The commit that its build should be made from, where somebody says so.
    pub promise: Option<&'a Promise>,
}

/// Joins what was seen.
pub fn status(seen: &Seen<'_>) -> Status {
    let rows: Vec<Row> = seen
        .cluster
        .daemons
        .iter()
        .map(|daemon| row(seen, daemon))
        .collect();
    let problems = of_cluster(seen, &rows);
    let equal = problems.is_empty() && rows.iter().all(|row| row.problems.is_empty());
    let remarks = unnamed(seen.cluster, seen.promise, seen.answers).into_iter();
    Status {
        remarks: remarks.collect(),
        rows,
        problems,
        equal,
    }
}

/// Daemons that are not the build they should be, one sentence each.
pub fn other_builds(answers: &BTreeMap<String, Answer>, promise: &Promise) -> Vec<String> {
    let broken = |(daemon, answer): (&String, &Answer)| {
        let why = promise.broken_by(answer.sha.as_deref()?)?;
        Some(format!("{daemon} {why}"))
    };
    answers.iter().filter_map(broken).collect()
}

/// A nightly build that nothing can be held to.
pub fn unnamed(
    cluster: &Cluster,
    promise: Option<&Promise>,
    answers: &BTreeMap<String, Answer>,
) -> Option<String> {
    let date = cluster.nightly.as_deref().filter(|_| promise.is_none())?;
    let told = answers.values().filter_map(|answer| answer.sha.as_deref());
    unpromised(date, &told.collect())
}

fn row(seen: &Seen<'_>, daemon: &Daemon) -> Row {
    let id = daemon.id();
    let facts = seen.facts.get(&daemon.host);
    let process = facts.and_then(|facts| process(daemon, facts));
    let answer = seen.answers.get(&id).cloned().unwrap_or_default();
    let (ports_open, ports) = ports(seen, daemon, facts);
    let mut row = Row {
        host: daemon.host.clone(),
        role: daemon.role,
        endpoint: daemon.endpoint(),
        pid: process.map(|process| process.pid),
        started: process.map(|process| process.started),
        ports_open,
        ports,
        serves: answer.serves,
        online: online(seen, daemon),
        sha: answer.sha,
        version: answer.version,
        package: facts
            .zip(process)
            .and_then(|(f, p)| version_of(daemon, p, f))
            .map(str::to_owned),
        problems: Vec::new(),
        remarks: process.map(remarks).unwrap_or_default(),
        daemon: id,
    };
    row.problems = problems(seen, daemon, facts, process, &row);
    row
}

fn ports(seen: &Seen<'_>, daemon: &Daemon, facts: Option<&HostFacts>) -> (usize, usize) {
    let ports = daemon.ports(seen.cluster.version).unwrap_or_default();
    let open = |facts: &HostFacts| {
        ports
            .iter()
            .filter(|port| facts.listener(port.number).is_some())
            .count()
    };
    (facts.map_or(0, open), ports.len())
}

fn online(seen: &Seen<'_>, daemon: &Daemon) -> Option<bool> {
    let storageds = seen.observed.storageds.as_ref()?;
    let is_storaged = daemon.role == DaemonRole::Storaged;
    is_storaged.then(|| storageds.get(&daemon.endpoint()).copied().unwrap_or(false))
}

fn problems(
    seen: &Seen<'_>,
    daemon: &Daemon,
    facts: Option<&HostFacts>,
    process: Option<&Process>,
    row: &Row,
) -> Vec<String> {
    let Some(facts) = facts else {
        return vec!["the host did not answer".into()];
    };
    let Some(process) = process else {
        return vec!["does not run".into()];
    };
    let mut all = Vec::new();
    if process.deleted {
        all.push("its executable was replaced since it started".into());
    }
    if row.ports_open < row.ports {
        all.push(format!(
            "{} of {} ports are closed",
            row.ports - row.ports_open,
            row.ports
        ));
    }
    if !row.serves {
        all.push("does not serve".into());
    }
    all.extend(of_version(row, daemon, facts, seen.cluster));
    let told = seen.promise.zip(row.sha.as_deref());
    all.extend(told.and_then(|(promise, sha)| promise.broken_by(sha)));
    all.extend(of_conf(seen, daemon, facts));
    all.extend(of_show_hosts(seen, daemon));
    all
}

fn remarks(process: &Process) -> Vec<String> {
    let few = process.nofile.filter(|files| *files < FEW_FILES);
    few.map(|files| format!("may open {files} files only"))
        .into_iter()
        .collect()
}

fn of_version(row: &Row, daemon: &Daemon, facts: &HostFacts, cluster: &Cluster) -> Vec<String> {
    use crate::facts::PathFact::Link;
    let mut all = Vec::new();
    let current = crate::inventory::Layout::new(daemon.root.clone()).current();
    let package = row.package.as_deref().unwrap_or_default();
    if let Some(Link { target, .. }) = facts.paths.get(&current)
        && *target != format!("versions/{package}")
    {
        all.push(format!("runs {package}, but current is {target}"));
    }
    let (wanted, nightly) = (cluster.version.to_string(), wanted_version(cluster));
    // SHOW HOSTS writes `3.8.0`, some lines `v3.8.0` or a build behind it.
    let told = row
        .version
        .as_deref()
        .map(|version| version.trim_start_matches('v'));
    let right = |told: &str| told.starts_with(&wanted) || told.starts_with(&nightly);
    if let Some(told) = told.filter(|told| !told.is_empty() && !right(told)) {
        all.push(format!("is version {told}, not {wanted}"));
    }
    all
}

fn of_conf(seen: &Seen<'_>, daemon: &Daemon, facts: &HostFacts) -> Vec<String> {
    let wanted = seen
        .rendered
        .get(&daemon.id())
        .map(crate::plan::RenderedFile::sha256);
    let mut all = Vec::new();
    if wanted.is_some() && facts.sha256(&daemon.conf) != wanted {
        all.push(format!("{} differs from the inventory", daemon.conf));
    }
    if let Some(read) = seen.observed.flags.get(&daemon.id()) {
        all.extend(
            differences(&daemon.flags, read)
                .iter()
                .map(ToString::to_string),
        );
    }
    all
}

fn of_show_hosts(seen: &Seen<'_>, daemon: &Daemon) -> Option<String> {
    let storageds = seen.observed.storageds.as_ref()?;
    if daemon.role != DaemonRole::Storaged {
        return None;
    }
    match storageds.get(&daemon.endpoint()) {
        Some(true) => None,
        Some(false) => Some("is OFFLINE in SHOW HOSTS".into()),
        None => Some("is not in SHOW HOSTS".into()),
    }
}

fn of_cluster(seen: &Seen<'_>, rows: &[Row]) -> Vec<String> {
    let mut all = Vec::new();
    let wanted: BTreeSet<String> = seen
        .cluster
        .daemons_of(DaemonRole::Storaged)
        .map(Daemon::endpoint)
        .collect();
    match &seen.observed.storageds {
        None => all.push("no graphd answered SHOW HOSTS".into()),
        Some(known) => {
            let strange = known.keys().filter(|endpoint| !wanted.contains(*endpoint));
            all.extend(strange.map(|endpoint| {
                format!("SHOW HOSTS lists {endpoint}, which is not in the inventory")
            }));
        }
    }
    let builds: BTreeSet<&str> = rows.iter().filter_map(|row| row.sha.as_deref()).collect();
    if builds.len() > 1 {
        let builds: Vec<&str> = builds.into_iter().collect();
        all.push(format!(
            "daemons of different builds run together: {}",
            builds.join(", ")
        ));
    }
    all
}
