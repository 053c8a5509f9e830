//! Names, roles and counts.

use std::collections::BTreeMap;

use super::super::names::{DaemonRole, Role, is_cluster_name};
use super::super::problem::Problem;
use super::super::resolve::{Draft, is_loopback};
use super::super::spec::Inventory;

pub(super) fn check(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    head(draft.spec, problems);
    secrets(draft.spec, problems);
    names(draft, problems);
    roles(draft, problems);
    counts(draft, problems);
    helpers(draft, problems);
    loopback(draft, problems);
}

fn head(spec: &Inventory, problems: &mut Vec<Problem>) {
    if spec.format.value != 1 {
        let what = format!("format {} is not known", spec.format.value);
        problems
            .push(Problem::error(Some(spec.format.place), what).hint("this nbctl reads format 1"));
    }
    if !is_cluster_name(&spec.cluster) {
        let what = format!(
            "`{}` is not a cluster name",
            spec.cluster.value.escape_debug()
        );
        let hint = "a small letter, then up to 30 small letters, digits or dashes";
        problems.push(Problem::error(Some(spec.cluster.place), what).hint(hint));
    }
    if let (Some(file), Some(_)) = (&spec.nebula.package, &spec.nebula.packages) {
        let what = "package and packages are both given";
        problems.push(Problem::error(Some(file.place), what).hint("keep one of them"));
    }
}

/// A password in the file is refused by name, and its line is masked when shown.
fn secrets(spec: &Inventory, problems: &mut Vec<Problem>) {
    if let Some(password) = &spec.nebula.password {
        let hint = "use `password_file` or `password_command`";
        let what = "a password does not belong in the inventory";
        problems.push(Problem::error(Some(password.place), what).hint(hint));
    }
    let hosts = spec.hosts.iter().map(|h| &h.ssh);
    for password in hosts.chain([&spec.ssh]).filter_map(|s| s.password.as_ref()) {
        let what = "a password does not belong in the inventory";
        let hint = "ssh logs in by key; `nbctl hosts bootstrap` installs one";
        problems.push(Problem::error(Some(password.place), what).hint(hint));
    }
}

fn names(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    if draft.spec.hosts.is_empty() {
        problems.push(Problem::error(Some(draft.spec.hosts.place), "no hosts"));
    }
    let mut seen = BTreeMap::new();
    for draft in &draft.hosts {
        let place = draft
            .spec
            .name
            .as_ref()
            .map_or(draft.spec.address.place, |n| n.place);
        if let Some(line) = seen.insert(&draft.host.name, place.line) {
            let what = format!(
                "host name {} is used twice (line {line} too)",
                draft.host.name
            );
            let hint = "give one of them another `name`";
            problems.push(Problem::error(Some(place), what).hint(hint));
        }
    }
}

fn roles(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    for entry in &draft.spec.hosts.value {
        if entry.roles.is_empty() {
            problems.push(Problem::error(
                Some(entry.roles.place),
                "a host without roles",
            ));
        }
        for (index, role) in entry.roles.iter().enumerate() {
            if entry
                .roles
                .iter()
                .take(index)
                .any(|r| r.value == role.value)
            {
                let what = format!("role {} is named twice", role.value);
                problems.push(Problem::error(Some(role.place), what));
            }
        }
        settings_without_role(entry, problems);
    }
}

/// Settings for a daemon that the host does not run would be dropped in silence.
fn settings_without_role(entry: &super::super::spec::HostSpec, problems: &mut Vec<Problem>) {
    for role in DaemonRole::START_ORDER {
        let written = super::super::layer::role_of_host(entry, role).is_some();
        let runs = entry.roles.iter().any(|r| r.value.daemon() == Some(role));
        if written && !runs {
            let what = format!("settings for {role}, which is not among the roles of this host");
            problems.push(Problem::error(Some(entry.roles.place), what));
        }
    }
}

fn counts(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    let place = Some(draft.spec.hosts.place);
    for role in DaemonRole::START_ORDER {
        let wanted = Role::from(role);
        if !draft
            .spec
            .hosts
            .iter()
            .any(|h| h.roles.iter().any(|r| r.value == wanted))
        {
            let what = format!("no host has the role {role}");
            let hint = "a cluster needs metad, graphd and storaged";
            problems.push(Problem::error(place, what).hint(hint));
        }
    }
    let mut metads: Vec<_> = draft.daemons.iter().map(|d| &d.daemon).collect();
    metads.retain(|d| d.role == DaemonRole::Metad);
    let count = metads.len();
    if let Some(last) = metads.last().filter(|_| count.is_multiple_of(2)) {
        let what = format!("{count} metads survive no more failures than {}", count - 1);
        let host = draft
            .hosts
            .iter()
            .find(|h| h.host.name == last.host)
            .map(|h| h.place);
        problems.push(Problem::warning(host, what).hint("use an odd number, 1 or 3"));
    }
}

fn helpers(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    let place = Some(draft.spec.hosts.place);
    let entries = |role| {
        draft
            .spec
            .hosts
            .iter()
            .flat_map(|h| &h.roles.value)
            .filter(move |r| r.value == role)
    };
    if entries(Role::Monitor).next().is_none() {
        let at = draft.spec.monitor.as_ref().map_or(place, |m| Some(m.place));
        let what = "no host has the role monitor: runs will have no host metrics";
        problems.push(Problem::warning(at, what).hint("add `monitor` to the roles of one host"));
    }
    if entries(Role::Load).next().is_none() {
        let at = draft.spec.load.as_ref().map_or(place, |l| Some(l.place));
        let what = "no host has the role load: there is nothing to import and measure from";
        problems.push(Problem::warning(at, what).hint("add `load` to a host without daemons"));
    }
    let mut monitors = draft
        .hosts
        .iter()
        .filter(|h| h.host.roles.contains(&Role::Monitor));
    let first = monitors.next();
    if let (Some(first), Some(second)) = (first, monitors.next()) {
        let what = format!("a second monitor host; {} is one already", first.host.name);
        problems.push(Problem::error(Some(second.place), what).hint("the stack runs on one host"));
    }
}

fn loopback(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    let first = draft.hosts.first().map(|h| h.host.address.as_str());
    let alone = draft
        .hosts
        .iter()
        .all(|h| Some(h.host.address.as_str()) == first);
    for host in draft
        .hosts
        .iter()
        .filter(|h| !alone && is_loopback(&h.host.address))
    {
        let what = format!("{} cannot be reached from other hosts", host.host.address);
        let hint = "the address is what daemons tell each other; use that of a network interface";
        problems.push(Problem::error(Some(host.spec.address.place), what).hint(hint));
    }
}
