//! Options inside a flag: a storaged that does not know one does not start, so its place and spelling matter.

use super::super::at::Place;
use super::super::flags::{FlagLine, FlagValue};
use super::super::problem::Problem;
use crate::flags::{holder, nearest_option, read_options, takes};

pub(super) fn check(line: &FlagLine, problems: &mut Vec<Problem>) {
    let flag = line.name.as_str();
    match &line.value {
        FlagValue::Options(options) => {
            let named = options
                .iter()
                .map(|(name, value)| (name.as_str(), value.place));
            problems.extend(named.filter_map(|(name, place)| one(flag, name, place)));
        }
        FlagValue::Text(scalar) => match read_options(&scalar.text) {
            Err(why) => problems.push(unreadable(flag, &why, line.place)),
            Ok(options) => {
                let names = options.keys();
                problems.extend(names.filter_map(|name| one(flag, name, line.place)));
            }
        },
    }
}

fn unreadable(flag: &str, why: &str, place: Place) -> Problem {
    Problem::error(Some(place), format!("the value of {flag} {why}"))
        .hint("or write the options as a mapping")
}

fn one(flag: &str, name: &str, place: Place) -> Option<Problem> {
    if takes(flag, name) {
        return None;
    }
    if let Some(right) = holder(name) {
        let what = format!("{name} is no option of {flag}");
        let hint = format!("its place is {right}.{name}");
        return Some(Problem::error(Some(place), what).hint(hint));
    }
    let what = format!(
        "option {name} of {flag} is not in the catalogue; a storaged that lacks it does not start"
    );
    let warning = Problem::warning(Some(place), what);
    Some(match nearest_option(flag, name) {
        Some(near) => warning.hint(format!("did you mean {near}?")),
        None => warning,
    })
}
