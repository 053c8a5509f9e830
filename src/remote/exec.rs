//! Drives one started process: feeds it, collects bounded output, keeps the deadline.
//!
//! Purpose: one place for what ssh and local processes have in common.
//! Duties: standard output has a ceiling and going over it is an error (or goes into a file), and so is a success whose
//! output lacks its end mark; of standard error the end is kept; a background process that holds the pipes open cannot
//! hold us.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::sleep;

/// Most that is taken from standard output, in bytes.
pub const MAX_STDOUT: usize = 16 << 20;
/// What is kept of the end of standard error, in bytes.
pub const KEPT_STDERR: usize = 32 << 10;
/// Standard output that goes into a file is written in pieces of at least this many bytes.
const PIECE: usize = 256 << 10;
/// After the answer is whole: how long a silent pipe is still listened to.
const LINGER: Duration = Duration::from_secs(2);

pub(super) type Writer = Pin<Box<dyn AsyncWrite + Send>>;
type Reader = Pin<Box<dyn AsyncRead + Send>>;

/// How a process ended without an exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lost {
    /// No code arrived: killed by a signal, or the connection went with it.
    Gone,
    /// The connection was down before anything was sent.
    Disconnected,
    /// The server opened no further channel; nothing was run.
    Refused(String),
    /// More standard output than this many bytes.
    TooMuch(usize),
    /// It ended well, and its output without the end mark.
    Cut,
    /// Anything else, in words.
    Other(String),
}

/// A started process.
pub(super) struct Running {
    pub(super) stdin: Option<Writer>,
    pub(super) stdout: Reader,
    pub(super) stderr: Reader,
    pub(super) wait: BoxFuture<'static, Result<i32, Lost>>,
}

/// What standard input is.
#[derive(Debug)]
pub(super) enum Input {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// This file from its position, handed over whole: the fastest way through a control master.
    File(std::fs::File),
}

/// What becomes of more standard output than is kept in memory.
#[derive(Debug)]
pub(super) enum Beyond<'a> {
    /// It is an error; the ceiling in bytes.
    Refused(usize),
    /// It goes into this file; the end of the output stays in memory.
    Spilled(&'a mut tokio::fs::File),
}

/// What came out.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Feeds and reads `running` until it has ended; what came so far is in `raw` even when it is given up.
/// A success is one whose standard output ends with `mark`, which is taken off.
///
/// The code is asked for last: it overtakes the output, and ssh's master throws away the rest of the output as
/// soon as who asked has the code and is gone.
pub(super) async fn collect(
    running: Running,
    input: &Input,
    mark: &str,
    beyond: &mut Beyond<'_>,
    raw: &mut Raw,
) -> Result<(), Lost> {
    let Running {
        stdin,
        mut stdout,
        mut stderr,
        wait,
    } = running;
    let mut writing = std::pin::pin!(feed(stdin, input));
    let (mut fed, mut out_open, mut err_open) = (false, true, true);
    while out_open || err_open {
        let whole = raw.stdout.ends_with(mark.as_bytes());
        tokio::select! {
            () = &mut writing, if !fed => fed = true,
            more = fill(&mut raw.stdout, &mut stdout), if out_open => out_open = more?,
            more = fill(&mut raw.stderr, &mut stderr), if err_open => err_open = more?,
            () = sleep(LINGER), if whole => {
                tracing::debug!("a background process holds the output of a finished script open");
                break;
            }
        }
        beyond.take(&mut raw.stdout, mark.len()).await?;
        keep_end(&mut raw.stderr, KEPT_STDERR);
    }
    raw.code = wait.await?;
    raw.unmark(mark)
}

impl Beyond<'_> {
    /// Looks at what came so far; its last `kept` bytes may be the end mark and stay.
    async fn take(&mut self, stdout: &mut Vec<u8>, kept: usize) -> Result<(), Lost> {
        let ready = stdout.len().saturating_sub(kept);
        match self {
            Self::Refused(max) if ready > *max => Err(Lost::TooMuch(*max)),
            Self::Spilled(file) if ready >= PIECE => {
                let piece = stdout.drain(..ready);
                let written = file.write_all(piece.as_slice()).await;
                written.map_err(|error| Lost::Other(format!("cannot write the file: {error}")))
            }
            Self::Refused(_) | Self::Spilled(_) => Ok(()),
        }
    }
}

