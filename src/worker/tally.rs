//! What is counted: requests, rows, errors by class, and the times of requests that succeeded.
//!
//! Duties: one [`Share`] a thread, locked for nanoseconds by its thread and once a second by the reader; the same
//! memory after a billion requests as after one.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hdrhistogram::Histogram;
use nbctl_core::monitor::course::{MIDDLES, STRATA, Times};
use nbctl_core::run::{Clocks, ErrorCount, Quantiles, Second};

use super::lane::{Good, Wrong};

/// Longest time that is told apart, µs.
const LONGEST: u64 = 3_600_000_000;
/// Classes told apart; a message that is different every time must not fill the memory.
const MOST_CLASSES: usize = 64;

/// Errors by class.
#[derive(Debug, Default, Clone)]
pub(super) struct Errors(BTreeMap<(String, Option<i32>), (u64, String)>);

/// Sums over the measured window.
#[derive(Debug, Default)]
pub(super) struct Total {
    pub(super) sums: Slice,
    pub(super) errors: Errors,
}

/// One second of a thread, or a window of several.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) requests: u64,
    pub(super) failed: u64,
    pub(super) rows: u64,
    pub(super) service: Histogram<u64>,
    pub(super) server: Histogram<u64>,
}

/// One thread's numbers.
#[derive(Debug)]
pub(super) struct Share(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    total: Total,
    slice: Slice,
}

/// What one request came to.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    /// Send to last byte, µs.
    pub(super) service_us: u64,
    /// How it ended.
    pub(super) outcome: Result<&'a Good, &'a Wrong>,
    /// Part of the measured window, not of the warm-up.
    pub(super) counts: bool,
}

/// A histogram of µs up to an hour, three digits.
pub(super) fn histogram() -> Histogram<u64> {
    // The bounds are constants that the crate accepts; a histogram that grows is as good.
    Histogram::new_with_bounds(1, LONGEST, 3).unwrap_or_else(|_| grown())
}

#[expect(clippy::expect_used, reason = "1 to 5 digits are always accepted")]
fn grown() -> Histogram<u64> {
    Histogram::new(3).expect("three digits")
}

impl Errors {
    pub(super) fn add(&mut self, wrong: &Wrong) {
        self.count(&wrong.class, wrong.code, 1, &wrong.text);
    }

    fn count(&mut self, class: &str, code: Option<i32>, count: u64, text: &str) {
        let full = self.0.len() >= MOST_CLASSES;
        let key = (class.to_owned(), code);
        let key = if full && !self.0.contains_key(&key) {
            ("other".to_owned(), None)
        } else {
            key
        };
        let entry = self.0.entry(key).or_insert_with(|| (0, shortened(text)));
        entry.0 += count;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for ((class, code), (count, text)) in &other.0 {
            self.count(class, *code, *count, text);
        }
    }

