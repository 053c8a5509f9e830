//! Plans executed on this machine: order, checks, failures, waiting, deletion.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests; a test says what it leaves out"
)]

mod apply;
mod delete;
mod flags;
mod http;
mod wait;

use std::sync::Mutex;
use std::time::Duration;

use nbctl::event::{Event, Sink};
use nbctl::remote::{Fleet, Link};
use nbctl::runner::{Journal, Nobody, Runner};
use nbctl_core::plan::{Action, Script, Step};
use nbctl_core::units::HostName;
use tokio_util::sync::CancellationToken;

/// Keeps events.
#[derive(Debug, Default)]
pub(crate) struct Events(pub(crate) Mutex<Vec<Event>>);

impl Sink for Events {
    fn emit(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

pub(crate) fn fleet(names: &[&str]) -> Fleet {
    Fleet::from_links(names.iter().map(|name| Link::local(HostName::new(*name))))
}

pub(crate) fn runner<'a>(
    fleet: &'a Fleet,
    sink: &'a Events,
    journal: &'a dyn Journal,
) -> Runner<'a> {
    Runner {
        fleet,
        sink,
        journal,
        containers: &Nobody,
        graph: &Nobody,
        cancel: CancellationToken::new(),
    }
}

pub(crate) fn script(text: impl Into<String>) -> Script {
    Script {
        text: text.into(),
        sudo: false,
        timeout: Duration::from_mins(1),
    }
}

pub(crate) fn run(host: &str, text: impl Into<String>) -> Step {
    let text = text.into();
    let title = format!("run {}", text.lines().next().unwrap_or_default());
    Step::on(&HostName::new(host), title, Action::Run(script(text)))
}
