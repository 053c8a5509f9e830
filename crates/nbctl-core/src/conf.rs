//! Configuration files of the daemons.
//!
//! Duty: render a daemon's flags through a template, and read such a file by the daemons' own rules
//! (one `--name=value` per line, `#` comments only at the start of a line, the last one wins), so
//! that a template which would lose or change a flag is refused before anything is sent.

use std::collections::BTreeMap;

use serde::Serialize;
use tera::{Context, Tera};

use crate::failure::Failure;
use crate::inventory::{Cluster, Daemon};

/// What a template sees as `flags`.
#[derive(Debug, Serialize)]
struct FlagLine<'a> {
    name: &'a str,
    value: &'a str,
}

/// Renders the configuration file of `daemon`.
///
/// The template sees `flags` (a sorted list of `name`, `value`), `cluster`, `cluster_id`, `role`,
/// `host`, `version`.
///
/// # Errors
/// When the template is wrong, or when what it renders says something else than the flags.
pub fn render(daemon: &Daemon, cluster: &Cluster, template: &str) -> Result<String, Failure> {
    let refuse = |what: String| {
        Failure::inventory(what).at(format!("template of {}.conf", daemon.role.program()))
    };
    let text = Tera::one_off(template, &context(daemon, cluster), false).map_err(|e| {
        refuse("cannot render the configuration file".to_owned()).line(e.to_string())
    })?;
    let read = parse(&text).map_err(&refuse)?;
    let lost = daemon
        .flags
        .iter()
        .find(|(name, value)| read.get(*name) != Some(value));
    match lost {
        None => Ok(text),
        Some((name, _)) => Err(refuse(format!("the template loses or changes flag {name}"))
            .hint("render every entry of `flags` as --name=value and repeat none below")),
    }
}

fn context(daemon: &Daemon, cluster: &Cluster) -> Context {
    let lines = daemon
        .flags
        .iter()
        .map(|(name, value)| FlagLine { name, value });
    let mut context = Context::new();
    context.insert("flags", &lines.collect::<Vec<_>>());
    context.insert("cluster", &cluster.name);
    context.insert("cluster_id", &cluster.id);
    context.insert("version", &cluster.version.to_string());
    context.insert("role", daemon.role.as_str());
    context.insert("host", daemon.host.as_str());
    context
}

/// Reads a configuration file as the daemons do.
///
/// # Errors
/// On a line that is neither a flag, a comment nor empty: the daemons take it for the name of a
/// program and may skip everything after it.
pub fn parse(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut flags = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let flag = line.strip_prefix("--").or_else(|| line.strip_prefix('-'));
        let Some(flag) = flag else {
            return Err(format!(
                "line {} is neither a flag nor a comment",
                index + 1
            ));
        };
        // A flag without a value is a switch that is on.
        let (name, value) = flag.split_once('=').unwrap_or((flag, "true"));
        flags.insert(name.to_owned(), value.to_owned());
    }
    Ok(flags)
}
