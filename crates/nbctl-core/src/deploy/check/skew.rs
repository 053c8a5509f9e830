//! Clocks, against the median of all hosts and this machine: skew falsifies reports, and more of it
//! breaks leases.

use super::{Check, Level};
use crate::deploy::Given;
use crate::facts::Offset;
use crate::units::HostName;

const WARN_MS: i64 = 50;
const FAIL_MS: i64 = 1000;

pub(super) fn clocks(given: &Given<'_>, all: &mut Vec<Check>) {
    let offset = |host: &HostName| given.facts.get(host)?.clock.offset;
    let hosts: Vec<(&HostName, Offset)> = given
        .cluster
        .hosts
        .iter()
        .filter_map(|host| Some((&host.name, offset(&host.name)?)))
        .collect();
    // This machine is offset 0.
    let mut middles: Vec<i64> = hosts
        .iter()
        .map(|(_, offset)| middle(*offset))
        .chain([0])
        .collect();
    middles.sort_unstable();
    let median = median(&middles);
    all.extend(
        hosts
            .into_iter()
            .map(|(host, offset)| check(host, offset, median)),
    );
}

/// Of an even number the one of the two in the middle that is nearer to this machine.
fn median(sorted: &[i64]) -> i64 {
    let half = sorted.len() / 2;
    let two = sorted.get(half.saturating_sub(1 - sorted.len() % 2)..=half);
    two.into_iter()
        .flatten()
        .copied()
        .min_by_key(|value| value.abs())
        .unwrap_or(0)
}

fn middle(offset: Offset) -> i64 {
    i64::midpoint(offset.low_ms, offset.high_ms)
}

/// Only what is certain counts: a slow answer leaves the clock unknown within its bounds.
fn check(host: &HostName, offset: Offset, median: i64) -> Check {
    let shifted = Offset {
        low_ms: offset.low_ms - median,
        high_ms: offset.high_ms - median,
    };
    let apart = shifted.at_least_ms();
    let level = if apart <= WARN_MS {
        Level::Pass
    } else if apart <= FAIL_MS {
        Level::Warn
    } else {
        Level::Fail
    };
    let message = match level {
        Level::Pass => format!(
            "within {} ms",
            shifted.low_ms.abs().max(shifted.high_ms.abs())
        ),
        Level::Warn | Level::Fail => format!("the clock is off by at least {apart} ms"),
    };
    let fix =
        (level != Level::Pass).then(|| "let chrony or ntpd set the clocks of all hosts".to_owned());
    Check {
        host: host.clone(),
        check: "clock",
        level,
        message,
        fix,
    }
}
