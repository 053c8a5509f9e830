//! Text to `Inventory`.
//!
//! Duty: call the YAML parser with limits fit for a file that people write, and turn its errors
//! into problems like all others.

use serde_yaml::options::DuplicateKeyPolicy;

use super::at::Place;
use super::flags::pasted;
use super::problem::{Problem, Source};
use super::spec::Inventory;

/// Reads the shape of an inventory. The parser stops at its first error; when that is an unknown key
/// on a line of its own, the key is taken out and reading goes on, so that all of them are told.
pub(crate) fn parse(source: &Source, problems: &mut Vec<Problem>) -> Option<Inventory> {
    let mut text = pasted(&source.text).into_owned();
    loop {
        let error = match read(&text) {
            Ok(mut inventory) => {
                inventory.all_flags().for_each(|f| f.settle(&source.text));
                return Some(inventory);
            }
            Err(error) => error,
        };
        let problem = refused(&error);
        let rest = problem
            .place
            .filter(|_| is_unknown_key(&problem))
            .and_then(|p| without(&text, p));
        problems.push(problem);
        text = rest?;
    }
}

fn read(text: &str) -> Result<Inventory, serde_yaml::Error> {
    let options = serde_yaml::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
    };
    serde_yaml::from_str_with_options(text, options)
}

/// The text with the block key at `place` blanked out, together with what is indented below it.
fn without(text: &str, place: Place) -> Option<String> {
    let indent = usize::try_from(place.column).ok()?.checked_sub(1)?;
    let first = usize::try_from(place.line).ok()?.checked_sub(1)?;
    let head = text.lines().nth(first)?;
    if head.find(|c: char| c != ' ')? != indent {
        return None;
    }
    let below =
        |line: &&str| line.trim().is_empty() || line.find(|c: char| c != ' ') > Some(indent);
    let last = first + text.lines().skip(first + 1).take_while(below).count();
    let kept = text.lines().enumerate().map(|(at, line)| {
        if (first..=last).contains(&at) {
            ""
        } else {
            line
        }
    });
    Some(kept.collect::<Vec<_>>().join("\n"))
}

fn is_unknown_key(problem: &Problem) -> bool {
    problem.message.starts_with("unknown key")
}

fn refused(error: &serde_yaml::Error) -> Problem {
    let place = error.location().map(|l| Place::of(&l));
    let problem = Problem::error(place, message(error));
    let unknown = is_unknown_key(&problem);
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
