//! The main job on real hosts: deploy → monitor → data → import → stress → report → nothing left.
//!
//! Needs the test bed (`make test` starts it and sets `NBCTL_BED_DIR`); without it the test says so and passes.
//! One test, because each stretch stands on the last one.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "helpers of a test may fail as tests do, and say what they left out"
)]

mod bed;
mod counts;
mod hosts;
mod panels;
#[path = "../life/ran.rs"]
mod ran;

use bed::Bed;
use panels::Servers;

#[test]
fn one_line_through() {
    let Some(bed) = Bed::find() else {
        eprintln!("left out: no test hosts (NBCTL_BED_DIR is not set); `make test` has them");
        return;
    };
    // What an earlier, broken run left is not this run's.
    bed.nbctl(&["monitor", "down", "--yes", "--data", "--purge"])
        .good();
    bed.nbctl(&["teardown", "--yes", "--purge"]).good();
    let before = bed.listing();
    bed.nbctl(&["deploy", "--dry-run"]).good();
    bed.nbctl(&["teardown", "--dry-run"])
        .good()
        .says("nothing to do");
    assert_eq!(bed.listing(), before, "a dry run changed something");

    let bundled = bed.bundled();
    bed.offline(&bundled, &["deploy", "--yes"])
        .good()
        .says("deployed and verified");
    // The folder that the inventory names holds the same.
    bed.nbctl(&["deploy", "--yes"]).good().says("nothing to do");
    bed.nbctl(&["status"]).good().says("equals its inventory");
    bed.offline(&bundled, &["monitor", "up", "--yes"]).good();
    bed.nbctl(&["monitor", "up", "--yes"])
        .good()
        .says("nothing to do");
    bed.nbctl(&["monitor", "status"]).good();

    let data = bed.data();
    let run = bed
        .nbctl(&["bench", "full", "--quick", "--yes", "--data", &data])
        .good();
    run.says("SANDBOX, shared kernel");
    let report = bed.report();
    counts::hold(&report, &data);
    every_phase_is_there(&report);
    hosts_differ(&report);
    panels::all_show_data(&servers(&bed, &report));
    bed.nbctl(&["monitor", "down", "--data", "--yes"]).good();
    bed.nbctl(&["monitor", "up", "--from", "latest"]).good();
    panels::a_run_is_back(&servers(&bed, &report), report["id"].as_str().expect("id"));

    bed.nbctl(&["teardown", "--yes", "--purge"]).good();
    bed.nbctl(&["monitor", "down", "--yes", "--data", "--purge"])
        .good();
    assert_eq!(bed.listing(), before, "something was left behind");
}

/// The monitoring servers, and the time of the run.
fn servers(bed: &Bed, manifest: &serde_json::Value) -> Servers {
    let status = bed.nbctl(&["monitor", "status", "--output", "json"]).good();
    let status = status.json();
    let parts = status["parts"].as_array().expect("parts");
    let address = |component: &str| {
        let part = parts.iter().find(|part| part["component"] == component);
        format!(
            "http://{}",
            part.expect("a component")["address"]
                .as_str()
                .expect("an address")
        )
    };
    Servers {
        prometheus: address("prometheus"),
        influxdb: address("influxdb"),
        start: manifest["started_ms"].as_i64().expect("a start") / 1000,
        end: manifest["finished_ms"].as_i64().expect("an end") / 1000,
    }
}

fn every_phase_is_there(manifest: &serde_json::Value) {
    let phases = manifest["phases"].as_array().expect("phases");
    let names: Vec<&str> = phases
        .iter()
        .filter_map(|phase| phase["name"].as_str())
        .collect();
    for wanted in ["data", "schema", "import", "compact", "settle"] {
        assert!(names.contains(&wanted), "no phase {wanted} in {names:?}");
    }
    for scenario in ["Go1Step", "Go2Step", "Go3Step", "FetchTag", "InsertVertex"] {
        let wanted = format!("stress {scenario} ");
        let found = phases.iter().find(|phase| {
            phase["name"]
                .as_str()
                .is_some_and(|n| n.starts_with(&wanted))
        });
        let stress =
            &found.unwrap_or_else(|| panic!("no {wanted}in {names:?}"))["result"]["stress"];
        assert!(
            stress["requests"].as_u64().expect("requests") > 0,
            "{scenario}: {stress}"
        );
        assert_eq!(stress["failed"], 0, "{scenario}: {}", stress["errors"]);
    }
}

/// Per-host network and per-daemon CPU and memory are really per host: no two hosts with storaged have the same. Memory
/// comes in pages, and like daemons may need as many: there two may agree, all may not.
fn hosts_differ(manifest: &serde_json::Value) {
    let phases = manifest["phases"].as_array().expect("phases");
    // The import of a small set is over before a second scrape; a stress window has several.
    let is_stress = |phase: &&serde_json::Value| {
        phase["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("stress Go1Step "))
    };
    let metrics = &phases.iter().find(is_stress).expect("a stress phase")["metrics"];
    let distinct = |rows: &serde_json::Value, role: Option<&str>, field: &str, agreeing: usize| {
        let rows = rows.as_array().expect("digests");
        let rows = rows
            .iter()
            .filter(|row| role.is_none_or(|role| row["role"] == role));
        let mut means: Vec<String> = rows
            .map(|row| row[field]["spread"]["mean"].to_string())
            .filter(|m| m != "null")
            .collect();
        let all = means.len();
        means.sort_unstable();
        means.dedup();
        assert!(all >= 3, "{field}: only {all} of them observed: {metrics}");
        assert!(
            means.len() + agreeing >= all,
            "{field} is the same on hosts: {means:?} of {all}"
        );
    };
    distinct(&metrics["hosts"], None, "net_receive", 0);
    distinct(&metrics["daemons"], Some("storaged"), "cpu_percent", 0);
    distinct(&metrics["daemons"], Some("storaged"), "rss_bytes", 1);
}
