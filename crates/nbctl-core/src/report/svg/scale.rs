//! From values to positions, and where the labels of an axis go.

/// A straight or logarithmic mapping.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// In mapped values (logarithms on a log scale).
    domain: (f64, f64),
    range: (f64, f64),
    log: bool,
}

impl Scale {
    /// Straight; an empty domain is widened.
    pub(super) fn linear(domain: (f64, f64), range: (f64, f64)) -> Self {
        let (low, high) = domain;
        let high = if high > low { high } else { low + 1.0 };
        Self {
            domain: (low, high),
            range,
            log: false,
        }
    }

    /// Logarithmic; values at or below 0 land on the low end.
    pub(super) fn log(domain: (f64, f64), range: (f64, f64)) -> Self {
        let low = domain.0.max(f64::MIN_POSITIVE);
        let high = domain.1.max(low * 1.0001);
        Self {
            domain: (low.log10(), high.log10()),
            range,
            log: true,
        }
    }

    /// Position of `value`.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = if self.log {
            value.max(f64::MIN_POSITIVE).log10()
        } else {
            value
        };
        let (low, high) = self.domain;
        let part = ((value - low) / (high - low)).clamp(0.0, 1.0);
        self.range.0 + part * (self.range.1 - self.range.0)
    }
}

/// Round values from 0 to at least `highest`, about `wanted` steps of 1, 2 or 5 times a power of ten.
pub(super) fn steps(highest: f64, wanted: f64) -> Vec<f64> {
    let highest = if highest.is_finite() && highest > 0.0 {
        highest
    } else {
        1.0
    };
    let rough = highest / wanted;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power);
    multiples(step, highest)
}

fn multiples(step: f64, highest: f64) -> Vec<f64> {
    let mut values = Vec::new();
    let mut value = 0.0;
    while value < highest - step * 1e-6 {
        values.push(value);
        value += step;
    }
    values.push(value);
    values
}

/// Steps of a time axis up to `seconds`, at most about `most` of them.
pub(super) fn time_steps(seconds: f64, most: f64) -> Vec<f64> {
    const STEPS: [f64; 16] = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
        14_400.0, 43_200.0,
    ];
    let step = STEPS
        .into_iter()
        .find(|step| seconds / step <= most)
        .unwrap_or(86_400.0);
    let mut steps = multiples(step, seconds);
    steps.retain(|value| *value <= seconds + step * 0.01);
    steps
}

/// `0`, `45 s`, `2:30`, `1:02:00`: time since the start of a window.
pub(super) fn time_label(at: f64, whole: f64) -> String {
    let (minutes, seconds) = crate::report::number::minutes(at);
    match whole {
        _ if at == 0.0 => "0".to_owned(),
        whole if whole < 120.0 => format!("{at:.0} s"),
        whole if whole < 3600.0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{}:{:02}:{seconds:02}", minutes / 60, minutes % 60),
    }
}

/// Values for a log axis within `low..=high`: 1, 2, 5 of each power of ten, or only the powers when
/// there are many.
pub(super) fn log_steps(low: f64, high: f64) -> Vec<f64> {
    let low = low.max(f64::MIN_POSITIVE);
    let decades = (high / low).log10();
    let factors: &[f64] = if decades > 4.0 {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let mut values = Vec::new();
    let mut power = 10f64.powf(low.log10().floor());
    while power <= high * 1.001 {
        let within = factors.iter().map(|factor| factor * power);
        values.extend(within.filter(|v| *v >= low * 0.999 && *v <= high * 1.001));
        power *= 10.0;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_on_round_values() {
        let cases = [
            (steps(97.0, 5.0), vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0]),
            (steps(100.0, 4.0), vec![0.0, 50.0, 100.0]),
            (steps(0.0, 4.0), vec![0.0, 0.5, 1.0]),
            (steps(f64::NAN, 4.0), vec![0.0, 0.5, 1.0]),
            (
                time_steps(60.0, 6.0),
                vec![0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
            ),
            (time_steps(7.3, 6.0), vec![0.0, 2.0, 4.0, 6.0]),
            (
                log_steps(800.0, 12_000.0),
                vec![1000.0, 2000.0, 5000.0, 10_000.0],
            ),
        ];
        for (got, expected) in cases {
            assert_eq!(got.len(), expected.len(), "{got:?} {expected:?}");
            for (a, b) in got.iter().zip(&expected) {
                assert!((a - b).abs() < 1e-9, "{got:?} {expected:?}");
            }
        }
    }

    #[test]
    fn a_log_scale_is_even_in_decades() {
        let scale = Scale::log((1.0, 100.0), (0.0, 200.0));
        assert!((scale.at(10.0) - 100.0).abs() < 1e-9);
        assert!(scale.at(0.0).abs() < 1e-9);
    }

    #[test]
    fn time_labels() {
        let cases = [
            (0.0, 60.0, "0"),
            (45.0, 60.0, "45 s"),
            (150.0, 300.0, "2:30"),
            (3720.0, 7200.0, "1:02:00"),
        ];
        for (at, whole, expected) in cases {
            assert_eq!(time_label(at, whole), expected);
        }
    }
}
