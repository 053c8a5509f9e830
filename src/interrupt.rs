//! Ctrl-C and SIGTERM as a token.
//!
//! Purpose: an interrupt ends a command between two steps, so that running it again finishes the work (promise 3).
//! Duties: the first signal asks, the second one ends the program at once with exit code 130.

use nbctl_core::failure::{ExitCode, Failure, FailureKind};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that the first SIGINT or SIGTERM cancels. Must be called inside a runtime.
pub fn token() -> CancellationToken {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    drop(tokio::spawn(async move {
        if next().await {
            cancelled.cancel();
        }
        if next().await {
            at_once();
        }
    }));
    token
}

/// Waits for one signal; false when signals cannot be had.
async fn next() -> bool {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return false;
    };
    tokio::select! {
        got = interrupt.recv() => got.is_some(),
        got = terminate.recv() => got.is_some(),
    }
}

#[expect(clippy::exit, reason = "the user asked twice")]
fn at_once() {
    std::process::exit(i32::from(ExitCode::Interrupted.number()));
}

/// The failure an interrupted command ends with.
pub fn failure() -> Failure {
    Failure::new(FailureKind::Interrupted, "interrupted")
        .hint("run the same command again to go on")
}
