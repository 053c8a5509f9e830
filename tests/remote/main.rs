//! Links against a real sshd of the test's own, and against this machine.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests; a test says what it leaves out"
)]

mod connect;
mod files;
mod scripts;
mod sshd;

use std::time::Duration;

use nbctl::event::{Event, Sink};
use nbctl::remote::Link;
use nbctl_core::plan::Script;
use nbctl_core::units::HostName;

/// Keeps events.
#[derive(Debug, Default)]
pub(crate) struct Events(pub(crate) std::sync::Mutex<Vec<Event>>);

impl Sink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

pub(crate) fn script(text: &str, seconds: u64) -> Script {
    Script {
        text: text.to_owned(),
        sudo: false,
        timeout: Duration::from_secs(seconds),
    }
}

pub(crate) fn local() -> Link {
    Link::local(HostName::new("here"))
}
