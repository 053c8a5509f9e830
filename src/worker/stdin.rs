//! Standard input: the job, then a sign of life now and then, then its end.
//!
//! Duty: whoever started the worker is gone when the input ends or falls silent; then the load ends, too.

use std::io::BufRead as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use nbctl_core::failure::Failure;
use tokio_util::sync::CancellationToken;

use super::job::{FORMAT, Job};

/// Reads the job; from then on `stop` is cancelled when the control machine is gone.
pub(super) fn take(stop: &CancellationToken) -> Result<Job, Failure> {
    let mut line = String::new();
    let cannot = |error: std::io::Error| Failure::usage(format!("cannot read the job: {error}"));
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(cannot)?;
    let job = parse(&line)?;
    let (beats, heard) = channel();
    drop(std::thread::spawn(move || listen(&beats)));
    let (limit, stop) = (job.silence_s.map(Duration::from_secs), stop.clone());
    drop(std::thread::spawn(move || {
        loop {
            let beat = match limit {
                Some(limit) => heard.recv_timeout(limit),
                None => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            if beat.is_err() {
                return stop.cancel();
            }
        }
    }));
    Ok(job)
}

fn parse(line: &str) -> Result<Job, Failure> {
    // The job holds a password, so nothing of it is quoted.
    let wrong = |error: serde_json::Error| {
        let at = format!("line {} column {}", error.line(), error.column());
        Failure::usage(format!(
            "standard input is no job: {:?} error",
            error.classify()
        ))
        .at(at)
        .hint("`nbctl worker` is started by `nbctl import` and `nbctl stress`")
    };
    let job: Job = serde_json::from_str(line).map_err(wrong)?;
    if job.format != FORMAT {
        return Err(Failure::usage(format!(
            "job format {} is not known; this worker reads {FORMAT}",
            job.format
        )));
    }
    if job.graph.addresses.is_empty() {
        return Err(Failure::usage("the job names no graphd"));
    }
    Ok(job)
}

/// A beat for every line; ends, and with it the channel, when the input does.
fn listen(beats: &Sender<()>) {
    let mut line = String::new();
    let mut input = std::io::stdin().lock();
    while input.read_line(&mut line).is_ok_and(|count| count > 0) {
        line.clear();
        if beats.send(()).is_err() {
            return;
        }
    }
}
