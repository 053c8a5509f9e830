//! Faults every daemon can have: standing still, ending at the N-th request; and the dice of the others.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::{clock, flags::Flags, storage::murmur};

/// Requests seen since `sandbox_crash_after` was set to the value in the upper half.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Generation of the flags in which all of these faults were off.
static QUIET: AtomicU64 = AtomicU64::new(0);

/// Whether some fault of this file, or storaged's refusals, may be on. Looked up once per change of the flags: it is
/// asked at every request.
pub fn any(flags: &Flags) -> bool {
    let generation = flags.generation();
    if QUIET.load(Ordering::Relaxed) == generation {
        return false;
    }
    let off = flags.count("sandbox_crash_after") == 0
        && flags.count("sandbox_freeze_ms") == 0
        && flags.float("sandbox_leader_change_rate") <= 0.0;
    if off {
        QUIET.store(generation, Ordering::Relaxed);
    }
    !off
}

/// Numbers drawn so far.
static DRAWS: AtomicU64 = AtomicU64::new(0);

/// True with the probability `rate` (0 to 1).
#[expect(clippy::cast_precision_loss, reason = "53 random bits make a fraction")]
pub fn happens(rate: f64) -> bool {
    if rate <= 0.0 {
        return false;
    }
    let draw = DRAWS.fetch_add(1, Ordering::Relaxed);
    let seed = clock::micros().unsigned_abs() ^ draw << 32;
    let fraction = (murmur(&seed.to_le_bytes()) >> 11) as f64 / (1u64 << 53) as f64;
    fraction < rate
}

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
