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
    let unknown = message.contains("unknown field");
    let problem = Problem::error(place, message);
    if unknown {
        problem.hint("keys are listed by `nbctl inventory schema`")
    } else {
        problem
    }
}

/// The parser's words without the place, which is shown in our own way.
fn message(error: &serde_yaml::Error) -> String {
    let text = error.without_snippet().to_string();
    let line = text.lines().next().unwrap_or_default();
    let end = line.rfind(" at line ").unwrap_or(line.len());
    line.get(..end).unwrap_or(line).to_owned()
}
