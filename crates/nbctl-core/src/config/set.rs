//! Setting flags of running daemons.

use std::collections::BTreeMap;

use super::{Asked, Told};
use crate::deploy::same_flag;
use crate::failure::Failure;
use crate::flags::{Catalogue, Change, Flag, holder, is_nested};
use crate::inventory::Daemon;
use crate::plan::{Action, Plan, SetFlags, Step};

/// The steps that give running daemons new values, and nothing else: the inventory stays as it is, and a restart
/// brings its values back. What only a restart can change is refused.
///
/// # Errors
/// Of kind usage, when a flag is unknown, read at start only, or belongs to none of the daemons meant; of kind
/// cluster, when one of them does not answer.
pub fn set(asked: &Asked<'_>, wanted: &BTreeMap<String, String>) -> Result<Plan, Failure> {
    let mut faults = Vec::new();
    for (name, value) in wanted {
        match dynamic(asked, name) {
            Ok(flag) => faults.extend(unfit(asked, flag, value)),
            Err(why) => faults.push(why),
        }
    }
    if !faults.is_empty() {
        return Err(
            Failure::usage("not settable on running daemons; nothing was changed")
                .lines(faults)
                .hint("put it into the inventory and run `nbctl config roll`"),
        );
    }
    let meant = |daemon: &&Daemon| wanted.keys().any(|name| has(daemon, name));
    let silent: Vec<String> = asked
        .daemons()
        .filter(meant)
        .map(Daemon::id)
        .filter(|id| !asked.told.contains_key(id))
        .collect();
    if !silent.is_empty() {
        return Err(Failure::cluster("daemons do not answer; nothing was changed").lines(silent));
    }
    let mut plan = Plan::default();
    let steps = asked
        .daemons()
        .filter_map(|d| step(d, asked.told.get(&d.id())?, wanted));
    plan.stage("set flags", steps.collect());
    Ok(plan)
}

fn has(daemon: &Daemon, name: &str) -> bool {
    Catalogue::builtin()
        .get(name)
        .is_some_and(|f| f.is_for(daemon.role))
}

/// The flag, when running daemons take a new value of it.
fn dynamic<'a>(asked: &Asked<'_>, name: &str) -> Result<&'a Flag, String> {
    let version = asked.cluster.version;
    if let Some(flag) = holder(name).or_else(|| {
        name.split_once('.')
            .map(|(f, _)| f)
            .filter(|f| is_nested(f))
    }) {
        return Err(format!(
            "{name}: an option inside {flag}, which is read at start: a restart is needed"
        ));
    }
    let Some(flag) = Catalogue::builtin().get(name) else {
        let near = Catalogue::builtin().nearest(name);
        let near = near.map_or_else(String::new, |n| format!(" (did you mean {n}?)"));
        return Err(format!(
            "{name}: not in the catalogue, so nobody knows whether a running daemon heeds it{near}"
        ));
    };
    if !flag.exists_in(version) {
        return Err(format!("{name}: {version} has no such flag"));
    }
    match flag.change {
        Change::Restart => Err(format!("{name}: read at start only: a restart is needed")),
        Change::Dynamic => Ok(flag),
    }
}

/// Why a value or the choice of daemons does not fit a flag.
fn unfit(asked: &Asked<'_>, flag: &Flag, value: &str) -> Option<String> {
    let name = &flag.name;
    let mut daemons = asked.daemons().filter(|d| flag.is_for(d.role)).peekable();
    if daemons.peek().is_none() {
        let roles: Vec<&str> = flag.daemons.iter().map(|r| r.as_str()).collect();
        return Some(format!(
            "{name}: belongs to {}, none of which is meant",
            roles.join(", ")
        ));
    }
    if name == "heartbeat_interval_secs" && !asked.selection.is_everything() {
        return Some(format!(
            "{name}: must be equal on all daemons, so leave out --role and --host"
        ));
    }
    let told = daemons.find_map(|d| asked.told.get(&d.id())?.flags.get(name));
    let kind = match told {
        Some(serde_json::Value::Number(_)) if value.parse::<f64>().is_err() => "a number",
        Some(serde_json::Value::Bool(_))
            if !same_flag(value, &true.into()) && !same_flag(value, &false.into()) =>
        {
            "true or false"
        }
        _ => return None,
    };
    Some(format!("{name}: `{value}` is not {kind}"))
}

/// What one daemon does not have yet.
fn step(daemon: &Daemon, told: &Told, wanted: &BTreeMap<String, String>) -> Option<Step> {
    let other = |(name, value): &(&String, &String)| {
        has(daemon, name)
            && !told
                .flags
                .get(*name)
                .is_some_and(|found| same_flag(value, found))
    };
    let flags: BTreeMap<String, String> = wanted
        .iter()
        .filter(other)
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    (!flags.is_empty()).then(|| set_step(daemon, flags))
}

pub(super) fn set_step(daemon: &Daemon, flags: BTreeMap<String, String>) -> Step {
    let words: Vec<String> = flags
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let title = format!("set {} on {}", words.join(" "), daemon.id());
    let http = daemon.http_endpoint();
    Step::on(&daemon.host, title, Action::Flags(SetFlags { http, flags }))
}
