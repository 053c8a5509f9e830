//! What the servers of the stack say about themselves: version, disk use, alerts.

use std::time::Duration;

use nbctl_core::failure::Failure;
use nbctl_core::inventory::Component;
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;

use crate::http;

/// For one question.
const ASK: Duration = Duration::from_secs(5);
/// Everything Prometheus has on disk.
const PROMETHEUS_BYTES: &str =
    "prometheus_tsdb_storage_blocks_bytes + prometheus_tsdb_wal_storage_size_bytes";

/// An alert that fires.
#[derive(Debug, Clone, Serialize)]
pub struct Alert {
    /// `DiskFilling`.
    pub name: String,
    /// `warning` or `critical`.
    pub severity: String,
    /// What is wrong and where.
    pub summary: String,
}

/// Version of a server at `base` (`http://address:port`); `None` when it does not tell.
pub async fn version(component: Component, base: &str) -> Option<String> {
    match component {
        Component::Prometheus => {
            let answer = get(&format!("{base}/api/v1/status/buildinfo")).await.ok()?;
            text(&answer["data"]["version"])
        }
        Component::Grafana => text(&get(&format!("{base}/api/health")).await.ok()?["version"]),
        Component::Influxdb => {
            let request = http::request(Method::GET, &format!("{base}/ping"), ASK).ok()?;
            let answer = request.send().await.ok()?;
            let told = answer.headers().get("x-influxdb-version")?;
            Some(told.to_str().ok()?.to_owned())
        }
        Component::NodeExporter | Component::ProcessExporter | Component::Exporter => None,
    }
}

/// Bytes a server's data takes, as it says itself; `None` when it does not tell (yet).
pub async fn disk_bytes(component: Component, base: &str) -> Option<u64> {
    match component {
        Component::Prometheus => {
            let url = format!("{base}/api/v1/query");
            let answer = post(&url, &[("query", PROMETHEUS_BYTES)]).await.ok()?;
            number(&answer["data"]["result"][0]["value"][1])
        }
        Component::Influxdb => {
            let url = format!("{base}/query");
            let answer = post(&url, &[("q", "SHOW STATS FOR 'shard'")]).await.ok()?;
            let series = answer["results"][0]["series"].as_array()?;
            Some(
                series
                    .iter()
                    .filter_map(|one| column(one, "diskBytes"))
                    .sum(),
            )
        }
        _ => None,
    }
}

/// Alerts of Prometheus that fire.
///
/// # Errors
/// It does not answer.
pub async fn alerts(base: &str) -> Result<Vec<Alert>, Failure> {
    let answer = get(&format!("{base}/api/v1/alerts")).await?;
    let all = answer["data"]["alerts"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let firing = all.iter().filter(|alert| alert["state"] == "firing");
    let word = |value: &Value| text(value).unwrap_or_default();
    let mut alerts: Vec<Alert> = firing
        .map(|alert| Alert {
            name: word(&alert["labels"]["alertname"]),
            severity: word(&alert["labels"]["severity"]),
            summary: word(&alert["annotations"]["summary"]),
        })
        .collect();
    alerts.sort_by(|a, b| {
        (&a.severity, &a.name, &a.summary).cmp(&(&b.severity, &b.name, &b.summary))
    });
    Ok(alerts)
}

async fn get(url: &str) -> Result<Value, Failure> {
    http::get_json(url, ASK).await
}

async fn post(url: &str, fields: &[(&str, &str)]) -> Result<Value, Failure> {
    let text = http::post_form(url, fields, ASK).await?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::step(format!("unexpected answer: {error}")).at(url.to_owned()))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Prometheus writes numbers as strings, possibly with an exponent.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of files"
)]
fn number(value: &Value) -> Option<u64> {
    let number: f64 = value.as_str()?.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number as u64)
}

/// A column of the only row of a series.
fn column(series: &Value, name: &str) -> Option<u64> {
    let columns = series["columns"].as_array()?;
    let at = columns.iter().position(|column| column == name)?;
    series["values"][0][at].as_u64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wiremock::matchers::{method, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;

    #[tokio::test]
    async fn servers_tell_version_disk_use_and_what_fires() {
        let server = MockServer::start().await;
        let serve = async |verb: &str, at: &str, answer: ResponseTemplate| {
            Mock::given(method(verb))
                .and(path(at))
                .respond_with(answer)
                .mount(&server)
                .await;
        };
        let ok = |body: Value| ResponseTemplate::new(200).set_body_json(body);
        serve(
            "GET",
            "/api/v1/status/buildinfo",
            ok(json!({"data": {"version": "2.42.0"}})),
        )
        .await;
        let sample = json!({"data": {"result": [{"metric": {}, "value": [1.5, "1.2e+06"]}]}});
        serve("POST", "/api/v1/query", ok(sample)).await;
        let ping = ResponseTemplate::new(204).insert_header("X-Influxdb-Version", "1.8.10");
        serve("GET", "/ping", ping).await;
        let shard = |bytes: u64| json!({"name": "shard", "columns": ["x", "diskBytes"], "values": [[1, bytes]]});
        let shards = json!({"results": [{"series": [shard(30), shard(12)]}]});
        serve("POST", "/query", ok(shards)).await;
        let alert = |state: &str, name: &str| {
            json!({"state": state, "labels": {"alertname": name, "severity": "warning"},
                   "annotations": {"summary": "why"}})
        };
        let alerts_body =
            json!({"data": {"alerts": [alert("firing", "B"), alert("pending", "A")]}});
        serve("GET", "/api/v1/alerts", ok(alerts_body)).await;

        let base = server.uri();
        let told = version(Component::Prometheus, &base).await;
        assert_eq!(told.as_deref(), Some("2.42.0"));
        let told = version(Component::Influxdb, &base).await;
        assert_eq!(told.as_deref(), Some("1.8.10"));
        assert_eq!(
            disk_bytes(Component::Prometheus, &base).await,
            Some(1_200_000)
        );
        assert_eq!(disk_bytes(Component::Influxdb, &base).await, Some(42));
        let firing = alerts(&base).await.unwrap();
        assert_eq!(firing.len(), 1);
        assert_eq!(
            (firing[0].name.as_str(), firing[0].summary.as_str()),
            ("B", "why")
        );
    }
}
