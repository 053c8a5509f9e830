//! Lines of many logs in one order.
//!
//! Duty: a line that came is held back for a moment, in which lines that are older may still come from other hosts;
//! lines without a time stay behind the one they follow.

use std::collections::BTreeMap;

use super::glog::{Level, parse};

/// A line and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Index that the caller gave its source.
    pub source: usize,
    /// Text.
    pub text: String,
}

/// Orders lines; times of arrival are the caller's, in milliseconds of any clock that does not go back.
#[derive(Debug)]
pub struct Merger {
    year: u64,
    least: Level,
    /// Order and severity of the last line of each source.
    last: BTreeMap<usize, (u64, Level)>,
    /// By order and arrival.
    waiting: BTreeMap<(u64, u64), (u64, Line)>,
    arrived: u64,
}

impl Merger {
    /// `year` is that of lines which do not say theirs; lines below `least` are left out.
    pub fn new(year: u64, least: Level) -> Self {
        Self {
            year,
            least,
            last: BTreeMap::new(),
            waiting: BTreeMap::new(),
            arrived: 0,
        }
    }

    /// A line came at `now`.
    pub fn push(&mut self, now: u64, line: Line) {
        let before = self.last.get(&line.source).copied();
        let stamp = parse(&line.text, self.year).map(|stamp| (stamp.order, stamp.level));
        let (order, level) = stamp.or(before).unwrap_or((0, Level::Info));
        // Clocks that are set back must not shuffle the lines of one log.
        let order = order.max(before.map_or(0, |(order, _)| order));
        self.last.insert(line.source, (order, level));
        if level >= self.least {
            self.arrived += 1;
            self.waiting.insert((order, self.arrived), (now, line));
        }
    }

    /// In order: lines that came at `until` or before, and those that are older than one of them.
    pub fn take(&mut self, until: u64) -> Vec<Line> {
        let ripe = self
            .waiting
            .iter()
            .rev()
            .find(|(_, (came, _))| *came <= until);
        let Some((&(order, arrived), _)) = ripe else {
            return Vec::new();
        };
        let rest = self.waiting.split_off(&(order, arrived + 1));
        let ready = std::mem::replace(&mut self.waiting, rest);
        ready.into_values().map(|(_, line)| line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(merger: &mut Merger, now: u64, source: usize, text: &str) {
        let text = text.to_owned();
        merger.push(now, Line { source, text });
    }

    fn texts(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn late_lines_find_their_place_and_frames_stay_with_theirs() {
        let mut merger = Merger::new(2022, Level::Info);
        push(&mut merger, 10, 0, "E1013 07:00:02.000000 1 a] two");
        push(&mut merger, 11, 0, "  frame of two");
        push(&mut merger, 12, 0, "I1013 07:00:04.000000 1 a] four");
        push(&mut merger, 15, 1, "I20221013 07:00:01.000000 1 b] one");
        push(&mut merger, 16, 1, "I20221013 07:00:03.000000 1 b] three");
        let first = merger.take(11);
        assert_eq!(
            texts(&first),
            [
                "I20221013 07:00:01.000000 1 b] one",
                "E1013 07:00:02.000000 1 a] two",
                "  frame of two"
            ]
        );
        assert_eq!(texts(&merger.take(11)), [] as [&str; 0]);
        let rest = merger.take(99);
        assert_eq!(rest.len(), 2);
        assert!(rest[0].text.ends_with("three"));
    }

    #[test]
    fn severities_below_the_least_are_left_out_with_their_frames() {
        let mut merger = Merger::new(2022, Level::Warning);
        push(&mut merger, 1, 0, "I1013 07:00:01.000000 1 a] fine");
        push(&mut merger, 1, 0, "  more of it");
        push(&mut merger, 1, 0, "W1013 07:00:02.000000 1 a] slow");
        push(&mut merger, 1, 0, "  why");
        assert_eq!(
            texts(&merger.take(1)),
            ["W1013 07:00:02.000000 1 a] slow", "  why"]
        );
    }
}