impl Raw {
    fn unmark(&mut self, mark: &str) -> Result<(), Lost> {
        match self.stdout.strip_suffix(mark.as_bytes()).map(<[u8]>::len) {
            Some(length) => self.stdout.truncate(length),
            None if self.code == 0 => return Err(Lost::Cut),
            None => {}
        }
        Ok(())
    }
}

/// A process that ends without reading is no error of the feed; its exit code tells.
async fn feed(stdin: Option<Writer>, input: &Input) {
    if let (Some(mut stdin), Input::Bytes(bytes)) = (stdin, input)
        && stdin.write_all(bytes).await.is_ok()
    {
        drop(stdin.shutdown().await);
    }
}

/// Whether there may be more.
pub(super) async fn fill(kept: &mut Vec<u8>, from: &mut Reader) -> Result<bool, Lost> {
    kept.reserve(64 << 10);
    let read = from.read_buf(kept).await;
    read.map(|count| count > 0)
        .map_err(|error| Lost::Other(format!("cannot read its output: {error}")))
}

/// Lets go of the beginning; only when it has doubled, so that each byte is moved once or twice.
pub(super) fn keep_end(kept: &mut Vec<u8>, limit: usize) {
    if kept.len() > 2 * limit {
        kept.drain(..kept.len() - limit);
    }
}

/// `work` within `limit`; `None` when the time is over.
pub(super) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::io::{DuplexStream, duplex, empty};

    use super::*;

    const MARK: &str = "\nmark\n";

    /// Ends with `code` at once; `speak` gets the other end of its standard output.
    async fn answer<F: Future<Output = Option<DuplexStream>>>(
        code: i32,
        speak: impl FnOnce(DuplexStream) -> F,
    ) -> (Result<(), Lost>, Raw) {
        let (stdout, said) = duplex(64);
        let running = Running {
            stdin: None,
            stdout: Box::pin(stdout),
            stderr: Box::pin(empty()),
            wait: std::future::ready(Ok(code)).boxed(),
        };
        let (input, mut raw) = (Input::Bytes(Vec::new()), Raw::default());
        let mut beyond = Beyond::Refused(64);
        let work = collect(running, &input, MARK, &mut beyond, &mut raw);
        // What it did not close is held open until the end.
        let (ended, _held) = tokio::join!(work, speak(said));
        (ended, raw)
    }

    #[tokio::test]
    async fn success_without_its_end_is_none() {
        let cut = async |mut said: DuplexStream| {
            said.write_all(b"begun\nma").await.unwrap();
            None
        };
        assert_eq!(answer(0, cut).await.0, Err(Lost::Cut));
        let (ended, raw) = answer(3, cut).await;
        assert_eq!((ended, raw.code), (Ok(()), 3));
    }

    #[tokio::test]
    async fn a_whole_answer_is_not_held_up_by_who_keeps_its_pipe() {
        let (ended, raw) = answer(1, async |mut said| {
            said.write_all(b"begun\nmark\n").await.unwrap();
            Some(said)
        })
        .await;
        assert_eq!(
            (ended, raw.code, raw.stdout),
            (Ok(()), 1, b"begun".to_vec())
        );
    }

    #[tokio::test]
    async fn more_than_the_ceiling_is_refused() {
        let (ended, _) = answer(0, async |mut said| {
            said.write_all(&[b'x'; 100]).await.ok();
            None
        })
        .await;
        assert_eq!(ended, Err(Lost::TooMuch(64)));
    }

    /// As ssh's master does it: once the code is taken, nothing more comes.
    #[tokio::test]
    async fn the_code_is_asked_for_last() {
        let (stdout, mut said) = duplex(64);
        let (asked, mut was_asked) = tokio::sync::oneshot::channel();
        let running = Running {
            stdin: None,
            stdout: Box::pin(stdout),
            stderr: Box::pin(empty()),
            wait: async move {
                asked.send(()).ok();
                Ok(0)
            }
            .boxed(),
        };
        let (input, mut raw) = (Input::Bytes(Vec::new()), Raw::default());
        let mut beyond = Beyond::Refused(64);
        let work = collect(running, &input, MARK, &mut beyond, &mut raw);
        let speak = async {
            sleep(Duration::from_millis(200)).await;
            if was_asked.try_recv().is_err() {
                said.write_all(b"begun\nmark\n").await.unwrap();
            }
            drop(said);
        };
        let (ended, ()) = tokio::join!(work, speak);
        assert_eq!((ended, raw.stdout), (Ok(()), b"begun".to_vec()));
    }
}
