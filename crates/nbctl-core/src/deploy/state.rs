//! What of the inventory is already so on its hosts.
//!
//! Duty: one judgement per daemon from the facts, used by the plan, the checks, the status and the
//! teardown alike.

use std::collections::BTreeMap;

use crate::facts::{HostFacts, Process};
use crate::inventory::{Cluster, Daemon, Layout};
use crate::owner::{Standing, standing};
use crate::units::{HostName, RemotePath, Sha256};

/// Facts by host.
pub type Facts = BTreeMap<HostName, HostFacts>;

/// The process of a daemon, found by its executable: `<deploy_dir>/versions/<any>/bin/<program>`.
pub fn process<'a>(daemon: &Daemon, facts: &'a HostFacts) -> Option<&'a Process> {
    let mut all = facts.processes.iter();
    all.find(|process| version_of(daemon, process, facts).is_some())
}

/// Instead of digits: the program lay there when `adopt` took the folder over.
pub const ADOPTED: &str = "adopted";

/// The version folder (12 hex digits) a process of this daemon was started from, or [`ADOPTED`].
pub fn version_of<'a>(daemon: &Daemon, process: &'a Process, facts: &HostFacts) -> Option<&'a str> {
    let rest = process.exe.strip_prefix(facts.real(&daemon.root))?;
    if rest.strip_prefix("/bin/") == Some(daemon.role.program()) {
        let marker = facts.owners.get(&daemon.root)?;
        return marker.contains("\nadopted=").then_some(ADOPTED);
    }
    let (version, program) = rest.strip_prefix("/versions/")?.split_once("/bin/")?;
    (program == daemon.role.program()).then_some(version)
}

/// Whether `package` is unpacked for every daemon that shares this daemon's folder.
pub(super) fn is_installed(
    cluster: &Cluster,
    daemon: &Daemon,
    package: Sha256,
    facts: &HostFacts,
) -> bool {
    let Some(there) = facts.installed.get(&daemon.root) else {
        return false;
    };
    let programs = programs(cluster, &daemon.host, &daemon.root);
    programs
        .iter()
        .all(|p| there.contains(&format!("versions/{}/bin/{p}", package.short())))
}

/// Whether the `current` link leads to `package`.
pub(super) fn is_current(daemon: &Daemon, package: Sha256, facts: &HostFacts) -> bool {
    use crate::facts::PathFact::Link;
    let layout = Layout::new(daemon.root.clone());
    let leads = |path: &RemotePath, to: &str| matches!(facts.paths.get(path), Some(Link { target, .. }) if target == to);
    leads(&layout.current(), &version_folder(package)) && leads(&layout.share(), "current/share")
}

/// `versions/<sha12>`.
pub(super) fn version_folder(package: Sha256) -> String {
    format!("versions/{}", package.short())
}

/// The programs that run from one folder of a host.
pub fn programs(cluster: &Cluster, host: &HostName, root: &RemotePath) -> Vec<&'static str> {
    let here = cluster
        .daemons_on(host)
        .filter(|daemon| daemon.root == *root);
    here.map(|daemon| daemon.role.program()).collect()
}

/// The folders that daemons of a host are installed in, in the order of the inventory.
pub fn roots(cluster: &Cluster, host: &HostName) -> Vec<RemotePath> {
    let mut all: Vec<RemotePath> = Vec::new();
    for daemon in cluster.daemons_on(host) {
        if !all.contains(&daemon.root) {
            all.push(daemon.root.clone());
        }
    }
    all
}

/// The folders of a host that a deploy claims: those of its daemons and of the load worker, none inside another.
pub fn claimed(cluster: &Cluster, host: &HostName) -> Vec<RemotePath> {
    let daemons: Vec<&Daemon> = cluster.daemons_on(host).collect();
    let load = cluster.host(host).and_then(|host| host.load_dir.as_ref());
    let used = |path: &RemotePath| {
        let mut all = daemons.iter().flat_map(|d| folders(d)).chain(load);
        all.any(|folder| folder.is_within(path))
    };
    cluster
        .owned_paths(host)
        .into_iter()
        .filter(|path| used(path))
        .collect()
}

fn folders(daemon: &Daemon) -> impl Iterator<Item = &RemotePath> {
    [&daemon.root, &daemon.log_dir]
        .into_iter()
        .chain(&daemon.data_dirs)
}

/// Why a daemon's folder is none of this cluster; nothing there may be changed then.
pub fn not_ours(cluster: &Cluster, daemon: &Daemon, facts: &Facts) -> Option<String> {
    let (id, root) = (daemon.id(), &daemon.root);
    let Some(facts) = facts.get(&daemon.host) else {
        return Some(format!("{id}: the host did not answer"));
    };
    let claimed = claimed(cluster, &daemon.host);
    let folder = claimed.iter().find(|folder| root.is_within(folder));
    match standing(folder.unwrap_or(root), &cluster.id, facts) {
        Standing::Ours => None,
        Standing::Free => Some(format!("{id}: there is nothing in {root}")),
        Standing::Foreign(marker) => Some(format!("{id}: {root} belongs to {marker}")),
        Standing::Unmarked(_) => Some(format!("{id}: {root} has no marker of ours")),
        Standing::Wrong(what) => Some(format!("{id}: {root} {what}")),
    }
}
