//! What a run is once it is written down: manifest, phases, results, host metrics, verdict.
//!
//! Purpose: the shapes kept in the run store (design 7) and read by every report and comparison.
//! Duties: plain data with units in the names; no I/O, no formatting. Times are Unix milliseconds,
//! latencies microseconds, sizes bytes, CPU in percent of one core (250 = two and a half cores).

mod checks;
mod limits;
mod load;
mod metrics;
mod spectrum;
mod verdict;

pub use checks::{Check, CheckState, checks, shares_kernel};
pub use limits::{Limits, Validity};
pub use load::{
    Clocks, CountCheck, ErrorCount, FileResult, ImportResult, Objective, Quantiles, Second,
    StressResult,
};
pub use metrics::{DaemonDigest, HostDigest, Metrics, Point, Spread, Trend};
pub use spectrum::{SpectrumPoint, is_carried, spectrum};
pub use verdict::{Verdict, VerdictState};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Format number of the manifest; a reader refuses a newer one.
pub const FORMAT: u32 = 1;

/// `manifest.json`: what was run, with what, against what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// `<utc>-<name>-<id>`, the folder's name.
    pub id: String,
    /// Name given by the user, or the playbook's.
    pub name: String,
    /// Start, Unix ms.
    pub started_ms: i64,
    /// End, Unix ms; `None` while running or when killed.
    pub finished_ms: Option<i64>,
    /// Version of nbctl.
    pub tool_version: String,
    /// The command line as typed (never holds secrets, promise 2).
    pub command_line: Vec<String>,
    /// Seed of every random draw.
    pub seed: u64,
    /// When a number counts as a result.
    pub limits: Limits,
    /// The cluster as it was read, not as it was asked for.
    pub cluster: ClusterInfo,
    /// Hosts with their facts.
    pub hosts: Vec<HostInfo>,
    /// Files that went in.
    pub inputs: Vec<Input>,
    /// Phases in order of their start; details in `phases/<index>-<name>/phase.json`.
    pub phases: Vec<PhaseRecord>,
}

/// The cluster as the daemons themselves describe it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterInfo {
    /// Name in the inventory.
    pub name: String,
    /// Version asked for, e.g. `3.8.0`.
    pub version: String,
    /// A daemon answered with the sandbox's reserved `git_info_sha`.
    pub sandbox: bool,
    /// Every daemon.
    pub daemons: Vec<DaemonInfo>,
}

/// One daemon as read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DaemonInfo {
    /// `metad`, `graphd` or `storaged`.
    pub role: String,
    /// Host name in the inventory.
    pub host: String,
    /// `address:port`.
    pub endpoint: String,
    /// `git_info_sha` of `/status`.
    pub git_sha: String,
    /// Flags that differ from the release line's defaults, as read over HTTP.
    pub flags: std::collections::BTreeMap<String, String>,
}

/// A host as its facts describe it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostInfo {
    /// Name in the inventory.
    pub name: String,
    /// Address in the inventory.
    pub address: String,
    /// Roles in the inventory.
    pub roles: Vec<String>,
    /// Distribution and version.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Logical CPUs.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Hosts with the same boot id are one machine.
    pub boot_id: String,
    /// Clock offset to the control machine, ms (positive: the host is ahead).
    pub clock_offset_ms: i64,
}

/// A file that went into the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Path as the user gave it.
    pub path: String,
    /// Lower-case hex.
    pub sha256: String,
    /// Size.
    pub bytes: u64,
}

/// Start and end of a phase; host metrics are read over exactly this window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Unix ms.
    pub start_ms: i64,
    /// Unix ms.
    pub end_ms: i64,
}

impl Window {
    /// Length in seconds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a window is far shorter than 2^53 ms"
    )]
    pub fn seconds(self) -> f64 {
        (self.end_ms - self.start_ms) as f64 / 1000.0
    }
}

/// One phase of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseRecord {
    /// Position in the run, from 1.
    pub index: u32,
    /// `data`, `schema`, `import`, `compact`, `stress Go1Step 10`, …
    pub name: String,
    /// Its window, without a warm-up; the end is the last moment seen when it was cut off.
    pub window: Window,
    /// How it ended.
    pub outcome: Outcome,
    /// What it measured.
    pub result: PhaseResult,
    /// Hosts and daemons during the window; `None` when not observed.
    pub metrics: Option<Metrics>,
    /// Remarks a reader must see (e.g. "graphd h2 restarted").
    pub notes: Vec<String>,
}

/// How a phase ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Still running, or killed.
    Unfinished,
    /// Done.
    Done,
    /// Failed, with the failure's text.
    Failed(String),
    /// Left out, with the reason.
    Skipped(String),
}

impl Outcome {
    /// The outcome of a failure.
    pub fn failed(failure: &Failure) -> Self {
        Self::Failed(failure.to_string())
    }
}

/// What a phase measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseResult {
    /// Nothing but its duration and facts worth a table row (label, value).
    Plain(Vec<(String, String)>),
    /// An import.
    Import(Box<ImportResult>),
    /// A stress scenario at one load.
    Stress(Box<StressResult>),
}

#[cfg(test)]
mod verdict_tests;
