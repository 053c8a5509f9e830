//! The whole stack on test hosts: up, up again, healed, down without a trace.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bed::{Bed, query};

/// A process of another user than the exporter's that writes to disk, known to the exporter by its name.
const WRITER: &str = "mkdir -p /tmp/writer && cp /bin/sh /tmp/writer/k6 && cd /tmp/writer && \
    (setsid ./k6 -c 'while [ -d /tmp/writer ]; do head -c 65536 /dev/zero >f; echo x >>f; sleep 0.2; done' >/dev/null 2>&1 </dev/null &)";

#[tokio::test(flavor = "multi_thread")]
async fn up_works_a_second_time_does_nothing_and_down_leaves_nothing() {
    let Some(bed) = Bed::find() else {
        eprintln!("left out: no test hosts are up (NBCTL_BED_DIR; `make bed` starts them)");
        return;
    };
    let before = bed.listing();
    let dry = bed.nbctl(&["monitor", "up", "--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert!(dry.out.contains("start prometheus"), "{}", dry.out);
    assert_eq!(bed.listing(), before, "--dry-run changed something");

    let first = bed.nbctl(&["monitor", "up", "--output", "json"]);
    assert_eq!(first.code, 0, "{}\n{}", first.out, first.err);
    let result: Value = serde_json::from_str(&first.out).unwrap();
    let targets = result["targets"].as_array().unwrap();
    // Two exporters a host, Prometheus, and our own exporter.
    assert_eq!(targets.len(), 2 * bed.hosts.len() + 2);
    assert!(
        targets.iter().all(|target| target["health"] == "up"),
        "{targets:?}"
    );

    let begun = Instant::now();
    let again = bed.nbctl(&["monitor", "up", "--output", "json"]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(
        serde_json::from_str::<Value>(&again.out).unwrap()["changed"],
        0,
        "{}",
        again.err
    );
    eprintln!("a second time: {:.1} s", begun.elapsed().as_secs_f64());

    let cluster = result["cluster"].as_str().unwrap();
    let url = targets
        .iter()
        .find(|target| target["job"] == "prometheus")
        .unwrap()["url"]
        .as_str()
        .unwrap();
    let prometheus = url.trim_end_matches("/metrics");
    let checked = bed.ssh("h1", &format!("docker exec nbctl-{cluster}-prometheus /bin/promtool check config /etc/prometheus/prometheus.yml"));
    assert!(checked.contains("SUCCESS"), "{checked}");

    heals(&bed, cluster);
    observes(&bed, prometheus).await;
    let status = bed.nbctl(&["monitor", "status"]);
    assert_eq!(status.code, 0, "{}\n{}", status.out, status.err);

    let bundle = tempfile::tempdir().unwrap();
    let bundle = bundle.path().join("images").display().to_string();
    saves(&bed, &bundle);

    let kept = bed.nbctl(&["monitor", "down"]);
    assert_eq!(kept.code, 0, "{}", kept.err);
    assert!(
        bed.ssh("h1", "docker volume ls -q").contains("prometheus"),
        "data was not asked to go"
    );
    let gone = bed.nbctl(&["monitor", "down", "--data", "--purge", "--yes"]);
    assert_eq!(gone.code, 0, "{}", gone.err);
    assert_eq!(bed.listing(), before, "monitor down left something");
    loads(&bed, &bundle);
    let gone = bed.nbctl(&["monitor", "down", "--data", "--purge", "--yes"]);
    assert_eq!(gone.code, 0, "{}", gone.err);
    assert_eq!(bed.listing(), before, "images of the bundle are left");
}

/// A bundle with an image for each component but our own exporter, which proves them by id and layers.
fn saves(bed: &Bed, bundle: &str) {
    let images = bed.ssh("h1", "docker images -q --no-trunc | sort -u");
    let saved = bed.nbctl(&["monitor", "images", "save", bundle, "--output", "json"]);
    assert_eq!(saved.code, 0, "{}", saved.err);
    let saved: Value = serde_json::from_str(&saved.out).unwrap();
    let entries = saved["images"].as_array().unwrap();
    assert_eq!(entries.len(), 4, "{saved}");
    for entry in entries {
        assert!(
            entry["image"].as_str().unwrap().starts_with("nbctl/"),
            "{entry}"
        );
        assert!(images.contains(entry["id"].as_str().unwrap()), "{entry}");
        assert!(!entry["layers"].as_array().unwrap().is_empty(), "{entry}");
    }
    assert!(
        !bed.ssh("h1", "docker images").contains("nbctl/prometheus"),
        "a name is left"
    );
}

/// Every host gets what its components need.
fn loads(bed: &Bed, bundle: &str) {
    let loaded = bed.nbctl(&["monitor", "images", "load", bundle, "--output", "json"]);
    assert_eq!(loaded.code, 0, "{}", loaded.err);
    let loaded: Value = serde_json::from_str(&loaded.out).unwrap();
    for host in &bed.hosts {
        let expected = if host == "h1" { 4 } else { 2 };
        assert_eq!(loaded[host].as_array().unwrap().len(), expected, "{loaded}");
    }
    let listed = bed.nbctl(&["monitor", "images", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert!(listed.out.contains("influxdb"), "{}", listed.out);
}

/// A killed container and an edited file are put right by the next run.
fn heals(bed: &Bed, cluster: &str) {
    let host = bed.hosts.last().unwrap();
    bed.ssh(host, &format!("docker kill nbctl-{cluster}-node-exporter"));
    bed.ssh(
        "h1",
        "echo '[]' >nbctl-monitor/prometheus/targets/node.json",
    );
    let healed = bed.nbctl(&["monitor", "up", "--output", "json"]);
    assert_eq!(healed.code, 0, "{}", healed.err);
    assert_eq!(
        serde_json::from_str::<Value>(&healed.out).unwrap()["changed"],
        2,
        "{}",
        healed.err
    );
}

/// Prometheus sees bytes that a process of another user than the exporter's writes.
async fn observes(bed: &Bed, prometheus: &str) {
    let host = bed.hosts.last().unwrap();
    bed.ssh(host, WRITER);
    let written =
        format!("namedprocess_namegroup_write_bytes_total{{groupname=\"k6\",host=\"{host}\"}} > 0");
    let end = Instant::now() + Duration::from_secs(40);
    while query(prometheus, &written).await.is_empty() {
        assert!(
            Instant::now() < end,
            "no bytes written are seen of a process of another user"
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    // It ends when its folder is not there any more.
    bed.ssh(
        host,
        "mv /tmp/writer /tmp/writer.gone; until rm -rf /tmp/writer.gone; do sleep 0.2; done",
    );
}
