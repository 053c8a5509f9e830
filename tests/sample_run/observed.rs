//! What hosts and daemons did in the made-up run.

use nbctl_core::run::{DaemonDigest, HostDigest, Metrics, Point, Spread, Trend, Window};

const MIB: f64 = 1_048_576.0;
/// One sample in so many ms.
const STEP_MS: i64 = 5_000;

/// Between -1 and 1, the same at every call.
pub(super) fn wave(at: u64) -> f64 {
    let at = at as f64;
    0.6 * (at * 0.9).sin() + 0.4 * (at * 2.3 + 1.0).cos()
}

/// Percent of one core.
pub(super) fn generator_cpu(rate: u64) -> f64 {
    30.0 + rate as f64 * 0.022
}

pub(super) fn under_queries(window: Window, rate: u64) -> Metrics {
    let names = ["bench1", "node1", "node2", "node3"];
    let made = Made {
        window,
        rate: rate as f64,
        generator: generator_cpu(rate),
    };
    let mut daemons: Vec<DaemonDigest> = names
        .iter()
        .zip([0u64, 1, 4, 7])
        .flat_map(|(host, shift)| made.daemons(host, shift))
        .collect();
    daemons.sort_by(|a, b| {
        (a.role == "nbctl", &a.role, &a.host).cmp(&(b.role == "nbctl", &b.role, &b.host))
    });
    let hosts = names.iter().zip([0u64, 3, 5, 8]);
    once_a_machine(Metrics {
        hosts: hosts.map(|(host, shift)| made.host(host, shift)).collect(),
        daemons,
        missing: Vec::new(),
    })
}

struct Made {
    window: Window,
    rate: f64,
    generator: f64,
}

impl Made {
    fn trend(&self, level: f64, swing: f64, shift: u64) -> Trend {
        trend(self.window, level, swing, shift)
    }

    fn host(&self, name: &str, shift: u64) -> HostDigest {
        let load = name == "bench1";
        let net = self.rate * 900.0 / if load { 1.0 } else { 3.0 };
        let cpu = if load {
            self.generator + 25.0
        } else {
            80.0 + self.rate * 0.06
        };
        let (received, sent) = if load {
            (net, net * 0.2)
        } else {
            (net * 0.4, net)
        };
        HostDigest {
            host: name.to_owned(),
            shares_machine_with: shared(name),
            cpu_percent: Some(self.trend(cpu, 0.08, shift)),
            memory_bytes: Some(self.trend((9_000.0 + shift as f64 * 700.0) * MIB, 0.004, shift)),
            disk_read: Some(self.trend(0.4 * MIB, 0.6, shift)),
            disk_write: Some(self.trend(1.6 * MIB, 0.5, shift)),
            net_receive: Some(self.trend(received, 0.06, shift)),
            net_send: Some(self.trend(sent, 0.06, shift + 2)),
        }
    }

    fn daemons(&self, host: &str, shift: u64) -> Vec<DaemonDigest> {
        let rate = self.rate;
        let role = |role: &str, cpu: Trend, mib: f64, queries: Option<Trend>| {
            daemon(
                role,
                host,
                cpu,
                self.trend(mib * MIB, 0.006, shift),
                queries,
            )
        };
        if shift == 0 {
            return vec![role(
                "nbctl",
                self.trend(self.generator, 0.04, 0),
                96.0,
                None,
            )];
        }
        let seen = self.trend(rate / 3.0, 0.05, shift);
        let serving = rate * (0.02 + shift as f64 * 0.001);
        vec![
            role(
                "graphd",
                self.trend(20.0 + rate * 0.034, 0.07, shift),
                640.0 + rate * 0.02,
                Some(seen),
            ),
            role(
                "storaged",
                self.trend(15.0 + serving, 0.09, shift),
                2_300.0 + shift as f64 * 60.0,
                None,
            ),
            role("metad", self.trend(1.4, 0.3, shift), 210.0, None),
        ]
    }
}

pub(super) fn under_import(window: Window) -> Metrics {
    let mut metrics = under_queries(window, 4_000);
    let write = |level: f64, shift| Some(trend(window, level * MIB, 0.25, shift));
    for (shift, host) in (0u64..).zip(&mut metrics.hosts).skip(1) {
        if host.cpu_percent.is_some() {
            host.disk_write = write(84.0, shift);
        }
    }
    for (shift, daemon) in (0u64..).zip(&mut metrics.daemons) {
        match daemon.role.as_str() {
            "storaged" => daemon.disk_write = write(41.0, shift),
            "graphd" => daemon.queries = None,
            _ => {}
        }
    }
    metrics.missing = vec!["queries of graphd on node1, node2, node3".to_owned()];
    metrics
}

fn daemon(role: &str, host: &str, cpu: Trend, rss: Trend, queries: Option<Trend>) -> DaemonDigest {
    DaemonDigest {
        role: role.to_owned(),
        host: host.to_owned(),
        cpu_percent: Some(cpu),
        rss_bytes: Some(rss),
        disk_read: None,
        disk_write: None,
        queries,
        restarts: 0,
    }
}

fn shared(host: &str) -> Vec<String> {
    match host {
        "node2" | "node3" => vec!["node2".to_owned(), "node3".to_owned()],
        _ => Vec::new(),
    }
}

/// CPU, memory and disk of a shared machine are on its first host only.
fn once_a_machine(mut metrics: Metrics) -> Metrics {
    for host in &mut metrics.hosts {
        if host
            .shares_machine_with
            .first()
            .is_some_and(|first| *first != host.host)
        {
            host.cpu_percent = None;
            host.memory_bytes = None;
            host.disk_read = None;
            host.disk_write = None;
        }
    }
    metrics
}

fn trend(window: Window, level: f64, swing: f64, shift: u64) -> Trend {
    let times = (0u64..).zip((window.start_ms..=window.end_ms).step_by(STEP_MS as usize));
    let points: Vec<Point> = times
        .map(|(at, at_ms)| Point {
            at_ms,
            // Whole thousandths, so that the fixture is short.
            value: (level * (1.0 + swing * wave(at + shift)) * 1000.0).round() / 1000.0,
        })
        .collect();
    let values = || points.iter().map(|point| point.value);
    Trend {
        spread: Spread {
            mean: (values().sum::<f64>() / points.len() as f64 * 1000.0).round() / 1000.0,
            min: values().fold(f64::INFINITY, f64::min),
            max: values().fold(0.0, f64::max),
        },
        points,
    }
}
