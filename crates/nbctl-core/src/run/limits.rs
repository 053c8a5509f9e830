//! When a number counts as a result (promise 4).
//!
//! Purpose: the thresholds of the checks, recorded with the run so that a verdict can be taken again.
//! Duties: defaults with their reasons; nothing is judged here.

use serde::{Deserialize, Serialize};

/// What becomes of checks that rest on the whole host: steadiness, clocks, sample counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// Enforced, except where hosts share a kernel.
    #[default]
    Auto,
    /// Printed, never enforced.
    Report,
    /// Enforced everywhere.
    Enforce,
}

/// Thresholds of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Which checks count.
    pub validity: Validity,
    /// Share of requests that may fail; 0.001 = one in a thousand.
    pub error_share: f64,
    /// Share of its cores the load generator may use before it, not the cluster, is what was measured.
    pub generator_share: f64,
    /// Share of the target rate that must be reached (open loop).
    pub rate_share: f64,
    /// Largest clock offset of a host, ms.
    pub clock_offset_ms: i64,
    /// Largest relative change of throughput between the first and the last third of a window.
    pub drift: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            validity: Validity::Auto,
            error_share: 0.001,
            generator_share: 0.9,
            rate_share: 0.98,
            clock_offset_ms: 50,
            drift: 0.1,
        }
    }
}
