//! Host entries: ranges, names, and the folders of monitor and load.

use super::super::at::{At, Place};
use super::super::cluster::Host;
use super::super::names::{Role, host_name};
use super::super::path::owned;
use super::super::problem::{Problem, Source};
use super::super::range::expand;
use super::super::spec::{HostSpec, Inventory};
use super::ssh::{Both, target};
use super::{keep, value};
use crate::units::RemotePath;

/// A resolved host and the entry it comes from.
#[derive(Debug)]
pub(crate) struct HostDraft<'a> {
    pub host: Host,
    pub spec: &'a HostSpec,
    pub place: Place,
}

pub(super) fn all<'a>(
    spec: &'a Inventory,
    source: &Source,
    problems: &mut Vec<Problem>,
) -> Vec<HostDraft<'a>> {
    let monitored = spec
        .hosts
        .iter()
        .any(|h| h.roles.iter().any(|r| r.value == Role::Monitor));
    let mut hosts = Vec::new();
    for entry in &spec.hosts.value {
        for (name, address) in members(entry, problems) {
            hosts.extend(one(
                spec,
                entry,
                &name,
                &address,
                (source, monitored),
                problems,
            ));
        }
    }
    hosts
}

/// Name and address of every host of an entry.
fn members(entry: &HostSpec, problems: &mut Vec<Problem>) -> Vec<(String, String)> {
    let Some(addresses) = keep(expand(&entry.address), entry.address.place, problems) else {
        return Vec::new();
    };
    let Some(name) = &entry.name else {
        return addresses.iter().map(|a| (a.clone(), a.clone())).collect();
    };
    let names = keep(expand(name), name.place, problems).unwrap_or_default();
    if !names.is_empty() && names.len() != addresses.len() {
        let what = format!("{} names for {} addresses", names.len(), addresses.len());
        let hint = "name and address need ranges of the same size";
        problems.push(Problem::error(Some(name.place), what).hint(hint));
    }
    names.into_iter().zip(addresses).collect()
}

fn one<'a>(
    spec: &'a Inventory,
    entry: &'a At<HostSpec>,
    name: &str,
    address: &str,
    (source, monitored): (&Source, bool),
    problems: &mut Vec<Problem>,
) -> Option<HostDraft<'a>> {
    let name_place = entry.name.as_ref().map_or(entry.address.place, |n| n.place);
    let address = keep(value::address(address), entry.address.place, problems)?;
    let name = keep(host_name(name), name_place, problems)?;
    let both = Both {
        host: &entry.ssh,
        cluster: &spec.ssh,
    };
    let ssh = target(&both, &address, source, problems);
    let roles = entry.roles.iter().map(|r| r.value).collect();
    let mut host = Host {
        name,
        address,
        ssh,
        roles,
        labels: entry.labels.clone(),
        monitor_dir: None,
        load_dir: None,
        place: entry.place,
    };
    let monitor_dir = spec.monitor.as_ref().and_then(|m| m.dir.as_ref());
    let load_dir = spec.load.as_ref().and_then(|l| l.dir.as_ref());
    let home = Home {
        host: &host,
        user_written: both.user_written(),
    };
    let monitor_dir = monitored
        .then(|| home.folder(monitor_dir, "monitor", problems))
        .flatten();
    let loads = host.roles.contains(&Role::Load);
    host.load_dir = loads
        .then(|| home.folder(load_dir, "load", problems))
        .flatten();
    host.monitor_dir = monitor_dir;
    Some(HostDraft {
        host,
        spec: entry,
        place: entry.place,
    })
}

/// What the default folders depend on.
struct Home<'a> {
    host: &'a Host,
    /// A user that is written but wrong is a problem of its own.
    user_written: bool,
}

impl Home<'_> {
    /// The named folder, or `nbctl-<what>` in the login user's home.
    fn folder(
        &self,
        written: Option<&At<String>>,
        what: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<RemotePath> {
        if let Some(dir) = written {
            return keep(owned(dir), dir.place, problems);
        }
        let place = self.host.place;
        let home = match self.host.ssh.user.as_deref() {
            Some("root") => "/root".to_owned(),
            Some(user) => format!("/home/{user}"),
            None if self.user_written => return None,
            None => {
                let message = format!("the {what} folder of {} is not known", self.host.name);
                let hint = format!("set `{what}.dir` or `ssh.user`");
                problems.push(Problem::error(Some(place), message).hint(hint));
                return None;
            }
        };
        keep(owned(&format!("{home}/nbctl-{what}")), place, problems)
    }
}
