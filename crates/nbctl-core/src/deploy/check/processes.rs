//! Processes and data that an earlier life left behind.

use super::{Check, Level, Look};
use crate::deploy::{Given, process, roots, version_of};
use crate::facts::{HostFacts, PathFact, Process};
use crate::inventory::{Daemon, DaemonRole, Layout};
use crate::units::RemotePath;

pub(super) fn all(look: &mut Look<'_>) {
    strays(look);
    foreign_user(look);
    for &daemon in look.daemons {
        pid_file(look, daemon);
    }
}

/// A number in a pid file may be anybody's by now; NebulaGraph's own scripts refuse to start because of it.
fn pid_file(look: &mut Look<'_>, daemon: &Daemon) {
    let Some(file) = look.facts.pid_files.get(&daemon.pid_file) else {
        return;
    };
    if process(daemon, look.facts).is_some_and(|process| process.pid == file.pid) {
        look.pass(
            "pid file",
            format!("{} is that of {}", daemon.pid_file, daemon.id()),
        );
        return;
    }
    let whose = match (file.pid, file.name.as_str()) {
        (0, _) => "holds no number".to_owned(),
        (pid, "") => format!("names pid {pid}, which is nobody's"),
        (pid, name) => format!("names pid {pid}, which is {name}"),
    };
    let fix = format!(
        "`nbctl start` goes by executables and replaces it; by hand: rm {}",
        daemon.pid_file
    );
    look.warn("pid file", format!("{} {whose}", daemon.pid_file), &fix);
}

/// Daemons that are not ours: elsewhere on the host, or below our folder but not from a version of it.
fn strays(look: &mut Look<'_>) {
    let ours = |process: &&Process| {
        look.given
            .cluster
            .daemons
            .iter()
            .filter(|daemon| daemon.address == look.host.address)
            .any(|daemon| version_of(daemon, process, look.facts).is_some())
    };
    let strays: Vec<&Process> = look
        .facts
        .processes
        .iter()
        .filter(|p| is_daemon(p) && !ours(p))
        .collect();
    for process in strays {
        let below = |root: &RemotePath| {
            process
                .exe
                .starts_with(&format!("{}/", look.facts.real(root)))
        };
        let inside = roots(look.given.cluster, &look.host.name).iter().any(below);
        let exe = if process.exe.is_empty() {
            "not visible"
        } else {
            &process.exe
        };
        let message = format!(
            "{} runs as pid {} of {} (executable {exe})",
            process.name, process.pid, process.user
        );
        if inside {
            look.fail(
                "processes",
                message,
                &format!("stop it: kill {}", process.pid),
            );
        } else {
            look.warn(
                "processes",
                message,
                "another cluster on the host falsifies measurements",
            );
        }
    }
}

fn is_daemon(process: &Process) -> bool {
    DaemonRole::START_ORDER
        .iter()
        .any(|role| process.name == role.program())
}

fn foreign_user(look: &mut Look<'_>) {
    let user = &look.facts.user;
    if user.uid == 0 {
        return;
    }
    for &daemon in look.daemons {
        let Some(process) = process(daemon, look.facts).filter(|p| p.user != user.name) else {
            continue;
        };
        let message = format!(
            "{} runs as {}, not as {}",
            daemon.id(),
            process.user,
            user.name
        );
        look.fail("processes", message, "log in as that user (`ssh.user`)");
    }
}

/// Data or a cluster id on some host while no metad has any data: that belongs to a cluster which is
/// gone, and would be adopted by the new one or make its daemons refuse each other.
pub(super) fn stale_data(given: &Given<'_>, all: &mut Vec<Check>) {
    let with_facts = |daemon: &'_ Daemon| given.facts.contains_key(&daemon.host);
    let mut metads = given
        .cluster
        .daemons_of(DaemonRole::Metad)
        .filter(|daemon| with_facts(daemon));
    if metads.any(|daemon| {
        given
            .facts
            .get(&daemon.host)
            .is_some_and(|facts| has_data(daemon, facts))
    }) {
        return mixed_metads(given, all);
    }
    for daemon in &given.cluster.daemons {
        let Some(facts) = given.facts.get(&daemon.host) else {
            continue;
        };
        let id = Layout::new(daemon.root.clone()).cluster_id();
        let what = if has_data(daemon, facts) {
            format!("{} has data, but no metad has any", daemon.id())
        } else if facts.exists(&id) && daemon.role != DaemonRole::Metad {
            format!("{id} is there, but no metad has data")
        } else {
            continue;
        };
        push(
            all,
            daemon,
            Level::Fail,
            what,
            "it is of a cluster that is gone: run `nbctl reset data`",
        );
    }
    // Daemons of one folder share its cluster id.
    all.dedup();
}

/// Some metads with data and some without is an interrupted first start, or a wiped metad.
fn mixed_metads(given: &Given<'_>, all: &mut Vec<Check>) {
    for daemon in given.cluster.daemons_of(DaemonRole::Metad) {
        if given
            .facts
            .get(&daemon.host)
            .is_some_and(|facts| !has_data(daemon, facts))
        {
            let message = format!("{} has no data, other metads have", daemon.id());
            let fix = "fine after an interrupted first deploy; else two histories may mix: run `nbctl reset data`";
            push(all, daemon, Level::Warn, message, fix);
        }
    }
}

fn has_data(daemon: &Daemon, facts: &HostFacts) -> bool {
    let full = |path: &RemotePath| match facts.paths.get(path) {
        Some(PathFact::Dir { entries, .. }) => !entries.is_empty(),
        _ => false,
    };
    daemon.data_paths.iter().any(full)
}

fn push(all: &mut Vec<Check>, daemon: &Daemon, level: Level, message: String, fix: &str) {
    let (host, fix) = (daemon.host.clone(), Some(fix.to_owned()));
    all.push(Check {
        host,
        check: "stale data",
        level,
        message,
        fix,
    });
}
