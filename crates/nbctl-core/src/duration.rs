//! Durations as people write them in files: `500ms`, `10s`, `1h 30m`, `15d`.
//!
//! Duty: turn the text into a duration, or say clearly why it is none.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

/// Reads a duration such as `500ms`, `10s`, `1h 30m` or `15d`; a day has 24 hours.
///
/// Errors: a sentence part for "`x` is not a duration: …". A bare number is refused, because nobody
/// can tell its unit.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("`{text}` is not a duration: {why}");
    if text.trim().parse::<f64>().is_ok() {
        return Err(wrong(&"it has no unit"));
    }
    let span: Span = text.trim().parse().map_err(|e| wrong(&e))?;
    let signed = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|e| wrong(&e))?;
    Duration::try_from(signed).map_err(|_| wrong(&"it is negative"))
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_as_people_write_them() {
        let good = [
            ("10s", 10_000),
            ("500ms", 500),
            ("15d", 1_296_000_000),
            ("1h 30m", 5_400_000),
        ];
        for (text, millis) in good {
            assert_eq!(parse_duration(text).unwrap().as_millis(), millis, "{text}");
        }
        for text in ["10", "", "ten seconds", "-5s", "10 parsecs"] {
            let why = parse_duration(text).unwrap_err();
            assert!(why.contains("is not a duration"), "{why}");
        }
    }
}
