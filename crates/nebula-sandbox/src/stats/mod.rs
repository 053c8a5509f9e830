//! What `/stats` shows: counters and histograms over sliding windows, by the names of the real daemons.
//!
//! Names are registered at start (so that they show 0 before anything happened) and every one of them counts
//! something this process really does.

mod names;
mod window;

use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Mutex, PoisonError},
};

use window::{Series, WINDOWS};

use crate::{
    clock,
    line::{Line, Role},
    storage::IdHash,
};

/// Methods of a counter.
const COUNTER: &[&str] = &["rate", "sum"];
/// Methods of a histogram in graphd and storaged.
const HISTOGRAM: &[&str] = &["avg", "p75", "p95", "p99", "p999"];

/// Buckets of a histogram: below the range, the range in equal parts, above it.
#[derive(Debug)]
struct Histogram {
    width: i64,
    bins: Vec<Series>,
}

#[derive(Debug)]
struct Metric {
    all: Series,
    histogram: Option<Histogram>,
}

impl Metric {
    fn add(&mut self, now: u64, value: i64) {
        if value == 0 && self.histogram.is_none() {
            return;
        }
        self.all.add(now, value, 1);
        if let Some(histogram) = &mut self.histogram {
            let last = histogram.bins.len() - 1;
            let bin = usize::try_from(value / histogram.width)
                .unwrap_or(0)
                .min(last);
            histogram.bins[bin].add(now, value, 1);
        }
    }

    fn read(&self, method: &str, window: usize, now: u64) -> i64 {
        let (sum, count) = self.all.total(window, now);
        match method {
            "sum" => sum,
            "count" => count,
            "avg" => sum.checked_div(count).unwrap_or(0),
            "rate" => sum / self.all.seconds(window),
            "p75" => self.percentile(0.75, window, now),
            "p95" => self.percentile(0.95, window, now),
            "p99" => self.percentile(0.99, window, now),
            _ => self.percentile(0.999, window, now),
        }
    }

    /// Estimated from the bins, as the original does: inside a bin by straight line around its mean, so everything
    /// above the range collapses into one number.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "an estimate of counts far below 2^52"
    )]
    fn percentile(&self, share: f64, window: usize, now: u64) -> i64 {
        let Some(histogram) = &self.histogram else {
            return 0;
        };
        let totals: Vec<_> = histogram
            .bins
            .iter()
            .map(|bin| bin.total(window, now))
            .collect();
        let count: i64 = totals.iter().map(|t| t.1).sum();
        let mut wanted = share * count as f64;
        for (index, (sum, inside)) in totals.iter().enumerate().filter(|(_, t)| t.1 > 0) {
            if wanted > *inside as f64 {
                wanted -= *inside as f64;
                continue;
            }
            let mean = *sum as f64 / *inside as f64;
            if index + 1 == totals.len() {
                return mean as i64;
            }
            let low = index as f64 * histogram.width as f64;
            let part = wanted / *inside as f64;
            let high = low + histogram.width as f64;
            let value = if part < 0.5 {
                low + (mean - low) * part * 2.0
            } else {
                mean + (high - mean) * (part - 0.5) * 2.0
            };
            return value as i64;
        }
        0
    }
}

/// All metrics of a process.
#[derive(Debug)]
pub struct Stats {
    line: Line,
    metrics: Mutex<HashMap<String, Metric, IdHash>>,
}

impl Stats {
    /// The metrics a `role` of this line has.
    pub fn new(line: Line, role: Role) -> Self {
        let mut metrics = HashMap::default();
        for name in names::counters(line, role) {
            metrics.insert(
                name,
                Metric {
                    all: Series::default(),
                    histogram: None,
                },
            );
        }
        for (name, range) in names::histograms(line, role) {
            metrics.insert(name, histogram(range));
        }
        Self {
            line,
            metrics: Mutex::new(metrics),
        }
    }

    /// Adds a sample; names this line does not have are dropped.
    pub fn add(&self, name: &str, value: i64) {
        let now = clock::seconds();
        let mut metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(metric) = metrics.get_mut(name) {
            metric.add(now, value);
        }
    }

