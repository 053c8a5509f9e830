//! The host itself: processor, C library, kernel, programs, limits, memory.

use super::Look;
use crate::deploy::{OPEN_FILES, is_ip, roots, sudo};
use crate::facts::Glibc;
use crate::inventory::{DaemonRole, Install, Pin};
use crate::package::Arch;

/// Oldest kernel the vendor asks for.
const KERNEL: Glibc = Glibc { major: 3, minor: 9 };

pub(super) fn all(look: &mut Look<'_>) {
    package(look);
    kernel(look);
    tools(look);
    if look.given.cluster.install == Install::Rpm {
        rpm(look);
    }
    open_files(look);
    pins(look);
    caches(look);
}

/// What the inventory wants done under sudo must be allowed without a question.
pub(super) fn may_sudo(look: &mut Look<'_>) {
    let user = &look.facts.user;
    if user.uid == 0 || !sudo(look.given.cluster, &look.host.name) {
        return;
    }
    if user.sudo {
        look.pass("sudo", format!("{} needs no password", user.name));
        return;
    }
    let fix = format!(
        "in /etc/sudoers.d/nbctl: {} ALL=(ALL) NOPASSWD: ALL; or run `nbctl hosts bootstrap`; or leave out `ssh.sudo`",
        user.name
    );
    look.fail(
        "sudo",
        format!("sudo refuses {}, or asks for a password", user.name),
        &fix,
    );
}

fn package(look: &mut Look<'_>) {
    let Some(package) = look.package else {
        if !look.given.cluster.mirrors.is_empty() {
            let message = "none is at hand; a deploy fetches it from a mirror";
            return look.warn(
                "package",
                message,
                "`nbctl deploy --dry-run` fetches it now",
            );
        }
        let fix = "put a package with its .sha256sum.txt into the folder of the inventory";
        look.fail("package", "no package was chosen for this host", fix);
        return;
    };
    let (name, system) = (&package.name, &look.facts.system);
    let glibc = system
        .glibc
        .map_or("none".to_owned(), |glibc| glibc.to_string());
    let seen = format!("{} with glibc {glibc}", system.arch);
    let needs = format!(
        "{} is for {} with glibc {} or newer",
        name,
        name.arch.as_str(),
        name.build.glibc()
    );
    let fits = Arch::parse(&system.arch) == Some(name.arch);
    if fits
        && system
            .glibc
            .is_some_and(|glibc| glibc >= name.build.glibc())
    {
        look.pass("package", format!("{seen} runs {name}"));
    } else {
        let fix = "get the package that was built for this host";
        look.fail("package", format!("the host is {seen}, but {needs}"), fix);
    }
}

fn kernel(look: &mut Look<'_>) {
    let kernel = &look.facts.system.kernel;
    let mut numbers = kernel
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok());
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        return;
    };
    let message = format!("kernel {kernel}");
    if (Glibc { major, minor }) < KERNEL {
        look.fail("kernel", message, "NebulaGraph asks for 3.9 or newer");
    } else {
        look.pass("kernel", message);
    }
}

fn tools(look: &mut Look<'_>) {
    let mut needed = vec!["sha256sum"];
    if let Some(package) = look.package {
        let rpm = look.given.cluster.install == Install::Rpm;
        needed.extend(if rpm {
            &["rpm"]
        } else {
            package.name.format.tools()
        });
    }
    let missing: Vec<&str> = needed
        .iter()
        .copied()
        .filter(|tool| !look.facts.has(tool))
        .collect();
    if missing.is_empty() {
        look.pass("programs", needed.join(", "));
    } else {
        let fix = "install them with the package manager of the host";
        look.fail("programs", format!("missing: {}", missing.join(", ")), fix);
    }
    if !look.facts.has("ss") {
        look.warn(
            "programs",
            "without ss nobody can tell who holds a port",
            "install iproute",
        );
    }
}

