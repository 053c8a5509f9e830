//! A run's record as data for the monitoring servers, so that it can be looked at again.
//!
//! Duties: times stay those of the run; curves go by the names of the recorded series that the dashboards draw.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::course::{self, Load};
use crate::run::{Manifest, Metrics, PhaseResult, Second, Trend};

/// The course of every load in line protocol, a batch a phase; phases as bands.
pub fn points(manifest: &Manifest) -> Vec<String> {
    let trial = &manifest.id;
    let phase = |phase: &crate::run::PhaseRecord| {
        let mut lines = course::phase(trial, &phase.name, phase.window);
        let mut add = |load: &Load, series: &[Second]| {
            let seconds = series.iter();
            lines.extend(seconds.map(|second| course::second(trial, load, false, second, None)));
        };
        match &phase.result {
            PhaseResult::Stress(stress) => {
                let load = Load {
                    scenario: Some(stress.scenario.clone()),
                    in_flight: stress.concurrency,
                };
                add(&load, &stress.series);
            }
            PhaseResult::Import(import) => {
                let load = Load {
                    scenario: None,
                    in_flight: import.concurrency,
                };
                add(&load, &import.series);
            }
            PhaseResult::Plain(_) => {}
        }
        lines
    };
    manifest.phases.iter().map(phase).collect()
}

/// Series by name and labels, their values by time (Unix ms).
type Curves = BTreeMap<(String, String), BTreeMap<i64, f64>>;

/// Curves of hosts and daemons in `OpenMetrics` text under the label `cluster`; `None` when none were recorded.
pub fn curves(manifest: &Manifest, cluster: &str) -> Option<String> {
    let mut curves = Curves::new();
    let observed = manifest
        .phases
        .iter()
        .filter_map(|phase| phase.metrics.as_ref());
    observed.for_each(|metrics| gather(&mut curves, metrics, cluster));
    (!curves.is_empty()).then(|| text(&curves))
}

/// A metric's samples stand together, those of a series in the order of time.
fn text(curves: &Curves) -> String {
    let mut text = String::new();
    for ((name, labels), points) in curves {
        for (at_ms, value) in points {
            let (seconds, millis) = (at_ms / 1000, at_ms % 1000);
            // Writing into a String does not fail.
            writeln!(text, "{name}{{{labels}}} {value} {seconds}.{millis:03}").ok();
        }
    }
    text.push_str("# EOF\n");
    text
}

fn gather(curves: &mut Curves, metrics: &Metrics, cluster: &str) {
    let mut add = |name: &str, labels: &str, trend: &Option<Trend>| {
        let points = trend.iter().flat_map(|trend| &trend.points);
        let points: Vec<(i64, f64)> = points.map(|point| (point.at_ms, point.value)).collect();
        if !points.is_empty() {
            let key = (format!("nbctl:{name}"), labels.to_owned());
            curves.entry(key).or_default().extend(points);
        }
    };
    for host in &metrics.hosts {
        let labels = format!("cluster=\"{cluster}\",host=\"{}\"", host.host);
        add("host_cpu_percent", &labels, &host.cpu_percent);
        add("host_memory_bytes", &labels, &host.memory_bytes);
        add("host_disk_read", &labels, &host.disk_read);
        add("host_disk_write", &labels, &host.disk_write);
        add("host_net_receive", &labels, &host.net_receive);
        add("host_net_send", &labels, &host.net_send);
    }
    for daemon in &metrics.daemons {
        let group = match daemon.role.as_str() {
            role @ ("metad" | "graphd" | "storaged") => format!("nebula-{role}"),
            other => other.to_owned(),
        };
        let labels = format!(
            "cluster=\"{cluster}\",groupname=\"{group}\",host=\"{}\"",
            daemon.host
        );
        add("daemon_cpu_percent", &labels, &daemon.cpu_percent);
        add("daemon_rss_bytes", &labels, &daemon.rss_bytes);
        add("daemon_disk_read", &labels, &daemon.disk_read);
        add("daemon_disk_write", &labels, &daemon.disk_write);
        add("daemon_queries", &labels, &daemon.queries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{DaemonDigest, Point, Spread};

    fn trend(points: &[(i64, f64)]) -> Trend {
        let points = points.iter().map(|&(at_ms, value)| Point { at_ms, value });
        Trend {
            spread: Spread {
                mean: 0.0,
                min: 0.0,
                max: 0.0,
            },
            points: points.collect(),
        }
    }

    fn daemon(rss: Trend, queries: Option<Trend>) -> Metrics {
        let daemon = DaemonDigest {
            role: "graphd".into(),
            host: "h2".into(),
            cpu_percent: None,
            rss_bytes: Some(rss),
            disk_read: None,
            disk_write: None,
            queries,
            restarts: 0,
        };
        Metrics {
            daemons: vec![daemon],
            ..Metrics::default()
        }
    }

    #[test]
    fn curves_of_several_phases_are_series_in_the_order_of_time() {
        let mut curves = Curves::new();
        let later = daemon(trend(&[(20_000, 7.0)]), None);
        let queries = trend(&[(5_000, 3.0)]);
        let first = daemon(trend(&[(5_050, 1.5), (10_000, 2e9)]), Some(queries));
        for metrics in [&later, &first] {
            gather(&mut curves, metrics, "dev");
        }
        let labels = "{cluster=\"dev\",groupname=\"nebula-graphd\",host=\"h2\"}";
        let expected = [
            format!("nbctl:daemon_queries{labels} 3 5.000"),
            format!("nbctl:daemon_rss_bytes{labels} 1.5 5.050"),
            format!("nbctl:daemon_rss_bytes{labels} 2000000000 10.000"),
            format!("nbctl:daemon_rss_bytes{labels} 7 20.000"),
            "# EOF".to_owned(),
        ];
        assert_eq!(text(&curves).lines().collect::<Vec<_>>(), expected);
    }
}
