//! Results of the two phases that put load on the cluster: import and stress.

use serde::{Deserialize, Serialize};

/// What an import did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportResult {
    /// One entry a file.
    pub files: Vec<FileResult>,
    /// Rows acknowledged.
    pub rows: u64,
    /// Bytes of CSV read.
    pub bytes: u64,
    /// INSERT statements sent again.
    pub retries: u64,
    /// Errors by class.
    pub errors: Vec<ErrorCount>,
    /// Clocks of the INSERT statements.
    pub clocks: Clocks,
    /// Counts after the import, one a tag and edge type, then `vertices` (distinct VIDs) and `edges`.
    pub counts: Vec<CountCheck>,
    /// Statements in flight per worker connection × connections.
    pub concurrency: u32,
    /// Rows a statement.
    pub batch: u32,
    /// One sample a second.
    pub series: Vec<Second>,
}

/// One file of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileResult {
    /// Relative path.
    pub path: String,
    /// Tag or edge type.
    pub target: String,
    /// Rows acknowledged.
    pub rows: u64,
    /// Rows given up, after retries.
    pub failed_rows: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Milliseconds from its first to its last statement.
    pub millis: u64,
}

/// Expected against found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountCheck {
    /// `tag`, `edge` or `space`.
    pub kind: String,
    /// Name of the tag or edge type, `vertices` or `edges`.
    pub name: String,
    /// Counted while reading the files.
    pub expected: u64,
    /// `SHOW STATS`.
    pub found: u64,
}

impl CountCheck {
    /// Both numbers are the same.
    pub fn holds(&self) -> bool {
        self.expected == self.found
    }
}

/// What a scenario measured at one load. Warm-up is kept apart and not in these numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StressResult {
    /// Scenario name, e.g. `Go1Step`.
    pub scenario: String,
    /// `nebula`.
    pub protocol: String,
    /// Statement text of the release line, with its placeholders.
    pub statement: String,
    /// Requests kept in flight (closed loop).
    pub concurrency: u32,
    /// Requests a second asked for (open loop); `None` in a closed loop.
    pub target_rate: Option<f64>,
    /// Length of the warm-up, ms.
    pub warmup_ms: u64,
    /// Requests finished inside the window, errors included.
    pub requests: u64,
    /// Rows returned.
    pub rows: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Errors by class.
    pub errors: Vec<ErrorCount>,
    /// Service and server time of the requests that succeeded.
    pub clocks: Clocks,
    /// One sample a second.
    pub series: Vec<Second>,
    /// CPU of the load generator's own processes, percent of one core.
    pub generator_cpu_percent: f64,
    /// Cores the generator may use.
    pub generator_cores: u32,
    /// Objectives of the scenario; one that is missed ends the run with exit code 10.
    pub objectives: Vec<Objective>,
}

/// An objective and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// As written, e.g. `p99 <= 20ms`.
    pub text: String,
    /// What was measured, e.g. `31.2 ms`; an objective without samples is missed.
    pub measured: String,
    /// It holds.
    pub met: bool,
}

/// The clocks of promise 5; `response` exists only in an open loop.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// NebulaGraph's own latency field.
    pub server: Option<Quantiles>,
    /// Send → last byte.
    pub service: Option<Quantiles>,
    /// Intended start → last byte.
    pub response: Option<Quantiles>,
}

/// Quantiles of a latency distribution, microseconds. The full histogram is kept beside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// Samples.
    pub count: u64,
    /// Smallest.
    pub min_us: u64,
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: u64,
    /// 90th percentile.
    pub p90_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// 99.9th percentile.
    pub p999_us: u64,
    /// Largest.
    pub max_us: u64,
}

impl Quantiles {
    /// Of a histogram in microseconds; `None` when it is empty.
    pub fn of(histogram: &hdrhistogram::Histogram<u64>) -> Option<Self> {
        let at = |quantile| histogram.value_at_quantile(quantile);
        (!histogram.is_empty()).then(|| Self {
            count: histogram.len(),
            min_us: histogram.min(),
            mean_us: histogram.mean(),
            p50_us: at(0.5),
            p90_us: at(0.9),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: histogram.max(),
        })
    }
}

/// Errors of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorCount {
    /// Class, e.g. `E_RAFT_BUFFER_OVERFLOW`, `connection closed`.
    pub class: String,
    /// Error code of the reply; `None` when no reply came.
    pub code: Option<i32>,
    /// How often.
    pub count: u64,
    /// One message as received.
    pub sample: String,
}

/// What happened within one second of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Second {
    /// Start of the second, Unix ms.
    pub start_ms: i64,
    /// Requests finished.
    pub requests: u64,
    /// Of which failed.
    pub failed: u64,
    /// Rows acknowledged or returned.
    pub rows: u64,
    /// Median service time, µs.
    pub p50_us: u64,
    /// 99th percentile of service time, µs.
    pub p99_us: u64,
}
