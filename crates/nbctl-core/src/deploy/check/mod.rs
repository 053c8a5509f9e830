//! Everything that can be known to be wrong before anything is changed.
//!
//! Purpose: one table of host, check, level, message and fix: `hosts check` prints it, a deploy
//! refuses when a line of it failed.
//! Duties: each check has a name, says what it saw, and offers a fix; a check that does not apply says nothing.

mod folders;
mod host;
mod network;
mod processes;
mod services;
mod settings;
mod skew;
mod systemd;

pub(super) use services::{closed_ports, ranges};
pub(super) use settings::{SETTINGS, Setting};

use std::fmt;

use serde::Serialize;

use super::Given;
use crate::facts::HostFacts;
use crate::failure::Failure;
use crate::inventory::{Daemon, Host};
use crate::package::Package;
use crate::units::HostName;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Pass,
    /// Works, but slower or less safe than it could.
    Warn,
    /// A deploy would fail or do harm.
    Fail,
}

impl Level {
    /// As it is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Where.
    pub host: HostName,
    /// Name of the check.
    pub check: &'static str,
    /// How it ended.
    pub level: Level,
    /// What was seen.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.host, self.check, self.message)?;
        self.fix
            .iter()
            .try_for_each(|fix| write!(f, "\n  fix: {fix}"))
    }
}

/// What a deploy looks at before it begins, on every host that it needs.
pub fn checks(given: &Given<'_>) -> Vec<Check> {
    let mut all = each(given, &[deployable]);
    all.extend(silent(given));
    processes::stale_data(given, &mut all);
    skew::clocks(given, &mut all);
    all
}

/// Kernel settings against the vendor's advice; nothing fails because of them.
pub fn settings(given: &Given<'_>) -> Vec<Check> {
    each(given, &[settings::all])
}

/// The whole table of `nbctl hosts check`: that of a deploy, the settings, and what monitoring needs; `lost` says why
/// hosts have no facts. Sorted by host in the order of the inventory.
pub fn preflight(given: &Given<'_>, lost: &[(HostName, Failure)]) -> Vec<Check> {
    let mut all = checks(given);
    all.extend(each(given, &[settings::all, services::all]));
    all.retain(|check| lost.iter().all(|(host, _)| *host != check.host));
    all.extend(lost.iter().map(|(host, why)| connection(host, why)));
    let hosts = &given.cluster.hosts;
    all.sort_by_key(|check| hosts.iter().position(|host| host.name == check.host));
    all
}

/// One room of the table.
type Room = fn(&mut Look<'_>);

fn deployable(look: &mut Look<'_>) {
    host::may_sudo(look);
    folders::all(look);
    if !look.daemons.is_empty() {
        host::all(look);
        systemd::all(look);
        network::all(look);
        processes::all(look);
    }
}

fn each(given: &Given<'_>, rooms: &[Room]) -> Vec<Check> {
    let hosts = given.cluster.hosts.iter();
    hosts.flat_map(|host| of_host(given, host, rooms)).collect()
}

/// A host that did not answer has no row here, but one of [`silent`].
fn of_host(given: &Given<'_>, host: &Host, rooms: &[Room]) -> Vec<Check> {
    let Some(facts) = given.facts.get(&host.name) else {
        return Vec::new();
    };
    let daemons: Vec<&Daemon> = given.cluster.daemons_on(&host.name).collect();
    let package = given.packages.get(&host.name);
    let mut look = Look {
        given,
        host,
        daemons: &daemons,
        facts,
        package,
        found: Vec::new(),
    };
    for room in rooms {
        room(&mut look);
    }
    look.found
}

/// Hosts that a deploy needs and that said nothing.
fn silent(given: &Given<'_>) -> impl Iterator<Item = Check> {
    let used = |host: &&Host| given.cluster.daemons_on(&host.name).next().is_some();
    let unknown = |host: &&Host| !given.facts.contains_key(&host.name);
    let hosts = given.cluster.hosts.iter().filter(used).filter(unknown);
    hosts.map(|host| {
        let why =
            Failure::host("the host did not answer").hint("run `nbctl hosts ping` to see why");
        connection(&host.name, &why)
    })
}

fn connection(host: &HostName, why: &Failure) -> Check {
    let mut fix: Vec<&str> = why.detail.iter().map(String::as_str).collect();
    fix.extend(why.hint.as_deref());
    Check {
        host: host.clone(),
        check: "connection",
        level: Level::Fail,
        message: why.what.clone(),
        fix: (!fix.is_empty()).then(|| fix.join("; ")),
    }
}

/// One host under inspection.
struct Look<'a> {
    given: &'a Given<'a>,
    host: &'a Host,
    daemons: &'a [&'a Daemon],
    facts: &'a HostFacts,
    package: Option<&'a Package>,
    found: Vec<Check>,
}

impl Look<'_> {
    fn add(&mut self, check: &'static str, level: Level, message: String, fix: Option<&str>) {
        let (host, fix) = (self.host.name.clone(), fix.map(str::to_owned));
        self.found.push(Check {
            host,
            check,
            level,
            message,
            fix,
        });
    }

    fn pass(&mut self, check: &'static str, message: impl Into<String>) {
        self.add(check, Level::Pass, message.into(), None);
    }

    fn warn(&mut self, check: &'static str, message: impl Into<String>, fix: &str) {
        self.add(check, Level::Warn, message.into(), Some(fix));
    }

    fn fail(&mut self, check: &'static str, message: impl Into<String>, fix: &str) {
        self.add(check, Level::Fail, message.into(), Some(fix));
    }

    /// Where the host stands in the inventory.
    fn place(&self) -> String {
        format!(
            "{}:{}",
            self.given.cluster.source.file.display(),
            self.host.place
        )
    }
}
