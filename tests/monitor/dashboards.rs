//! Dashboards that ship, by structure: what Grafana 8.3 to 12 take without a change. That their queries find something
//! is the pipeline test's (`panels`).

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

const SOURCES: [(&str, &str); 2] = [
    ("nbctl-prometheus", "prometheus"),
    ("nbctl-influxdb", "influxdb"),
];
/// Filled in by Grafana itself.
const BUILT_IN: [&str; 3] = ["__interval", "__rate_interval", "timeFilter"];

fn asset(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join("monitoring").join(name)).unwrap()
}

/// Every dashboard with the name of its file.
fn dashboards() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("monitoring/grafana/dashboards");
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .map(|name| {
            let text = asset(&format!("grafana/dashboards/{name}"));
            (name, serde_json::from_str(&text).unwrap())
        })
        .collect()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap()
}

/// Queries of a dashboard: panels, variables, annotations.
fn queries(dashboard: &Value) -> Vec<String> {
    let targets = list(dashboard, "panels")
        .iter()
        .filter(|panel| panel["type"] != "row")
        .flat_map(|panel| list(panel, "targets"));
    let variables = list(&dashboard["templating"], "list");
    let annotations = list(&dashboard["annotations"], "list");
    let all = targets.chain(variables).chain(annotations);
    all.map(|target| {
        let query = ["expr", "query"]
            .iter()
            .find_map(|key| target[*key].as_str());
        query.unwrap().to_owned()
    })
    .collect()
}

#[test]
fn names_are_unique_and_every_dashboard_is_put_on_the_host() {
    let stack = asset("stack.yaml");
    let mut titles = BTreeSet::new();
    let all = dashboards();
    assert!(all.len() >= 6, "{}", all.len());
    for (name, dashboard) in &all {
        let stem = name.strip_suffix(".json").unwrap();
        assert_eq!(dashboard["uid"], format!("nbctl-{stem}"));
        assert!(
            titles.insert(dashboard["title"].as_str().unwrap()),
            "{name}: title twice"
        );
        assert!(
            stack.contains(&format!("path: dashboards/{name}")),
            "{name} is not in stack.yaml"
        );
    }
}

#[test]
fn dashboards_are_of_a_schema_that_every_grafana_since_8_3_reads() {
    for (name, dashboard) in dashboards() {
        assert_eq!(
            dashboard["schemaVersion"], 36,
            "{name}: older is migrated, newer is not"
        );
        let text = dashboard.to_string();
        for export in ["__inputs", "__requires", "${DS_"] {
            assert!(
                !text.contains(export),
                "{name}: {export} is not resolved by provisioning"
            );
        }
        let kinds = ["timeseries", "stat", "table", "row", "heatmap"];
        for panel in list(&dashboard, "panels") {
            let kind = panel["type"].as_str().unwrap();
            assert!(kinds.contains(&kind), "{name}: {}: {kind}", panel["title"]);
        }
    }
}

#[test]
fn panels_have_a_place_of_their_own() {
    for (name, dashboard) in dashboards() {
        let (mut ids, mut cells) = (BTreeSet::new(), BTreeSet::new());
        for panel in list(&dashboard, "panels") {
            let title = &panel["title"];
            assert!(
                ids.insert(panel["id"].as_u64().unwrap()),
                "{name}: {title}: id twice"
            );
            let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
            for x in at("x")..at("x") + at("w") {
                for y in at("y")..at("y") + at("h") {
                    let free = x < 24 && cells.insert((x, y));
                    assert!(free, "{name}: {title}: overlaps at {x},{y}");
                }
            }
        }
    }
}

/// Every `datasource` anywhere in a value.
fn sources<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("datasource"));
            map.values().for_each(|value| sources(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| sources(value, found)),
        _ => {}
    }
}

#[test]
fn data_sources_are_ours_by_their_fixed_uids() {
    let provisioned = asset("grafana/provisioning/datasources/nbctl.yaml.tera");
    for (uid, kind) in SOURCES {
        assert!(provisioned.contains(&format!("uid: {uid}\n    type: {kind}\n")));
    }
    for (name, dashboard) in dashboards() {
        let mut found = Vec::new();
        sources(&dashboard, &mut found);
        for source in found {
            let pair = (
                source["uid"].as_str().unwrap(),
                source["type"].as_str().unwrap(),
            );
            assert!(SOURCES.contains(&pair), "{name}: {source}");
        }
        for panel in list(&dashboard, "panels") {
            let targets = panel["targets"].as_array().into_iter().flatten();
            for target in targets {
                assert_eq!(
                    target["datasource"], panel["datasource"],
                    "{name}: {}",
                    panel["title"]
                );
                let influx = target["datasource"]["type"] == "influxdb";
                assert_eq!(target.get("rawQuery").is_some(), influx, "{name}: {target}");
            }
        }
    }
}

fn no_letter(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

/// `$name` and `${name}` in a text; `$tag_…` is an alias of a series.
fn variables(text: &str) -> BTreeSet<String> {
    let parts = text.split('$').skip(1);
    let names = parts.map(|part| {
        part.trim_start_matches('{')
            .split(no_letter)
            .next()
            .unwrap()
    });
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn variables_are_defined_and_used() {
    for (name, dashboard) in dashboards() {
        let defined: BTreeSet<String> = list(&dashboard["templating"], "list")
            .iter()
            .map(|variable| variable["name"].as_str().unwrap().to_owned())
            .collect();
        let used: BTreeSet<String> = queries(&dashboard)
            .iter()
            .flat_map(|query| variables(query))
            .collect();
        let unknown: Vec<&String> = used
            .iter()
            .filter(|name| !defined.contains(*name) && !BUILT_IN.contains(&name.as_str()))
            .collect();
        assert!(unknown.is_empty(), "{name}: not defined: {unknown:?}");
        let unused: Vec<&String> = defined.difference(&used).collect();
        assert!(unused.is_empty(), "{name}: not used: {unused:?}");
    }
}

#[test]
fn recorded_series_that_are_drawn_exist() {
    let rules = asset("prometheus/rules/report.yml");
    let drawn = dashboards()
        .into_iter()
        .flat_map(|(_, dashboard)| queries(&dashboard));
    let mut seen = 0;
    for query in drawn {
        for part in query.split("nbctl:").skip(1) {
            let name = part.split(no_letter).next().unwrap();
            let record = format!("record: nbctl:{name}\n");
            assert!(rules.contains(&record), "{query}");
            seen += 1;
        }
    }
    assert!(seen > 10);
}
