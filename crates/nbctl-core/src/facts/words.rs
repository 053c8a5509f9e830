//! Words inside the fields of an answer: numbers, times, rows of other programs.

use super::{Glibc, PathFact};

/// `glibc 2.17` of getconf.
pub(super) fn glibc(text: &str) -> Option<Glibc> {
    let (major, minor) = text.strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some(Glibc {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

/// `1764500000.123456789`; without nanoseconds where `date` has none.
pub(super) fn epoch_ms(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: i64 = seconds.parse().ok()?;
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).take(3);
    let (ms, count) = digits.fold((0, 0), |(ms, n), digit| {
        (ms * 10 + i64::from(digit - b'0'), n + 1)
    });
    let scale = [1000, 100, 10, 1].get(count).copied().unwrap_or(1);
    Some(seconds * 1000 + ms * scale)
}

/// The value in brackets of `always [madvise] never`; the text itself when there are none.
pub(super) fn chosen(value: &str) -> &str {
    let inside = value
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(value, |(chosen, _)| chosen)
}

/// `9669/tcp`, `9777-9780/tcp` of firewalld; `9669`, `9777:9780` of ufw.
pub(super) fn ports(word: &str) -> Option<(u16, u16)> {
    let word = word.strip_suffix("/tcp").unwrap_or(word);
    let (first, last) = word.split_once(['-', ':']).unwrap_or((word, word));
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Free bytes and mount of a row of `df -Pk`: device, KiB, used, free, percent, mount. Device and mount may hold blanks.
pub fn df_row(row: &str) -> Option<(u64, String)> {
    let (before, after) = row.split_once("% ")?;
    let free: u64 = before.split_whitespace().rev().nth(1)?.parse().ok()?;
    Some((free.saturating_mul(1024), after.trim().to_owned()))
}

pub(super) fn path_fact(fields: &[&str]) -> Option<PathFact> {
    Some(match fields {
        ["none"] => PathFact::None,
        ["other"] => PathFact::Other,
        ["file", bytes] => PathFact::File {
            bytes: bytes.trim().parse().ok()?,
        },
        ["link", target, real] => PathFact::Link {
            target: (*target).into(),
            real: (*real).into(),
        },
        ["dir", real, entries] => PathFact::Dir {
            real: (*real).into(),
            entries: names(entries),
        },
        _ => return None,
    })
}

fn names(entries: &str) -> Vec<String> {
    entries
        .split('/')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

pub(super) fn undeleted(exe: &str) -> (&str, bool) {
    exe.strip_suffix(" (deleted)")
        .map_or((exe, false), |path| (path, true))
}
