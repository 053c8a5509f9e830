//! Folders: whose they are, whether they can be made, how much room they have.

use super::Look;
use crate::deploy::state::is_installed;
use crate::deploy::{claimed, sudo};
use crate::inventory::{Daemon, DaemonRole};
use crate::owner::{Standing, standing};
use crate::units::RemotePath;

const MIB: u64 = 1 << 20;
/// Without this much metad refuses to write (`minimum_reserved_bytes`, 1 GiB) or will soon.
const METAD: u64 = 1024 * MIB;
/// storaged's shipped configuration reserves 256 MiB.
const STORAGED: u64 = 256 * MIB;
/// A package unpacks to about four times its size, and lies in the cache besides.
const UNPACKED: u64 = 5;

pub(super) fn all(look: &mut Look<'_>) {
    for path in claimed(look.given.cluster, &look.host.name) {
        owner(look, &path);
        writable(look, &path);
    }
    for &daemon in look.daemons {
        outside(look, daemon);
        data_room(look, daemon);
    }
    package_room(look);
}

fn owner(look: &mut Look<'_>, path: &RemotePath) {
    match standing(path, &look.given.cluster.id, look.facts) {
        Standing::Free => look.pass("owner", format!("{path} is free")),
        Standing::Ours => look.pass("owner", format!("{path} is ours")),
        Standing::Foreign(marker) => {
            let fix = format!(
                "tear that cluster down first, or choose another folder ({})",
                look.place()
            );
            look.fail("owner", format!("{path} belongs to {marker}"), &fix);
        }
        Standing::Unmarked(names) => {
            let message = format!(
                "{path} holds what nbctl did not put there: {}",
                names.join(", ")
            );
            let fix = format!("move it away, or choose another folder ({})", look.place());
            look.fail("owner", message, &fix);
        }
        Standing::Wrong(what) => {
            let fix = format!("name the real folder in the inventory ({})", look.place());
            look.fail("owner", format!("{path} {what}"), &fix);
        }
    }
}

fn writable(look: &mut Look<'_>, path: &RemotePath) {
    let Some(space) = look.facts.space.get(path) else {
        return;
    };
    if space.writable
        || look.facts.user.sudo && sudo(look.given.cluster, &look.host.name) && space.at != *path
    {
        return;
    }
    let user = look.facts.user.name.clone();
    let fix = format!("create {path} and give it to {user}, or set `ssh.sudo: true`");
    look.fail(
        "permission",
        format!("{user} may not write in {}", space.at),
        &fix,
    );
}

/// Flags that move data out of the folders that nbctl marks would survive a teardown.
fn outside(look: &mut Look<'_>, daemon: &Daemon) {
    let owned = claimed(look.given.cluster, &look.host.name);
    for flag in [
        "wal_path",
        "rocksdb_wal_dir",
        "listener_path",
        "cluster_id_path",
    ] {
        let Some(value) = daemon
            .flags
            .get(flag)
            .filter(|value| value.starts_with('/'))
        else {
            continue;
        };
        let inside = |path: RemotePath| owned.iter().any(|root| path.is_within(root));
        if !value
            .split(',')
            .all(|path| RemotePath::new(path).is_ok_and(inside))
        {
            let message = format!(
                "{flag} of {} is {value}, outside every folder of the inventory",
                daemon.id()
            );
            look.fail(
                "folders",
                message,
                "choose a path below data_dir or deploy_dir",
            );
        }
    }
}

fn data_room(look: &mut Look<'_>, daemon: &Daemon) {
    let least = match daemon.role {
        DaemonRole::Metad => reserved(look, daemon).unwrap_or(METAD),
        DaemonRole::Storaged => reserved(look, daemon).unwrap_or(STORAGED),
        DaemonRole::Graphd => return,
    };
    for path in &daemon.data_paths {
        let Some(space) = look.facts.space.get(path) else {
            continue;
        };
        let free = space.free / MIB;
        let message = format!(
            "{free} MiB free for {} on {} ({path})",
            daemon.id(),
            space.mount
        );
        if space.free < least {
            let fix = format!(
                "{} needs {} MiB at the very least",
                daemon.role,
                least / MIB
            );
            look.fail("room", message, &fix);
        } else if space.free < 2 * least {
            look.warn(
                "room",
                message,
                "writes are refused when the disk is almost full",
            );
        } else {
            look.pass("room", message);
        }
    }
}

fn reserved(look: &Look<'_>, daemon: &Daemon) -> Option<u64> {
    // Older lines have no such flag.
    let known = look.given.cluster.version.since(2, 5);
    let written = daemon.flags.get("minimum_reserved_bytes")?.parse().ok();
    written.filter(|_| known)
}

fn package_room(look: &mut Look<'_>) {
    let Some(package) = look.package else { return };
    for &daemon in look.daemons {
        let Some(space) = look.facts.space.get(&daemon.root) else {
            continue;
        };
        let needed = package.bytes.saturating_mul(UNPACKED);
        let done = is_installed(look.given.cluster, daemon, package.sha256, look.facts);
        if !done && space.free < needed {
            let message = format!(
                "{} MiB free in {} ({})",
                space.free / MIB,
                daemon.root,
                space.mount
            );
            let fix = format!(
                "unpacking {} takes about {} MiB",
                package.name,
                needed / MIB
            );
            look.fail("room", message, &fix);
        }
    }
}
