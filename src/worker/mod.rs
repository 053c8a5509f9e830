//! `nbctl worker`: the engine that loads a cluster, on the host that puts the load on it.
//!
//! Purpose: read one job ([`job::Job`]) from standard input, tell what happens ([`message::Message`]) on standard
//! output, one JSON value a line (`docs/design/load.md`).
//! Duties: end when standard input ends, falls silent, or on SIGTERM, because a lost control machine must not leave
//! load behind; memory that does not grow with requests or rows; sessions are signed out.

mod cpu;
mod import;
pub mod job;
mod lane;
pub mod message;
mod parameters;
mod stdin;
mod stress;
mod tally;
mod threads;

use nbctl_core::failure::{ExitCode, Failure, FailureKind};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use self::job::{Job, Work};
use self::message::{Message, Out};

/// Runs the job on standard input.
pub fn run() -> ExitCode {
    let stop = CancellationToken::new();
    let out = Out { stop: stop.clone() };
    match serve(&stop, &out) {
        Ok(()) => ExitCode::Good,
        Err(failure) => {
            let code = failure.exit_code();
            out.emit(&Message::Failed { failure });
            code
        }
    }
}

fn serve(stop: &CancellationToken, out: &Out) -> Result<(), Failure> {
    let job = stdin::take(stop)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::step(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        let watched = watch_signals(stop.clone());
        tokio::select! {
            done = work(&job, stop, out) => done,
            never = watched => never,
        }
    })
}

async fn work(job: &Job, stop: &CancellationToken, out: &Out) -> Result<(), Failure> {
    match &job.work {
        Work::Stress(stress) => stress::run(job, stress, stop, out).await,
        Work::Import(import) => import::run(job, import, stop, out).await,
    }
}

/// Cancels `stop` on SIGTERM and SIGINT; ends only when signals cannot be had.
async fn watch_signals(stop: CancellationToken) -> Result<(), Failure> {
    let cannot = |error: std::io::Error| Failure::step(format!("cannot take signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    loop {
        tokio::select! {
            _ = terminate.recv() => stop.cancel(),
            _ = interrupt.recv() => stop.cancel(),
        }
    }
}

/// Why a job without a result ended from outside.
fn stopped() -> Failure {
    Failure::new(FailureKind::Interrupted, "the worker was told to stop")
}
