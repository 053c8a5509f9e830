//! Dates and times from and to text. All of them are UTC.

use jiff::{Timestamp, civil, tz::TimeZone};
use nebula_wire::value::{Date, DateTime, Time};

/// A run of digits as a number, and what follows it.
fn number(text: &str) -> Option<(i32, &str)> {
    let end = text
        .bytes()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

/// `2010-01-03`, also `2010-1-3`.
pub(super) fn parse_date(text: &str) -> Option<Date> {
    let (date, rest) = date_prefix(text)?;
    rest.is_empty().then_some(date)
}

fn date_prefix(text: &str) -> Option<(Date, &str)> {
    let negative = text.starts_with('-');
    let (year, rest) = number(text.strip_prefix('-').unwrap_or(text))?;
    let (month, rest) = number(rest.strip_prefix('-')?)?;
    let (day, rest) = number(rest.strip_prefix('-')?)?;
    let year = i16::try_from(if negative { -year } else { year }).ok()?;
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    civil::Date::new(year.clamp(-9999, 9999), month, day).ok()?;
    Some((Date { year, month, day }, rest))
}

/// `15:10:31`, `15:10:31.499`.
pub(super) fn parse_time(text: &str) -> Option<Time> {
    let (time, rest) = time_prefix(text)?;
    rest.is_empty().then_some(time)
}

fn time_prefix(text: &str) -> Option<(Time, &str)> {
    let (hour, rest) = number(text)?;
    let (minute, rest) = number(rest.strip_prefix(':')?)?;
    let (sec, rest) = match rest.strip_prefix(':') {
        Some(rest) => number(rest)?,
        None => (0, rest),
    };
    if hour > 23 || minute > 59 || sec > 59 {
        return None;
    }
    let (microsec, rest) = match rest.strip_prefix('.') {
        Some(rest) => fraction(rest)?,
        None => (0, rest),
    };
    let small = |n: i32| i8::try_from(n).unwrap_or(0);
    let time = Time {
        hour: small(hour),
        minute: small(minute),
        sec: small(sec),
        microsec,
    };
    Some((time, rest))
}

/// Up to six digits as microseconds.
fn fraction(text: &str) -> Option<(i32, &str)> {
    let end = text
        .bytes()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    if digits.is_empty() || digits.len() > 6 {
        return None;
    }
    let value: i32 = digits.parse().ok()?;
    let scale = 10i32.pow(u32::try_from(6 - digits.len()).ok()?);
    Some((value * scale, rest))
}

/// `2010-01-03T15:10:31.499`, with a blank instead of the T, with `Z` or `+01:00` at the end, or a date alone.
/// `+0000` without a colon is refused, as in the original.
pub(super) fn parse_datetime(text: &str) -> Option<DateTime> {
    let (date, rest) = date_prefix(text)?;
    if rest.is_empty() {
        return Some(DateTime {
            date,
            time: Time::default(),
        });
    }
    let rest = rest.strip_prefix('T').or_else(|| rest.strip_prefix(' '))?;
    let (time, rest) = time_prefix(rest)?;
    let value = DateTime { date, time };
    match rest {
        "" | "Z" => Some(value),
        zone => shifted(&value, zone),
    }
}

fn shifted(value: &DateTime, zone: &str) -> Option<DateTime> {
    let sign = if zone.starts_with('-') { 1 } else { -1 };
    let (hours, rest) = number(zone.strip_prefix(['+', '-'])?)?;
    let (minutes, rest) = number(rest.strip_prefix(':')?)?;
    if !rest.is_empty() {
        return None;
    }
    let micros = micros_of(value)? + i64::from(sign * (hours * 60 + minutes)) * 60_000_000;
    datetime_of(micros)
}

/// Microseconds since the epoch.
pub(super) fn micros_of(value: &DateTime) -> Option<i64> {
    let DateTime { date, time } = value;
    let date = civil::Date::new(date.year, date.month, date.day).ok()?;
    let at = date.at(
        time.hour,
        time.minute,
        time.sec,
        time.microsec.checked_mul(1000)?,
    );
    Some(
        at.to_zoned_datetime(TimeZone::UTC)
            .ok()?
            .timestamp()
            .as_microsecond(),
    )
}

/// The civil time of microseconds since the epoch.
pub(super) fn datetime_of(micros: i64) -> Option<DateTime> {
    let at = Timestamp::from_microsecond(micros)
        .ok()?
        .to_zoned_datetime(TimeZone::UTC);
    Some(DateTime {
        date: Date {
            year: at.year(),
            month: at.month(),
            day: at.day(),
        },
        time: Time {
            hour: at.hour(),
            minute: at.minute(),
            sec: at.second(),
            microsec: at.subsec_nanosecond() / 1000,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ngql::ast::Expr;
    use nebula_wire::Value;

    #[test]
    fn texts() {
        let cases = [
            (
                "2010-01-03T15:10:31.499",
                Some("2010-01-03T15:10:31.499000"),
            ),
            ("2010-01-03 15:10:31", Some("2010-01-03T15:10:31.000000")),
            ("2010-1-3", Some("2010-01-03T00:00:00.000000")),
            (
                "2010-01-03T15:10:31.499+01:00",
                Some("2010-01-03T14:10:31.499000"),
            ),
            (
                "2010-01-03T15:10:31.499Z",
                Some("2010-01-03T15:10:31.499000"),
            ),
            ("2010-01-03T15:10:31.499+0000", None),
            ("2010-13-03", None),
            ("2010-02-30", None),
            ("yesterday", None),
            ("2010-01-03T25:00:00", None),
        ];
        for (text, expected) in cases {
            let found = parse_datetime(text).map(|v| Expr::Const(Value::DateTime(v)).to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn there_and_back() {
        for micros in [0, 1_262_304_000_000_000, -1, 1_700_000_000_123_456] {
            let value = datetime_of(micros).expect("in range");
            assert_eq!(micros_of(&value), Some(micros));
        }
    }
}
