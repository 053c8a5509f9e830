//! The one place of this crate that reads the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time since the Unix epoch; zero when the host's clock stands before it.
#[expect(clippy::disallowed_methods, reason = "this is the sandbox's clock")]
pub fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// Whole seconds since the epoch.
pub fn seconds() -> u64 {
    since_epoch().as_secs()
}

/// Whole milliseconds since the epoch.
pub fn millis() -> u64 {
    seconds() * 1000 + u64::from(since_epoch().subsec_millis())
}

/// Whole microseconds since the epoch.
pub fn micros() -> i64 {
    i64::try_from(since_epoch().as_micros()).unwrap_or(i64::MAX)
}
