//! Digest of host and daemon metrics over one phase's window.

use serde::{Deserialize, Serialize};

/// What hosts and daemons did during a phase.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// One entry a host. CPU, memory and disk of hosts that are one machine are on its first host only.
    pub hosts: Vec<HostDigest>,
    /// One entry a daemon (and load process).
    pub daemons: Vec<DaemonDigest>,
    /// Queries that found nothing, as `metric on host`; empty when all is observed.
    pub missing: Vec<String>,
}

/// One host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostDigest {
    /// Host name in the inventory.
    pub host: String,
    /// Names of the hosts that share this machine's kernel, this one included; empty when alone.
    pub shares_machine_with: Vec<String>,
    /// Busy CPU, percent of one core; `None` when shown on another host of the same machine.
    pub cpu_percent: Option<Trend>,
    /// Memory in use, bytes.
    pub memory_bytes: Option<Trend>,
    /// Disk reads, bytes per second.
    pub disk_read: Option<Trend>,
    /// Disk writes, bytes per second.
    pub disk_write: Option<Trend>,
    /// Received on all interfaces but loopback and container bridges, bytes per second.
    pub net_receive: Option<Trend>,
    /// Sent, bytes per second.
    pub net_send: Option<Trend>,
}

/// One daemon or load process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DaemonDigest {
    /// `metad`, `graphd`, `storaged`, or the process name of a load generator.
    pub role: String,
    /// Host name in the inventory.
    pub host: String,
    /// CPU, percent of one core.
    pub cpu_percent: Option<Trend>,
    /// Resident memory, bytes.
    pub rss_bytes: Option<Trend>,
    /// Read from storage, bytes per second.
    pub disk_read: Option<Trend>,
    /// Written to storage, bytes per second.
    pub disk_write: Option<Trend>,
    /// Queries (graphd) per second as the daemon counts them.
    pub queries: Option<Trend>,
    /// Starts seen within the window; more than 0 spoils the phase. Those of a load generator do not count.
    pub restarts: u32,
}

/// A value over a window: its spread and its course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trend {
    /// Over the whole window (counters: difference over time, not a mean of rates).
    pub spread: Spread,
    /// Course, at most a few hundred points.
    pub points: Vec<Point>,
}

/// Mean and extremes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Unix ms.
    pub at_ms: i64,
    /// Value in the unit of its field.
    pub value: f64,
}
