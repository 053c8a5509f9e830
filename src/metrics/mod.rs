//! What hosts and daemons did during a phase, read from Prometheus; and the other way, a load's course to InfluxDB
//! (`influx`).
//!
//! Purpose: a digest for the report over exactly a phase's window, and the raw answers to check it by.
//! Duties: ask (`prometheus`), turn answers into trends (`trend`), put them together by host and daemon
//! (`digest`). Nothing found is never zero: it is listed as missing. A phase without monitoring stays
//! unobserved, and the run goes on.

mod digest;
mod influx;
mod prometheus;
mod table;
mod trend;

use futures_util::future::join_all;
use nbctl_core::failure::Failure;
use nbctl_core::run::{ClusterInfo, HostInfo, Metrics, Window};
use serde_json::{Value, json};

use crate::record::RunStore;

pub use influx::Influx;
pub use prometheus::{Answer, Prometheus, Series};
pub use table::{Kind, Of, Query, QueryTable};

/// Name of the table among the assets.
pub const TABLE: &str = "monitoring/queries.yaml";
/// Most points of a curve.
const MOST_POINTS: i64 = 300;

/// A digest and what it was made from.
#[derive(Debug)]
pub struct Observed {
    /// `None` when no query answered anything about these hosts.
    pub metrics: Option<Metrics>,
    /// Every query with its raw answer.
    pub raw: Value,
}

/// Reads the window of one phase.
///
/// # Errors
/// When Prometheus does not answer, or refuses a query.
pub async fn observe(
    prometheus: &Prometheus,
    table: &QueryTable,
    window: Window,
    cluster: &ClusterInfo,
    hosts: &[HostInfo],
) -> Result<Observed, Failure> {
    let grid = Grid::over(window, table.scrape_seconds);
    let asked = table.queries.iter().map(|query| async move {
        let text = query.promql();
        let answer = prometheus.range(&text, grid).await?;
        Ok::<_, Failure>((query, text, answer))
    });
    let mut raw = Vec::new();
    let mut found = Vec::new();
    for answered in join_all(asked).await {
        let (query, text, answer) = answered?;
        raw.push(json!({"query": text, "grid": grid, "answer": answer.raw}));
        found.push((query, answer.series));
    }
    Ok(Observed {
        metrics: digest::metrics(&found, cluster, hosts),
        raw: Value::Array(raw),
    })
}

/// Reads the window of a phase that has ended and records digest and raw answers. What cannot be read
/// becomes a note of the phase.
///
/// # Errors
/// When the record cannot be written.
pub async fn record_phase(
    store: &mut RunStore,
    index: u32,
    prometheus: &Prometheus,
    table: &QueryTable,
) -> Result<(), Failure> {
    let manifest = store.manifest();
    let Some(phase) = manifest.phases.iter().find(|phase| phase.index == index) else {
        return Err(Failure::step(format!("the run has no phase {index}")));
    };
    let (cluster, hosts) = (&manifest.cluster, &manifest.hosts);
    let window = phase.window;
    match observe(prometheus, table, window, cluster, hosts).await {
        Ok(observed) => {
            store.put_raw(index, "prometheus", observed.raw.to_string().as_bytes())?;
            match observed.metrics {
                Some(metrics) => store.set_metrics(index, metrics),
                None => store.note(index, "hosts not observed: Prometheus knows none of them"),
            }
        }
        Err(failure) => store.note(index, format!("hosts not observed: {}", failure.what)),
    }
}

/// When a range query evaluates: at the end of the window and every step before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Grid {
    /// First evaluation, Unix ms; within the window.
    pub start_ms: i64,
    /// Last evaluation: the end of the window.
    pub end_ms: i64,
    /// A whole number of scrapes, so that each step of a counter covers exactly its own time.
    pub step_ms: i64,
}

impl Grid {
    fn over(window: Window, scrape_seconds: u32) -> Self {
        let scrape = i64::from(scrape_seconds.max(1)) * 1000;
        let length = (window.end_ms - window.start_ms).max(0);
        let scrapes = (length / MOST_POINTS / scrape) + 1;
        let step_ms = scrape * scrapes;
        Self {
            start_ms: window.end_ms - length / step_ms * step_ms,
            end_ms: window.end_ms,
            step_ms,
        }
    }
}

#[cfg(test)]
mod tests;
