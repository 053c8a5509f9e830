//! Advice from facts: settings that fit the hosts better than those asked for.
//!
//! Duty: told beside a plan, never applied. The rules are the vendor's: a third of the memory for block caches, threads
//! by processors, 2 to 20 partitions a disk, shares of memory that add up to one at most.

use std::collections::BTreeMap;

use super::Given;
use crate::facts::HostFacts;
use crate::inventory::{Daemon, DaemonRole};

/// One piece of advice and the hosts (or, for the cluster, none) it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// Names of hosts.
    pub hosts: Vec<String>,
    /// What is, what is usual, and which key says so.
    pub text: String,
}

/// What a user might want to change before a deploy.
pub fn advice(given: &Given<'_>) -> Vec<Advice> {
    // Hosts with one boot id are one machine, whose memory and processors count once.
    let mut machines: BTreeMap<String, (&HostFacts, Vec<&Daemon>)> = BTreeMap::new();
    for host in &given.cluster.hosts {
        let Some(facts) = given.facts.get(&host.name) else {
            continue;
        };
        let boot = &facts.system.boot_id;
        let key = if boot.is_empty() {
            host.name.to_string()
        } else {
            boot.clone()
        };
        let machine = machines.entry(key).or_insert((facts, Vec::new()));
        machine.1.extend(given.cluster.daemons_on(&host.name));
    }
    let mut all: Vec<Advice> = Vec::new();
    for (facts, daemons) in machines.values() {
        let mut texts = Vec::new();
        texts.extend(block_cache(facts, daemons));
        texts.extend(threads(facts, daemons));
        texts.extend(shares(given, daemons));
        let mut hosts: Vec<String> = daemons.iter().map(|d| d.host.to_string()).collect();
        hosts.dedup();
        for text in texts {
            add(&mut all, &hosts, text);
        }
    }
    all.extend(partitions(given).map(|text| Advice {
        hosts: Vec::new(),
        text,
    }));
    all
}

/// The same advice for several machines is one.
fn add(all: &mut Vec<Advice>, hosts: &[String], text: String) {
    match all.iter_mut().find(|a| a.text == text) {
        Some(same) => same.hosts.extend_from_slice(hosts),
        None => all.push(Advice {
            hosts: hosts.to_vec(),
            text,
        }),
    }
}

fn number(daemon: &Daemon, flag: &str, default: u64) -> u64 {
    daemon
        .flags
        .get(flag)
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

fn storageds<'a>(daemons: &[&'a Daemon]) -> Vec<&'a Daemon> {
    daemons
        .iter()
        .copied()
        .filter(|d| d.role == DaemonRole::Storaged)
        .collect()
}

/// A third of the memory for all block caches of a machine; told when it is less than half or more than twice that.
fn block_cache(facts: &HostFacts, daemons: &[&Daemon]) -> Option<String> {
    let storageds = storageds(daemons);
    let (first, count) = (storageds.first()?, u64::try_from(storageds.len()).ok()?);
    let memory = facts.system.memory >> 20;
    let usual = memory / 3 / count;
    let is = number(first, "rocksdb_block_cache", 1024);
    let odd = usual > 0 && (is < usual / 2 || is > usual.saturating_mul(2));
    odd.then(|| {
        format!(
            "rocksdb_block_cache is {is} MiB; a third of the memory ({memory} MiB) for {count} storaged is {usual} MiB each \
             (nebula.storaged.flags.rocksdb_block_cache)"
        )
    })
}

/// More processors than threads stand idle.
fn threads(facts: &HostFacts, daemons: &[&Daemon]) -> Vec<String> {
    let cpus = u64::from(facts.system.cpus);
    let storageds = storageds(daemons);
    let Some(first) = storageds.first() else {
        return Vec::new();
    };
    let few = [("num_worker_threads", 32), ("num_io_threads", 16), ("reader_handlers", 32)].into_iter().filter_map(|(flag, default)| {
        let is = number(first, flag, default);
        (is > 0 && cpus >= is * 2).then(|| {
            format!("{flag} is {is} on {cpus} processors; as many as there are processors is usual (nebula.storaged.flags.{flag})")
        })
    });
    few.collect()
}

