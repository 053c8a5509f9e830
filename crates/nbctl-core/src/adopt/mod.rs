//! Adopt: an installation that somebody else made becomes one that nbctl keeps.
//!
//! Purpose: what runs on the hosts, found by executable, with the configuration it was started with, becomes an
//! inventory that means the same cluster; markers make the folders ours.
//! Duties: nothing that runs is touched; what an inventory cannot say is refused, or left out by name; the next deploy
//! shows what it would change before it does.

mod found;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeSet;

use crate::failure::Failure;
use crate::inventory::{DaemonRole, Version};
use crate::units::HostName;

pub use found::{Found, Host, parse};
pub use write::{Options, Written, write};

/// The question, for `sh -s`.
pub const SCRIPT: &str = include_str!("adopt.sh");

/// What cannot be taken over, all of it in one failure.
fn refuse(faults: Vec<String>) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(
        Failure::usage("this installation cannot be taken over as it is; nothing was changed")
            .lines(faults),
    )
}

/// The release that the hosts tell; `None` when they do not know.
///
/// # Errors
/// Daemons of several releases run.
pub fn release(hosts: &[(HostName, Host)]) -> Result<Option<Version>, Failure> {
    let all = hosts.iter().flat_map(|(_, host)| &host.daemons);
    let told: BTreeSet<Version> = all.filter_map(|daemon| daemon.release).collect();
    if told.len() > 1 {
        let told: Vec<String> = told.iter().map(Version::to_string).collect();
        let what = format!("daemons of several releases run: {}", told.join(" and "));
        refuse(vec![what])?;
    }
    Ok(told.into_iter().next())
}

/// Whether together they are a cluster.
///
/// # Errors
/// A role is missing, a host runs two daemons of a role, a configuration cannot be read, metads are not the same.
pub fn check(hosts: &[(HostName, Host)]) -> Result<(), Failure> {
    let mut faults = Vec::new();
    let all = || {
        hosts
            .iter()
            .flat_map(|(name, host)| host.daemons.iter().map(move |d| (name, d)))
    };
    for role in DaemonRole::START_ORDER {
        if !all().any(|(_, daemon)| daemon.role == role) {
            faults.push(format!(
                "no host runs a {role}; name all hosts, and start what is down"
            ));
        }
        for (name, host) in hosts {
            if host.daemons.iter().filter(|d| d.role == role).count() > 1 {
                faults.push(format!(
                    "{name}: more than one {role} runs; say which cluster is meant with --dir"
                ));
            }
        }
    }
    let mut metads: Vec<&str> = Vec::new();
    for (name, daemon) in all() {
        match daemon.flags.get("meta_server_addrs") {
            None => faults.push(format!(
                "{name}: {} says no meta_server_addrs (is it readable?)",
                daemon.conf
            )),
            Some(text) if !metads.contains(&text.as_str()) => metads.push(text),
            Some(_) => {}
        }
    }
    if metads.len() > 1 {
        faults.push(format!(
            "daemons name different metads: {}",
            metads.join(" and ")
        ));
    }
    refuse(faults)
}
