//! Rules of Prometheus, by structure; that Prometheus takes them is checked by promtool in `monitor up`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nbctl::metrics::{Kind, Of, Query, QueryTable};
use serde::Deserialize;

#[derive(Deserialize)]
struct Rules {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    record: Option<String>,
    alert: Option<String>,
    expr: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

fn asset(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join("monitoring").join(name)).unwrap()
}

fn rules(name: &str) -> Vec<Rule> {
    let rules: Rules = serde_yaml::from_str(&asset(&format!("prometheus/rules/{name}"))).unwrap();
    rules
        .groups
        .into_iter()
        .flat_map(|group| group.rules)
        .collect()
}

/// What a query of the report is as a recording rule.
fn rule_of(query: &Query) -> (String, String) {
    let (of, by) = match query.of {
        Of::Host => ("host", "cluster, host"),
        Of::Daemon => ("daemon", "cluster, host, groupname"),
    };
    let select = match query.kind {
        Kind::Counter => format!("rate({}[20s])", query.select),
        Kind::Gauge => query.select.clone(),
        Kind::Start => format!("changes({}[1m])", query.select),
    };
    let scale = if (query.scale - 1.0).abs() > f64::EPSILON {
        format!("{} * ", query.scale)
    } else {
        String::new()
    };
    (
        format!("nbctl:{of}_{}", query.field),
        format!("{scale}sum by ({by}) ({select})"),
    )
}

#[test]
fn what_the_report_asks_is_recorded() {
    let table = QueryTable::parse(&asset("queries.yaml")).unwrap();
    let expected: Vec<_> = table.queries.iter().map(rule_of).collect();
    let recorded: Vec<_> = rules("report.yml")
        .into_iter()
        .map(|rule| (rule.record.unwrap(), rule.expr))
        .collect();
    assert_eq!(recorded, expected);
}

#[test]
fn every_alert_says_how_bad_and_where() {
    let alerts = rules("alerts.yml");
    assert!(alerts.len() >= 10);
    for rule in alerts {
        let name = rule.alert.unwrap();
        let severity = rule.labels["severity"].as_str();
        assert!(["warning", "critical"].contains(&severity), "{name}");
        assert!(
            rule.annotations["summary"].contains("$labels.host"),
            "{name}"
        );
    }
}
