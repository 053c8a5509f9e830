//! Flags: the daemons ignore what they do not understand without a word, so it is caught here.

use super::super::at::{At, Place};
use super::super::layer::{Layer, written};
use super::super::problem::Problem;
use super::super::resolve::Draft;
use super::super::spec::FlagValue;
use super::super::version::Version;
use crate::flags::{Catalogue, Flag};

/// Flags that follow from other keys, and what to do instead.
const IDENTITY: &[(&str, &str)] = &[
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
        for (name, value) in layer.flags {
            problems.extend(one(&layer, name, value, version));
        }
    }
}

/// The first thing that is wrong with a flag.
fn one(
    layer: &Layer<'_>,
    name: &str,
    value: &At<FlagValue>,
    version: Option<Version>,
) -> Option<Problem> {
    spelling(name, value.place)
        .or_else(|| text(name, value))
        .or_else(|| reserved(name, value.place))
        .or_else(|| known(layer, name, value.place, version))
}

fn spelling(name: &str, place: Place) -> Option<Problem> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.is_empty() && name.chars().all(word) {
        return None;
    }
    let what = format!("`{}` is not a flag name", name.escape_debug());
    let bare = name
        .trim_start_matches('-')
        .split('=')
        .next()
        .unwrap_or_default();
    Some(Problem::error(Some(place), what).hint(format!("write it as `{bare}: value`")))
}

fn text(name: &str, value: &At<FlagValue>) -> Option<Problem> {
    let text = value.value.0.as_str();
    let error = |what: String, hint: &str| Some(Problem::error(Some(value.place), what).hint(hint));
    if text.contains(char::is_control) {
        return error(
            format!("the value of {name} holds a control character"),
            "one line per flag",
        );
    }
    if text.contains(" #") || text.starts_with('#') {
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

/// Known flags must fit role and version; unknown ones are only warned about, since the catalogue
/// does not hold everything.
fn known(layer: &Layer<'_>, name: &str, place: Place, version: Option<Version>) -> Option<Problem> {
    let Some(flag) = Catalogue::builtin().get(name) else {
        return Some(unknown(name, place));
    };
    if let Some(version) = version.filter(|v| !flag.exists_in(*v)) {
        let what = format!("{version} has no flag {name} and would ignore it");
        return Some(noted(Problem::error(Some(place), what), flag));
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

fn noted(problem: Problem, flag: &Flag) -> Problem {
    match &flag.note {
        Some(note) => problem.hint(note.clone()),
        None => problem,
    }
}
