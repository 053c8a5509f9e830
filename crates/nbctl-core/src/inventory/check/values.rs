//! Values that fit by themselves and not together: copies, heartbeats, shares of memory, processors.

use std::collections::{BTreeMap, BTreeSet};

use super::super::at::Place;
use super::super::names::DaemonRole;
use super::super::problem::Problem;
use super::super::resolve::{DaemonDraft, Draft};

pub(super) fn check(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    replicas(draft, problems);
    problems.extend(heartbeats(draft));
    let mut machines: BTreeMap<(&str, Option<u16>), Vec<&DaemonDraft<'_>>> = BTreeMap::new();
    for daemon in &draft.daemons {
        let host = draft
            .hosts
            .iter()
            .find(|h| h.host.name == daemon.daemon.host);
        let port = host.and_then(|h| h.host.ssh.port);
        machines
            .entry((daemon.daemon.address.as_str(), port))
            .or_default()
            .push(daemon);
    }
    for ((address, _), daemons) in machines {
        if draft
            .version
            .is_some_and(|(version, _)| version.since(3, 4))
        {
            problems.extend(memory(address, &daemons));
        }
        shared_processors(&daemons, problems);
    }
}

/// A space needs a storaged for each copy of a partition.
fn replicas(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    let name = "default_replica_factor";
    let storageds = draft
        .daemons
        .iter()
        .filter(|d| d.daemon.role == DaemonRole::Storaged)
        .count();
    for metad in draft
        .daemons
        .iter()
        .filter(|d| d.daemon.role == DaemonRole::Metad)
    {
        let factor = metad
            .daemon
            .flags
            .get(name)
            .and_then(|f| f.parse::<usize>().ok());
        if let Some((factor, place)) = factor
            .filter(|f| *f > storageds)
            .zip(metad.flag_place(name))
        {
            let what =
                format!("{name} is {factor}, more than the {storageds} storaged of the cluster");
            let hint = "every copy of a partition needs a storaged of its own";
            problems.push(Problem::error(Some(place), what).hint(hint));
        }
    }
}

/// metad judges the heartbeats of others by its own interval.
fn heartbeats(draft: &Draft<'_>) -> Option<Problem> {
    let name = "heartbeat_interval_secs";
    let value = |d: &DaemonDraft<'_>| {
        d.daemon
            .flags
            .get(name)
            .map_or("10", String::as_str)
            .to_owned()
    };
    let first = draft.daemons.first()?;
    let other = draft.daemons.iter().find(|d| value(d) != value(first))?;
    let place = other.flag_place(name).or_else(|| first.flag_place(name))?;
    let what = format!(
        "{name} is {} on {} and {} on {}",
        value(other),
        other.daemon.id(),
        value(first),
        first.daemon.id()
    );
    Some(
        Problem::error(Some(place), what)
            .hint("it must be equal on all daemons: set it once, under `nebula.flags`"),
    )
}

/// Each process counts its own share, so the shares of one host have to fit into one memory. Only what somebody wrote
/// is judged; of defaults a deploy tells when it knows the memory.
fn memory(address: &str, daemons: &[&DaemonDraft<'_>]) -> Option<Problem> {
    let name = "memory_tracker_limit_ratio";
    let place: Place = daemons.iter().find_map(|d| {
        d.flag_place(name)
            .filter(|_| d.daemon.role != DaemonRole::Metad)
    })?;
    let share = |d: &DaemonDraft<'_>| match d.daemon.role {
        DaemonRole::Metad => None,
        _ => d
            .daemon
            .flags
            .get(name)
            .map_or(Some(0.8), |ratio| ratio.parse::<f64>().ok()),
    };
    let shares: Vec<(String, f64)> = daemons
        .iter()
        .filter_map(|d| Some((d.daemon.id(), share(d)?)))
        .collect();
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    if shares.len() < 2 || sum <= 1.0 + 1e-9 {
        return None;
    }
    let words: Vec<String> = shares
        .iter()
        .map(|(id, share)| format!("{share} of {id}"))
        .collect();
    let what = format!(
        "{name} adds up to {sum:.2} on {address}: {}",
        words.join(", ")
    );
    Some(
        Problem::warning(Some(place), what)
            .hint("daemons of one host share its memory: keep the sum at 1 or below"),
    )
}

/// Two daemons bound to one processor disturb each other, which is what binding is to prevent.
fn shared_processors(daemons: &[&DaemonDraft<'_>], problems: &mut Vec<Problem>) {
    let mut taken: BTreeMap<u32, String> = BTreeMap::new();
    for daemon in daemons {
        let processors = daemon.daemon.pin.processors();
        let owners: BTreeSet<&String> =
            processors.iter().filter_map(|cpu| taken.get(cpu)).collect();
        if let Some(owner) = owners.first() {
            let what = format!("{} shares processors with {owner}", daemon.daemon.id());
            problems.push(
                Problem::warning(daemon.cpus_place(), what)
                    .hint("give each daemon of a host processors of its own"),
            );
        }
        taken.extend(processors.into_iter().map(|cpu| (cpu, daemon.daemon.id())));
    }
}
