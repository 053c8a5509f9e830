//! Flags: the daemons ignore what they do not understand without a word, so it is caught here.

use std::collections::BTreeMap;

use super::super::at::{At, Place};
use super::super::flags::{FlagLine, FlagValue, is_word};
use super::super::layer::{Layer, written};
use super::super::problem::Problem;
use super::super::resolve::Draft;
use super::super::version::Version;
use super::options;
use crate::flags::{Catalogue, Flag, holder, is_nested};

/// Flags that follow from other keys, and what to do instead.
const IDENTITY: &[(&str, &str)] = &[
    ("ca_path", "use `nebula.tls`"),
    ("cert_path", "use `nebula.tls`"),
    ("enable_graph_ssl", "use `nebula.tls`"),
    ("enable_ssl", "use `nebula.tls` with `scope: all`"),
    ("key_path", "use `nebula.tls`"),
    (
        "daemonize",
        "leave it out: daemons always run in the background",
    ),
    ("data_path", "use `data_dir` or `data_dirs`"),
    ("flagfile", "write the flags under `flags`"),
    (
        "local_config",
        "leave it out: it is always true, otherwise metad overrides the file",
    ),
    ("local_ip", "use `address` of the host"),
    ("log_dir", "use the key `log_dir`"),
    ("meta_server_addrs", "give hosts the role metad"),
    ("pid_file", "leave it out: it lies below deploy_dir"),
    ("port", "use the key `port`"),
    ("ws_h2_port", "leave it out: it is the HTTP port + 1"),
    ("ws_http_port", "use the key `http_port`"),
];

/// Flags that break a cluster: name and why.
const FORBIDDEN: &[(&str, &str)] = &[
    (
        "client_white_list",
        "a changed list keeps graphd and storaged from starting",
    ),
    (
        "enable_client_white_list",
        "graphd and storaged may not start without the built-in list",
    ),
];

pub(super) fn check(draft: &Draft<'_>, problems: &mut Vec<Problem>) {
    let version = draft.version.map(|(version, _)| version);
    for layer in written(draft.spec) {
        problems.extend(layer.flags.unread.iter().map(unread));
        let mut seen = BTreeMap::new();
        for line in &layer.flags.lines {
            if let Some(first) = seen.insert(&line.name, line.place.line) {
                problems.push(repeated(line, first));
            }
            one(&layer, line, version, problems);
        }
    }
}

fn unread(line: &At<String>) -> Problem {
    let what = "neither a flag nor a comment";
    Problem::error(Some(line.place), what).hint("write each flag as name=value")
}

fn repeated(line: &FlagLine, first: u64) -> Problem {
    let what = format!("flag {} is set twice (line {first} too)", line.name);
    Problem::error(Some(line.place), what).hint("keep one of them")
}

/// What is wrong with a flag: its name or its level, and its value.
fn one(layer: &Layer<'_>, line: &FlagLine, version: Option<Version>, problems: &mut Vec<Problem>) {
    if let Some(problem) = spelling(line) {
        problems.push(problem);
        return;
    }
    let before = problems.len();
    problems.extend(value(line));
    problems.extend(
        reserved(&line.name, line.place)
            .or_else(|| misplaced(line))
            .or_else(|| known(layer, &line.name, line.place, version)),
    );
    if line.colon && problems.len() == before {
        let what = format!("{} is set with a colon", line.name);
        let hint = format!("write {}={}", line.name, shown(line));
        problems.push(Problem::error(Some(line.place), what).hint(hint));
    }
    if is_nested(&line.name) {
        options::check(line, problems);
    }
}

/// The value without a comment behind it.
fn shown(line: &FlagLine) -> &str {
    match &line.value {
        FlagValue::Text(scalar) => without_comment(&scalar.text),
        FlagValue::Options(_) => "…",
    }
}

fn spelling(line: &FlagLine) -> Option<Problem> {
    let name = line.name.as_str();
    if !name.is_empty() && name.chars().all(is_word) {
        return None;
    }
    let what = format!("`{}` is not a flag name", name.escape_debug());
    let (flag, option) = name.split_once('.').unwrap_or_default();
    let hint = if is_nested(flag) {
        format!("write it as `{flag}: {{{option}: {}}}`", shown(line))
    } else {
        let bare = name.trim_start_matches('-').split('=').next();
        format!("write it as `{}: value`", bare.unwrap_or_default())
    };
    Some(Problem::error(Some(line.place), what).hint(hint))
}

