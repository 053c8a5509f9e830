//! The configuration that running daemons really have: shown, compared, set and rolled out.
//!
//! Purpose: `nbctl config` as pure functions; what is read over HTTP comes in, rows and plans go out.
//! Duties: a flag is judged by what its daemon answers, never by its file; flags that hold options are taken apart;
//! each change takes the cheapest way that works (see [`roll`]), and a way that does not work is refused.

mod roll;
mod set;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::deploy::{Difference, ReadFlags, differences, parse_flags, shown_flag};
use crate::flags::{Catalogue, Change, is_nested, read_options};
use crate::inventory::{Cluster, Daemon, Selection};

pub use roll::{BALANCE, Limit, Roll, RollGiven, Space, roll};
pub use set::set;

/// What one daemon answered to `GET /flags?format=json&verbose=true`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// Values.
    pub flags: ReadFlags,
    /// Defaults, as far as they were told.
    pub defaults: ReadFlags,
}

impl Told {
    /// Reads the answer.
    ///
    /// # Errors
    /// A sentence when the text is something else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let flags = parse_flags(text)?;
        let answer: Value = serde_json::from_str(text).unwrap_or_default();
        let rows = answer.get("flags").and_then(Value::as_array);
        let default = |row: &Value| {
            Some((
                row.get("name")?.as_str()?.to_owned(),
                row.get("default")?.clone(),
            ))
        };
        let defaults = rows.into_iter().flatten().filter_map(default).collect();
        Ok(Self { flags, defaults })
    }
}

/// A cluster with what its daemons told, by daemon (`metad@s1`).
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// What is wanted.
    pub cluster: &'a Cluster,
    /// A daemon that did not answer is not listed.
    pub told: &'a BTreeMap<String, Told>,
    /// What is meant.
    pub selection: &'a Selection,
}

/// One flag, or one option of a flag, of one daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// `metad@s1`.
    pub daemon: String,
    /// `wal_ttl`, `rocksdb_db_options.max_background_jobs`.
    pub flag: String,
    /// What the daemon works with; `None`: it has no such flag or option.
    pub effective: Option<String>,
    /// What the inventory asks for, shipped values included.
    pub inventory: Option<String>,
    /// What the daemon would take by itself.
    pub default: Option<String>,
    /// How a new value reaches the daemon, where that is known.
    pub change: Option<Change>,
    /// Whether the daemon works with something else than the inventory asks for.
    pub differs: bool,
}

/// A difference to the inventory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deviation {
    /// `metad@s1`.
    pub daemon: String,
    /// What; `None`: the daemon does not answer.
    pub difference: Option<Difference>,
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.difference {
            Some(difference) => write!(f, "{}: {difference}", self.daemon),
            None => write!(f, "{}: /flags does not answer", self.daemon),
        }
    }
}

impl<'a> Asked<'a> {
    fn daemons(&self) -> impl Iterator<Item = &'a Daemon> + use<'a> {
        let selection = self.selection;
        let all = self.cluster.daemons.iter();
        all.filter(move |daemon| selection.has_daemon(daemon))
    }

    /// Daemons that are meant and did not answer.
    pub fn silent(&self) -> Vec<String> {
        let ids = self.daemons().map(Daemon::id);
        ids.filter(|id| !self.told.contains_key(id)).collect()
    }

    /// Every flag that the inventory names or the catalogue knows, of every daemon that answered.
    pub fn rows(&self) -> Vec<Row> {
        let answered = self
            .daemons()
            .filter_map(|d| Some((d, self.told.get(&d.id())?)));
        answered
            .flat_map(|(daemon, told)| rows_of(daemon, told))
            .collect()
    }

    /// Where running daemons differ from the inventory; silence is a difference as well.
    pub fn diff(&self) -> Vec<Deviation> {
        let of = |daemon: &Daemon| match self.told.get(&daemon.id()) {
            None => vec![Deviation {
                daemon: daemon.id(),
                difference: None,
            }],
            Some(told) => {
                let found = of_daemon(daemon, told).into_iter();
                found
                    .map(|d| Deviation {
                        daemon: daemon.id(),
                        difference: Some(d),
                    })
                    .collect()
            }
        };
        self.daemons().flat_map(of).collect()
    }
}

