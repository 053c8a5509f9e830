//! What happens while a command works, as values.
//!
//! Purpose: the engine tells, consumers show (design 4): terminal, plain lines, JSON lines, recorder.
//! Duties: shapes only. Nobody outside `reporter` and `main` prints.

use nbctl_core::failure::Failure;
use serde::Serialize;

/// One event.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// A phase begins.
    PhaseStarted {
        /// Name of the phase or stage.
        phase: String,
        /// Steps to do, when known.
        steps: Option<usize>,
    },
    /// A step ended.
    StepFinished {
        /// Host, or `cluster`.
        host: String,
        /// What it was.
        title: String,
        /// How it ended.
        outcome: StepOutcome,
        /// Duration.
        millis: u64,
    },
    /// Work within a phase: bytes sent, rows imported, requests done.
    Progress {
        /// Phase it belongs to.
        phase: String,
        /// Done so far.
        done: u64,
        /// Of how many; `None` when not known.
        total: Option<u64>,
        /// Unit: `bytes`, `rows`, `requests`, `s`.
        unit: &'static str,
        /// Short text, e.g. `182 k rows/s, 0 errors`.
        text: String,
    },
    /// A phase ended.
    PhaseFinished {
        /// Name of the phase or stage.
        phase: String,
        /// Steps that changed something.
        changed: usize,
        /// Duration.
        millis: u64,
    },
    /// Something the user should know.
    Note {
        /// Text, one line.
        text: String,
    },
    /// Something the user should look at.
    Warning {
        /// Text.
        text: String,
    },
    /// The failure the command ends with.
    Failed {
        /// What, where, evidence, hint.
        failure: Failure,
    },
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    /// Done.
    Done,
    /// Its check said "already so".
    AlreadySo,
    /// Failed; the failure follows as the command's end.
    Failed,
}

/// Takes events; cheap, never blocks for long.
pub trait Sink: Send + Sync + std::fmt::Debug {
    /// One event.
    fn emit(&self, event: Event);

    /// A note.
    fn note(&self, text: String) {
        self.emit(Event::Note { text });
    }

    /// A warning.
    fn warn(&self, text: String) {
        self.emit(Event::Warning { text });
    }
}
