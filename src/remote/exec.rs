//! Drives one started process: feeds it, collects bounded output, keeps the deadline.
//!
//! Purpose: one place for what ssh and local processes have in common.
//! Duties: standard output has a ceiling and going over it is an error; of standard error the end is kept;
//! a background process that holds the pipes open cannot hold us.

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
/// After the process has ended: how long a silent pipe is still listened to.
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

/// What came out.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) code: i32,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Feeds and reads `running` until it has ended; what came so far is in `raw` even when it is given up.
pub(super) async fn collect(
    running: Running,
    input: &Input,
    max: usize,
    raw: &mut Raw,
) -> Result<(), Lost> {
    let Running {
        stdin,
        mut stdout,
        mut stderr,
        mut wait,
    } = running;
    let mut writing = std::pin::pin!(feed(stdin, input));
    let (mut fed, mut code) = (false, None);
    let (mut out_open, mut err_open) = (true, true);
    while code.is_none() || out_open || err_open {
        tokio::select! {
            () = &mut writing, if !fed => fed = true,
            more = fill(&mut raw.stdout, &mut stdout), if out_open => out_open = more?,
            more = fill(&mut raw.stderr, &mut stderr), if err_open => err_open = more?,
            ended = &mut wait, if code.is_none() => code = Some(ended?),
            () = sleep(LINGER), if code.is_some() => {
                tracing::warn!("a background process holds the output of a finished script open");
                break;
            }
        }
        if raw.stdout.len() > max {
            return Err(Lost::TooMuch(max));
        }
        keep_end(&mut raw.stderr, KEPT_STDERR);
    }
    raw.code = code.unwrap_or_default();
    Ok(())
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
    kept.reserve(16 << 10);
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
