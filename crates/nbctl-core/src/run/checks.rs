//! The checks behind a verdict: each with what was seen, what was allowed, and whether it counts.
//!
//! Purpose: promise 4 as a table a stranger can go through.
//! Duties: judge a recorded run, phase by phase; a check whose input is missing says "not observed" and
//! is never taken for passed.

use serde::{Deserialize, Serialize};

use crate::run::{
    DaemonDigest, ImportResult, Manifest, Metrics, PhaseRecord, PhaseResult, Second, StressResult,
    Validity, is_carried,
};

/// Windows shorter than this are not judged for steadiness, seconds.
const STEADY_FROM: usize = 30;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// Holds.
    Holds,
    /// Could not be judged.
    Unobserved,
    /// Does not hold, and is only reported in this run.
    Reported,
    /// An objective was missed: a valid number that is not good enough.
    Missed,
    /// Does not hold: the number is not a result.
    Fails,
}

/// One check of one phase (or of the run).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What is checked, e.g. `errors within budget`.
    pub name: String,
    /// Phase it belongs to; empty for the run.
    pub phase: String,
    /// What was seen.
    pub seen: String,
    /// What is allowed.
    pub allowed: String,
    /// How it came out.
    pub state: CheckState,
}

impl Check {
    /// As a reason in the verdict line.
    pub fn reason(&self) -> String {
        let Self {
            phase, name, seen, ..
        } = self;
        if phase.is_empty() {
            format!("{name}: {seen}")
        } else {
            format!("{phase}: {name}: {seen}")
        }
    }
}

/// Whether two hosts of the run are one machine.
pub fn shares_kernel(manifest: &Manifest) -> bool {
    let mut ids: Vec<&str> = manifest
        .hosts
        .iter()
        .map(|host| host.boot_id.as_str())
        .filter(|id| !id.is_empty())
        .collect();
    ids.sort_unstable();
    ids.windows(2).any(|pair| pair[0] == pair[1])
}

/// Every check of a run, in the order of its phases.
pub fn checks(manifest: &Manifest) -> Vec<Check> {
    let judge = Judge::of(manifest);
    let mut all = judge.clocks();
    for phase in &manifest.phases {
        all.extend(judge.phase(phase));
    }
    all
}

struct Judge<'a> {
    manifest: &'a Manifest,
    /// State of a failed check that rests on the whole host.
    soft: CheckState,
}

impl<'a> Judge<'a> {
    fn of(manifest: &'a Manifest) -> Self {
        let enforce = match manifest.limits.validity {
            Validity::Enforce => true,
            Validity::Report => false,
            Validity::Auto => !shares_kernel(manifest),
        };
        let soft = if enforce {
            CheckState::Fails
        } else {
            CheckState::Reported
        };
        Self { manifest, soft }
    }

    fn clocks(&self) -> Vec<Check> {
        let worst = self
            .manifest
            .hosts
            .iter()
            .max_by_key(|host| host.clock_offset_ms.abs());
        let Some(host) = worst else {
            return Vec::new();
        };
        let allowed = self.manifest.limits.clock_offset_ms;
        let holds = host.clock_offset_ms.abs() <= allowed;
        vec![check(
            "clocks agree",
            "",
            format!("{} ms on {}", host.clock_offset_ms, host.name),
            format!("at most {allowed} ms"),
            state(holds, self.soft),
        )]
    }

    fn phase(&self, phase: &PhaseRecord) -> Vec<Check> {
        let mut all = match &phase.result {
            PhaseResult::Plain(_) => Vec::new(),
            PhaseResult::Import(import) => import_checks(&phase.name, import),
            PhaseResult::Stress(stress) => self.stress(&phase.name, stress),
        };
        if !matches!(phase.result, PhaseResult::Plain(_)) {
            all.push(restarts(&phase.name, phase.metrics.as_ref()));
        }
        all
    }

    fn stress(&self, phase: &str, stress: &StressResult) -> Vec<Check> {
        let mut all = vec![
            self.errors(phase, stress),
            self.generator(phase, stress),
            self.samples(phase, stress),
            self.steady(phase, &stress.series),
        ];
        all.extend(self.rate(phase, stress));
        all.extend(stress.objectives.iter().map(|objective| {
            check(
                "objective met",
                phase,
                objective.measured.clone(),
                objective.text.clone(),
                state(objective.met, CheckState::Missed),
            )
        }));
        all
    }

    fn errors(&self, phase: &str, stress: &StressResult) -> Check {
        let budget = self.manifest.limits.error_share;
        let share = ratio(stress.failed, stress.requests);
        let holds = stress.requests > 0 && share <= budget;
        let seen = if stress.requests == 0 {
            "no request finished".to_owned()
        } else {
            format!("{} of {} requests failed", stress.failed, stress.requests)
        };
        let allowed = format!("at most {} %", budget * 100.0);
        check(
            "errors within budget",
            phase,
            seen,
            allowed,
            state(holds, CheckState::Fails),
        )
    }

    fn generator(&self, phase: &str, stress: &StressResult) -> Check {
        let limit = self.manifest.limits.generator_share * 100.0;
        let name = "generator not the limit";
        let allowed = format!("below {limit:.0} % of its cores");
        if stress.generator_cores == 0 {
            let seen = "generator not observed".to_owned();
            return check(name, phase, seen, allowed, CheckState::Unobserved);
        }
        let used = stress.generator_cpu_percent / f64::from(stress.generator_cores);
        let seen = format!("{used:.0} % of {} cores used", stress.generator_cores);
        check(
            name,
            phase,
            seen,
            allowed,
            state(used < limit, CheckState::Fails),
        )
    }

