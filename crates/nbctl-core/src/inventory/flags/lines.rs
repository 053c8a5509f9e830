//! Flags as lines of a configuration file.
//!
//! Duty: find the lines of a text with their places, and tell name from value. [`pasted`] makes a text of lines that
//! stand where YAML wants a mapping.

use std::borrow::Cow;

use super::super::at::{At, Place};
use super::{FlagLine, FlagValue, Scalar, is_word};

impl FlagLine {
    /// `--name=value`, `name=value`, `name: value`, `name:value`, and `--name` for a switch that is on.
    pub(super) fn parse(line: &TextLine<'_>) -> Option<Self> {
        let text = line.text.trim();
        let bare = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
        let body = bare.unwrap_or(text);
        let end = body.find(|c: char| !is_word(c)).unwrap_or(body.len());
        let (name, rest) = body.split_at_checked(end)?;
        let rest = rest.trim_start();
        let value = match (rest.chars().next(), bare) {
            (Some('=' | ':'), _) => rest.get(1..)?,
            (None, Some(_)) => "true",
            _ => return None,
        };
        let colon = rest.starts_with(':') && !value.starts_with(char::is_whitespace);
        let value = value.trim();
        // A switch has no value of its own; then its name is shown.
        let start = if rest.is_empty() {
            0
        } else {
            line.text.trim_end().len() - value.len()
        };
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            value: FlagValue::Text(Scalar::new(value)),
            place: line.place_from(start),
            colon,
        })
    }
}

/// A line of a text.
pub(super) struct TextLine<'a> {
    pub(super) text: &'a str,
    place: Place,
    /// Whether `place` is the beginning of this very line, rather than of a quoted text it is part of.
    own: bool,
}

impl TextLine<'_> {
    /// Where the end of the line stands from byte `start` on, blanks left out.
    pub(super) fn place_from(&self, start: usize) -> Place {
        let (Some(before), Some(rest)) = (self.text.get(..start), self.text.get(start..)) else {
            return self.place;
        };
        if !self.own {
            return self.place;
        }
        let blank = rest.len() - rest.trim_start().len();
        let column = before.chars().count() + rest.get(..blank).map_or(0, |b| b.chars().count());
        self.place.shifted(column, rest.trim().chars().count())
    }
}

/// The lines of a text with their places. Those of a block (`flags: |`) stand where they stand; those of a
/// quoted text all stand where it begins.
pub(super) fn text_lines<'a>(text: &'a At<String>, source: &'a str) -> Vec<TextLine<'a>> {
    let from = usize::try_from(text.place.line)
        .unwrap_or(1)
        .saturating_sub(1);
    let Some(start) = block_start(&text.value, source, from) else {
        let quoted = |line| TextLine {
            text: line,
            place: text.place,
            own: false,
        };
        return text.value.lines().map(quoted).collect();
    };
    let written = source.lines().skip(start).take(text.value.lines().count());
    let line = |(offset, text): (usize, &'a str)| TextLine {
        text,
        place: Place {
            line: (start + offset) as u64 + 1,
            column: 1,
            len: 0,
        },
        own: true,
    };
    written.enumerate().map(line).collect()
}

/// Index of the first line of a block, looked for from line `from` on.
fn block_start(text: &str, source: &str, from: usize) -> Option<usize> {
    let (blank, first) = text
        .lines()
        .enumerate()
        .find(|(_, line)| !line.trim().is_empty())?;
    let mut lines = source.lines().enumerate().skip(from);
    let (at, _) = lines.find(|(_, line)| line.trim_start() == first.trim_start())?;
    at.checked_sub(blank)
}

/// Lines of a configuration file pasted under `flags:` as they are become a text, which they are not in YAML.
/// Places stay what they were.
pub(crate) fn pasted(text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.lines().collect();
    let heads: Vec<usize> = (0..lines.len())
        .filter(|at| is_pasted(&lines, *at))
        .collect();
    if heads.is_empty() {
        return Cow::Borrowed(text);
    }
    let line = |(at, line): (usize, &&str)| {
        if heads.contains(&at) {
            line.replacen("flags:", "flags: |", 1)
        } else {
            (*line).to_owned()
        }
    };
    Cow::Owned(
        lines
            .iter()
            .enumerate()
            .map(line)
            .collect::<Vec<_>>()
            .join("\n")
            + "\n",
    )
}

/// Whether `flags:` stands alone on line `at` with a line of a configuration file below it.
fn is_pasted(lines: &[&str], at: usize) -> bool {
    let indent = |line: &str| line.find(|c: char| c != ' ');
    let Some(head) = lines.get(at) else {
        return false;
    };
    let rest = head.trim_start().strip_prefix("flags:").map(str::trim);
    if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#')) {
        return false;
    }
    let below = lines
        .iter()
        .skip(at + 1)
        .take_while(|line| line.trim().is_empty() || indent(line) > indent(head));
    below.map(|line| line.trim()).any(is_conf_line)
}

/// `--name…`, `name=…` or `name:x`, none of which is a line of a YAML mapping.
fn is_conf_line(line: &str) -> bool {
    let rest = line.trim_start_matches(is_word);
    let named = rest.len() < line.len();
    let colon = rest
        .strip_prefix(':')
        .is_some_and(|v| v.starts_with(|c: char| !c.is_whitespace()));
    line.starts_with("--") || named && (rest.trim_start().starts_with('=') || colon)
}
