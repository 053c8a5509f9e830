//! What was about to be done, on disk before it is done (design 4.6, 8.3).
//!
//! Duty: a line is flushed to the disk before [`Journal::begin`] returns.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nbctl_core::failure::Failure;
use nbctl_core::plan::{Action, Step};
use serde::Serialize;

use crate::event::StepOutcome;

/// Takes steps; a step is on disk when `begin` has returned.
pub trait Journal: Send + Sync + fmt::Debug {
    /// Before anything is changed.
    ///
    /// # Errors
    /// When the line cannot be made durable; the step is not done then.
    fn begin(&self, step: &Step) -> Result<(), Failure>;

    /// After it ended; need not be durable, since a step is looked at again anyway.
    fn end(&self, step: &Step, outcome: StepOutcome);
}

/// Keeps nothing; for commands that change nothing worth a record.
#[derive(Debug, Clone, Copy)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn begin(&self, _step: &Step) -> Result<(), Failure> {
        Ok(())
    }

    fn end(&self, _step: &Step, _outcome: StepOutcome) {}
}

/// JSON lines in a file.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    file: Mutex<File>,
}

/// Who runs a command.
#[derive(Debug, Clone, Copy)]
pub struct Who<'a> {
    /// Name of the command.
    pub command: &'a str,
    /// Account on the control machine.
    pub user: &'a str,
    /// Name of the control machine.
    pub control: &'a str,
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    /// Lines of commands at the same time are told apart by it.
    pid: u32,
    host: &'a str,
    action: &'static str,
    title: &'a str,
    state: State,
}

#[derive(Serialize)]
struct CommandLine<'a> {
    time: String,
    pid: u32,
    command: &'a str,
    user: &'a str,
    control: &'a str,
    state: &'static str,
    outcome: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Begin,
    Done,
    AlreadySo,
    Failed,
}

impl FileJournal {
    /// Appends to `path`, made when missing.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| cannot(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
        })
    }

    fn write(&self, step: &Step, state: State, durable: bool) -> std::io::Result<()> {
        let line = Line {
            time: jiff::Timestamp::now().to_string(),
            pid: std::process::id(),
            host: step.host.as_ref().map_or("cluster", |host| host.as_str()),
            action: action_name(&step.action),
            title: &step.title,
            state,
        };
        self.append(&line, durable)
    }

    fn append(&self, line: &impl Serialize, durable: bool) -> std::io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&text)?;
        if durable { file.sync_data() } else { Ok(()) }
    }

    /// A command begins, or has ended with `outcome`.
    ///
    /// # Errors
    /// When the line cannot be made durable.
    pub fn command(&self, who: &Who<'_>, outcome: Option<&str>) -> Result<(), Failure> {
        let line = CommandLine {
            time: jiff::Timestamp::now().to_string(),
            pid: std::process::id(),
            command: who.command,
            user: who.user,
            control: who.control,
            state: if outcome.is_some() {
                "ended"
            } else {
                "command"
            },
            outcome,
        };
        let written = self.append(&line, true);
        written.map_err(|error| cannot(&self.path, &error))
    }
}

impl Journal for FileJournal {
    fn begin(&self, step: &Step) -> Result<(), Failure> {
        let written = self.write(step, State::Begin, true);
        written.map_err(|error| cannot(&self.path, &error))
    }

    fn end(&self, step: &Step, outcome: StepOutcome) {
        let state = match outcome {
            StepOutcome::Done => State::Done,
            StepOutcome::AlreadySo => State::AlreadySo,
            StepOutcome::Failed => State::Failed,
        };
        if let Err(error) = self.write(step, state, false) {
            tracing::warn!(%error, "the journal misses the end of a step");
        }
    }
}

/// Name of the action in the journal.
fn action_name(action: &Action) -> &'static str {
    match action {
        Action::Run(_) => "run",
        Action::Put(_) => "put",
        Action::Upload(_) => "upload",
        Action::Image(_) => "image",
        Action::Container(_) => "container",
        Action::Remove(_) => "remove",
        Action::Query(_) => "query",
        Action::Flags(_) => "flags",
        Action::Wait(_) => "wait",
        Action::Delete(_) => "delete",
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write the journal: {error}"))
        .at(path.display().to_string())
        .hint("make room or choose another folder with --state-dir; nothing was changed")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nbctl_core::plan::Script;

    use super::*;

    #[test]
    fn lines_say_begin_then_end_and_hold_no_script_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let journal = FileJournal::open(&path).unwrap();
        let script = Script {
            text: "echo hunter2".to_owned(),
            sudo: false,
            timeout: Duration::from_secs(1),
        };
        let step = Step::cluster("greet", Action::Run(script));
        journal.begin(&step).unwrap();
        journal.end(&step, StepOutcome::Done);
        let text = std::fs::read_to_string(path).unwrap();
        let states: Vec<String> = text
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["state"].to_string()
            })
            .collect();
        assert_eq!(states, ["\"begin\"", "\"done\""]);
        assert!(!text.contains("hunter2"));
    }
}