    fn samples(&self, phase: &str, stress: &StressResult) -> Check {
        let count = stress.clocks.service.map_or(0, |times| times.count);
        check(
            "samples carry p99",
            phase,
            format!("{count} samples"),
            "at least 1000".to_owned(),
            state(is_carried(count, 0.99), self.soft),
        )
    }

    fn steady(&self, phase: &str, series: &[Second]) -> Check {
        let allowed = self.manifest.limits.drift * 100.0;
        let name = "throughput steady";
        let allowed_text = format!("first to last third within {allowed:.0} %");
        match drift(series) {
            Some(drift) => check(
                name,
                phase,
                format!("{:+.1} %", drift * 100.0),
                allowed_text,
                state(drift.abs() * 100.0 <= allowed, self.soft),
            ),
            None => check(
                name,
                phase,
                format!("{} s, judged from {STEADY_FROM} s on", series.len()),
                allowed_text,
                CheckState::Unobserved,
            ),
        }
    }

    fn rate(&self, phase: &str, stress: &StressResult) -> Option<Check> {
        let target = stress.target_rate?;
        let seconds = stress.series.len();
        let share = self.manifest.limits.rate_share;
        let name = "target rate reached";
        let allowed = format!("at least {:.0} % of {target:.0}/s", share * 100.0);
        if seconds == 0 {
            let seen = "no series".to_owned();
            return Some(check(name, phase, seen, allowed, CheckState::Unobserved));
        }
        let reached = rate_of(&stress.series);
        let seen = format!("{reached:.0}/s");
        let holds = reached >= target * share;
        Some(check(
            name,
            phase,
            seen,
            allowed,
            state(holds, CheckState::Fails),
        ))
    }
}

fn import_checks(phase: &str, import: &ImportResult) -> Vec<Check> {
    let wrong: Vec<String> = import
        .counts
        .iter()
        .filter(|count| !count.holds())
        .map(|c| {
            format!(
                "{} {}: {} expected, {} found",
                c.kind, c.name, c.expected, c.found
            )
        })
        .collect();
    let given_up: u64 = import.files.iter().map(|file| file.failed_rows).sum();
    let (seen, counted) = match (import.counts.is_empty(), wrong.is_empty()) {
        (true, _) => ("not counted".to_owned(), CheckState::Unobserved),
        (_, true) => (
            format!("{} counts agree", import.counts.len()),
            CheckState::Holds,
        ),
        (_, false) => (wrong.join(", "), CheckState::Fails),
    };
    vec![
        check(
            "counts agree",
            phase,
            seen,
            "found = expected".to_owned(),
            counted,
        ),
        check(
            "every row written",
            phase,
            format!("{given_up} rows given up"),
            "none given up".to_owned(),
            state(given_up == 0, CheckState::Fails),
        ),
    ]
}

fn restarts(phase: &str, metrics: Option<&Metrics>) -> Check {
    let name = "no daemon restarted";
    let allowed = "none".to_owned();
    let daemons = metrics.map_or(&[][..], |metrics| metrics.daemons.as_slice());
    let named = |keep: &dyn Fn(&DaemonDigest) -> bool| -> Vec<String> {
        let kept = daemons.iter().filter(|daemon| keep(daemon));
        kept.map(|daemon| format!("{} on {}", daemon.role, daemon.host))
            .collect()
    };
    let restarted = named(&|daemon| daemon.restarts > 0);
    let unseen = named(&|daemon| daemon.rss_bytes.is_none());
    let (seen, state) = if !restarted.is_empty() {
        let seen = format!("restarted: {}", restarted.join(", "));
        (seen, CheckState::Fails)
    } else if daemons.is_empty() || unseen.len() == daemons.len() {
        ("daemons not observed".to_owned(), CheckState::Unobserved)
    } else if !unseen.is_empty() {
        let seen = format!("not observed: {}", unseen.join(", "));
        (seen, CheckState::Unobserved)
    } else {
        ("none".to_owned(), CheckState::Holds)
    };
    check(name, phase, seen, allowed, state)
}

fn check(name: &str, phase: &str, seen: String, allowed: String, state: CheckState) -> Check {
    Check {
        name: name.to_owned(),
        phase: phase.to_owned(),
        seen,
        allowed,
        state,
    }
}

fn state(holds: bool, otherwise: CheckState) -> CheckState {
    if holds { CheckState::Holds } else { otherwise }
}

/// Relative change of the request rate from the first to the last third; `None` when too short.
fn drift(series: &[Second]) -> Option<f64> {
    if series.len() < STEADY_FROM {
        return None;
    }
    // The first and last second are seldom whole ones.
    let whole = series.get(1..series.len() - 1)?;
    let third = whole.len() / 3;
    let first = rate_of(whole.get(..third)?);
    let last = rate_of(whole.get(whole.len() - third..)?);
    (first > 0.0).then(|| last / first - 1.0)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "request counts stay far below 2^53"
)]
fn rate_of(series: &[Second]) -> f64 {
    let requests: u64 = series.iter().map(|second| second.requests).sum();
    requests as f64 / series.len() as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "request counts stay far below 2^53"
)]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