/// What is wrong with a value as text.
fn value(line: &FlagLine) -> Option<Problem> {
    match &line.value {
        FlagValue::Text(scalar) => text(&line.name, &scalar.text, line.place),
        FlagValue::Options(_) if is_nested(&line.name) => None,
        FlagValue::Options(_) => {
            let what = format!("flag {} takes one value, not options", line.name);
            let hint = "options belong to rocksdb_db_options, rocksdb_column_family_options and rocksdb_block_based_table_options";
            Some(Problem::error(Some(line.place), what).hint(hint))
        }
    }
}

/// What is wrong with one value, whatever it means.
fn text(name: &str, text: &str, place: Place) -> Option<Problem> {
    let error = |what: String, hint: &str| Some(Problem::error(Some(place), what).hint(hint));
    if text.contains(char::is_control) {
        return error(
            format!("the value of {name} holds a control character"),
            "one line per flag",
        );
    }
    if without_comment(text) != text {
        let what = format!("the value of {name} holds a comment");
        return error(
            what,
            "flag files have no comments behind a value; it would be taken as part of it",
        );
    }
    if text.trim() != text {
        let what = format!("the value of {name} has blanks around it");
        return error(what, "blanks would become part of the value");
    }
    None
}

/// The text up to a `#` that stands first or behind a blank.
fn without_comment(text: &str) -> &str {
    let starts = |(at, _): &(usize, &str)| {
        text.get(..*at)
            .is_some_and(|t| t.is_empty() || t.ends_with(char::is_whitespace))
    };
    match text.match_indices('#').find(starts) {
        Some((at, _)) => text.get(..at).unwrap_or_default().trim_end(),
        None => text,
    }
}

fn reserved(name: &str, place: Place) -> Option<Problem> {
    let identity = IDENTITY.iter().find(|(flag, _)| *flag == name);
    let forbidden = FORBIDDEN.iter().find(|(flag, _)| *flag == name);
    if let Some((_, instead)) = identity {
        let what = format!("flag {name} follows from other keys");
        return Some(Problem::error(Some(place), what).hint(*instead));
    }
    let (_, why) = forbidden?;
    Some(Problem::error(Some(place), format!("flag {name} is not allowed")).hint(*why))
}

/// An option of RocksDB that stands where flags stand; the daemon would ignore it.
fn misplaced(line: &FlagLine) -> Option<Problem> {
    let name = line.name.as_str();
    if Catalogue::builtin().get(name).is_some() {
        return None;
    }
    let flag = holder(name)?;
    let what = format!("{name} is an option inside {flag}, not a flag");
    let hint = format!(
        "its place is {flag}.{name}: write `{flag}: {{{name}: {}}}`",
        shown(line)
    );
    Some(Problem::error(Some(line.place), what).hint(hint))
}

/// Known flags must fit role and version; unknown ones are only warned about, since the catalogue
/// does not hold everything.
fn known(layer: &Layer<'_>, name: &str, place: Place, version: Option<Version>) -> Option<Problem> {
    let Some(flag) = Catalogue::builtin().get(name) else {
        return Some(unknown(name, place));
    };
    if let Some(version) = version.filter(|v| !flag.exists_in(*v)) {
        return Some(absent(flag, version, place));
    }
    let role = layer.role.filter(|role| !flag.is_for(*role))?;
    let daemons: Vec<&str> = flag.daemons.iter().map(|d| d.as_str()).collect();
    let hint = format!("it belongs to {}", daemons.join(", "));
    let problem = if flag.is_foreign_to(role) {
        let what = format!("{role} has no flag {name} and would ignore it");
        Problem::error(Some(place), what)
    } else {
        let what = format!("{role} is not known to have the flag {name}");
        Problem::warning(Some(place), what)
    };
    Some(problem.hint(hint))
}

fn unknown(name: &str, place: Place) -> Problem {
    let what = format!("flag {name} is not in the catalogue; a daemon that lacks it ignores it");
    let warning = Problem::warning(Some(place), what);
    match Catalogue::builtin().nearest(name) {
        Some(near) => warning.hint(format!("did you mean {near}?")),
        None => {
            warning.hint("after a start the flags are read back; one that is missing is reported")
        }
    }
}

/// A flag that this version does not have yet, or no longer has.
fn absent(flag: &Flag, version: Version, place: Place) -> Problem {
    let span = match (flag.since, flag.until) {
        (Some(since), _) if version < since => format!(" (it came with {since})"),
        (_, Some(until)) => format!(" (gone with {until})"),
        _ => String::new(),
    };
    let what = format!(
        "{version} has no flag {} and would ignore it{span}",
        flag.name
    );
    let problem = Problem::error(Some(place), what);
    match &flag.note {
        Some(note) => problem.hint(note.clone()),
        None => problem,
    }
}
