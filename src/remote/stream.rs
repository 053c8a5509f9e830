//! A long-running program on a host that is talked to while it runs.
//!
//! Duties: its first input line, then a sign of life now and then; its output line by line as it comes; a cancelled
//! command closes the input, on which the program ends by itself, and ends its process tree when it does not.

use std::time::Duration;

use nbctl_core::failure::Failure;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::{Instant, interval, sleep_until};
use tokio_util::sync::CancellationToken;

use super::exec::{Input, KEPT_STDERR, Lost, Raw, Running, Writer, fill, keep_end};
use super::output::Output;
use super::ssh::Failed;
use super::{Job, KillOnDrop, Link, script};

/// Not `exec`: the shell stays, and with it the token by which the tree is found.
const PROGRAM: &str = r#""$@"; exit $?"#;
/// After its input was closed the program may take this long.
const FAREWELL: Duration = Duration::from_secs(10);
const FAR: Duration = Duration::from_hours(24 * 365);

/// What is run.
#[derive(Debug)]
pub struct Dialogue<'a> {
    /// Names it in failures.
    pub title: &'a str,
    /// Program and arguments; never a secret.
    pub argv: &'a [&'a str],
    /// First line of its input, line end included; may hold secrets.
    pub first: &'a [u8],
    /// Between two signs of life (an empty line).
    pub beat: Duration,
    /// It runs under sudo, which has to begin within this time.
    pub sudo: Option<Duration>,
    /// Ends it early.
    pub cancel: &'a CancellationToken,
}

impl Link {
    /// Runs a program to its end; every line of its output goes to `line`.
    ///
    /// # Errors
    /// No connection, or it was lost on the way.
    pub async fn converse(
        &self,
        dialogue: &Dialogue<'_>,
        line: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Output, Failure> {
        let token = script::token();
        let job = Job {
            title: dialogue.title,
            argv: script::data_argv(&token, false, PROGRAM, dialogue.argv),
            token,
            sudo: false,
            timeout: FAR,
        };
        let running = match self.spawn(&job.argv, &Input::Bytes(Vec::new())).await {
            Ok(running) => running,
            Err(Failed::Connect(failure)) => return Err(failure),
            Err(Failed::Lost(lost)) => return Err(self.lost(&job, &lost, &Raw::default())),
        };
        let mut guard = KillOnDrop::new(self, &job);
        let mut raw = Raw::default();
        let talked = tokio::select! {
            talked = talk(running, dialogue, line, &mut raw) => talked,
            failure = self.stuck(&job, dialogue.sudo) => return Err(failure),
        };
        match talked {
            Ok(()) => {
                guard.armed = false;
                Ok(Output::from(raw))
            }
            Err(Lost::Gone) if self.alive().await => Err(self.killed(&job, &raw)),
            Err(lost) => Err(self.lost(&job, &lost, &raw)),
        }
    }
}

/// What of a talk is still open.
struct Talk {
    stdin: Option<Writer>,
    out_open: bool,
    err_open: bool,
    code: Option<i32>,
    until: Instant,
}

impl Talk {
    fn goes_on(&self) -> bool {
        self.code.is_none()
    }

    fn silent(&self) -> bool {
        !self.out_open && !self.err_open
    }

    /// Writes to a program that may have ended; its exit code tells why it did.
    async fn say(&mut self, bytes: &[u8]) {
        if let Some(pipe) = &mut self.stdin {
            pipe.write_all(bytes).await.ok();
            pipe.flush().await.ok();
        }
    }

    fn farewell(&mut self) {
        self.stdin = None;
        self.until = Instant::now() + FAREWELL;
    }
}

async fn talk(
    running: Running,
    dialogue: &Dialogue<'_>,
    line: &mut (dyn FnMut(&str) + Send),
    raw: &mut Raw,
) -> Result<(), Lost> {
    let Running {
        stdin,
        stdout,
        mut stderr,
        mut wait,
    } = running;
    let mut talk = Talk {
        stdin,
        out_open: true,
        err_open: true,
        code: None,
        until: Instant::now() + FAR,
    };
    talk.say(dialogue.first).await;
    let mut lines = BufReader::new(stdout).lines();
    let mut beat = interval(dialogue.beat);
    while talk.goes_on() {
        tokio::select! {
            next = lines.next_line(), if talk.out_open => {
                talk.out_open = next.is_ok_and(|next| next.map(|text| line(&text)).is_some());
            }
            more = fill(&mut raw.stderr, &mut stderr), if talk.err_open => talk.err_open = more?,
            // Last: ssh's master throws away the output of whom the code was taken.
            ended = &mut wait, if talk.silent() => talk.code = Some(ended?),
            _ = beat.tick(), if talk.stdin.is_some() => talk.say(b"\n").await,
            () = dialogue.cancel.cancelled(), if talk.stdin.is_some() => talk.farewell(),
            () = sleep_until(talk.until) => break,
        }
        keep_end(&mut raw.stderr, KEPT_STDERR);
    }
    let endless = || Lost::Other("did not end when it was told to".to_owned());
    raw.code = talk.code.ok_or_else(endless)?;
    Ok(())
}
