//! nbctl, as a user runs it.

use std::process::Command;

use crate::bed::{Bed, HOME};
use crate::run::{Run, timed, write};

/// nbctl with two inventories that differ in whether connections are kept.
#[derive(Debug)]
pub(crate) struct Ours<'a> {
    bed: &'a Bed,
}

impl<'a> Ours<'a> {
    pub(crate) fn new(bed: &'a Bed) -> Self {
        Self { bed }
    }

    /// Writes the inventories; `turn` decides the value of the flag that changes.
    pub(crate) fn inventory(&self, turn: usize) {
        for (name, persist) in [("kept", 10), ("fresh", 0)] {
            let text = inventory(self.bed, persist, 64 + turn);
            write(&self.bed.bench.join(format!("{name}.yaml")), &text);
        }
    }

    /// Runs a command with one of the inventories.
    pub(crate) fn nbctl(&self, inventory: &str, args: &[&str]) -> Run {
        let inventory = self.bed.bench.join(format!("{inventory}.yaml"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_nbctl"));
        command.arg("--inventory").arg(inventory).args(args);
        command.arg("--state-dir").arg(self.bed.bench.join("state"));
        command.args(["--output", "json"]);
        let mut run = timed(&format!("nbctl {}", args.join(" ")), &mut command);
        run.waited = waited(&run.stderr);
        run
    }
}

/// Seconds of the stages that wait for daemons.
fn waited(events: &str) -> f64 {
    let events = events
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let waits = events.filter(|event| {
        event["event"] == "phase-finished"
            && event["phase"]
                .as_str()
                .is_some_and(|phase| phase.starts_with("wait for"))
    });
    waits
        .filter_map(|event| event["millis"].as_f64())
        .sum::<f64>()
        / 1000.0
}

fn inventory(bed: &Bed, persist: u32, block_cache: usize) -> String {
    let (dir, packages) = (bed.dir.display(), bed.bench.join("packages"));
    let head = format!(
        "format: 1\ncluster: bench\ndisposable: true\nnebula:\n  version: 3.8.0\n  packages: {}\n  deploy_dir: {HOME}/nebula\n  \
         flags: {{heartbeat_interval_secs: 1}}\n  storaged: {{flags: {{rocksdb_block_cache: {block_cache}}}}}\n\
         ssh: {{user: vesoft, identity_file: \"{dir}/id_ed25519\", known_hosts_file: \"{dir}/known_hosts\", known_hosts: strict, persist: {persist}}}\n\
         hosts:\n",
        packages.display()
    );
    let host = |(number, address): (usize, &String)| {
        let roles = if number <= 3 {
            "metad, graphd, storaged"
        } else {
            "graphd, storaged"
        };
        format!("  - {{name: h{number}, address: {address}, roles: [{roles}]}}\n")
    };
    head + &(1..).zip(&bed.addresses).map(host).collect::<String>()
}
