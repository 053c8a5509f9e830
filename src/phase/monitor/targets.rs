//! Who Prometheus scrapes, and how that goes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Component};
use nbctl_core::monitor;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::http;
use crate::remote::Fleet;

/// For one question.
const ASK: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);
/// Two scrapes and a little.
const LATELY: &str = "12s";
/// How Prometheus words that it did not scrape yet.
const UNKNOWN: &str = "unknown";

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

/// All targets of the Prometheus at `base`, sorted by job and host. One that was not scraped since its labels or the
/// server's configuration changed is up when it was so in the seconds before.
///
/// # Errors
/// Prometheus does not answer.
pub async fn targets(base: &str) -> Result<Vec<Target>, Failure> {
    let mut targets = active(base).await?;
    if targets.iter().any(|target| target.health == UNKNOWN) {
        let up = up_lately(base).await?;
        for target in &mut targets {
            let known = up.contains(&(target.job.clone(), target.host.clone()));
            if target.health == UNKNOWN && known {
                "up".clone_into(&mut target.health);
            }
        }
    }
    Ok(targets)
}

/// Job and host of the targets whose last sample says so.
async fn up_lately(base: &str) -> Result<BTreeSet<(String, String)>, Failure> {
    let url = format!("{base}/api/v1/query");
    let query = format!("last_over_time(up[{LATELY}]) == 1");
    let text = http::post_form(&url, &[("query", &query)], ASK).await?;
    let answer: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::step(format!("unexpected answer: {error}")).at(url))?;
    let series = answer["data"]["result"].as_array().into_iter().flatten();
    let label = |one: &Value, name: &str| one["metric"][name].as_str().map(str::to_owned);
    Ok(series
        .filter_map(|one| Some((label(one, "job")?, label(one, "host")?)))
        .collect())
}

/// As Prometheus has them at the moment.
async fn active(base: &str) -> Result<Vec<Target>, Failure> {
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

/// What is waited for.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// Whose targets.
    pub cluster: &'a Cluster,
    /// How Prometheus is reached.
    pub fleet: &'a Fleet,
    /// Hosts whose targets may be down.
    pub lost: &'a [String],
    /// Something was changed, so what was scraped before proves nothing.
    pub anew: bool,
}

impl Wanted<'_> {
    /// Waits until every target is there and up, for at most `limit`; the last look.
    ///
    /// # Errors
    /// Prometheus does not answer at the deadline.
    pub async fn wait(
        &self,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Vec<Target>, Failure> {
        let end = Instant::now() + limit;
        let base = prometheus(self.cluster, self.fleet).await?;
        loop {
            let seen = if self.anew {
                active(&base).await
            } else {
                targets(&base).await
            };
            let done = seen.as_ref().is_ok_and(|all| self.all_up(all));
            if done || Instant::now() >= end || cancel.is_cancelled() {
                return seen;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// As many as there must be, and each of them up.
    pub fn all_up(&self, all: &[Target]) -> bool {
        let good = |target: &Target| target.health == "up" || self.lost.contains(&target.host);
        all.len() == expected(self.cluster) && all.iter().all(good)
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wiremock::matchers::{method, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;

    #[tokio::test]
    async fn a_target_that_is_new_in_name_only_is_what_it_was() {
        let server = MockServer::start().await;
        let active = |host: &str, health: &str| {
            json!({"labels": {"job": "node", "host": host}, "scrapeUrl": "http://x/metrics",
                   "health": health, "lastError": "", "lastScrapeDuration": 0.1})
        };
        let all = [
            active("h1", "up"),
            active("h2", "unknown"),
            active("h3", "unknown"),
            active("h4", "down"),
        ];
        let up = |host: &str| json!({"metric": {"job": "node", "host": host}, "value": [1, "1"]});
        // That h4 was up a while ago does not make it so.
        let series = [up("h1"), up("h2"), up("h4")];
        for (verb, at, answer) in [
            (
                "GET",
                "/api/v1/targets",
                json!({"data": {"activeTargets": all}}),
            ),
            ("POST", "/api/v1/query", json!({"data": {"result": series}})),
        ] {
            let answer = ResponseTemplate::new(200).set_body_json(answer);
            let mock = Mock::given(method(verb)).and(path(at));
            mock.respond_with(answer).mount(&server).await;
        }
        let seen = targets(&server.uri()).await.unwrap();
        let health: Vec<&str> = seen.iter().map(|target| target.health.as_str()).collect();
        assert_eq!(health, ["up", "up", "unknown", "down"]);
    }
}
