//! Asks daemons.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use nbctl_core::monitor::stats::{DaemonStats, page, parse};

use super::config::{Config, Target};
use crate::http;

/// As other exporters tell theirs.
const BUILD: &str = concat!(
    "# TYPE nbctl_exporter_build_info gauge\nnbctl_exporter_build_info{version=\"",
    env!("CARGO_PKG_VERSION"),
    "\"} 1\n"
);

/// A page about all daemons, never older than the request.
pub(super) async fn all(config: &Config) -> String {
    let timeout = Duration::from_millis(config.timeout_ms);
    let asked = config.targets.iter().map(|target| one(target, timeout));
    format!("{}{BUILD}", page(&join_all(asked).await))
}

async fn one(target: &Target, timeout: Duration) -> DaemonStats {
    let begun = Instant::now();
    let get =
        async |path: &str| http::get_text(&format!("http://{}/{path}", target.http), timeout).await;
    let (told, counted) = tokio::join!(get("status"), get("stats"));
    DaemonStats {
        role: target.role.clone(),
        host: target.host.clone(),
        instance: target.instance.clone(),
        up: told.is_ok_and(|text| text.contains("running")),
        seconds: begun.elapsed().as_secs_f64(),
        stats: counted.map(|text| parse(&text)).unwrap_or_default(),
    }
}
