//! The report as data: what `report.json` holds and every other format is made from.
//!
//! Purpose: a stable shape for readers that are programs; keys are only ever added within a format number.
//! Duties: plain numbers in the units their names say, nothing rounded; a percentile that its samples
//! cannot carry is null (promise 4), a quotient without a divisor too.

use serde::{Deserialize, Serialize};

use crate::run::{
    Check, ClusterInfo, CountCheck, ErrorCount, HostInfo, Input, Limits, Metrics, Objective,
    Outcome, Second, SpectrumPoint, VerdictState, Window,
};

/// Format number of `report.json`.
pub const REPORT_FORMAT: u32 = 1;

/// A whole report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: u32,
    /// May the numbers be used?
    pub verdict: VerdictReport,
    /// Every check behind the verdict.
    pub checks: Vec<Check>,
    /// The run.
    pub run: RunReport,
    /// The cluster as it was read.
    pub cluster: ClusterInfo,
    /// Hosts with their facts.
    pub hosts: Vec<HostInfo>,
    /// Names of hosts that are one machine, one list a machine with more than one.
    pub shared_machines: Vec<Vec<String>>,
    /// Files that went in.
    pub inputs: Vec<Input>,
    /// Phases in order.
    pub phases: Vec<PhaseReport>,
}

/// The verdict and its exit code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictReport {
    /// As printed.
    pub line: String,
    /// How it ended.
    pub state: VerdictState,
    /// Exit code of the command that made the run.
    pub exit_code: u8,
    /// Made against the stand-in, not NebulaGraph.
    pub sandbox: bool,
    /// Hosts share one kernel.
    pub shared_kernel: bool,
    /// Why it is not good.
    pub reasons: Vec<String>,
    /// Checks that do not hold and are only reported in this run.
    pub remarks: Vec<String>,
}

/// The run itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// `<utc>-<name>-<id>`.
    pub id: String,
    /// Name given.
    pub name: String,
    /// Start, Unix ms.
    pub started_ms: i64,
    /// End, Unix ms; null when it was cut off.
    pub finished_ms: Option<i64>,
    /// Version of nbctl that made the run.
    pub tool_version: String,
    /// As typed.
    pub command_line: Vec<String>,
    /// Seed of every random draw.
    pub seed: u64,
    /// When a number counts as a result.
    pub limits: Limits,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// Position, from 1.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Measured window.
    pub window: Window,
    /// Its length.
    pub seconds: f64,
    /// How it ended.
    pub outcome: Outcome,
    /// Remarks.
    pub notes: Vec<String>,
    /// Facts of a phase that puts no load (label, value).
    pub facts: Vec<(String, String)>,
    /// Of an import.
    pub import: Option<ImportReport>,
    /// Of a stress phase.
    pub stress: Option<StressReport>,
    /// One entry a second.
    pub series: Vec<Second>,
    /// The distributions as curves.
    pub spectra: Vec<Spectrum>,
    /// Hosts and daemons; null when not observed.
    pub metrics: Option<Metrics>,
}

/// A latency distribution as a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// `server`, `service` or `response`.
    pub clock: String,
    /// As far as samples carry.
    pub points: Vec<SpectrumPoint>,
}

/// An import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportReport {
    /// Rows acknowledged.
    pub rows: u64,
    /// Bytes of CSV read.
    pub bytes: u64,
    /// Over the whole window.
    pub rows_per_second: Option<f64>,
    /// Over the whole window.
    pub bytes_per_second: Option<f64>,
    /// INSERT statements sent again.
    pub retries: u64,
    /// Statements in flight.
    pub concurrency: u32,
    /// Rows a statement.
    pub batch: u32,
    /// One entry a file.
    pub files: Vec<FileReport>,
    /// Expected against found.
    pub counts: Vec<CountCheck>,
    /// By class.
    pub errors: Vec<ErrorCount>,
    /// Of the INSERT statements.
    pub clocks: ClocksReport,
}

/// One file of an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileReport {
    /// Relative path.
    pub path: String,
    /// Tag or edge type.
    pub target: String,
    /// Rows acknowledged.
    pub rows: u64,
    /// Rows given up.
    pub failed_rows: u64,
    /// Bytes read.
    pub bytes: u64,
    /// From its first to its last statement.
    pub seconds: f64,
    /// Within that time.
    pub rows_per_second: Option<f64>,
}

/// A scenario at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StressReport {
    /// Scenario.
    pub scenario: String,
    /// Protocol.
    pub protocol: String,
    /// Statement with its placeholders.
    pub statement: String,
    /// Requests in flight.
    pub concurrency: u32,
    /// Of an open loop.
    pub target_rate: Option<f64>,
    /// Length of the warm-up before the window.
    pub warmup_ms: u64,
    /// Finished within the window, failed ones included.
    pub requests: u64,
    /// Of which failed.
    pub failed: u64,
    /// Requests that succeeded, over the window.
    pub throughput: Option<f64>,
    /// Rows returned, over the window.
    pub rows_per_second: Option<f64>,
    /// By class.
    pub errors: Vec<ErrorCount>,
    /// Of the requests that succeeded.
    pub clocks: ClocksReport,
    /// CPU of the load generator's own processes, percent of one core.
    pub generator_cpu_percent: f64,
    /// Cores it may use.
    pub generator_cores: u32,
    /// CPU time of all graphd and storaged, ms a request; null when not observed.
    pub cluster_cpu_ms_per_request: Option<f64>,
    /// Objectives.
    pub objectives: Vec<Objective>,
    /// Every check of this phase that counts holds; otherwise these numbers are not results.
    pub valid: bool,
}

/// The clocks of promise 5.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ClocksReport {
    /// NebulaGraph's own latency field.
    pub server: Option<Percentiles>,
    /// Send → last byte.
    pub service: Option<Percentiles>,
    /// Intended start → last byte; open loop only.
    pub response: Option<Percentiles>,
}

/// Percentiles, microseconds; null where fewer than ten samples lie above.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Samples.
    pub count: u64,
    /// Smallest.
    pub min_us: u64,
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: Option<u64>,
    /// 90th percentile.
    pub p90_us: Option<u64>,
    /// 95th percentile.
    pub p95_us: Option<u64>,
    /// 99th percentile.
    pub p99_us: Option<u64>,
    /// 99.9th percentile.
    pub p999_us: Option<u64>,
    /// Largest.
    pub max_us: u64,
}
