use std::path::Path;

use nbctl_core::run::{DaemonInfo, Point};
use wiremock::matchers::{body_string_contains, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::trend::{restarts, trend};
use super::*;
use crate::record::{NewRun, Redactor};

const START: i64 = 1_796_000_000_000;

fn table() -> QueryTable {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    QueryTable::parse(&std::fs::read_to_string(root.join(TABLE)).unwrap()).unwrap()
}

fn window(seconds: i64) -> Window {
    Window {
        start_ms: START,
        end_ms: START + seconds * 1000,
    }
}

fn host(name: &str, boot: &str) -> HostInfo {
    HostInfo {
        name: name.to_owned(),
        address: String::new(),
        roles: Vec::new(),
        os: String::new(),
        kernel: String::new(),
        cpus: 4,
        memory_bytes: 1,
        boot_id: boot.to_owned(),
        clock_offset_ms: 0,
    }
}

fn cluster() -> ClusterInfo {
    let daemon = |role: &str, host: &str| DaemonInfo {
        role: role.to_owned(),
        host: host.to_owned(),
        endpoint: String::new(),
        git_sha: String::new(),
        flags: std::collections::BTreeMap::new(),
    };
    ClusterInfo {
        daemons: vec![daemon("graphd", "h1"), daemon("storaged", "h2")],
        ..ClusterInfo::default()
    }
}

/// One answer with a series for each (labels, values at steps of 5 s).
fn matrix(series: &[(Value, &[&str])]) -> Value {
    let result: Vec<Value> = series
        .iter()
        .map(|(metric, values)| {
            let values: Vec<Value> = (0i64..)
                .zip(*values)
                .map(|(at, value)| json!([START / 1000 + at * 5, value]))
                .collect();
            json!({"metric": metric, "values": values})
        })
        .collect();
    json!({"status": "success", "data": {"resultType": "matrix", "result": result}})
}

async fn answer(server: &MockServer, query_part: &str, body: Value) {
    Mock::given(method("POST"))
        .and(path("/api/v1/query_range"))
        .and(body_string_contains(query_part))
        .respond_with(ResponseTemplate::new(200).set_body_json(body))
        .with_priority(1)
        .mount(server)
        .await;
}

/// Two hosts on one machine; memory of nobody.
async fn two_hosts() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(200).set_body_json(matrix(&[])))
        .with_priority(9)
        .mount(&server)
        .await;
    let both: &[&str] = &["100", "110", "NaN", "130", "140"];
    let series = [(json!({"host": "h1"}), both), (json!({"host": "h2"}), both)];
    for part in ["node_cpu", "node_disk", "node_network"] {
        answer(&server, part, matrix(&series)).await;
    }
    let group = |host: &str, name: &str| json!({"host": host, "groupname": name});
    let rss: [(Value, &[&str]); 4] = [
        (group("h1", "nebula-graphd"), &["10", "20", "30"]),
        (group("h2", "storaged"), &["7", "7", "7"]),
        (group("h1", "nbctl"), &["5", "5", "5"]),
        (group("h1", "k6"), &["0", "0", "0"]),
    ];
    answer(&server, "memory_bytes%7Bjob%3D%22process", matrix(&rss)).await;
    let starts: [(Value, &[&str]); 2] = [
        (group("h2", "storaged"), &["1000.0", "1000.4", "1060"]),
        // A worker of this phase, after the one of the phase before.
        (group("h1", "nbctl"), &["900", "1000", "1000"]),
    ];
    answer(&server, "oldest_start_time", matrix(&starts)).await;
    server
}

#[tokio::test]
async fn a_window_becomes_a_digest() {
    let server = two_hosts().await;
    let hosts = [host("h1", "same"), host("h2", "same")];
    let prometheus = Prometheus::new(format!("{}/", server.uri()));
    let observed = observe(&prometheus, &table(), window(20), &cluster(), &hosts)
        .await
        .unwrap();
    let metrics = observed.metrics.unwrap();

    let first = metrics.hosts[0].cpu_percent.as_ref().unwrap();
    assert!(
        (first.spread.mean - 200.0).abs() < 1e-9,
        "40 s of CPU in 20 s: {:?}",
        first.spread
    );
    assert_eq!(metrics.hosts[1].cpu_percent, None, "shown on h1");
    assert!(
        metrics.hosts[1].net_send.is_some(),
        "network is of the host"
    );
    assert_eq!(metrics.hosts[1].shares_machine_with, ["h1", "h2"]);

    let roles: Vec<(&str, &str, u32)> = metrics
        .daemons
        .iter()
        .map(|d| (d.role.as_str(), d.host.as_str(), d.restarts))
        .collect();
    assert_eq!(
        roles,
        [
            ("graphd", "h1", 0),
            ("storaged", "h2", 1),
            ("nbctl", "h1", 0)
        ]
    );
    let missing = metrics.missing.join("; ");
    for part in ["memory on h1", "memory on h2", "queries of graphd on h1"] {
        assert!(missing.contains(part), "{part}: {missing}");
    }
    assert_eq!(
        observed.raw.as_array().unwrap().len(),
        table().queries.len()
    );
}