    /// Adds to several metrics under one lock: the way of the hot paths.
    pub fn add_all(&self, samples: &[(&str, i64)]) {
        let now = clock::seconds();
        let mut metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, value) in samples {
            if let Some(metric) = metrics.get_mut(*name) {
                metric.add(now, *value);
            }
        }
    }

    fn all(&self) -> Vec<(String, i64)> {
        let now = clock::seconds();
        let metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        for (name, metric) in metrics.iter() {
            let methods = if metric.histogram.is_some() {
                HISTOGRAM
            } else {
                COUNTER
            };
            for method in methods {
                for (index, seconds) in WINDOWS.iter().enumerate() {
                    let value = metric.read(method, index, now);
                    found.push((format!("{name}.{method}.{seconds}"), value));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Value of `<counter>.<method>.<window>`.
    pub fn read(&self, full: &str) -> Option<i64> {
        let mut parts = full.rsplitn(3, '.');
        let (window, method, name) = (parts.next()?, parts.next()?, parts.next()?);
        let index = WINDOWS.iter().position(|w| w.to_string() == window)?;
        let metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        let metric = metrics.get(name)?;
        let plain = ["sum", "count", "avg", "rate"].contains(&method);
        let known = plain || (metric.histogram.is_some() && HISTOGRAM.contains(&method));
        known.then(|| metric.read(method, index, clock::seconds()))
    }

    /// Body of `GET /stats`. `names` empty = all of them.
    pub fn render(&self, names: &[&str], json: bool) -> String {
        if names.is_empty() {
            let rows: Vec<_> = self.all().into_iter().map(|(n, v)| (n, v.into())).collect();
            return render(&rows, json, self.line == Line::V2_0_1);
        }
        let rows: Vec<_> = names.iter().map(|name| self.named(name)).collect();
        render(&rows, json, false)
    }

    fn named(&self, name: &str) -> (String, serde_json::Value) {
        let value = match self.read(name) {
            Some(value) => value.into(),
            None => format!("Stats not found \"{name}\"").into(),
        };
        (name.to_owned(), value)
    }
}

fn histogram(range: i64) -> Metric {
    let width = 1000;
    let bins = usize::try_from(range / width).unwrap_or(1) + 1;
    Metric {
        all: Series::default(),
        histogram: Some(Histogram {
            width,
            bins: std::iter::repeat_with(Series::default).take(bins).collect(),
        }),
    }
}

/// `two_lines` = the form 2.0.1 has for "all metrics": value and name on lines of their own.
fn render(rows: &[(String, serde_json::Value)], json: bool, two_lines: bool) -> String {
    if json {
        let list: Vec<_> = rows
            .iter()
            .map(|(name, value)| {
                if two_lines {
                    serde_json::json!({"name": name, "value": value})
                } else {
                    serde_json::json!({name.as_str(): value})
                }
            })
            .collect();
        return serde_json::Value::from(list).to_string();
    }
    let mut text = String::new();
    for (name, value) in rows {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        if two_lines {
            writeln!(text, "value={value}\nname={name}")
        } else {
            writeln!(text, "{name}={value}")
        }
        .ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_above_the_range() {
        let mut metric = histogram(2000);
        for value in [100, 200, 300, 90_000] {
            metric.add(50, value);
        }
        assert_eq!(metric.read("avg", 1, 50), 22_650);
        assert_eq!(metric.read("p99", 1, 50), 90_000);
        assert!(metric.read("p75", 1, 50) <= 1000);
    }

    #[test]
    fn forms_by_line() {
        let new = Stats::new(Line::V3_8_0, Role::Graphd);
        new.add("num_queries", 1);
        assert!(new.render(&[], false).contains("num_queries.sum.600=1\n"));
        assert!(
            new.render(&[], true)
                .contains("{\"num_queries.sum.600\":1}")
        );
        assert_eq!(
            new.render(&["x"], false),
            "Stats not found \"x\"\n".replace("Stats", "x=Stats")
        );
        let old = Stats::new(Line::V2_0_1, Role::Graphd);
        assert!(
            old.render(&[], false)
                .contains("value=0\nname=num_queries.sum.600\n")
        );
        assert_eq!(
            old.render(&["num_queries.sum.5"], false),
            "num_queries.sum.5=0\n"
        );
    }
}
