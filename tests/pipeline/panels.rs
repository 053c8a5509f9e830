//! Every query of every dashboard, asked as Grafana would ask it, of the servers that hold a run's data.
//!
//! A panel without data is a fault: of the query, of a label, of an exporter that is not scraped. Variables are resolved by
//! their own queries; an annotation counts as a panel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nbctl::http::post_form;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(20);
const DATABASE: &str = "nbctl";

/// Where the data is, and of when.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) prometheus: String,
    pub(crate) influxdb: String,
    /// Unix seconds.
    pub(crate) start: i64,
    pub(crate) end: i64,
}

type Variables = BTreeMap<String, String>;

/// Why a query is no good.
type Fault = String;

/// Fails with a line for each query that errs or finds nothing.
pub(crate) fn all_show_data(servers: &Servers) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let begun = Instant::now();
        let dashboards = dashboards();
        let (mut asked, mut faults) = (0, Vec::new());
        for (name, dashboard) in &dashboards {
            let (count, found) = servers.check(dashboard).await;
            asked += count;
            faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
        }
        assert!(
            faults.is_empty(),
            "panels without data:\n{}",
            faults.join("\n")
        );
        let seconds = begun.elapsed().as_secs_f64();
        eprintln!(
            "panels: {} dashboards, {asked} queries with data, {seconds:.1} s",
            dashboards.len()
        );
        faults_are_seen(servers).await;
    });
}

/// The run's loads and its curves of hosts and daemons are there for its own time, though both servers are new.
pub(crate) fn a_run_is_back(servers: &Servers, run: &str) {
    let trial = format!("\"trial\" = '{run}' AND time >= {}s", servers.start);
    let loads = format!("SELECT mean(\"requests\") FROM \"load\" WHERE {trial}");
    let bands = format!("SELECT \"phase\" FROM \"phases\" WHERE {trial}");
    let asked = [
        ("influxdb", loads.as_str()),
        ("influxdb", bands.as_str()),
        ("prometheus", "nbctl:host_net_receive"),
        (
            "prometheus",
            "nbctl:daemon_cpu_percent{groupname=\"nebula-storaged\"}",
        ),
    ];
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for (source, query) in asked {
        let found = runtime.block_on(servers.ask(source, query, false));
        assert_eq!(found, Ok(()), "{query}");
    }
}

/// The check itself can fail.
async fn faults_are_seen(servers: &Servers) {
    let prometheus = json!({"type": "prometheus", "uid": "nbctl-prometheus"});
    let influxdb = json!({"type": "influxdb", "uid": "nbctl-influxdb"});
    let panel = |title: &str, source: &Value, target: Value| json!({"title": title, "type": "timeseries", "datasource": source, "targets": [target]});
    let broken = json!({"templating": {"list": []}, "annotations": {"list": []}, "panels": [
        panel("no such metric", &prometheus, json!({"expr": "no_such_metric"})),
        panel("no PromQL", &prometheus, json!({"expr": "sum by ("})),
        panel("no such measurement", &influxdb, json!({"query": "SELECT mean(\"x\") FROM \"none\""})),
        panel("no InfluxQL", &influxdb, json!({"query": "SELECT FROM"})),
        panel("good", &prometheus, json!({"expr": "up"})),
    ]});
    let (asked, faults) = servers.check(&broken).await;
    assert_eq!((asked, faults.len()), (5, 4), "{faults:?}");
}

fn dashboards() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("monitoring/grafana/dashboards");
    let files = std::fs::read_dir(folder).expect("dashboards");
    files
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a dashboard");
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, serde_json::from_str(&text).expect("json"))
        })
        .collect()
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

impl Servers {
    /// How many queries a dashboard has, and what is wrong with them.
    async fn check(&self, dashboard: &Value) -> (usize, Vec<Fault>) {
        let (mut asked, mut faults) = (0, Vec::new());
        let mut variables = self.built_in();
        for variable in list(&dashboard["templating"], "list") {
            let name = variable["name"].as_str().unwrap_or_default();
            match self.values(variable, &variables).await {
                Ok(values) => drop(variables.insert(name.to_owned(), shown(variable, &values))),
                Err(fault) => faults.push(format!("variable {name}: {fault}")),
            }
        }
        let panels =
            list(dashboard, "panels").map(|panel| (panel, list(panel, "targets").collect()));
        let annotations = list(&dashboard["annotations"], "list").map(|one| (one, vec![one]));
        let all: Vec<(&Value, Vec<&Value>)> = panels.chain(annotations).collect();
        for (panel, targets) in all {
            let title = panel["title"]
                .as_str()
                .or(panel["name"].as_str())
                .unwrap_or_default();
            for target in targets {
                asked += 1;
                let query = substituted(text(target), &variables);
                if left_out(&query) {
                    continue;
                }
                let source = panel["datasource"]["type"].as_str().unwrap_or_default();
                let instant = target["instant"] == true;
                if let Err(fault) = self.ask(source, &query, instant).await {
                    faults.push(format!("{title}: {fault}: {query}"));
                }
            }
        }
        (asked, faults)
    }

