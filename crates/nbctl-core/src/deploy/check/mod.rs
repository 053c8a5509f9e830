//! Everything that can be known to be wrong before anything is changed.
//!
//! Purpose: one table of host, check, level, message and fix: `hosts check` prints it, a deploy
//! refuses when a line of it failed.
//! Duties: each check has a name, says what it saw, and offers a fix; a check that does not apply says nothing.

mod folders;
mod host;
mod network;
mod processes;
mod skew;

use std::fmt;

use serde::Serialize;

use super::Given;
use crate::facts::HostFacts;
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

/// Runs every check on every host with daemons.
pub fn checks(given: &Given<'_>) -> Vec<Check> {
    let mut all = Vec::new();
    for host in &given.cluster.hosts {
        let daemons: Vec<&Daemon> = given.cluster.daemons_on(&host.name).collect();
        if !daemons.is_empty() {
            of_host(given, host, &daemons, &mut all);
        }
    }
    processes::stale_data(given, &mut all);
    skew::clocks(given, &mut all);
    all
}

fn of_host(given: &Given<'_>, host: &Host, daemons: &[&Daemon], all: &mut Vec<Check>) {
    let Some(facts) = given.facts.get(&host.name) else {
        let fix = "run `nbctl hosts ping` to see why".to_owned();
        let (check, level, message) = ("facts", Level::Fail, "the host did not answer".to_owned());
        all.push(Check {
            host: host.name.clone(),
            check,
            level,
            message,
            fix: Some(fix),
        });
        return;
    };
    let package = given.packages.get(&host.name);
    let mut look = Look {
        given,
        host,
        daemons,
        facts,
        package,
        found: Vec::new(),
    };
    host::all(&mut look);
    folders::all(&mut look);
    network::all(&mut look);
    processes::all(&mut look);
    all.append(&mut look.found);
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
