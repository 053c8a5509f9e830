//! Events as JSON lines on standard error.

use std::io::Write as _;
use std::sync::Mutex;

use crate::event::{Event, Sink};

/// One JSON object a line.
#[derive(Debug, Default)]
pub(super) struct JsonLines {
    guard: Mutex<()>,
}

impl Sink for JsonLines {
    fn emit(&self, event: Event) {
        let Ok(mut line) = serde_json::to_vec(&event) else {
            return;
        };
        line.push(b'\n');
        let _guard = self.guard.lock();
        // A closed standard error must not end the work.
        drop(std::io::stderr().write_all(&line));
    }
}
