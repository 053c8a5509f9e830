//! What daemons say about themselves, and the same as Prometheus text.
//!
//! Purpose: `/stats` of every release line becomes `nebula_<role>_<counter>_<method>_<window>` with the labels `host`,
//! `role`, `instance` and those inside the counter's braces (space).
//! Duties: three shapes of an answer (lines `name=value`, the two-line form of 2.0, JSON with one-key or name/value
//! objects); a value that is no number is the daemon's error text and is skipped; windows slide, so everything is
//! a gauge.

use std::collections::BTreeMap;

use serde_json::Value;

/// One number of a daemon.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stat {
    /// `num_queries`.
    pub counter: String,
    /// Labels of the counter, e.g. `space`.
    pub labels: BTreeMap<String, String>,
    /// `sum`, `count`, `avg`, `rate`, `p75`, …
    pub method: String,
    /// Seconds: 5, 60, 600, 3600.
    pub window: u32,
    /// As told; rates and averages are cut to whole numbers by the daemon.
    pub value: i64,
}

/// Everything of one daemon.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DaemonStats {
    /// `graphd`.
    pub role: String,
    /// Name of its host.
    pub host: String,
    /// `address:port` of RPC.
    pub instance: String,
    /// It says that it is running.
    pub up: bool,
    /// Seconds that asking took.
    pub seconds: f64,
    /// What it counts.
    pub stats: Vec<Stat>,
}

/// Reads an answer of `/stats`.
pub fn parse(text: &str) -> Vec<Stat> {
    match serde_json::from_str::<Vec<BTreeMap<String, Value>>>(text) {
        Ok(objects) => objects.iter().flat_map(of_object).collect(),
        Err(_) => of_lines(text),
    }
}

/// `{"num_queries.sum.60": 4}` or `{"name": "num_queries.sum.60", "value": 4}`.
fn of_object(object: &BTreeMap<String, Value>) -> Vec<Stat> {
    if let (Some(Value::String(name)), Some(value)) = (object.get("name"), object.get("value")) {
        return stat(name, value.as_i64()).into_iter().collect();
    }
    object
        .iter()
        .filter_map(|(name, value)| stat(name, value.as_i64()))
        .collect()
}

fn of_lines(text: &str) -> Vec<Stat> {
    let mut stats = Vec::new();
    let (mut name, mut number) = (None, None);
    for line in text.lines() {
        // Labels contain `=`, too; the value comes after the last one.
        let Some((key, value)) = line.trim().rsplit_once('=') else {
            continue;
        };
        match key {
            "value" => number = Some(value.parse().ok()),
            // The name of the two-line form may have labels, so it starts after the first `=`.
            _ if line.trim_start().starts_with("name=") => {
                name = line.trim().split_once('=').map(|(_, name)| name);
            }
            _ => stats.extend(stat(key, value.parse().ok())),
        }
        if let (Some(whole), Some(value)) = (name, number) {
            stats.extend(stat(whole, value));
            (name, number) = (None, None);
        }
    }
    stats
}