/// From 3.4 on each graphd and storaged takes 0.8 of the memory as its limit, whoever else is there.
fn shares(given: &Given<'_>, daemons: &[&Daemon]) -> Option<String> {
    let flag = "memory_tracker_limit_ratio";
    let sharing: Vec<&&Daemon> = daemons
        .iter()
        .filter(|d| d.role != DaemonRole::Metad)
        .collect();
    let ratio = |d: &&&Daemon| {
        d.flags
            .get(flag)
            .map_or(Some(0.8), |value| value.parse::<f64>().ok())
    };
    let sum: f64 = sharing.iter().filter_map(ratio).sum();
    let over = given.cluster.version.since(3, 4) && sharing.len() > 1 && sum > 1.0 + 1e-9;
    over.then(|| format!("{flag} adds up to {sum:.1} for {} daemons of one machine; keep the sum at 1 or below (nebula.<role>.flags.{flag})", sharing.len()))
}

/// Of a new space that names no number.
fn partitions(given: &Given<'_>) -> impl Iterator<Item = String> {
    let disks: usize = given
        .cluster
        .daemons_of(DaemonRole::Storaged)
        .map(|d| d.data_paths.len())
        .sum();
    let disks = u64::try_from(disks).unwrap_or(0);
    let metad = given.cluster.daemons_of(DaemonRole::Metad).next();
    let is = metad.map(|d| number(d, "default_parts_num", 100));
    let odd = is.filter(|is| disks > 0 && !(disks * 2..=disks * 20).contains(is));
    odd.map(move |is| {
        format!(
            "default_parts_num is {is}; 2 to 20 partitions for each data folder, {} to {} for {disks}, are usual, 20 on SSD \
             (nebula.metad.flags.default_parts_num, or partitions of the space)",
            disks * 2,
            disks * 20
        )
    })
    .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deploy::{Facts, Observed, Rendered};
    use crate::inventory::{Source, load};
    use crate::package::PackageChoice;

    /// Memory in GiB, processors, boot id, flags of all daemons.
    fn told(gib: u64, cpus: u32, boot: &str, flags: &str) -> Vec<String> {
        let text = format!(
            "format: 1\ncluster: c\nssh: {{user: v}}\nnebula: {{version: 3.8.0, deploy_dir: /home/v/nebula, flags: {{{flags}}}}}\n\
             hosts:\n  - address: 10.0.0.[1:3]\n    name: s[1:3]\n    roles: [metad, graphd, storaged]\n"
        );
        let cluster = load(&Source::new("inv.yaml", text)).cluster.unwrap();
        let mut facts = Facts::new();
        for host in &cluster.hosts {
            let mut of_host = HostFacts::default();
            of_host.system.memory = gib << 30;
            of_host.system.cpus = cpus;
            of_host.system.boot_id = if boot.is_empty() {
                host.name.to_string()
            } else {
                boot.to_owned()
            };
            facts.insert(host.name.clone(), of_host);
        }
        let given = Given {
            cluster: &cluster,
            facts: &facts,
            packages: &PackageChoice::new(),
            rendered: &Rendered::new(),
            observed: &Observed::default(),
            control: "here",
        };
        advice(&given)
            .into_iter()
            .map(|a| format!("{}: {}", a.hosts.join(","), a.text))
            .collect()
    }

    #[test]
    fn only_what_is_unusual_is_told() {
        let good =
            "rocksdb_block_cache: 21000, memory_tracker_limit_ratio: 0.4, default_parts_num: 30";
        let cases: [(u64, u32, &str, &str, &[&str]); 4] = [
            (64, 31, "", good, &[]),
            (
                64,
                96,
                "",
                good,
                &[
                    "num_worker_threads is 32 on 96",
                    "num_io_threads is 16 on 96",
                    "reader_handlers is 32 on 96",
                ],
            ),
            // Three hosts of one machine share its memory.
            (
                64,
                8,
                "one",
                good,
                &[
                    "rocksdb_block_cache is 21000 MiB; a third of the memory (65536 MiB) for 3 storaged is 7281 MiB each",
                    "adds up to 2.4 for 6 daemons",
                ],
            ),
            (
                64,
                8,
                "",
                "",
                &[
                    "s1,s2,s3: rocksdb_block_cache is 4 MiB",
                    "adds up to 1.6 for 2 daemons",
                    "default_parts_num is 100; 2 to 20 partitions for each data folder, 6 to 60 for 3",
                ],
            ),
        ];
        for (gib, cpus, boot, flags, expected) in cases {
            let told = told(gib, cpus, boot, flags);
            assert_eq!(told.len(), expected.len(), "{told:?}");
            for (text, part) in told.iter().zip(expected) {
                assert!(text.contains(part), "no {part:?} in {text}");
            }
        }
    }
}
