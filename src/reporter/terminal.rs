//! Events on a terminal: one bar for the phase at work, finished steps as lines above it.

use std::sync::Mutex;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::event::{Event, Sink};
use crate::reporter::{Verbosity, lines};

/// A single bar at the bottom; more bars than lines break terminals.
#[derive(Debug)]
pub(super) struct Terminal {
    verbosity: Verbosity,
    bar: Mutex<Option<ProgressBar>>,
}

impl Terminal {
    pub(super) fn new(verbosity: Verbosity) -> Self {
        Self {
            verbosity,
            bar: Mutex::new(None),
        }
    }

    fn start(&self, phase: &str, steps: Option<usize>) {
        let bar = ProgressBar::with_draw_target(
            steps.map(|n| n as u64),
            ProgressDrawTarget::stderr_with_hz(8),
        );
        let form = if steps.is_some() {
            "{spinner} {msg} {pos}/{len} {elapsed}"
        } else {
            "{spinner} {msg} {elapsed}"
        };
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        bar.set_message(phase.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        self.swap(Some(bar));
    }

    fn swap(&self, next: Option<ProgressBar>) {
        if let Ok(mut bar) = self.bar.lock() {
            if let Some(old) = bar.take() {
                old.finish_and_clear();
            }
            *bar = next;
        }
    }

    fn with_bar(&self, act: impl FnOnce(&ProgressBar)) {
        if let Ok(bar) = self.bar.lock()
            && let Some(bar) = bar.as_ref()
        {
            act(bar);
        }
    }

    /// Above the bar when there is one.
    fn print(&self, event: &Event) {
        let Some(text) = lines::line(event, self.verbosity) else {
            return;
        };
        let Ok(bar) = self.bar.lock() else { return };
        match bar.as_ref() {
            Some(bar) => bar.println(text),
            None => drop(std::io::Write::write_fmt(
                &mut anstream::stderr(),
                format_args!("{text}\n"),
            )),
        }
    }
}

impl Sink for Terminal {
    fn emit(&self, event: Event) {
        match &event {
            Event::PhaseStarted { phase, steps } => {
                self.print(&event);
                self.start(phase, *steps);
            }
            Event::Progress {
                phase,
                done,
                total,
                unit,
                text,
            } => self.with_bar(|bar| {
                let of = total.map_or_else(String::new, |total| format!("/{total}"));
                bar.set_message(format!("{phase}  {done}{of} {unit}  {text}"));
            }),
            Event::PhaseFinished { .. } | Event::Failed { .. } => {
                self.swap(None);
                self.print(&event);
            }
            Event::StepFinished { .. } => {
                self.with_bar(|bar| bar.inc(1));
                self.print(&event);
            }
            Event::Note { .. } | Event::Warning { .. } => self.print(&event),
        }
    }
}
