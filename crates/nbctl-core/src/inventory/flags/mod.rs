//! Flags as they are written: a mapping, or the lines of a configuration file.
//!
//! Duty: keep the place of every value, and the text of a value as it stands in the file (`0.80` stays
//! `0.80`); read pasted lines (`--wal_ttl=600`, `wal_ttl=600`) without judging them. What the flags mean is
//! decided in `check` and `resolve`.

mod lines;
mod read;

use std::collections::BTreeMap;

use self::lines::{TextLine, text_lines};
use super::at::{At, Place};

pub(crate) use self::lines::pasted;

/// The flags of one place of the inventory, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// What was understood.
    pub lines: Vec<FlagLine>,
    /// Lines of a text that are neither a flag nor a comment.
    pub(crate) unread: Vec<At<String>>,
    /// A text whose lines are still to be read.
    text: Option<At<String>>,
}

/// One flag.
#[derive(Debug, Clone)]
pub struct FlagLine {
    pub name: String,
    pub value: FlagValue,
    /// Of the value.
    pub place: Place,
    /// Written `name:value`, which is neither YAML nor a line of a configuration file.
    pub(crate) colon: bool,
}

/// What a flag is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagValue {
    /// One value, as the file has it.
    Text(Scalar),
    /// Options of a flag that holds a JSON object; `None` takes away what a weaker layer says.
    Options(BTreeMap<String, At<Option<Scalar>>>),
}

/// A value as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    pub text: String,
    /// YAML took it for a number or a truth value, so `text` is not yet what the file has.
    typed: bool,
}

impl Flags {
    /// Gives values the text that stands in the file, and reads the lines of a text.
    pub(crate) fn settle(&mut self, source: &str) {
        for line in &mut self.lines {
            match &mut line.value {
                FlagValue::Text(scalar) => scalar.settle(source, line.place),
                FlagValue::Options(options) => options.values_mut().for_each(|o| {
                    if let Some(scalar) = &mut o.value {
                        scalar.settle(source, o.place);
                    }
                }),
            }
        }
        if let Some(text) = self.text.take() {
            for line in text_lines(&text, source) {
                self.read(&line);
            }
        }
    }

    /// One line of a text: blank, a comment, or a flag.
    fn read(&mut self, line: &TextLine<'_>) {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        match FlagLine::parse(line) {
            Some(flag) => self.lines.push(flag),
            None => self.unread.push(At {
                value: text.to_owned(),
                place: line.place_from(0),
            }),
        }
    }
}

/// The characters of a flag's name.
pub(crate) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Scalar {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            typed: false,
        }
    }

    fn typed(value: &impl ToString) -> Self {
        Self {
            text: value.to_string(),
            typed: true,
        }
    }

    fn settle(&mut self, source: &str, place: Place) {
        let written = at(source, place).filter(|_| self.typed);
        // An alias stands where its value does not.
        if let Some(written) = written.filter(|w| !w.is_empty() && !w.starts_with('*')) {
            self.text = written;
        }
        self.typed = false;
    }
}

/// The characters of one place.
fn at(source: &str, place: Place) -> Option<String> {
    let line = source
        .lines()
        .nth(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
    let skip = usize::try_from(place.column).ok()?.checked_sub(1)?;
    Some(
        line.chars()
            .skip(skip)
            .take(usize::try_from(place.len).ok()?)
            .collect(),
    )
}
