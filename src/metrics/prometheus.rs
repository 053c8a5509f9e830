//! The part of Prometheus' HTTP API that is needed: range queries.
//!
//! Duties: send queries as forms (they are long), read numbers that come as strings. No data is a success
//! with an empty result there, and an empty list here. Values that are no numbers (`NaN`, `+Inf`) are dropped.

use std::collections::BTreeMap;
use std::time::Duration;

use nbctl_core::failure::Failure;
use nbctl_core::run::Point;
use serde::Deserialize;
use serde_json::Value;

use super::Grid;
use crate::http;

/// A range query over an hour of many hosts takes well under this.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A Prometheus server.
#[derive(Debug, Clone)]
pub struct Prometheus {
    /// `http://host:9090`.
    base: String,
}

/// One series of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Finite values in order of time.
    pub points: Vec<Point>,
}

/// What a query answered.
#[derive(Debug)]
pub struct Answer {
    /// Parsed.
    pub series: Vec<Series>,
    /// As it came.
    pub raw: Value,
}

impl Prometheus {
    /// The server at `base`, e.g. `http://10.0.0.10:9090`.
    pub fn new(base: impl Into<String>) -> Self {
        let base: String = base.into();
        Self {
            base: base.trim_end_matches('/').to_owned(),
        }
    }

    /// Evaluates `query` at every step of `grid`.
    ///
    /// # Errors
    /// When there is no answer, or the query is refused.
    pub async fn range(&self, query: &str, grid: Grid) -> Result<Answer, Failure> {
        let url = format!("{}/api/v1/query_range", self.base);
        let seconds = |ms: i64| format!("{}.{:03}", ms / 1000, ms % 1000);
        let (start, end, step) = (
            seconds(grid.start_ms),
            seconds(grid.end_ms),
            seconds(grid.step_ms),
        );
        let fields = [
            ("query", query),
            ("start", start.as_str()),
            ("end", end.as_str()),
            ("step", step.as_str()),
        ];
        let text = http::post_form(&url, &fields, TIMEOUT)
            .await
            .map_err(|failure| failure.line(format!("query: {query}")))?;
        parse(&text).map_err(|what| Failure::step(what).at(url).line(format!("query: {query}")))
    }
}

#[derive(Deserialize)]
struct Body {
    status: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Matrix>,
}

#[derive(Deserialize)]
struct Matrix {
    metric: BTreeMap<String, String>,
    values: Vec<(f64, String)>,
}

/// Reads a body of `query_range`.
pub(super) fn parse(text: &str) -> Result<Answer, String> {
    let wrong = |error: serde_json::Error| format!("unexpected answer of Prometheus: {error}");
    let body: Body = serde_json::from_str(text).map_err(wrong)?;
    if body.status != "success" {
        return Err(format!("Prometheus refused a query: {}", body.error));
    }
    let series = body
        .data
        .map(|data| data.result.into_iter().map(one).collect())
        .unwrap_or_default();
    Ok(Answer {
        series,
        raw: serde_json::from_str(text).map_err(wrong)?,
    })
}

fn one(matrix: Matrix) -> Series {
    let point = |(seconds, value): (f64, String)| {
        let value: f64 = value.parse().ok()?;
        value.is_finite().then(|| Point {
            at_ms: millis(seconds),
            value,
        })
    };
    Series {
        labels: matrix.metric,
        points: matrix.values.into_iter().filter_map(point).collect(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "Unix ms fit an f64 and an i64 exactly"
)]
fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}
