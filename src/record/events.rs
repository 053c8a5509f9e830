//! `events.jsonl`: what happened, one JSON object a line.
//!
//! Purpose: the recorder among the consumers of events.
//! Duties: stamp each event with the clock it was given and append it unbuffered. Progress is left out:
//! it is for watching, and its sums are in the results.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::sync::Mutex;

use serde_json::Value;

use super::Redactor;
use crate::event::{Event, Sink};

/// Appends events to the log of a run.
pub struct EventLog {
    file: Mutex<File>,
    redactor: Redactor,
    now_ms: fn() -> i64,
}

impl EventLog {
    pub(super) fn new(file: File, redactor: Redactor, now_ms: fn() -> i64) -> Self {
        Self {
            file: Mutex::new(file),
            redactor,
            now_ms,
        }
    }

    fn line(&self, event: &Event) -> Option<String> {
        let mut value = self.redactor.value(serde_json::to_value(event).ok()?);
        if let Value::Object(fields) = &mut value {
            fields.insert("at_ms".to_owned(), (self.now_ms)().into());
        }
        Some(format!("{value}\n"))
    }
}

impl Sink for EventLog {
    fn emit(&self, event: Event) {
        if matches!(event, Event::Progress { .. }) {
            return;
        }
        let Some(line) = self.line(&event) else {
            return;
        };
        let mut file = self
            .file
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Err(error) = file.write_all(line.as_bytes()) {
            tracing::warn!(%error, "an event was not recorded");
        }
    }
}

impl fmt::Debug for EventLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventLog").finish_non_exhaustive()
    }
}
