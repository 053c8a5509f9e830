//! The only place that prints: events to standard error, results to standard output.
//!
//! Purpose: one event stream, shown as bars on a terminal, as lines elsewhere, as JSON lines on request (promise 7).
//! Duties: honour `--output`, `-q`, `NO_COLOR`; colour never carries meaning alone.

mod json;
mod lines;
mod terminal;

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use nbctl_core::failure::Failure;
use serde::Serialize;

use crate::event::{Event, Sink};

/// What `--output` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Output {
    /// Text for people.
    #[default]
    Text,
    /// Events as JSON lines on standard error, the result as one JSON value on standard output.
    Json,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Warnings and the result.
    Quiet,
    /// Phases, steps that changed something, notes.
    Normal,
    /// Every step.
    Verbose,
}

/// Shows events and results.
#[derive(Debug, Clone)]
pub struct Reporter {
    output: Output,
    sink: Arc<dyn Sink>,
}

impl Reporter {
    /// Picks the form that fits standard error.
    pub fn new(output: Output, verbosity: Verbosity) -> Self {
        let sink: Arc<dyn Sink> = match output {
            Output::Json => Arc::new(json::JsonLines::default()),
            Output::Text if std::io::stderr().is_terminal() && verbosity != Verbosity::Quiet => {
                Arc::new(terminal::Terminal::new(verbosity))
            }
            Output::Text => Arc::new(lines::Lines::new(verbosity)),
        };
        Self { output, sink }
    }

    /// Where the engine sends its events.
    pub fn sink(&self) -> Arc<dyn Sink> {
        Arc::clone(&self.sink)
    }

    /// The result of a command: `text` for people, `value` for programs.
    ///
    /// # Errors
    /// When standard output is closed.
    pub fn result(&self, text: &str, value: &impl Serialize) -> std::io::Result<()> {
        let mut out = anstream::stdout().lock();
        match self.output {
            Output::Text => writeln!(out, "{}", text.trim_end()),
            Output::Json => {
                serde_json::to_writer(&mut out, value)?;
                writeln!(out)
            }
        }
    }

    /// The failure a command ends with.
    pub fn failure(&self, failure: &Failure) {
        self.sink.emit(Event::Failed {
            failure: failure.clone(),
        });
    }
}