fn rpm(look: &mut Look<'_>) {
    let (cluster, name) = (look.given.cluster, &look.host.name);
    let folders = roots(cluster, name);
    if folders.len() > 1 {
        let fix = "use `install: extract`";
        look.fail(
            "rpm",
            format!(
                "the RPM database takes one deploy_dir per host, not {}",
                folders.len()
            ),
            fix,
        );
    }
    let user = &look.facts.user;
    if user.uid != 0 && !(user.sudo && sudo(cluster, name)) {
        let fix =
            "set `ssh.sudo: true` and allow sudo without a password, or use `install: extract`";
        look.fail(
            "rpm",
            format!("{} may not use the RPM database", user.name),
            fix,
        );
    }
    let ours = |prefix: &str| {
        folders
            .iter()
            .any(|root| prefix.starts_with(&format!("{root}/versions/")))
    };
    let foreign: Vec<String> = look
        .facts
        .rpms
        .iter()
        .filter(|(_, prefix)| !ours(prefix))
        .map(|(package, prefix)| format!("{package} is installed in {prefix}"))
        .collect();
    for message in foreign {
        look.fail(
            "rpm",
            message,
            "remove it (`rpm -e nebula-graph`), or use `install: extract`",
        );
    }
}

fn open_files(look: &mut Look<'_>) {
    let (_, hard) = look.facts.nofile;
    match hard {
        Some(hard) if hard < u64::from(OPEN_FILES) => {
            let fix =
                format!("raise nofile to {OPEN_FILES} in /etc/security/limits.d and log in again");
            look.warn("open files", format!("at most {hard} per process"), &fix);
        }
        Some(hard) => look.pass("open files", format!("up to {hard} per process")),
        None => look.pass("open files", "no limit"),
    }
}

/// What daemons are bound to must be there, and the program that binds them.
fn pins(look: &mut Look<'_>) {
    let cpus = look.facts.system.cpus;
    let (_, hard) = look.facts.nofile;
    for daemon in look
        .daemons
        .iter()
        .copied()
        .filter(|d| d.pin != Pin::default())
    {
        let (id, command) = (daemon.id(), daemon.pin.command());
        let tool = command.split(' ').next().filter(|tool| !tool.is_empty());
        if let Some(tool) = tool.filter(|tool| !look.facts.has(tool)) {
            let fix = format!(
                "install it ({} on most systems), or leave out `pin`",
                if tool == "taskset" {
                    "util-linux"
                } else {
                    tool
                }
            );
            look.fail(
                "pin",
                format!("{id} is bound by {tool}, which is missing"),
                &fix,
            );
        }
        if let Some(last) = daemon
            .pin
            .processors()
            .last()
            .filter(|last| cpus > 0 && **last >= cpus)
        {
            let message = format!(
                "{id} is bound to processor {last}, but the host has 0 to {}",
                cpus - 1
            );
            look.fail("pin", message, "correct `pin.cpus`");
        }
        if let Some(files) = daemon
            .pin
            .nofile
            .filter(|files| hard.is_some_and(|hard| hard < u64::from(*files)))
        {
            let message = format!("{id} wants {files} open files, the host allows fewer");
            look.fail(
                "pin",
                message,
                "raise nofile in /etc/security/limits.d and log in again",
            );
        }
    }
}

/// Block caches are taken whole, whatever else runs on the host.
fn caches(look: &mut Look<'_>) {
    let storageds = look
        .daemons
        .iter()
        .filter(|daemon| daemon.role == DaemonRole::Storaged);
    let cache = |flags: &std::collections::BTreeMap<String, String>| {
        flags.get("rocksdb_block_cache")?.parse::<u64>().ok()
    };
    let mib: u64 = storageds.filter_map(|daemon| cache(&daemon.flags)).sum();
    let memory = look.facts.system.memory >> 20;
    let message = format!("rocksdb_block_cache takes {mib} MiB of {memory} MiB memory");
    if memory > 0 && mib > memory / 2 {
        let fix = "about a third of the memory that the daemons share is usual";
        look.warn("memory", message, fix);
    } else if memory > 0 && mib > 0 {
        look.pass("memory", message);
    }
}

/// Whether an address is a name; here because the network checks share it.
pub(super) fn is_name(address: &str) -> bool {
    !is_ip(address)
}
