//! The generator's own use of CPU: a load whose generator is out of CPU measures the generator.

use std::time::Instant;

/// Linux counts process times in hundredths of a second on every architecture it has.
const TICKS_PER_SECOND: f64 = 100.0;

/// A reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cpu {
    ticks: u64,
    at: Instant,
}

impl Cpu {
    /// Now.
    pub(super) fn read() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        Self {
            ticks: ticks(&stat).unwrap_or_default(),
            at: Instant::now(),
        }
    }

    /// Percent of one core used since `earlier`.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 ticks")]
    pub(super) fn percent_since(self, earlier: Self) -> f64 {
        let used = self.ticks.saturating_sub(earlier.ticks) as f64 / TICKS_PER_SECOND;
        let passed = self.at.duration_since(earlier.at).as_secs_f64();
        if passed > 0.0 {
            used / passed * 100.0
        } else {
            0.0
        }
    }
}

/// User and system time; the program's name may hold blanks and brackets.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ').skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// Cores this process may use.
pub(super) fn cores() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "7 (a) b) R 1 7 7 0 -1 4194304 105 0 0 0 120 34 0 0 20 0 1 0 8 0 0";
        assert_eq!(ticks(stat), Some(154));
        assert_eq!(ticks("nonsense"), None);
    }

    #[test]
    fn work_is_seen() {
        let before = Cpu::read();
        // How soon this process gets a turn is the machine's business.
        let begun = Instant::now();
        let mut sum = 0u64;
        while Cpu::read().percent_since(before) <= 0.0 && begun.elapsed().as_secs() < 30 {
            sum = (0..1_000_000).fold(sum, |sum, n| sum.wrapping_mul(31).wrapping_add(n));
        }
        assert!(Cpu::read().percent_since(before) > 0.0, "{sum}");
    }
}
