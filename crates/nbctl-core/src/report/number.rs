//! Numbers as people read them.
//!
//! Purpose: one way to write a count, a rate, a size, a time in every table and chart.
//! Duties: groups of three parted by a narrow no-break space, the unit chosen so that few digits remain;
//! within one table column the unit is fixed, so that columns can be compared.

use jiff::Timestamp;

/// Narrow no-break space: parts groups of digits, and a number from its unit.
pub(crate) const THIN: char = '\u{202f}';
/// What stands where a number is missing.
pub(crate) const NONE: &str = "–";

/// `3 165 488`.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(THIN);
        }
        text.push(digit);
    }
    text
}

/// With `decimals` digits after the point, the whole part grouped.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = match text.split_once('.') {
        Some((whole, rest)) => (whole, format!(".{rest}")),
        None => (text.as_str(), String::new()),
    };
    let sign = if value < 0.0 { "−" } else { "" };
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    format!("{sign}{whole}{rest}")
}

/// About three significant digits: `12 345`, `123`, `12.3`, `1.23`.
pub(crate) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size > 0.0 => 2,
        _ => 0,
    };
    fixed(value, decimals)
}

/// Microseconds as milliseconds with two digits, the fixed form of latency columns.
pub(crate) fn millis(micros: u64) -> String {
    fixed(of(micros) / 1000.0, 2)
}

/// A latency with its own unit: `870 µs`, `12.3 ms`, `1.25 s`.
pub(crate) fn latency(micros: f64) -> String {
    match micros {
        us if us < 1_000.0 => format!("{}{THIN}µs", fixed(us, 0)),
        us if us < 1e6 => format!("{}{THIN}ms", short(us / 1e3)),
        us => format!("{}{THIN}s", short(us / 1e6)),
    }
}

/// A round latency at an axis: `500 µs`, `10 ms`, `2 s`.
pub(crate) fn round_latency(micros: f64) -> String {
    let (divisor, unit) = match micros {
        us if us < 1e3 => (1.0, "µs"),
        us if us < 1e6 => (1e3, "ms"),
        _ => (1e6, "s"),
    };
    format!("{}{THIN}{unit}", fixed(micros / divisor, 0))
}

/// Bytes with a binary unit.
pub(crate) fn bytes(value: f64) -> String {
    let (divisor, unit) = byte_unit(value);
    format!("{}{THIN}{unit}", short(value / divisor))
}

/// Divisor and unit in which `largest` has few digits.
pub(crate) fn byte_unit(largest: f64) -> (f64, &'static str) {
    const UNITS: [(f64, &str); 4] = [
        (1_099_511_627_776.0, "TiB"),
        (1_073_741_824.0, "GiB"),
        (1_048_576.0, "MiB"),
        (1024.0, "KiB"),
    ];
    let found = UNITS.iter().find(|(divisor, _)| largest >= *divisor);
    found.copied().unwrap_or((1.0, "B"))
}

/// `0.34 s`, `4.6 s`, `47 s`, `3 min 05 s`, `1 h 02 min`.
pub(crate) fn duration(seconds: f64) -> String {
    let decimals = match seconds {
        s if s <= 0.0 || s >= 10.0 => 0,
        s if s >= 1.0 => 1,
        _ => 2,
    };
    if seconds < 59.5 {
        return format!("{}{THIN}s", fixed(seconds, decimals));
    }
    let (whole, rest) = minutes(seconds);
    if whole < 60 {
        return format!("{whole}{THIN}min {rest:02}{THIN}s");
    }
    format!("{}{THIN}h {:02}{THIN}min", whole / 60, whole % 60)
}

/// Whole minutes and the seconds that remain.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a duration of a run, not negative and far below 2^53 s"
)]
pub(crate) fn minutes(seconds: f64) -> (u64, u64) {
    let whole = seconds.max(0.0).round() as u64;
    (whole / 60, whole % 60)
}

/// Date and time in UTC.
pub(crate) fn time(unix_ms: i64) -> String {
    Timestamp::from_millisecond(unix_ms).map_or_else(
        |_| NONE.to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// `u64` for arithmetic on measured values.
#[expect(
    clippy::cast_precision_loss,
    reason = "measured values stay far below 2^53"
)]
pub(crate) fn of(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        text.replace(THIN, "_")
    }

    #[test]
    fn numbers_read_well() {
        let cases = [
            (count(0), "0"),
            (count(999), "999"),
            (count(3_165_488), "3_165_488"),
            (fixed(-1234.5, 1), "−1_234.5"),
            (fixed(f64::NAN, 1), "–"),
            (short(12_345.6), "12_346"),
            (short(1.234), "1.23"),
            (short(0.0), "0"),
            (millis(1_234_567), "1_234.57"),
            (latency(870.0), "870_µs"),
            (latency(12_345.0), "12.3_ms"),
            (latency(1_250_000.0), "1.25_s"),
            (bytes(1_610_612_736.0), "1.50_GiB"),
            (bytes(12.0), "12.0_B"),
            (duration(47.25), "47_s"),
            (duration(3.0), "3.0_s"),
            (duration(59.7), "1_min 00_s"),
            (round_latency(10_000.0), "10_ms"),
            (duration(185.0), "3_min 05_s"),
            (duration(3_725.0), "1_h 02_min"),
            (time(1_796_000_000_000), "2026-11-30 00:53:20 UTC"),
        ];
        for (got, expected) in cases {
            assert_eq!(plain(&got), expected);
        }
    }
}
