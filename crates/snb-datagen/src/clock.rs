//! Simulated time: three years from 2010, of which the first 90 % go into the files, and dates as text.

use jiff::ToSpan;
use jiff::civil::{Date, date};

/// Milliseconds since the epoch, GMT.
pub(crate) type Millis = u64;

/// Start of the simulation, 2010-01-01.
pub(crate) const FROM: Millis = 1_262_304_000_000;
/// End of the simulation, 2013-01-01.
pub(crate) const TO: Millis = 1_356_998_400_000;
/// What happens from here on would be in LDBC's update streams, which are not written: 90 % of the time.
pub(crate) const THRESHOLD: Millis = TO - (TO - FROM) / 10;
/// Least time between cause and effect.
pub(crate) const DELTA: Millis = 10_000;
/// One day.
pub(crate) const DAY: Millis = 86_400_000;
/// Months of 30 days, for rates.
pub(crate) const MONTH: Millis = 30 * DAY;

/// Which 256th of `to` (in absolute time, as in LDBC) a date falls into: 0..=17.
pub(crate) const fn bucket(date: Millis) -> u64 {
    256 * (date - FROM) / TO
}

/// Turns dates into text by table.
#[derive(Debug)]
pub(crate) struct Calendar {
    days: Vec<[u8; 10]>,
}

impl Calendar {
    pub(crate) fn new() -> Self {
        let days = (THRESHOLD - FROM).div_ceil(DAY);
        let start = date(2010, 1, 1);
        let day = |n: u64| start.saturating_add(i64::try_from(n).unwrap_or(0).days());
        Self {
            days: (0..days).map(|n| ten(day(n))).collect(),
        }
    }

    /// Appends `2010-02-14T15:32:10.447+0000`; `date` is in `FROM..THRESHOLD`.
    pub(crate) fn push(&self, out: &mut Vec<u8>, date: Millis) {
        let since = date.saturating_sub(FROM);
        let day = usize::try_from(since / DAY).unwrap_or(0);
        out.extend_from_slice(self.days.get(day).unwrap_or(b"0000-00-00"));
        let mut text = *b"T00:00:00.000+0000";
        let ms = since % DAY;
        digits(&mut text[1..3], ms / 3_600_000);
        digits(&mut text[4..6], ms / 60_000 % 60);
        digits(&mut text[7..9], ms / 1000 % 60);
        digits(&mut text[10..13], ms % 1000);
        out.extend_from_slice(&text);
    }
}

/// `1989-12-03` of a date in years 0..=9999.
fn ten(day: Date) -> [u8; 10] {
    let mut text = *b"0000-00-00";
    digits(&mut text[0..4], u64::from(day.year().unsigned_abs()));
    digits(&mut text[5..7], u64::from(day.month().unsigned_abs()));
    digits(&mut text[8..10], u64::from(day.day().unsigned_abs()));
    text
}

fn digits(slot: &mut [u8], mut value: u64) {
    for digit in slot.iter_mut().rev() {
        *digit = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
    }
}

/// Birthday as text and its year: `day` days after 1980-02-01.
pub(crate) fn birthday(day: u16) -> ([u8; 10], u64) {
    let date = date(1980, 2, 1).saturating_add(i64::from(day).days());
    (ten(date), u64::from(date.year().unsigned_abs()))
}

/// Birthdays fall on one of so many days, 1980-02-01 to 1990-01-31.
pub(crate) const BIRTH_DAYS: u16 = 3653;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_text() {
        let calendar = Calendar::new();
        for (ms, text) in [
            (FROM, "2010-01-01T00:00:00.000+0000"),
            (1_266_161_530_447, "2010-02-14T15:32:10.447+0000"),
            (THRESHOLD - 1, "2012-09-13T09:35:59.999+0000"),
        ] {
            let mut out = Vec::new();
            calendar.push(&mut out, ms);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        assert_eq!(birthday(0), (*b"1980-02-01", 1980));
        assert_eq!(birthday(BIRTH_DAYS - 1), (*b"1990-01-31", 1990));
    }

    #[test]
    fn buckets_of_the_simulation() {
        assert_eq!((bucket(FROM), bucket(THRESHOLD), bucket(TO)), (0, 16, 17));
    }
}
