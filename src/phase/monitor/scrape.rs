//! Looks at an exporter's own page: what a scrape brings and costs.
//!
//! Duty: `prometheus-parse` reads the samples; it trips over commas, `=`, braces and escapes inside label values, over `{}`
//! and over colons in names, so those are put aside before and back after it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use prometheus_parse::{Scrape, Value};
use serde::Serialize;

use crate::http;

/// For a page.
const ASK: Duration = Duration::from_secs(5);

/// What is put aside, and the private character that stands for it.
const ASIDE: [(char, char); 6] = [
    (',', '\u{e000}'),
    ('=', '\u{e001}'),
    ('}', '\u{e002}'),
    ('"', '\u{e003}'),
    ('\\', '\u{e004}'),
    ('{', '\u{e005}'),
];
/// Stands for `:` in a metric's name; the crate takes word characters only.
const COLON: &str = "__nbctl_colon__";

/// One page.
#[derive(Debug, Clone, Serialize)]
pub struct Scraped {
    /// Samples on the page.
    pub series: usize,
    /// Bytes of the page.
    pub bytes: usize,
    /// Seconds until it was here.
    pub seconds: f64,
    /// Seconds of CPU the exporter has used so far, when it tells.
    pub cpu_seconds: Option<f64>,
    /// From its build information.
    pub version: Option<String>,
    /// Seconds the host's clock is ahead of ours, when it tells the time; up to `seconds` off.
    pub clock: Option<f64>,
}

/// Fetches and reads a page.
///
/// # Errors
/// No answer, or a page that cannot be read.
pub async fn scrape(url: &str) -> Result<Scraped, Failure> {
    let begun = Instant::now();
    let text = http::get_text(url, ASK).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let samples = samples(&text).map_err(|error| {
        Failure::step(format!("cannot read the page: {error}")).at(url.to_owned())
    })?;
    let value = |name: &str| {
        let found = samples.iter().find(|sample| sample.name == name);
        found.and_then(|sample| sample.value)
    };
    let build = samples
        .iter()
        .find(|sample| sample.name.ends_with("_build_info"));
    // The exporter read its clock somewhere between question and answer.
    let middle = now() - seconds / 2.0;
    Ok(Scraped {
        series: samples.len(),
        bytes: text.len(),
        seconds,
        cpu_seconds: value("process_cpu_seconds_total"),
        version: build.and_then(|build| build.labels.get("version").cloned()),
        clock: value("node_time_seconds").map(|told| told - middle),
    })
}

/// Unix seconds of this machine.
fn now() -> f64 {
    jiff::Timestamp::now().as_duration().as_secs_f64()
}

/// One sample, names and labels as they are written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    /// `None` for histograms and summaries.
    pub(super) value: Option<f64>,
}

/// The samples of a page.
///
/// # Errors
/// Those of the crate.
pub(super) fn samples(text: &str) -> std::io::Result<Vec<Sample>> {
    let lines = text.lines().map(|line| Ok(aside(line)));
    let samples = Scrape::parse(lines)?.samples;
    Ok(samples.iter().map(sample).collect())
}

fn sample(sample: &prometheus_parse::Sample) -> Sample {
    let labels = sample.labels.iter();
    Sample {
        name: sample.metric.replace(COLON, ":"),
        labels: labels
            .map(|(key, value)| (key.clone(), back(value)))
            .collect(),
        value: match sample.value {
            Value::Counter(value) | Value::Gauge(value) | Value::Untyped(value) => Some(value),
            Value::Histogram(_) | Value::Summary(_) => None,
        },
    }
}

/// One line with what the crate cannot take put aside.
fn aside(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    if line.starts_with('#') {
        return line.to_owned();
    }
    let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap_or(line.len()));
    out.push_str(&name.replace(':', COLON));
    let rest = rest.strip_prefix("{}").unwrap_or(rest);
    let (mut quoted, mut escaped) = (false, false);
    for c in rest.chars() {
        match (quoted, escaped, c) {
            (true, false, '\\') => escaped = true,
            (true, true, 'n') => {
                out.push('\n');
                escaped = false;
            }
            (true, false, '"') | (false, _, '"') => {
                quoted = !quoted;
                out.push(c);
            }
            (true, ..) => {
                out.push(swap(c));
                escaped = false;
            }
            (false, ..) => out.push(c),
        }
    }
    out
}

fn swap(c: char) -> char {
    ASIDE
        .iter()
        .find(|(from, _)| *from == c)
        .map_or(c, |(_, to)| *to)
}

fn back(value: &str) -> String {
    let undo = |c: char| {
        ASIDE
            .iter()
            .find(|(_, to)| *to == c)
            .map_or(c, |(from, _)| *from)
    };
    value.chars().map(undo).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_the_crate_gets_wrong_are_read_right() {
        let cases = [
            ("up{path=\"/a/{id}\"} 1", "up", Some(("path", "/a/{id}"))),
            (
                "up{v=\"#1 SMP, Debian\"} 1",
                "up",
                Some(("v", "#1 SMP, Debian")),
            ),
            ("up{dev=\"a=b\"} 1", "up", Some(("dev", "a=b"))),
            (
                "up{q=\"say \\\"hi\\\" \\\\ bye\"} 1",
                "up",
                Some(("q", "say \"hi\" \\ bye")),
            ),
            ("job:rate:5m{x=\"y\"} 1", "job:rate:5m", Some(("x", "y"))),
            ("up{} 1", "up", None),
        ];
        for (line, name, label) in cases {
            let samples = samples(line).unwrap();
            assert_eq!(samples.len(), 1, "{line}");
            assert_eq!(samples[0].name, name, "{line}");
            let expected: BTreeMap<String, String> = label
                .iter()
                .map(|(key, value)| ((*key).into(), (*value).into()))
                .collect();
            assert_eq!(samples[0].labels, expected, "{line}");
        }
    }
}
