//! Who Prometheus scrapes, and how that goes.

use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Component};
use nbctl_core::monitor;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::http;
use crate::remote::Fleet;

/// For one question.
const ASK: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(300);

/// One target as Prometheus sees it.
#[derive(Debug, Clone, Serialize)]
pub struct Target {
    /// `node`, `process`, …
    pub job: String,
    /// Name of the host.
    pub host: String,
    /// URL that is scraped.
    pub url: String,
    /// `up`, `down`, `unknown` (not scraped yet).
    pub health: String,
    /// Why the last scrape failed; empty when it did not.
    pub error: String,
    /// Seconds the last scrape took.
    pub seconds: f64,
}

#[derive(Deserialize)]
struct Answer {
    data: Data,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    active_targets: Vec<Active>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Active {
    labels: std::collections::BTreeMap<String, String>,
    scrape_url: String,
    health: String,
    last_error: String,
    last_scrape_duration: f64,
}

/// `http://address:port` of the cluster's Prometheus as it is reached from here.
///
/// # Errors
/// The inventory has none, or its address cannot be dialled.
pub async fn prometheus(cluster: &Cluster, fleet: &Fleet) -> Result<String, Failure> {
    let host = cluster
        .monitor
        .as_ref()
        .and_then(|monitor| cluster.host(&monitor.host))
        .ok_or_else(|| Failure::inventory("no host has the role monitor"))?;
    let endpoint = monitor::endpoint(cluster, host, Component::Prometheus);
    Ok(format!("http://{}", fleet.dial(&endpoint).await?))
}

/// All targets of the Prometheus at `base`, sorted by job and host.
///
/// # Errors
/// Prometheus does not answer.
pub async fn targets(base: &str) -> Result<Vec<Target>, Failure> {
    let url = format!("{base}/api/v1/targets?state=active");
    let answer: Answer = http::get_json(&url, ASK).await?;
    let mut targets: Vec<Target> = answer.data.active_targets.into_iter().map(target).collect();
    targets.sort_by(|a, b| (&a.job, &a.host).cmp(&(&b.job, &b.host)));
    Ok(targets)
}

fn target(active: Active) -> Target {
    let label = |name: &str| active.labels.get(name).cloned().unwrap_or_default();
    Target {
        job: label("job"),
        host: label("host"),
        url: active.scrape_url.clone(),
        health: active.health,
        error: active.last_error,
        seconds: active.last_scrape_duration,
    }
}

/// Waits until `expected` targets are there and each is up, except those of hosts in `lost`; the last look.
///
/// # Errors
/// Prometheus does not answer at the deadline.
pub async fn wait_up(
    cluster: &Cluster,
    fleet: &Fleet,
    lost: &[String],
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<Vec<Target>, Failure> {
    let expected = expected(cluster);
    let end = Instant::now() + limit;
    let base = prometheus(cluster, fleet).await?;
    loop {
        let seen = targets(&base).await;
        let good = |target: &Target| target.health == "up" || lost.contains(&target.host);
        let all_up = seen
            .as_ref()
            .is_ok_and(|all| all.len() == expected && all.iter().all(good));
        if all_up || Instant::now() >= end || cancel.is_cancelled() {
            return seen;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// How many targets there must be.
fn expected(cluster: &Cluster) -> usize {
    let scraped =
        |component: &Component| !matches!(component, Component::Influxdb | Component::Grafana);
    let on = |host| {
        monitor::components_on(cluster, host)
            .into_iter()
            .filter(scraped)
            .count()
    };
    cluster.hosts.iter().map(on).sum()
}
