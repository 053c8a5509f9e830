//! Folders: what one part may delete must not hold what another part keeps.

use std::collections::BTreeSet;

use super::super::at::{At, Place};
use super::super::layer::written;
use super::super::layout::RESERVED;
use super::super::names::DaemonRole;
use super::super::path::overlap;
use super::super::problem::Problem;
use super::super::resolve::{DaemonDraft, Draft, HostDraft};
use crate::units::RemotePath;

/// What a folder is for; decides who may share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Install,
    Data,
    Logs,
    Monitor,
    Load,
}

/// One folder of one machine.
struct Claim<'a> {
    /// Address and ssh port: containers on one address are machines of their own.
    machine: (&'a str, Option<u16>),
    host: &'a str,
    who: String,
    usage: Use,
    path: RemotePath,
    place: Place,
}

pub(super) fn check(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    for layer in written(draft.spec) {
        data_keys(layer.role, layer.data_dir, layer.data_dirs, problems);
    }
    draft.daemons.iter().for_each(|d| inside_root(d, problems));
    let claims: Vec<Claim<'_>> = draft
        .hosts
        .iter()
        .flat_map(|h| claims_of(draft, h))
        .collect();
    let mut told = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let clash = claims.iter().take(index).find(|old| clashes(old, claim));
        // Two parts that share one folder mostly share all of them: once is enough.
        let fresh = clash.filter(|old| told.insert((&old.who, &claim.who)));
        problems.extend(fresh.map(|old| overlapping(old, claim)));
    }
}

fn data_keys(
    role: Option<DaemonRole>,
    one: Option<&At<String>>,
    many: Option<&At<Vec<At<String>>>>,
    problems: &mut Vec<Problem>,
) {
    let Some(many) = many else {
        return;
    };
    let mut refuse = |what| problems.push(Problem::error(Some(many.place), what));
    if role != Some(DaemonRole::Storaged) {
        refuse("data_dirs is for storaged only");
    }
    if one.is_some() {
        refuse("data_dir and data_dirs are both given");
    }
    if many.is_empty() {
        refuse("data_dirs is empty");
    }
}

/// Data and logs may lie below `deploy_dir`, but not be it, hold it, or take a name of the layout.
fn inside_root(draft: &DaemonDraft<'_>, problems: &mut Vec<Problem>) {
    let DaemonDraft { daemon, at, .. } = draft;
    let data = daemon.data_dirs.iter().map(|d| (d, at.data, "data"));
    for (path, place, what) in data.chain([(&daemon.log_dir, at.log, "log")]) {
        if daemon.root.is_within(path) {
            let what = format!("{what} folder {path} holds the installation");
            let hint = "name a folder below deploy_dir, or one elsewhere";
            problems.push(Problem::error(Some(place), what).hint(hint));
        } else if RESERVED
            .iter()
            .any(|name| path.is_within(&daemon.root.join(name)))
        {
            let what = format!("{what} folder {path} takes a name that the layout uses");
            let hint = format!("below deploy_dir these are taken: {}", RESERVED.join(", "));
            problems.push(Problem::error(Some(place), what).hint(hint));
        }
    }
}

fn claims_of<'a>(draft: &'a Draft<'_>, host: &'a HostDraft<'_>) -> Vec<Claim<'a>> {
    let entry = &host.host;
    let claim = |who: String, usage, path: &RemotePath, place| Claim {
        machine: (entry.address.as_str(), entry.ssh.port),
        host: entry.name.as_str(),
        who,
        usage,
        path: path.clone(),
        place,
    };
    let mut all = Vec::new();
    for d in draft
        .daemons
        .iter()
        .filter(|d| d.daemon.host == entry.name && d.at.host == host.place)
    {
        let id = d.daemon.id();
        all.push(claim(id.clone(), Use::Install, &d.daemon.root, d.at.root));
        all.push(claim(id.clone(), Use::Logs, &d.daemon.log_dir, d.at.log));
        let data = d.daemon.data_paths.iter();
        all.extend(data.map(|path| claim(id.clone(), Use::Data, path, d.at.data)));
    }
    let monitor = entry.monitor_dir.iter();
    all.extend(monitor.map(|p| {
        claim(
            format!("monitor@{}", entry.name),
            Use::Monitor,
            p,
            host.place,
        )
    }));
    let load = entry.load_dir.iter();
    all.extend(load.map(|p| claim(format!("load@{}", entry.name), Use::Load, p, host.place)));
    all
}

fn clashes(a: &Claim<'_>, b: &Claim<'_>) -> bool {
    a.machine == b.machine && overlap(&a.path, &b.path) && !may_overlap(a, b)
}

/// Daemons of one host entry share an installation and a log folder, and may keep data below the
/// installation. Host entries share only the monitor folder of their machine.
fn may_overlap(a: &Claim<'_>, b: &Claim<'_>) -> bool {
    let same_path = a.path == b.path;
    let same_host = a.host == b.host;
    match (a.usage, b.usage) {
        (Use::Monitor, Use::Monitor) => same_path,
        (Use::Install, Use::Install) | (Use::Logs, Use::Logs) => same_host && same_path,
        (Use::Install, Use::Data | Use::Logs) => same_host && b.path.is_within(&a.path),
        (Use::Data | Use::Logs, Use::Install) => same_host && a.path.is_within(&b.path),
        _ => false,
    }
}

fn overlapping(old: &Claim<'_>, new: &Claim<'_>) -> Problem {
    let what = format!(
        "folder {} of {} overlaps {} of {} (line {})",
        new.path, new.who, old.path, old.who, old.place.line
    );
    let hint = "each needs a folder of its own, because a reset empties it";
    Problem::error(Some(new.place), what).hint(hint)
}
