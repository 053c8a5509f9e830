//! Addresses, names and ports.

use super::Look;
use super::host::is_name;
use crate::deploy::{process, roots};
use crate::facts::{Listener, Owner};
use crate::inventory::{Daemon, Port};

pub(super) fn all(look: &mut Look<'_>) {
    address(look);
    names(look);
    for &daemon in look.daemons {
        ports(look, daemon);
    }
}

/// `local_ip` is an identity that the daemon looks for on its own interfaces; behind NAT it is not there.
fn address(look: &mut Look<'_>) {
    let address = &look.host.address;
    let facts = look.facts;
    if facts.addresses.is_empty() {
        look.warn(
            "address",
            "the addresses of the interfaces are not known",
            "install iproute",
        );
        return;
    }
    let resolved = facts.names.get(address);
    let here = |address: &String| facts.addresses.contains(address) || address.starts_with("127.");
    let local = match resolved {
        Some(found) => found.iter().any(here),
        None => here(address),
    };
    if local {
        look.pass("address", format!("{address} is on an interface"));
        return;
    }
    let there: Vec<&str> = facts
        .addresses
        .iter()
        .map(String::as_str)
        .filter(|a| !a.contains(':'))
        .collect();
    let fix = format!(
        "write the address of an interface of the host ({})",
        look.place()
    );
    look.fail(
        "address",
        format!(
            "{address} is on no interface; there are {}",
            there.join(", ")
        ),
        &fix,
    );
}

fn names(look: &mut Look<'_>) {
    let used = |address: &&String| is_name(address);
    let hosts = look
        .given
        .cluster
        .daemons
        .iter()
        .map(|daemon| &daemon.address)
        .filter(used);
    let unknown: std::collections::BTreeSet<&str> = hosts
        .filter(|name| look.facts.names.get(*name).is_none_or(Vec::is_empty))
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        let message = format!(
            "does not resolve {}",
            unknown.into_iter().collect::<Vec<_>>().join(", ")
        );
        look.fail(
            "names",
            message,
            "add them to the DNS or to /etc/hosts of every host",
        );
    }
}

fn ports(look: &mut Look<'_>, daemon: &Daemon) {
    let Ok(ports) = daemon.ports(look.given.cluster.version) else {
        return;
    };
    let running = process(daemon, look.facts).map(|process| process.pid);
    let taken = |port: &Port| {
        let listener = look.facts.listener(port.number)?;
        let foreign = match &listener.owner {
            Some(owner) => Some(owner.pid) != running,
            None => running.is_none(),
        };
        foreign.then_some((*port, listener))
    };
    let taken: Vec<_> = ports.iter().filter_map(taken).collect();
    if taken.is_empty() {
        let numbers: Vec<String> = ports.iter().map(|port| port.number.to_string()).collect();
        look.pass(
            "ports",
            format!("{} of {}", numbers.join(", "), daemon.id()),
        );
    }
    for (port, listener) in taken {
        let fix = format!("stop it, or choose another port ({})", look.place());
        let message = format!(
            "{} ({} {}) is taken by {}",
            port.number,
            daemon.role,
            port.purpose,
            holder(look, listener)
        );
        look.fail("ports", message, &fix);
    }
}

fn holder(look: &Look<'_>, listener: &Listener) -> String {
    let Some(Owner { name, pid }) = &listener.owner else {
        return "a process of another user".into();
    };
    let process = look
        .facts
        .processes
        .iter()
        .find(|process| process.pid == *pid);
    let exe = process
        .map(|process| format!(", {}", process.exe))
        .unwrap_or_default();
    let ours = process.is_some_and(|process| {
        roots(look.given.cluster, &look.host.name)
            .iter()
            .any(|root| process.exe.starts_with(root.as_str()))
    });
    let ours = if ours {
        ", left over from an earlier install here"
    } else {
        ""
    };
    format!("{name} (pid {pid}{exe}{ours})")
}
