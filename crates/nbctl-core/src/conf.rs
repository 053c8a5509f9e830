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
/// `host`, `version`, `pin` (what the daemon is bound to: in the file, a change of it is a change of the daemon).
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
    context.insert("pin", &pin(daemon));
    context
}

/// Renders the unit of `daemon`; the template sees what that of a configuration file sees, and `unit`: `user`, `root`,
/// `exe`, `conf`, `pid_file`, `nofile`, `bind` (the program that binds it, with a blank behind it, or nothing).
///
/// # Errors
/// When the template is wrong.
pub fn render_unit(daemon: &Daemon, cluster: &Cluster, template: &str) -> Result<String, Failure> {
    let mut context = context(daemon, cluster);
    let host = cluster.host(&daemon.host);
    let bind = Some(daemon.pin.command()).filter(|command| !command.is_empty());
    let unit = BTreeMap::from([
        (
            "user",
            host.and_then(|h| h.ssh.user.clone()).unwrap_or_default(),
        ),
        ("root", daemon.root.to_string()),
        ("exe", daemon.exe.to_string()),
        ("conf", daemon.conf.to_string()),
        ("pid_file", daemon.pid_file.to_string()),
        (
            "nofile",
            daemon
                .pin
                .nofile
                .unwrap_or(crate::deploy::OPEN_FILES)
                .to_string(),
        ),
        (
            "bind",
            bind.map_or_else(String::new, |command| format!("/usr/bin/env {command} ")),
        ),
    ]);
    context.insert("unit", &unit);
    Tera::one_off(template, &context, false).map_err(|e| {
        let failure = Failure::inventory("cannot render the unit of systemd");
        failure
            .at(format!("template of {}.service", daemon.role.program()))
            .line(e.to_string())
    })
}

/// What the daemon is bound to, in words; empty when nothing.
fn pin(daemon: &Daemon) -> String {
    let files = daemon.pin.nofile.map(|files| format!("ulimit -n {files}"));
    let command = Some(daemon.pin.command()).filter(|command| !command.is_empty());
    files
        .into_iter()
        .chain(command)
        .collect::<Vec<_>>()
        .join("; ")
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

#[cfg(test)]
mod tests {
    use super::{parse, render};
    use crate::inventory::{Cluster, DaemonRole, Source, load};

    const TEMPLATE: &str = include_str!("../../../templates/nebula/daemon.conf.tera");

    fn cluster(version: &str) -> Cluster {
        let text = format!(
            "format: 1\ncluster: c\nssh: {{user: v}}\nnebula:\n  version: {version}\n  deploy_dir: /home/v/nebula\n\
             hosts:\n  - address: 10.0.0.1\n    roles: [metad, graphd, storaged, monitor, load]\n"
        );
        load(&Source::new("inv.yaml", text))
            .into_result()
            .unwrap()
            .0
    }

    #[test]
    fn what_is_rendered_is_what_the_daemon_reads() {
        for version in ["2.0.1", "2.5.1", "2.6.2", "3.0.0", "3.8.0"] {
            let cluster = cluster(version);
            for daemon in &cluster.daemons {
                let text = render(daemon, &cluster, TEMPLATE).unwrap();
                assert_eq!(parse(&text).unwrap(), daemon.flags, "{text}");
                assert!(text.starts_with("# Written by nbctl"), "{text}");
                let http2 = daemon.flags.contains_key("ws_h2_port");
                assert_eq!(http2, !cluster.version.since(3, 1), "{version}");
            }
        }
    }

    #[test]
    fn storaged_conf_of_3_8() {
        let cluster = cluster("3.8.0");
        let storaged = cluster.daemons_of(DaemonRole::Storaged).next().unwrap();
        insta::assert_snapshot!(render(storaged, &cluster, TEMPLATE).unwrap());
    }

    #[test]
    fn templates_that_would_mislead_a_daemon_are_refused() {
        let cluster = cluster("3.8.0");
        let daemon = cluster.daemons.first().unwrap();
        let cases = [
            ("{{ nothing }}", "cannot render"),
            ("{% for f in flags %}", "cannot render"),
            ("--port=9559", "loses or changes flag"),
            (
                "{% for f in flags %}--{{ f.name }}={{ f.value }} \n{% endfor %}",
                "loses or changes flag",
            ),
            ("flags follow\n", "line 1 is neither a flag nor a comment"),
        ];
        for (template, expected) in cases {
            let failure = render(daemon, &cluster, template).unwrap_err().to_string();
            assert!(failure.contains(expected), "{template}: {failure}");
        }
    }

    #[test]
    fn files_are_read_as_the_daemons_do() {
        let flags = parse("# c\n\n--a=1 # no comment\n--a=2\n-b=x=y\n--c\n").unwrap();
        let expected = [("a", "2"), ("b", "x=y"), ("c", "true")];
        assert!(
            flags
                .iter()
                .map(|(k, v)| (k.as_str(), v.as_str()))
                .eq(expected)
        );
    }
}
