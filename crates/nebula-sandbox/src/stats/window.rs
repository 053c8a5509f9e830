//! Sliding sums over 5, 60, 600 and 3600 seconds.

/// Lengths of the windows, seconds.
pub(super) const WINDOWS: [u64; 4] = [5, 60, 600, 3600];

/// Slots a window is cut into; the oldest one falls out as time goes on.
const SLOTS: u64 = 60;

/// Sum and count of the samples of one slot.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Number of this slot since the epoch; tells a stale slot from a current one.
    number: u64,
    sum: i64,
    count: i64,
}

/// One window.
#[derive(Debug)]
struct Window {
    seconds: u64,
    width: u64,
    slots: Vec<Slot>,
    /// The slot written last and the first second after it: most samples need no division.
    current: usize,
    until: u64,
}

impl Window {
    fn new(seconds: u64) -> Self {
        let width = (seconds / SLOTS).max(1);
        let slots = usize::try_from(seconds / width).unwrap_or(1);
        Self {
            seconds,
            width,
            slots: vec![Slot::default(); slots],
            current: 0,
            until: 0,
        }
    }

    fn add(&mut self, now: u64, sum: i64, count: i64) {
        if now >= self.until || now + self.width < self.until {
            self.turn_to(now);
        }
        let slot = &mut self.slots[self.current];
        slot.sum += sum;
        slot.count += count;
    }

    fn turn_to(&mut self, now: u64) {
        let number = now / self.width;
        self.current = usize::try_from(number % self.slots.len() as u64).unwrap_or(0);
        self.until = (number + 1) * self.width;
        let slot = &mut self.slots[self.current];
        if slot.number != number {
            *slot = Slot {
                number,
                ..Slot::default()
            };
        }
    }

    fn total(&self, now: u64) -> (i64, i64) {
        let number = now / self.width;
        let oldest = (number + 1).saturating_sub(self.slots.len() as u64);
        self.slots
            .iter()
            .filter(|slot| slot.number >= oldest && slot.number <= number)
            .fold((0, 0), |(sum, count), slot| {
                (sum + slot.sum, count + slot.count)
            })
    }
}

/// A series seen through all four windows.
#[derive(Debug)]
pub(super) struct Series {
    windows: [Window; 4],
}

impl Default for Series {
    fn default() -> Self {
        Self {
            windows: WINDOWS.map(Window::new),
        }
    }
}

impl Series {
    /// Adds `count` samples whose values make `sum`, at `now` seconds.
    pub(super) fn add(&mut self, now: u64, sum: i64, count: i64) {
        for window in &mut self.windows {
            window.add(now, sum, count);
        }
    }

    /// (sum, count) of window `index` at `now`.
    pub(super) fn total(&self, index: usize, now: u64) -> (i64, i64) {
        self.windows[index].total(now)
    }

    /// Length of window `index`, seconds.
    pub(super) fn seconds(&self, index: usize) -> i64 {
        i64::try_from(self.windows[index].seconds).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_forgets() {
        let mut series = Series::default();
        series.add(1000, 7, 1);
        series.add(1004, 1, 1);
        assert_eq!(series.total(0, 1004), (8, 2));
        assert_eq!(series.total(0, 1005), (1, 1));
        assert_eq!(series.total(1, 1059), (8, 2));
        assert_eq!(series.total(0, 1100), (0, 0));
        assert_eq!(series.total(3, 4000), (8, 2));
        assert_eq!(series.total(3, 9000), (0, 0));
    }
}
