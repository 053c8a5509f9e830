//! Metric names by role and line.

use crate::line::{Line, Role};

/// Upper end of graphd's latency histograms, microseconds.
const GRAPH_RANGE: i64 = 2000;
/// Upper end of all other histograms, microseconds.
const STORAGE_RANGE: i64 = 20_000;

const GRAPH_COUNTERS: &[&str] = &["num_queries", "num_slow_queries", "num_query_errors"];
const GRAPH_COUNTERS_3: &[&str] = &[
    "num_active_queries",
    "num_active_sessions",
    "num_sentences",
    "num_query_errors_leader_changes",
    "num_opened_sessions",
    "num_auth_failed_sessions",
    "num_auth_failed_sessions_bad_username_password",
    "num_auth_failed_sessions_out_of_max_allowed",
    "num_reclaimed_expired_sessions",
    "num_rpc_sent_to_metad",
    "num_rpc_sent_to_metad_failed",
    "num_rpc_sent_to_storaged",
    "num_rpc_sent_to_storaged_failed",
];
/// Operations of storaged that the sandbox has too.
const STORAGE_OPS: &[&str] = &[
    "add_vertices",
    "add_edges",
    "delete_vertices",
    "delete_edges",
    "get_neighbors",
    "get_prop",
    "lookup",
    "scan_vertex",
    "scan_edge",
];

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Names with the methods rate and sum.
pub(super) fn counters(line: Line, role: Role) -> Vec<String> {
    match role {
        Role::Metad => owned(&["num_heartbeats"]),
        Role::Graphd if line.is_3x() => owned(&[GRAPH_COUNTERS, GRAPH_COUNTERS_3].concat()),
        Role::Graphd => owned(GRAPH_COUNTERS),
        Role::Storaged => storage_counters(line),
    }
}

fn storage_counters(line: Line) -> Vec<String> {
    let mut names = Vec::new();
    for op in STORAGE_OPS {
        names.push(format!("num_{op}"));
        names.push(format!("num_{op}_errors"));
    }
    if line.is_3x() {
        names.extend(owned(&["num_vertices_inserted", "num_edges_inserted"]));
    }
    names
}

/// Names with the methods avg and p75…p999, and the upper end of their range.
pub(super) fn histograms(line: Line, role: Role) -> Vec<(String, i64)> {
    match role {
        Role::Metad => vec![("heartbeat_latency_us".to_owned(), STORAGE_RANGE)],
        Role::Graphd => vec![
            ("query_latency_us".to_owned(), GRAPH_RANGE),
            ("slow_query_latency_us".to_owned(), GRAPH_RANGE),
        ],
        Role::Storaged => storage_histograms(line),
    }
}

fn storage_histograms(line: Line) -> Vec<(String, i64)> {
    let mut names: Vec<_> = STORAGE_OPS
        .iter()
        .map(|op| (format!("{op}_latency_us"), STORAGE_RANGE))
        .collect();
    if line.is_3x() {
        names.push(("append_wal_latency_us".to_owned(), STORAGE_RANGE));
    }
    names
}
