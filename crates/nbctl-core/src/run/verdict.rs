//! The verdict line of a run: may its numbers be used, and how did it end?

use serde::{Deserialize, Serialize};

use crate::failure::ExitCode;
use crate::run::{Manifest, Outcome, PhaseResult};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictState {
    /// Every phase done, every check holds.
    Good,
    /// Phases were done but a check fails: the numbers are not results.
    Invalid,
    /// A phase failed.
    Failed,
    /// Cut off.
    Unfinished,
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
    /// Why it is not good, or remarks.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// Judges a run from what it recorded.
    pub fn of(manifest: &Manifest) -> Self {
        let mut reasons = Vec::new();
        let mut state = VerdictState::Good;
        for phase in &manifest.phases {
            match &phase.outcome {
                Outcome::Done | Outcome::Skipped(_) => {}
                Outcome::Unfinished => {
                    state = worse(state, VerdictState::Unfinished);
                    reasons.push(format!("{} was cut off", phase.name));
                }
                Outcome::Failed(text) => {
                    state = worse(state, VerdictState::Failed);
                    let first = text.lines().next().unwrap_or_default();
                    reasons.push(format!("{}: {first}", phase.name));
                }
            }
            for reason in spoiled(&phase.name, &phase.result) {
                state = worse(state, VerdictState::Invalid);
                reasons.push(reason);
            }
        }
        if manifest.phases.is_empty() {
            state = worse(state, VerdictState::Unfinished);
        }
        Self {
            state,
            sandbox: manifest.cluster.sandbox,
            shared_kernel: shares_kernel(manifest),
            reasons,
        }
    }

    /// One line, e.g. `SANDBOX, shared kernel: all phases done`.
    pub fn line(&self) -> String {
        let mut marks = Vec::new();
        if self.sandbox {
            marks.push("SANDBOX");
        }
        if self.shared_kernel {
            marks.push("shared kernel");
        }
        let ended = match self.state {
            VerdictState::Good => "all phases done, all counts hold",
            VerdictState::Invalid => "NOT VALID",
            VerdictState::Failed => "FAILED",
            VerdictState::Unfinished => "UNFINISHED",
        };
        let mut line = marks.join(", ");
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(ended);
        if !self.reasons.is_empty() {
            line.push_str(" (");
            line.push_str(&self.reasons.join("; "));
            line.push(')');
        }
        line
    }

    /// The exit code of a command that made this run.
    pub fn exit_code(&self) -> ExitCode {
        match self.state {
            VerdictState::Good => ExitCode::Good,
            VerdictState::Invalid => ExitCode::Invalid,
            VerdictState::Failed => ExitCode::Step,
            VerdictState::Unfinished => ExitCode::Interrupted,
        }
    }
}

/// Failed beats unfinished beats not valid beats good.
fn worse(a: VerdictState, b: VerdictState) -> VerdictState {
    let rank = |state| match state {
        VerdictState::Good => 0,
        VerdictState::Invalid => 1,
        VerdictState::Unfinished => 2,
        VerdictState::Failed => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// Why the result of a phase is not a result.
fn spoiled(name: &str, result: &PhaseResult) -> Vec<String> {
    match result {
        PhaseResult::Import(import) => import
            .counts
            .iter()
            .filter(|count| !count.holds())
            .map(|c| {
                format!(
                    "{name}: {} {}: {} expected, {} found",
                    c.kind, c.name, c.expected, c.found
                )
            })
            .collect(),
        PhaseResult::Stress(stress) if stress.requests == 0 => {
            vec![format!("{name}: no request finished")]
        }
        PhaseResult::Stress(stress) if stress.failed > 0 => {
            vec![format!(
                "{name}: {} of {} requests failed",
                stress.failed, stress.requests
            )]
        }
        PhaseResult::Plain(_) | PhaseResult::Stress(_) => Vec::new(),
    }
}

fn shares_kernel(manifest: &Manifest) -> bool {
    let mut ids: Vec<&str> = manifest.hosts.iter().map(|h| h.boot_id.as_str()).collect();
    ids.sort_unstable();
    ids.windows(2).any(|pair| pair[0] == pair[1])
}
