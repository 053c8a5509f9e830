//! The verdict line of a run: may its numbers be used, and how did it end?

use serde::{Deserialize, Serialize};

use crate::failure::ExitCode;
use crate::run::checks::{Check, CheckState, checks, shares_kernel};
use crate::run::{Manifest, Outcome, PhaseRecord};

/// How a run ended, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictState {
    /// Every phase done, every check holds.
    Good,
    /// Valid numbers, but an objective was missed.
    Missed,
    /// Phases were done but a check fails: the numbers are not results.
    Invalid,
    /// Cut off.
    Unfinished,
    /// A phase failed.
    Failed,
}

/// The verdict of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// How it ended.
    pub state: VerdictState,
    /// Made against the stand-in, not NebulaGraph.
    pub sandbox: bool,
    /// Hosts share one kernel.
    pub shared_kernel: bool,
    /// Why it is not good.
    pub reasons: Vec<String>,
    /// Checks that do not hold and are only reported in this run.
    pub remarks: Vec<String>,
}

impl Verdict {
    /// Judges a run from what it recorded.
    pub fn of(manifest: &Manifest) -> Self {
        let mut verdict = Self {
            state: VerdictState::Good,
            sandbox: manifest.cluster.sandbox,
            shared_kernel: shares_kernel(manifest),
            reasons: Vec::new(),
            remarks: Vec::new(),
        };
        if manifest.phases.is_empty() {
            verdict.because(VerdictState::Unfinished, "no phase was begun".to_owned());
        }
        for phase in &manifest.phases {
            verdict.take_outcome(&phase.name, &phase.outcome);
        }
        verdict.take_checks(manifest);
        verdict
    }

    fn take_checks(&mut self, manifest: &Manifest) {
        // A phase that did not end has a reason already; half a result proves nothing more.
        let counts = |check: &Check| {
            let mut phases = manifest.phases.iter();
            let done = |p: &PhaseRecord| p.name == check.phase && p.outcome == Outcome::Done;
            check.phase.is_empty() || phases.any(done)
        };
        let mut open = checks(manifest);
        open.retain(|check| check.state > CheckState::Unobserved && counts(check));
        while let Some(first) = open.first().cloned() {
            let alike = |c: &Check| c.name == first.name && c.state == first.state;
            let more = open.iter().filter(|check| alike(check)).count() - 1;
            open.retain(|check| !alike(check));
            let reason = match more {
                0 => first.reason(),
                1 => format!("{}, and in 1 more phase", first.reason()),
                more => format!("{}, and in {more} more phases", first.reason()),
            };
            match first.state {
                CheckState::Missed => self.because(VerdictState::Missed, reason),
                CheckState::Fails => self.because(VerdictState::Invalid, reason),
                _ => self.remarks.push(reason),
            }
        }
    }

    fn take_outcome(&mut self, name: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Done | Outcome::Skipped(_) => {}
            Outcome::Unfinished => {
                self.because(VerdictState::Unfinished, format!("{name} was cut off"));
            }
            Outcome::Failed(text) => {
                let first = text.lines().next().unwrap_or_default();
                self.because(VerdictState::Failed, format!("{name}: {first}"));
            }
        }
    }

    fn because(&mut self, state: VerdictState, reason: String) {
        self.state = self.state.max(state);
        self.reasons.push(reason);
    }

    /// How it ended, without marks and reasons.
    pub fn ended(&self) -> &'static str {
        match self.state {
            VerdictState::Good => "all phases done, all checks hold",
            VerdictState::Missed => "OBJECTIVE MISSED",
            VerdictState::Invalid => "NOT VALID",
            VerdictState::Failed => "FAILED",
            VerdictState::Unfinished => "UNFINISHED",
        }
    }

    /// `SANDBOX, shared kernel`; empty for a real cluster on machines of its own.
    pub fn marks(&self) -> String {
        let marks = [
            (self.sandbox, "SANDBOX"),
            (self.shared_kernel, "shared kernel"),
        ];
        let set: Vec<&str> = marks
            .iter()
            .filter_map(|(set, mark)| set.then_some(*mark))
            .collect();
        set.join(", ")
    }

    /// One line, e.g. `SANDBOX, shared kernel: all phases done, all checks hold`.
    pub fn line(&self) -> String {
        let marks = self.marks();
        let separator = if marks.is_empty() { "" } else { ": " };
        let mut notes = self.reasons.clone();
        notes.extend(
            self.remarks
                .iter()
                .map(|text| format!("not enforced: {text}")),
        );
        let notes = if notes.is_empty() {
            String::new()
        } else {
            format!(" ({})", notes.join("; "))
        };
        format!("{marks}{separator}{}{notes}", self.ended_with_remarks())
    }

    fn ended_with_remarks(&self) -> &'static str {
        if self.state == VerdictState::Good && !self.remarks.is_empty() {
            "all phases done, every enforced check holds"
        } else {
            self.ended()
        }
    }

    /// The exit code of a command that made this run.
    pub fn exit_code(&self) -> ExitCode {
        match self.state {
            VerdictState::Good => ExitCode::Good,
            VerdictState::Missed => ExitCode::Threshold,
            VerdictState::Invalid => ExitCode::Invalid,
            VerdictState::Failed => ExitCode::Step,
            VerdictState::Unfinished => ExitCode::Interrupted,
        }
    }
}
