//! Message texts: cut out of one stretch of rule-made words, so that a text costs a copy and has the right length.

use crate::draw::{Draw, Purpose};
use crate::words::word;

/// Length of the stretch; longer than any text by far, and small enough for the processor's cache.
const LENGTH: usize = 32 * 1024;

/// Short answers that carry no topic.
const PHRASES: [&str; 16] = [
    "ok",
    "yes",
    "no",
    "fine",
    "good",
    "great",
    "maybe",
    "I see",
    "why?",
    "thanks",
    "not sure",
    "so what?",
    "sounds right",
    "I doubt it",
    "agreed",
    "tell me more",
];

/// The stretch of words.
#[derive(Debug)]
pub(crate) struct Text {
    words: String,
}

impl Text {
    pub(crate) fn new(seed: u64) -> Self {
        let mut draw = Draw::new(seed, Purpose::Text, 0);
        let mut words = String::with_capacity(LENGTH + 16);
        while words.len() < LENGTH {
            words += &word(draw.index(3000));
            words.push(' ');
        }
        Self { words }
    }

    /// `length` letters or one less, not ending in a blank.
    pub(crate) fn cut(&self, draw: &mut Draw, length: usize) -> &str {
        let start = draw.index(self.words.len() - length);
        self.words
            .get(start..start + length)
            .unwrap_or_default()
            .trim()
    }

    #[expect(clippy::unused_self, reason = "asked like the long texts")]
    pub(crate) fn phrase(&self, draw: &mut Draw) -> &'static str {
        PHRASES[draw.index(PHRASES.len())]
    }
}

/// Length as LDBC counts it: UTF-16 units.
pub(crate) fn length(parts: &[&str]) -> u64 {
    parts.iter().map(|part| utf16(part)).sum()
}

fn utf16(text: &str) -> u64 {
    if text.is_ascii() {
        text.len() as u64
    } else {
        text.encode_utf16().count() as u64
    }
}
