//! Dashboards that ship, by structure: what Grafana 8.3 to 12 take without a change.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

/// Panels without rows, from every dashboard.
pub(crate) fn panels() -> Vec<Value> {
    let all = dashboards()
        .into_iter()
        .flat_map(|dashboard| dashboard["panels"].as_array().unwrap().clone());
    all.filter(|panel| panel["type"] != "row").collect()
}

fn dashboards() -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("monitoring/grafana/dashboards");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
        .collect()
}

#[test]
fn dashboards_are_self_contained() {
    for dashboard in dashboards() {
        assert!(dashboard["schemaVersion"].as_u64().unwrap() <= 36);
        assert!(dashboard.get("__inputs").is_none());
        assert!(!dashboard.to_string().contains("${DS_"));
        let mut ids = BTreeSet::new();
        let mut cells = BTreeSet::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            let title = &panel["title"];
            assert!(
                ids.insert(panel["id"].as_u64().unwrap()),
                "{title}: id twice"
            );
            let kind = panel["type"].as_str().unwrap();
            assert!(
                ["timeseries", "stat", "table", "row", "heatmap"].contains(&kind),
                "{title}: {kind}"
            );
            let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
            for x in at("x")..at("x") + at("w") {
                for y in at("y")..at("y") + at("h") {
                    assert!(
                        x < 24 && cells.insert((x, y)),
                        "{title}: overlaps at {x},{y}"
                    );
                }
            }
        }
    }
}

#[test]
fn queries_name_our_data_sources_and_every_target_has_one() {
    for panel in panels() {
        let mut sources = vec![&panel["datasource"]];
        for target in panel["targets"].as_array().unwrap() {
            sources.push(&target["datasource"]);
            assert!(!target["expr"].as_str().unwrap().is_empty());
        }
        for source in sources {
            let uid = source["uid"].as_str().unwrap();
            assert!(
                ["nbctl-prometheus", "nbctl-influxdb"].contains(&uid),
                "{uid}"
            );
        }
    }
}