    /// Most frequent first.
    pub(super) fn list(&self) -> Vec<ErrorCount> {
        let all = self
            .0
            .iter()
            .map(|((class, code), (count, sample))| ErrorCount {
                class: class.clone(),
                code: *code,
                count: *count,
                sample: sample.clone(),
            });
        let mut all: Vec<ErrorCount> = all.collect();
        all.sort_by_key(|error| std::cmp::Reverse(error.count));
        all
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(300).collect()
}

impl Total {
    fn take(&mut self, sample: &Sample<'_>) {
        self.sums.take(sample);
        if let Err(wrong) = sample.outcome {
            self.errors.add(wrong);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.sums.merge(&other.sums);
        self.errors.merge(&other.errors);
    }

    /// Quantiles of both clocks.
    pub(super) fn clocks(&self) -> Clocks {
        Clocks {
            server: Quantiles::of(&self.sums.server),
            service: Quantiles::of(&self.sums.service),
            response: None,
        }
    }
}

impl Default for Slice {
    fn default() -> Self {
        Self {
            requests: 0,
            failed: 0,
            rows: 0,
            service: histogram(),
            server: histogram(),
        }
    }
}

impl Slice {
    fn take(&mut self, sample: &Sample<'_>) {
        self.requests += 1;
        match sample.outcome {
            Ok(good) => {
                self.rows += good.rows;
                self.service.saturating_record(sample.service_us);
                self.server.saturating_record(good.latency_us);
            }
            Err(_) => self.failed += 1,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.rows += other.rows;
        // Same bounds, so adding cannot fail.
        self.service.add(&other.service).ok();
        self.server.add(&other.server).ok();
    }

    fn clear(&mut self) {
        (self.requests, self.failed, self.rows) = (0, 0, 0);
        self.service.reset();
        self.server.reset();
    }

    /// What is shown of its times beyond the record; nothing when nothing succeeded.
    fn times(&self) -> Option<Times> {
        (!self.service.is_empty()).then(|| Times {
            server_p50_us: self.server.value_at_quantile(0.5),
            server_p99_us: self.server.value_at_quantile(0.99),
            service: strata(&self.service),
            server: strata(&self.server),
        })
    }

    /// As it is recorded.
    pub(super) fn second(&self, start_ms: i64) -> Second {
        let at = |quantile| {
            if self.service.is_empty() {
                0
            } else {
                self.service.value_at_quantile(quantile)
            }
        };
        Second {
            start_ms,
            requests: self.requests,
            failed: self.failed,
            rows: self.rows,
            p50_us: at(0.5),
            p99_us: at(0.99),
        }
    }
}

/// The value in the middle of each equal share of the samples.
fn strata(histogram: &Histogram<u64>) -> [u64; STRATA] {
    MIDDLES.map(|quantile| histogram.value_at_quantile(quantile))
}

impl Share {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Inner {
            total: Total::default(),
            slice: Slice::default(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one request.
    pub(super) fn record(&self, sample: &Sample<'_>) {
        let mut inner = self.lock();
        inner.slice.take(sample);
        if sample.counts {
            inner.total.take(sample);
        }
    }
}

/// Reads the shares of all threads.
#[derive(Debug)]
pub(super) struct Reader {
    spare: Slice,
    sum: Slice,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            spare: Slice::default(),
            sum: Slice::default(),
        }
    }

    /// What happened since the last call.
    pub(super) fn second(
        &mut self,
        shares: &[std::sync::Arc<Share>],
        start_ms: i64,
    ) -> (Second, Option<Times>) {
        self.sum.clear();
        for share in shares {
            self.spare.clear();
            // Swapped, so that the thread waits for no addition of histograms.
            std::mem::swap(&mut share.lock().slice, &mut self.spare);
            self.sum.merge(&self.spare);
        }
        (self.sum.second(start_ms), self.sum.times())
    }
}

/// Sums of all threads.
pub(super) fn total(shares: &[std::sync::Arc<Share>]) -> Total {
    let mut sum = Total::default();
    for share in shares {
        sum.merge(&share.lock().total);
    }
    sum
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn wrong(class: &str) -> Wrong {
        Wrong::other(class, "text")
    }

    #[test]
    fn failures_stay_out_of_the_times_and_warm_up_out_of_the_sums() {
        let shares = [Arc::new(Share::new()), Arc::new(Share::new())];
        let good = Good {
            latency_us: 80,
            rows: 2,
        };
        let bad = wrong("timeout");
        for (share, outcome, service_us, counts) in [
            (0, Ok(&good), 100, false),
            (0, Ok(&good), 200, true),
            (1, Ok(&good), 300, true),
            (1, Err(&bad), 60_000_000, true),
        ] {
            shares[share].record(&Sample {
                service_us,
                outcome,
                counts,
            });
        }
        let mut reader = Reader::new();
        let (second, times) = reader.second(&shares, 5);
        assert_eq!((second.requests, second.failed, second.rows), (4, 1, 6));
        let times = times.unwrap();
        assert_eq!(times.service, [100, 100, 200, 200, 200, 300, 300]);
        assert_eq!((times.server_p50_us, times.server), (80, [80; STRATA]));
        let (second, times) = reader.second(&shares, 6);
        assert_eq!((second.requests, times), (0, None));
        let total = total(&shares);
        let sums = &total.sums;
        assert_eq!((sums.requests, sums.failed, sums.rows), (3, 1, 4));
        assert_eq!((sums.service.len(), sums.service.max()), (2, 300));
        assert_eq!(total.errors.list()[0].class, "timeout");
    }

    #[test]
    fn classes_do_not_grow_without_end() {
        let mut errors = Errors::default();
        for number in 0..1000 {
            errors.add(&wrong(&format!("E_{number}")));
        }
        let list = errors.list();
        assert_eq!(list.len(), MOST_CLASSES + 1);
        assert_eq!(list[0].class, "other");
        assert_eq!(list.iter().map(|error| error.count).sum::<u64>(), 1000);
    }
}
