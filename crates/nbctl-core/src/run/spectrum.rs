//! Percentiles: which of them a number of samples can carry, and those a report draws.
//!
//! Purpose: one rule for "too few samples", used by tables, charts and checks.
//! Duties: [`is_carried`], and a distribution reduced to a curve.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Samples that must lie above a percentile for it to be shown.
const SAMPLES_ABOVE: f64 = 10.0;

/// Whether `count` samples carry the quantile (0 ≤ q < 1): at least ten lie above it, so p99 needs
/// 1 000 and p99.9 needs 10 000.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts beyond 2^53 do not happen"
)]
pub fn is_carried(count: u64, quantile: f64) -> bool {
    // Rounded, because 1000 * (1 - 0.99) is a hair below 10 in binary.
    (count as f64 * (1.0 - quantile) * 1e6).round() >= SAMPLES_ABOVE * 1e6
}

/// One point of a latency distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpectrumPoint {
    /// 0.99 is the 99th percentile.
    pub quantile: f64,
    /// Its value, microseconds.
    pub micros: u64,
}

/// The distribution as a curve: steps that halve the distance to 1, and only as far as samples carry.
pub fn spectrum(histogram: &Histogram<u64>) -> Vec<SpectrumPoint> {
    let point = |quantile| SpectrumPoint {
        quantile,
        micros: histogram.value_at_quantile(quantile),
    };
    drawn()
        .take_while(|&quantile| is_carried(histogram.len(), quantile))
        .map(point)
        .collect()
}

/// 0, then three steps for each halving of the rest.
fn drawn() -> impl Iterator<Item = f64> {
    (0..60).map(|step| 1.0 - 0.5f64.powf(f64::from(step) / 3.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_samples_above_carry_a_percentile() {
        let cases = [
            (1_000, 0.99, true),
            (999, 0.99, false),
            (10_000, 0.999, true),
            (9_999, 0.999, false),
            (20, 0.5, true),
            (0, 0.5, false),
        ];
        for (count, quantile, expected) in cases {
            assert_eq!(is_carried(count, quantile), expected, "{count} {quantile}");
        }
    }

    #[test]
    fn the_curve_ends_where_samples_end() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..=2_000u64).for_each(|value| histogram.record(value).unwrap());
        let curve = spectrum(&histogram);
        let last = curve.last().unwrap();
        assert!((0.98..=0.995).contains(&last.quantile), "{last:?}");
        assert!(
            curve
                .windows(2)
                .all(|pair| pair[0].micros <= pair[1].micros)
        );
    }
}