/// `counter{label=value,…}.method.window`.
fn stat(name: &str, value: Option<i64>) -> Option<Stat> {
    let (rest, window) = name.rsplit_once('.')?;
    let (counter, method) = rest.rsplit_once('.')?;
    let (counter, labels) = match counter.split_once('{') {
        Some((counter, labels)) => (counter, pairs(labels.trim_end_matches('}'))),
        None => (counter, BTreeMap::new()),
    };
    Some(Stat {
        counter: counter.to_owned(),
        labels,
        method: method.to_owned(),
        window: window.parse().ok()?,
        value: value?,
    })
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// A page of Prometheus text for all daemons.
pub fn page(daemons: &[DaemonStats]) -> String {
    // All samples of a metric must stand together.
    let mut metrics: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for daemon in daemons {
        let mut add = |name: String, labels: &BTreeMap<String, String>, value: String| {
            let sample = format!("{name}{{{}}} {value}", shown(daemon, labels));
            metrics.entry(name).or_default().push(sample);
        };
        let none = BTreeMap::new();
        add("nebula_up".into(), &none, u8::from(daemon.up).to_string());
        add(
            "nebula_scrape_seconds".into(),
            &none,
            format!("{:.6}", daemon.seconds),
        );
        for stat in &daemon.stats {
            let name = format!(
                "nebula_{}_{}_{}_{}",
                daemon.role, stat.counter, stat.method, stat.window
            );
            add(proper(&name), &stat.labels, stat.value.to_string());
        }
    }
    let text = |(name, samples): (&String, &Vec<String>)| {
        format!("# TYPE {name} gauge\n{}\n", samples.join("\n"))
    };
    metrics.iter().map(text).collect()
}

/// Our labels win over those of the daemon.
fn shown(daemon: &DaemonStats, labels: &BTreeMap<String, String>) -> String {
    let mut all: BTreeMap<String, &str> = labels
        .iter()
        .map(|(key, value)| (proper(key), value.as_str()))
        .collect();
    all.insert("host".into(), &daemon.host);
    all.insert("role".into(), &daemon.role);
    all.insert("instance".into(), &daemon.instance);
    let pairs: Vec<String> = all
        .iter()
        .map(|(key, value)| format!("{key}=\"{}\"", escaped(value)))
        .collect();
    pairs.join(",")
}

/// Letters, digits and `_`, not beginning with a digit.
fn proper(name: &str) -> String {
    let fits = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(fits).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer, then what is understood: `counter labels method window value`, `;` between them.
    const CASES: &str = include_str!("stats-cases.txt");

    fn told(stat: &Stat) -> String {
        let labels: Vec<String> = stat
            .labels
            .iter()
            .map(|(key, value)| format!("{key}:{value}"))
            .collect();
        let Stat {
            counter,
            method,
            window,
            value,
            ..
        } = stat;
        format!("{counter} [{}] {method} {window} {value}", labels.join(" "))
    }

    #[test]
    fn every_shape_of_an_answer_is_read() {
        let mut seen = 0;
        for case in CASES.split("\n=== ").skip(1) {
            let (title, rest) = case.split_once('\n').unwrap();
            let (answer, expected) = rest.split_once("\n---\n").unwrap();
            let got: Vec<String> = parse(answer).iter().map(told).collect();
            assert_eq!(got, expected.lines().collect::<Vec<_>>(), "{title}");
            seen += 1;
        }
        assert_eq!(seen, 8);
    }

    #[test]
    fn a_page_groups_metrics_and_escapes_labels() {
        let daemon = |host: &str, up, text: &str| DaemonStats {
            role: "graphd".into(),
            host: host.into(),
            instance: format!("{host}:9669"),
            up,
            seconds: 0.25,
            stats: parse(text),
        };
        let page = page(&[
            daemon("h2", true, "num_queries{space=a\"b,host=x}.rate.5=3"),
            daemon("h3", false, ""),
        ]);
        assert_eq!(
            page,
            "# TYPE nebula_graphd_num_queries_rate_5 gauge\n\
             nebula_graphd_num_queries_rate_5{host=\"h2\",instance=\"h2:9669\",role=\"graphd\",space=\"a\\\"b\"} 3\n\
             # TYPE nebula_scrape_seconds gauge\n\
             nebula_scrape_seconds{host=\"h2\",instance=\"h2:9669\",role=\"graphd\"} 0.250000\n\
             nebula_scrape_seconds{host=\"h3\",instance=\"h3:9669\",role=\"graphd\"} 0.250000\n\
             # TYPE nebula_up gauge\n\
             nebula_up{host=\"h2\",instance=\"h2:9669\",role=\"graphd\"} 1\n\
             nebula_up{host=\"h3\",instance=\"h3:9669\",role=\"graphd\"} 0\n"
        );
    }
}
