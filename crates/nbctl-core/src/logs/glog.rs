//! A line of glog: `I1013 07:00:47.399873 21 file.cpp:9] text` up to 2.x, with the year in front of the month since.

/// Severity, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Info,
    Warning,
    Error,
    Fatal,
}

/// When a line was written: comparable within a log and between hosts whose clocks agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Microseconds since the beginning of the year 0, every month counted as 31 days: an order, not a duration.
    pub order: u64,
    /// Severity.
    pub level: Level,
}

/// Reads the beginning of a line; `year` is that of lines which do not say theirs.
pub fn parse(line: &str, year: u64) -> Option<Stamp> {
    let mut words = line.split(' ');
    let (day, time) = (words.next()?, words.next()?);
    let level = match day.chars().next()? {
        'I' => Level::Info,
        'W' => Level::Warning,
        'E' => Level::Error,
        'F' => Level::Fatal,
        _ => return None,
    };
    let digits = day.get(1..)?;
    let (year, rest) = match digits.len() {
        8 => (number(digits.get(..4)?)?, digits.get(4..)?),
        4 => (year, digits),
        _ => return None,
    };
    let (month, day) = (number(rest.get(..2)?)?, number(rest.get(2..)?)?);
    let days = (year * 12 + month) * 31 + day;
    let order = days * 86_400_000_000 + micros(time)?;
    Some(Stamp { order, level })
}

/// `07:00:47.399873`.
fn micros(time: &str) -> Option<u64> {
    let (clock, fraction) = time.split_once('.')?;
    let mut parts = clock.split(':').map(number);
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || fraction.len() != 6 {
        return None;
    }
    Some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + number(fraction)?)
}

fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_and_nothing_else() {
        let old = parse("I1013 07:00:47.399873 12 MetaClient.cpp:9] ready", 2022).unwrap();
        let new = parse("W20221013 07:00:47.399874    12 MetaClient.cpp:9] slow", 1).unwrap();
        assert_eq!((old.level, new.level), (Level::Info, Level::Warning));
        assert_eq!(new.order - old.order, 1);
        let later = parse("E20221101 00:00:00.000000 1 x.cpp:1] z", 1).unwrap();
        assert!(later > new && Level::Fatal > Level::Error);
        let others = [
            "",
            "Log file created at: 2022/10/13 07:00:47",
            "Iteration 07:00:47.399873 done",
            "I1013 07:00:47 12 x] no fraction",
            "X20221013 07:00:47.399873 1 x] y",
            "I+013 07:00:47.399873 1 x] y",
            "    at frame 3",
        ];
        for line in others {
            assert_eq!(parse(line, 2022), None, "{line}");
        }
    }
}
