//! Events as plain lines: pipes, log files, CI.

use std::io::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nbctl_core::units::counted;

use crate::event::{Event, Sink, StepOutcome};
use crate::reporter::Verbosity;

/// At most one progress line in this time.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

/// Plain lines on standard error.
#[derive(Debug)]
pub(super) struct Lines {
    verbosity: Verbosity,
    last_progress: Mutex<Option<Instant>>,
}

impl Lines {
    pub(super) fn new(verbosity: Verbosity) -> Self {
        Self {
            verbosity,
            last_progress: Mutex::new(None),
        }
    }

    /// Progress is thinned out, or a log of a long import would be all progress.
    fn progress_due(&self) -> bool {
        let Ok(mut last) = self.last_progress.lock() else {
            return false;
        };
        let due = last.is_none_or(|at| at.elapsed() >= PROGRESS_EVERY);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}

impl Sink for Lines {
    fn emit(&self, event: Event) {
        if matches!(event, Event::Progress { .. }) && !self.progress_due() {
            return;
        }
        if let Some(text) = line(&event, self.verbosity) {
            drop(writeln!(anstream::stderr().lock(), "{text}"));
        }
    }
}

/// The line of an event; `None` when it is not shown at this verbosity.
pub(super) fn line(event: &Event, verbosity: Verbosity) -> Option<String> {
    let quiet = verbosity == Verbosity::Quiet;
    match event {
        Event::Failed { failure } => Some(format!("error: {failure}")),
        Event::Warning { text } => Some(format!("warning: {text}")),
        _ if quiet => None,
        Event::PhaseStarted { phase, .. } => Some(format!("== {phase}")),
        Event::StepFinished {
            host,
            title,
            outcome,
            millis,
        } => {
            let word = match outcome {
                StepOutcome::Done => "done",
                StepOutcome::AlreadySo if verbosity == Verbosity::Verbose => "already so",
                StepOutcome::AlreadySo => return None,
                StepOutcome::Failed => "FAILED",
            };
            Some(format!(
                "   {host}: {title} … {word} ({})",
                seconds(*millis)
            ))
        }
        Event::Progress {
            done,
            total,
            unit,
            text,
            ..
        } => {
            let of = total.map_or_else(String::new, |total| format!(" of {total}"));
            Some(format!("   {done}{of} {unit}  {text}"))
        }
        Event::PhaseFinished {
            phase,
            changed,
            millis,
        } => {
            let changes = counted(*changed, "change");
            Some(format!("   {phase}: {changes}, {}", seconds(*millis)))
        }
        Event::Note { text } => Some(text.clone()),
    }
}

/// `0.4 s`, `12.3 s`, `3 min 5 s`.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn seconds(millis: u64) -> String {
    if millis >= 120_000 {
        return format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000);
    }
    format!("{:.1} s", millis as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(outcome: StepOutcome) -> Event {
        Event::StepFinished {
            host: "h2".into(),
            title: "start nebula-metad".into(),
            outcome,
            millis: 420,
        }
    }

    #[test]
    fn shows_what_the_verbosity_asks_for() {
        let cases = [
            (
                step(StepOutcome::Done),
                Verbosity::Normal,
                Some("   h2: start nebula-metad … done (0.4 s)"),
            ),
            (step(StepOutcome::Done), Verbosity::Quiet, None),
            (step(StepOutcome::AlreadySo), Verbosity::Normal, None),
            (
                step(StepOutcome::AlreadySo),
                Verbosity::Verbose,
                Some("   h2: start nebula-metad … already so (0.4 s)"),
            ),
            (
                Event::Warning {
                    text: "clock of h2 is 3 s ahead".into(),
                },
                Verbosity::Quiet,
                Some("warning: clock of h2 is 3 s ahead"),
            ),
        ];
        for (event, verbosity, expected) in cases {
            assert_eq!(
                line(&event, verbosity).as_deref(),
                expected,
                "{event:?} {verbosity:?}"
            );
        }
    }

    #[test]
    fn long_times_are_shown_in_minutes() {
        assert_eq!(seconds(185_000), "3 min 5 s");
        assert_eq!(seconds(119_900), "119.9 s");
    }
}
