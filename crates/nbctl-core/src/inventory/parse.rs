//! Text to `Inventory`.
//!
//! Duty: call the YAML parser with limits fit for a file that people write, and turn its errors
//! into problems like all others.

use serde_yaml::options::DuplicateKeyPolicy;

use super::at::Place;
use super::problem::{Problem, Source};
use super::spec::Inventory;

/// Reads the shape of an inventory. The parser stops at its first error.
pub(crate) fn parse(source: &Source) -> Result<Inventory, Box<Problem>> {
    let options = serde_yaml::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
    };
    serde_yaml::from_str_with_options(&source.text, options)
        .map_err(|error| Box::new(refused(&error)))
}

fn refused(error: &serde_yaml::Error) -> Problem {
    let place = error.location().map(|l| Place::of(&l));
    let message = message(error);
    let unknown = message.contains("unknown key");
    let problem = Problem::error(place, message);
    if unknown {
        problem.hint("keys are listed by `nbctl inventory schema`")
    } else {
        problem
    }
}

/// The parser's words in ours: keys instead of fields, no place (shown in our own way), no advice
/// about the parser.
fn message(error: &serde_yaml::Error) -> String {
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or_default();
    let cut = |text: &str, mark| {
        text.split_once(mark)
            .map_or(text, |(head, _)| head)
            .to_owned()
    };
    let line = cut(&cut(line, " at line "), ", set DuplicateKeyPolicy");
    let line = line.strip_suffix(HIDDEN_KEY).unwrap_or(&line);
    WORDS.iter().fold(line.to_owned(), |line, (theirs, ours)| {
        line.replacen(theirs, ours, 1)
    })
}

/// A key that exists only to be refused; not to be offered.
const HIDDEN_KEY: &str = ", password";

const WORDS: &[(&str, &str)] = &[
    ("unknown field", "unknown key"),
    ("missing field", "missing key"),
    ("unknown variant", "unknown value"),
    ("duplicate mapping key", "duplicate key"),
    ("invalid u32", "a whole number belongs here"),
    ("invalid boolean", "true or false belongs here"),
];
