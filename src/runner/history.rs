//! The journal read back: who did what, when (`nbctl history`).
//!
//! Duty: commands with the steps they did, newest last; lines that are torn or not understood are skipped, since a
//! journal must be readable after a kill.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use nbctl_core::failure::Failure;
use serde::{Deserialize, Serialize};

/// A command of the past.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Past {
    /// When it began, UTC.
    pub time: String,
    /// What; empty for steps of commands that keep no record of themselves.
    pub command: String,
    /// Account on the control machine.
    pub user: String,
    /// Name of the control machine.
    pub control: String,
    /// Process on the control machine.
    pub pid: u32,
    /// `done`, or the failure's first line; `None`: it was killed, or still runs.
    pub outcome: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
    /// Steps that changed something.
    pub changed: usize,
    /// Steps that were so already.
    pub already: usize,
    /// Steps that failed.
    pub failed: usize,
    /// Steps that began, as `host: title`.
    pub steps: Vec<String>,
}

#[derive(Deserialize)]
struct Line {
    time: String,
    #[serde(default)]
    pid: u32,
    state: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    user: String,
    #[serde(default)]
    control: String,
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    host: String,
    #[serde(default)]
    title: String,
}

/// Commands of a journal, newest last; none when there is no journal.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<Vec<Past>, Failure> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Failure::usage(format!("cannot read the journal: {error}"))
                .at(path.display().to_string()));
        }
    };
    let mut past = Vec::new();
    for text in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        if let Ok(line) = serde_json::from_slice(&text) {
            note(&mut past, line);
        }
    }
    Ok(past)
}

fn note(past: &mut Vec<Past>, line: Line) {
    match line.state.as_str() {
        "command" => {
            let past = open(past, &line);
            past.command = line.command;
            past.user = line.user;
            past.control = line.control;
        }
        "ended" => {
            let of_pid = |past: &&mut Past| past.pid == line.pid && past.ended.is_none();
            if let Some(past) = past.iter_mut().rev().find(of_pid) {
                (past.outcome, past.ended) = (line.outcome, Some(line.time));
            }
        }
        _ => step(past, &line),
    }
}

/// The command of this process; a deploy marks folders before it has its lease and with it its name here.
fn open<'a>(past: &'a mut Vec<Past>, line: &Line) -> &'a mut Past {
    let begins = line.state == "command";
    let of_pid = |past: &Past| {
        past.pid == line.pid && past.ended.is_none() && (!begins || past.command.is_empty())
    };
    let at = past.iter().rposition(of_pid).unwrap_or_else(|| {
        past.push(Past {
            time: line.time.clone(),
            pid: line.pid,
            ..Past::default()
        });
        past.len() - 1
    });
    &mut past[at]
}

fn step(past: &mut Vec<Past>, line: &Line) {
    let past = open(past, line);
    match line.state.as_str() {
        "begin" => past.steps.push(format!("{}: {}", line.host, line.title)),
        "done" => past.changed += 1,
        "already-so" => past.already += 1,
        "failed" => past.failed += 1,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_at_the_same_time_and_torn_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        assert_eq!(read(&path).unwrap(), []);
        let text = r#"{"time":"0","pid":7,"host":"h1","action":"run","title":"mark","state":"begin"}
{"time":"0","pid":7,"host":"h1","action":"run","title":"mark","state":"done"}
{"time":"1","pid":7,"command":"deploy","user":"mia","control":"c","state":"command","outcome":null}
{"time":"2","pid":7,"host":"h1","action":"run","title":"start","state":"begin"}
{"time":"3","pid":8,"command":"stop","user":"ben","control":"c","state":"command","outcome":null}
{"time":"3","pid":7,"host":"h1","action":"run","title":"start","state":"done"}
{"time":"4","pid":8,"host":"h2","action":"run","title":"stop","state":"begin"}
{"time":"5","pid":8,"host":"h2","action":"run","title":"stop","state":"failed"}
{"time":"6","pid":7,"command":"deploy","user":"mia","control":"c","state":"ended","outcome":"done"}
{"time":"7","pid":8,"comm"#;
        std::fs::write(&path, text).unwrap();
        let past = read(&path).unwrap();
        let counts = |past: &Past| (past.changed, past.failed, past.steps.len());
        assert_eq!(
            past.iter().map(counts).collect::<Vec<_>>(),
            [(2, 0, 2), (0, 1, 1)]
        );
        assert_eq!(past[0].outcome.as_deref(), Some("done"));
        assert_eq!((past[1].user.as_str(), &past[1].outcome), ("ben", &None));
    }
}
