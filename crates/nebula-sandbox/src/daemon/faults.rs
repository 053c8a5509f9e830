//! Faults every daemon can have: standing still, ending at the N-th request.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::flags::Flags;

/// Requests seen since `sandbox_crash_after` was set to the value in the upper half.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Stands still for `sandbox_freeze_ms`, once per setting.
pub fn freeze_if_asked(flags: &Flags) {
    let millis = flags.count("sandbox_freeze_ms");
    if millis > 0 {
        flags.set("sandbox_freeze_ms", "0").ok();
        std::thread::sleep(Duration::from_millis(millis));
    }
}

/// Counts a request; aborts the process, like a crash, when `sandbox_crash_after` of them were seen.
pub fn count_down(flags: &Flags) {
    let limit = flags.count("sandbox_crash_after");
    if limit == 0 {
        return;
    }
    let wanted = limit << 32;
    let seen = SEEN.load(Ordering::Relaxed);
    let start = if seen >> 32 == limit { seen } else { wanted };
    SEEN.store(start + 1, Ordering::Relaxed);
    if (start + 1) & 0xffff_ffff >= limit {
        std::process::abort();
    }
}