fn rows_of(daemon: &Daemon, told: &Told) -> Vec<Row> {
    let deviations: BTreeSet<String> = of_daemon(daemon, told)
        .into_iter()
        .map(|d| d.flag)
        .collect();
    let known = Catalogue::builtin()
        .iter()
        .filter(|f| f.is_for(daemon.role))
        .map(|f| f.name.as_str());
    let known = known.filter(|name| told.flags.get(*name).is_some_and(|value| !value.is_null()));
    let names: BTreeSet<&str> = known
        .chain(daemon.flags.keys().map(String::as_str))
        .collect();
    let rows = names.into_iter().flat_map(|name| {
        let effective = told
            .flags
            .get(name)
            .filter(|v| !v.is_null())
            .map(shown_flag);
        let inventory = daemon.flags.get(name).cloned();
        let default = told
            .defaults
            .get(name)
            .filter(|v| !v.is_null())
            .map(shown_flag);
        parts(
            name,
            effective.as_deref(),
            inventory.as_deref(),
            default.as_deref(),
        )
    });
    rows.map(|(flag, effective, inventory, default)| Row {
        daemon: daemon.id(),
        change: change_of(&flag),
        differs: deviations.contains(&flag),
        flag,
        effective,
        inventory,
        default,
    })
    .collect()
}

fn of_daemon(daemon: &Daemon, told: &Told) -> Vec<Difference> {
    let mut all = differences(&daemon.flags, &told.flags);
    all.extend(strays(daemon, told));
    all
}

/// Flags that were set on the running daemon though the inventory says nothing about them. Only flags that can be
/// changed while running: others come from the daemon itself, which counts its processors, for instance.
fn strays<'a>(daemon: &'a Daemon, told: &'a Told) -> impl Iterator<Item = Difference> + 'a {
    let dynamic = Catalogue::builtin()
        .iter()
        .filter(|f| f.change == Change::Dynamic && f.is_for(daemon.role));
    let unasked = dynamic.filter(|f| !daemon.flags.contains_key(&f.name));
    unasked.filter_map(|flag| {
        let found = told.flags.get(&flag.name).filter(|v| !v.is_null())?;
        let default = told
            .defaults
            .get(&flag.name)
            .filter(|v| !v.is_null() && *v != found)?;
        Some(Difference {
            flag: flag.name.clone(),
            wanted: Some(shown_flag(default)),
            found: Some(shown_flag(found)),
        })
    })
}

/// How a new value of a flag reaches its daemon; options inside a flag are read at start.
fn change_of(flag: &str) -> Option<Change> {
    match flag.split_once('.') {
        Some(_) => Some(Change::Restart),
        None => Catalogue::builtin().get(flag).map(|f| f.change),
    }
}

type Part = (String, Option<String>, Option<String>, Option<String>);

/// A flag as it is, or its options one by one.
fn parts(
    name: &str,
    effective: Option<&str>,
    inventory: Option<&str>,
    default: Option<&str>,
) -> Vec<Part> {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let options = |text: Option<&str>| {
        text.map(|t| read_options(t).unwrap_or_default())
            .unwrap_or_default()
    };
    let (e, i, d) = (options(effective), options(inventory), options(default));
    let names: BTreeSet<&String> = e.keys().chain(i.keys()).chain(d.keys()).collect();
    if !is_nested(name) || names.is_empty() {
        return vec![(
            name.to_owned(),
            own(effective),
            own(inventory),
            own(default),
        )];
    }
    let of = |options: &BTreeMap<String, Option<String>>, option: &str| {
        options.get(option).cloned().flatten()
    };
    let part = |option: &String| {
        (
            format!("{name}.{option}"),
            of(&e, option),
            of(&i, option),
            of(&d, option),
        )
    };
    names.into_iter().map(part).collect()
}