    /// As Grafana chooses them for a panel some 200 points wide.
    fn built_in(&self) -> Variables {
        let step = self.step();
        let (start, end) = (self.start, self.end);
        [
            ("__interval", format!("{step}s")),
            ("__rate_interval", format!("{}s", (4 * step).max(20))),
            ("timeFilter", format!("time >= {start}s and time <= {end}s")),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn step(&self) -> i64 {
        ((self.end - self.start) / 200).max(5)
    }

    async fn ask(&self, source: &str, query: &str, instant: bool) -> Result<(), Fault> {
        match source {
            "prometheus" => self.prometheus(query, instant).await,
            "influxdb" => match self.influxdb(query).await? {
                rows if rows
                    .iter()
                    .any(|row| row.iter().skip(1).any(|cell| !cell.is_null())) =>
                {
                    Ok(())
                }
                _ => Err("no data".to_owned()),
            },
            other => Err(format!("unknown data source {other}")),
        }
    }

    async fn prometheus(&self, query: &str, instant: bool) -> Result<(), Fault> {
        let (start, end, step) = (
            self.start.to_string(),
            self.end.to_string(),
            self.step().to_string(),
        );
        let (path, times) = if instant {
            ("query", vec![("time", end.as_str())])
        } else {
            let times = vec![("start", start.as_str()), ("end", &end), ("step", &step)];
            ("query_range", times)
        };
        let fields: Vec<(&str, &str)> = [("query", query)].into_iter().chain(times).collect();
        let answer = self.api(path, &fields).await?;
        let number = |pair: &Value| {
            let value = pair[1].as_str().and_then(|value| value.parse::<f64>().ok());
            value.is_some_and(f64::is_finite)
        };
        let has_value =
            |series: &Value| number(&series["value"]) || list(series, "values").any(number);
        if list(&answer, "result").any(has_value) {
            Ok(())
        } else {
            Err("no data".to_owned())
        }
    }

    async fn api(&self, path: &str, fields: &[(&str, &str)]) -> Result<Value, Fault> {
        let url = format!("{}/api/v1/{path}", self.prometheus);
        let text = post_form(&url, fields, LIMIT)
            .await
            .map_err(|failure| failure.to_string())?;
        let answer: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Ok(answer["data"].clone())
    }

    /// Rows of the first statement's series, the time in front.
    async fn influxdb(&self, query: &str) -> Result<Vec<Vec<Value>>, Fault> {
        let url = format!("{}/query", self.influxdb);
        let fields = [("db", DATABASE), ("epoch", "ms"), ("q", query)];
        let text = post_form(&url, &fields, LIMIT)
            .await
            .map_err(|failure| failure.to_string())?;
        let answer: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let result = &answer["results"][0];
        if let Some(error) = result["error"].as_str() {
            return Err(error.to_owned());
        }
        let rows = list(result, "series").flat_map(|series| list(series, "values"));
        Ok(rows
            .map(|row| row.as_array().cloned().unwrap_or_default())
            .collect())
    }

    /// What a variable can be.
    async fn values(&self, variable: &Value, known: &Variables) -> Result<Vec<String>, Fault> {
        let query = substituted(text(variable), known);
        let inner = query
            .strip_prefix("label_values(")
            .and_then(|rest| rest.strip_suffix(')'));
        let mut values: Vec<String> =
            if let Some((selector, label)) = inner.and_then(|inner| inner.rsplit_once(", ")) {
                let (start, end) = (self.start.to_string(), self.end.to_string());
                let fields = [("match[]", selector), ("start", &start), ("end", &end)];
                let series = self.api("series", &fields).await?;
                let labels = series.as_array().into_iter().flatten();
                labels
                    .filter_map(|series| series[label].as_str().map(str::to_owned))
                    .collect()
            } else {
                let rows = self.influxdb(&query).await?;
                rows.iter()
                    .filter_map(|row| row.get(1)?.as_str().map(str::to_owned))
                    .collect()
            };
        values.sort();
        values.dedup();
        if values.is_empty() {
            return Err(format!("no value: {query}"));
        }
        Ok(values)
    }
}

/// Of several the first, or all as a pattern.
fn shown(variable: &Value, values: &[String]) -> String {
    match (variable["multi"].as_bool(), values) {
        (Some(true), [_, _, ..]) => format!("({})", values.join("|")),
        _ => values.first().cloned().unwrap_or_default(),
    }
}

fn text(target: &Value) -> &str {
    target["expr"]
        .as_str()
        .or(target["query"].as_str())
        .unwrap_or_default()
}

/// Longest names first: `$__interval` begins as `$__interval_ms` does.
fn substituted(query: &str, variables: &Variables) -> String {
    let mut names: Vec<&String> = variables.keys().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.into_iter().fold(query.to_owned(), |query, name| {
        query.replace(&format!("${name}"), &variables[name])
    })
}

/// The kernel has no pressure stall information, so no exporter can tell any.
fn left_out(query: &str) -> bool {
    let out = query.contains("node_pressure") && !Path::new("/proc/pressure/cpu").exists();
    if out {
        eprintln!("left out: this kernel has no /proc/pressure: {query}");
    }
    out
}
