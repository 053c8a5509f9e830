//! A made-up run of every phase, for tests of the store and of reports.
//!
//! Purpose: one monitor and load host and three cluster hosts, two of which are one machine; an import,
//! several scenarios, an error class, a restart seen, a scenario with too few samples.
//! Duties: every number comes from a formula below; nothing was measured, and the run says so itself.

mod load;
mod observed;

use std::collections::BTreeMap;
use std::path::Path;

use nbctl::record::{NewRun, Redactor, RunStore};
use nbctl_core::run::{ClusterInfo, DaemonInfo, HostInfo, Input, Outcome, PhaseResult, Window};
use nbctl_core::units::Sha256;

/// Start of the made-up run.
pub(crate) const START: i64 = 1_796_000_000_000;
const MIB: u64 = 1_048_576;
/// Says what it is wherever the run's name is shown.
const NAME: &str = "synthetic sample, nothing was measured";

/// Writes the run below `root`.
pub(crate) fn write(root: &Path) -> RunStore {
    let new = NewRun {
        name: NAME.to_owned(),
        started_ms: START,
        tool_version: "0.1.0".to_owned(),
        command_line: [
            "nbctl",
            "bench",
            "full",
            "-i",
            "lab inventory.yaml",
            "--seed",
            "42",
        ]
        .map(str::to_owned)
        .to_vec(),
        seed: 42,
        ..NewRun::default()
    };
    let mut store = RunStore::create(root, new, Redactor::default()).unwrap();
    store.set_cluster(cluster()).unwrap();
    store.set_hosts(hosts()).unwrap();
    store.add_inputs(inputs()).unwrap();
    let mut clock = START + 2_000;
    for (name, seconds, facts) in PLAIN_BEFORE {
        plain(&mut store, &mut clock, name, *seconds, facts);
    }
    load::import(&mut store, &mut clock);
    plain(
        &mut store,
        &mut clock,
        "compact and settle",
        34,
        &[("storaged writes", "below 5 MiB/s for 15 s")],
    );
    for scenario in load::SCENARIOS {
        load::stress(&mut store, &mut clock, scenario);
    }
    let index = store.begin_phase("balance", clock).unwrap();
    let now = Window {
        start_ms: clock,
        end_ms: clock,
    };
    let left_out = Outcome::Skipped("leaders are even already".to_owned());
    store
        .end_phase(index, now, left_out, PhaseResult::Plain(Vec::new()))
        .unwrap();
    store.finish(clock + 1_500).unwrap();
    store
}

/// Name, seconds, facts.
type Plain = (&'static str, i64, &'static [(&'static str, &'static str)]);

const PLAIN_BEFORE: &[Plain] = &[
    (
        "hosts check",
        3,
        &[("checks", "41 hold, 2 reported"), ("swap", "off on 4 of 4")],
    ),
    (
        "deploy",
        21,
        &[
            ("package", "nebula-graph-3.8.0, sha256 9f2c…"),
            ("steps", "57 done, 3 already so"),
        ],
    ),
    ("data", 12, &[("scale factor", "0.1"), ("files", "3")]),
    ("schema", 8, &[("space", "sf01, 15 partitions, 1 replica")]),
];

fn plain(store: &mut RunStore, clock: &mut i64, name: &str, seconds: i64, facts: &[(&str, &str)]) {
    let index = store.begin_phase(name, *clock).unwrap();
    let window = Window {
        start_ms: *clock,
        end_ms: *clock + seconds * 1000,
    };
    let facts = facts
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    store
        .end_phase(index, window, Outcome::Done, PhaseResult::Plain(facts))
        .unwrap();
    *clock = window.end_ms + 500;
}

fn cluster() -> ClusterInfo {
    let flags = |role: &str| -> BTreeMap<String, String> {
        let own: &[(&str, &str)] = match role {
            "storaged" => &[
                ("rocksdb_block_cache", "4096"),
                (
                    "rocksdb_column_family_options",
                    r#"{"write_buffer_size":"67108864","max_write_buffer_number":"4"}"#,
                ),
            ],
            "graphd" => &[("num_netio_threads", "8")],
            _ => &[],
        };
        own.iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    };
    let ports = [("metad", 9559), ("graphd", 9669), ("storaged", 9779)];
    let daemons = (1..=3).flat_map(|n| {
        ports.map(|(role, port)| DaemonInfo {
            role: role.to_owned(),
            host: format!("node{n}"),
            endpoint: format!("10.0.0.{}:{port}", 10 + n),
            git_sha: "5a4db0c".to_owned(),
            flags: flags(role),
        })
    });
    ClusterInfo {
        name: "sample".to_owned(),
        version: "3.8.0".to_owned(),
        sandbox: true,
        daemons: daemons.collect(),
    }
}

fn hosts() -> Vec<HostInfo> {
    let host = |name: &str, octet: u8, roles: &[&str], cpus, boot: &str, offset| HostInfo {
        name: name.to_owned(),
        address: format!("10.0.0.{octet}"),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        os: "Debian 12".to_owned(),
        kernel: "6.1.0-28".to_owned(),
        cpus,
        memory_bytes: 32 * 1024 * MIB,
        boot_id: format!("00000000-0000-4000-8000-00000000000{boot}"),
        clock_offset_ms: offset,
    };
    let cluster = ["metad", "graphd", "storaged"];
    vec![
        host("bench1", 10, &["monitor", "load"], 8, "0", 0),
        host("node1", 11, &cluster, 16, "1", 2),
        host("node2", 12, &cluster, 16, "2", -3),
        host("node3", 13, &cluster, 16, "2", -3),
    ]
}

fn inputs() -> Vec<Input> {
    let input = |path: &str, bytes| Input {
        path: path.to_owned(),
        sha256: Sha256::of(path.as_bytes()).to_string(),
        bytes,
    };
    vec![
        input("lab inventory.yaml", 1_204),
        input("playbooks/bench-full.yaml", 880),
        input("data/social_network/dynamic/person.csv", MIB / 8),
        input(
            "data/social_network/dynamic/person_knows_person.csv",
            2 * MIB,
        ),
        input("data/social_network/dynamic/comment.csv", 44 * MIB),
    ]
}