#[tokio::test]
async fn hosts_nobody_knows_are_not_observed() {
    let server = two_hosts().await;
    let hosts = [host("other", "x")];
    let prometheus = Prometheus::new(server.uri());
    let observed = observe(&prometheus, &table(), window(20), &cluster(), &hosts)
        .await
        .unwrap();
    assert_eq!(observed.metrics, None);
}

#[tokio::test]
async fn a_refused_query_says_which() {
    let server = MockServer::start().await;
    let body = json!({"status": "error", "errorType": "bad_data", "error": "1:5: parse error"});
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(400).set_body_json(body))
        .mount(&server)
        .await;
    let prometheus = Prometheus::new(server.uri());
    let failure = observe(&prometheus, &table(), window(20), &cluster(), &[])
        .await
        .unwrap_err();
    let text = failure.to_string();
    assert!(
        text.contains("parse error") && text.contains("query: sum by (host)"),
        "{text}"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_a_note_and_the_run_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let new = NewRun {
        started_ms: START,
        ..NewRun::default()
    };
    let mut store = RunStore::create(root.path(), new, Redactor::default()).unwrap();
    let index = store.begin_phase("import", START).unwrap();
    let nobody = Prometheus::new("http://127.0.0.1:9");
    record_phase(&mut store, index, &nobody, &table())
        .await
        .unwrap();
    let phase = &store.manifest().phases[0];
    assert_eq!(phase.metrics, None);
    assert!(
        phase.notes[0].starts_with("hosts not observed: "),
        "{:?}",
        phase.notes
    );

    let server = two_hosts().await;
    store.set_hosts(vec![host("h1", "a")]).unwrap();
    record_phase(&mut store, index, &Prometheus::new(server.uri()), &table())
        .await
        .unwrap();
    let packed = store
        .phase_folder(index)
        .unwrap()
        .join("prometheus.json.zst");
    let raw = zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap();
    let raw: Value = serde_json::from_slice(&raw).unwrap();
    assert!(raw[0]["query"].as_str().unwrap().contains("node_cpu"));
    assert!(store.manifest().phases[0].metrics.is_some());
}

fn points(values: &[f64]) -> Vec<Point> {
    (0i64..)
        .zip(values)
        .map(|(at, value)| Point {
            at_ms: START + at * 5000,
            value: *value,
        })
        .collect()
}

fn query(kind: Kind) -> Query {
    let mut query = table().queries[0].clone();
    query.kind = kind;
    query.scale = 1.0;
    query
}

/// Mean, smallest, largest.
type Seen = Option<(f64, f64, f64)>;

#[test]
fn counters_are_differences_over_time() {
    let cases: [(&[f64], Seen); 5] = [
        (&[0.0, 50.0, 60.0], Some((6.0, 2.0, 10.0))),
        // Began anew after the second sample: that step is left out.
        (&[100.0, 150.0, 10.0, 60.0], Some((10.0, 10.0, 10.0))),
        (&[5.0, 5.0], Some((0.0, 0.0, 0.0))),
        (&[5.0], None),
        (&[], None),
    ];
    for (values, expected) in cases {
        let found = trend(&query(Kind::Counter), &points(values)).map(|trend| trend.spread);
        let found = found.map(|spread| (spread.mean, spread.min, spread.max));
        assert_eq!(found, expected, "{values:?}");
    }
}

#[test]
fn gauges_are_taken_as_they_are() {
    let trend = trend(&query(Kind::Gauge), &points(&[1.0, 2.0, 6.0])).unwrap();
    assert_eq!(
        (trend.spread.mean, trend.spread.min, trend.spread.max),
        (3.0, 1.0, 6.0)
    );
}

#[test]
fn restarts_are_later_starts_and_ends() {
    let cases: [(&[f64], u32); 5] = [
        (&[1000.0, 1000.9, 1000.1], 0),
        (&[1000.0, 1000.0, 1050.0, 1100.0], 2),
        (&[1000.0, 0.0, 1050.0], 1),
        (&[1000.0, 0.0], 1),
        (&[0.0, 0.0], 0),
    ];
    for (values, expected) in cases {
        assert_eq!(restarts(&points(values)), expected, "{values:?}");
    }
}

#[test]
fn the_grid_ends_with_the_window_and_counts_whole_scrapes() {
    let cases = [
        (60, 5, 0),
        (62, 5, 2),
        (4, 5, 4),
        (1_500, 10, 0),
        (3_600, 15, 0),
    ];
    for (seconds, step, late) in cases {
        let grid = Grid::over(window(seconds), 5);
        assert_eq!(grid.end_ms, START + seconds * 1000);
        assert_eq!(
            (grid.step_ms, grid.start_ms),
            (step * 1000, START + late * 1000),
            "{seconds}"
        );
    }
}

#[test]
fn the_table_is_checked() {
    let good = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE)).unwrap();
    let cases = [
        (good.replace("format: 1", "format: 2"), "format 2"),
        (
            good.replace("field: net_send", "field: net_sent"),
            "net_sent",
        ),
        (good.replace("of: host", "of: planet"), "cannot read"),
    ];
    for (text, expected) in cases {
        let failure = QueryTable::parse(&text).unwrap_err().to_string();
        assert!(failure.contains(expected), "{failure}");
    }
    assert!(good.contains("[20s]"), "says how panels write a rate");
}
