//! The course of a load as `InfluxDB` line protocol.
//!
//! Purpose: a load can be watched while it runs, and trials side by side, in our own dashboards and in those made for k6.
//! Duties: a fixed number of points a second whatever the load (18); k6's measurements with k6's meaning: `latency` is server
//! time and `responseTime` service time, both µs; times are thinned to [`STRATA`] values that stand for equal shares
//! of the requests of a second.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::run::{Second, Window};

/// Times a second and clock that are kept.
pub const STRATA: usize = 7;
/// Quantiles in the middle of equal shares.
pub const MIDDLES: [f64; STRATA] = [
    1.0 / 14.0,
    3.0 / 14.0,
    5.0 / 14.0,
    7.0 / 14.0,
    9.0 / 14.0,
    11.0 / 14.0,
    13.0 / 14.0,
];

/// Times of one second beyond what a run's record keeps; µs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Median server time.
    pub server_p50_us: u64,
    /// 99th percentile of server time.
    pub server_p99_us: u64,
    /// Service times in the middle of each seventh.
    pub service: [u64; STRATA],
    /// Server times likewise.
    pub server: [u64; STRATA],
}

/// What a point belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// Scenario; `None` for an import.
    pub scenario: Option<String>,
    /// Requests in flight.
    pub in_flight: u32,
}

/// One second of a load: a point of `load` or `import`, and for a scenario those of k6.
pub fn second(
    trial: &str,
    load: &Load,
    warmup: bool,
    second: &Second,
    times: Option<&Times>,
) -> String {
    let mut lines = String::new();
    let at = second.start_ms.saturating_mul(1_000_000);
    let name = if load.scenario.is_some() {
        "load"
    } else {
        "import"
    };
    let warm = if warmup { "yes" } else { "no" };
    let tags = tags(trial, load);
    let own = own_fields(load, second, times);
    // Writing into a String does not fail.
    writeln!(lines, "{name},warmup={warm}{tags} {own} {at}").ok();
    if load.scenario.is_some() {
        k6(&mut lines, &tags, load, second, times);
    }
    lines
}

/// A phase as a band: its name at its begin, with its end.
pub fn phase(trial: &str, name: &str, window: Window) -> String {
    let seconds = (window.end_ms - window.start_ms).max(0) / 1000;
    format!(
        "phases,trial={} phase=\"{}\",end_ms={}i,seconds={seconds}i {}\n",
        tag(trial),
        quoted(name),
        window.end_ms,
        window.start_ms.saturating_mul(1_000_000)
    )
}

fn own_fields(load: &Load, second: &Second, times: Option<&Times>) -> String {
    let Second {
        requests,
        failed,
        rows,
        p50_us,
        p99_us,
        ..
    } = second;
    let mut fields = format!(
        "requests={requests},failed={failed},rows={rows},in_flight={}",
        load.in_flight
    );
    // A second without an answer has no times; 0 would be one.
    if requests > failed {
        write!(fields, ",p50_us={p50_us},p99_us={p99_us}").ok();
    }
    if let Some(times) = times {
        let (p50, p99) = (times.server_p50_us, times.server_p99_us);
        write!(fields, ",server_p50_us={p50},server_p99_us={p99}").ok();
    }
    fields
}

fn k6(lines: &mut String, tags: &str, load: &Load, second: &Second, times: Option<&Times>) {
    let at = second.start_ms.saturating_mul(1_000_000);
    let good = second.requests.saturating_sub(second.failed);
    writeln!(lines, "vus{tags} value={} {at}", load.in_flight).ok();
    writeln!(lines, "iterations{tags} value={} {at}", second.requests).ok();
    writeln!(lines, "checks,check=IsSucceed{tags} value={good} {at}").ok();
    let Some(times) = times else {
        return;
    };
    // Points of one series at one time would replace each other, so they are spread over the second.
    let step = 1_000_000_000 / i64::try_from(STRATA).unwrap_or(1);
    let mut at = at;
    for (service, server) in times.service.iter().zip(times.server) {
        writeln!(lines, "responseTime{tags} value={service} {at}").ok();
        writeln!(lines, "latency{tags} value={server} {at}").ok();
        at = at.saturating_add(step);
    }
}

/// `,trial=…` and the like, each with its comma.
fn tags(trial: &str, load: &Load) -> String {
    let trial = tag(trial);
    match &load.scenario {
        Some(scenario) => format!(",scenario={},trial={trial}", tag(scenario)),
        None => format!(",trial={trial}"),
    }
}

/// A tag's value; an empty one is not allowed.
fn tag(value: &str) -> String {
    if value.is_empty() {
        return "-".to_owned();
    }
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            ',' | '=' | ' ' => escaped.extend(['\\', c]),
            // Neither can be written in a tag.
            '\n' | '\\' => escaped.push('_'),
            _ => escaped.push(c),
        }
    }
    escaped
}

fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_second(requests: u64, failed: u64) -> Second {
        Second {
            start_ms: 5_000,
            requests,
            failed,
            rows: 12,
            p50_us: 100,
            p99_us: 900,
        }
    }

    const TIMES: Times = Times {
        server_p50_us: 50,
        server_p99_us: 400,
        service: [1, 2, 3, 4, 5, 6, 7],
        server: [1; STRATA],
    };

    fn stress() -> Load {
        Load {
            scenario: Some("Go 1,Step".into()),
            in_flight: 8,
        }
    }

    #[test]
    fn a_second_has_few_points_and_no_two_of_a_series_at_one_time() {
        let text = second("t=1", &stress(), true, &some_second(10, 1), Some(&TIMES));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 18, "at most 20: {text}");
        assert_eq!(
            lines[0],
            "load,warmup=yes,scenario=Go\\ 1\\,Step,trial=t\\=1 requests=10,failed=1,rows=12,in_flight=8,\
             p50_us=100,p99_us=900,server_p50_us=50,server_p99_us=400 5000000000"
        );
        let point = |line: &&str| {
            let (rest, at) = line.rsplit_once(' ').unwrap();
            let series = rest.rsplit_once(' ').unwrap().0;
            (series.to_owned(), at.to_owned())
        };
        let points: std::collections::BTreeSet<_> = lines.iter().map(point).collect();
        assert_eq!(points.len(), lines.len());
        assert!(
            text.contains("checks,check=IsSucceed,scenario=Go\\ 1\\,Step,trial=t\\=1 value=9 ")
        );
    }

    #[test]
    fn an_import_writes_nothing_that_k6_knows() {
        let import = Load {
            scenario: None,
            in_flight: 4,
        };
        let text = second("t", &import, false, &some_second(3, 3), None);
        assert_eq!(
            text,
            "import,warmup=no,trial=t requests=3,failed=3,rows=12,in_flight=4 5000000000\n"
        );
    }

    #[test]
    fn a_phase_is_a_band() {
        let window = Window {
            start_ms: 1_000,
            end_ms: 4_500,
        };
        assert_eq!(
            phase("", "stress \"x\"", window),
            "phases,trial=- phase=\"stress \\\"x\\\"\",end_ms=4500i,seconds=3i 1000000000\n"
        );
    }
}
