//! More and fewer daemons: what `scale out` and `scale in` do beside a deploy.
//!
//! Purpose: `reference/deploy.md` 9.1 as pure functions; statements are sent and waited for elsewhere.
//! Duties: refuse what would lose data or cannot be done (metads, too few copies) before anything is changed; plan only
//! what is left to do, so that a command that was cut short is finished by running it again.

mod leave;
mod lost;
mod rows;
#[cfg(test)]
mod tests;

use crate::failure::Failure;
use crate::inventory::{Daemon, Version};
use crate::plan::Plan;

pub use leave::{Leaving, Shrink, shrink};
pub use lost::Lost;
pub use rows::{Copies, StorageHost, distribution, uneven};

/// How partitions move on a release line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moving {
    /// `BALANCE DATA`, a plan of the whole cluster with an id of its own.
    Plan,
    /// `SUBMIT JOB BALANCE DATA`, a job of a space.
    Job,
    /// 3.0 moves partitions between zones only, which nbctl does not do.
    Zones,
}

impl Moving {
    /// Of a version.
    pub const fn of(version: Version) -> Self {
        if !version.since(3, 0) {
            Self::Plan
        } else if version.since(3, 1) {
            Self::Job
        } else {
            Self::Zones
        }
    }
}

/// Flags of graphd without which a line of 3.x moves no data, as far as `has` says that they are not on.
pub fn gates(version: Version, has: impl Fn(&str) -> Option<bool>) -> Vec<&'static str> {
    let gates = ["enable_experimental_feature", "enable_data_balance"];
    let wanted = match Moving::of(version) {
        Moving::Job if version.since(3, 3) => &gates[..],
        Moving::Job => &gates[..1],
        Moving::Plan | Moving::Zones => &[],
    };
    let off = |name: &&str| has(name) == Some(false);
    wanted.iter().copied().filter(off).collect()
}

/// Names are quoted in statements, addresses are not.
pub(crate) fn host_port(daemon: &Daemon) -> String {
    if crate::deploy::is_ip(&daemon.address) {
        return daemon.endpoint();
    }
    format!("\"{}\":{}", daemon.address, daemon.port)
}

/// Whether a deploy of the inventory only adds daemons.
///
/// # Errors
/// It would restart some that run: a change of configuration or version is not hidden in a scale.
pub fn only_adds(plan: &Plan) -> Result<(), Failure> {
    let stops = plan
        .stages
        .iter()
        .filter(|stage| stage.name.starts_with("stop "));
    let lines: Vec<String> = stops
        .flat_map(|stage| stage.steps.iter().map(ToString::to_string))
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(
        "daemons that run differ from the inventory and would be restarted; nothing was changed",
    )
    .lines(lines)
    .hint("bring them to the inventory first: `nbctl config roll`, or `nbctl deploy`"))
}
