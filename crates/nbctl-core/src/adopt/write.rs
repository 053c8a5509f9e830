//! The inventory of what was found.
//!
//! Duty: nothing is said that is so anyway: ports, folders and flags appear where they differ from what nbctl would take.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::{Found, Host, refuse};
use crate::failure::Failure;
use crate::flags::{Catalogue, IDENTITY, is_nested};
use crate::inventory::{DaemonRole, Version};
use crate::units::HostName;

/// What the user says beside the hosts.
#[derive(Debug, Clone)]
pub struct Options {
    /// The release that runs.
    pub version: Version,
    /// Name of the cluster.
    pub cluster: String,
    /// Lines below `ssh:`, `key: value`.
    pub ssh: Vec<(String, String)>,
    /// Flags that running daemons do not have, though their files name them.
    pub unknown: BTreeSet<(DaemonRole, String)>,
    /// Address of a host by name, where they differ.
    pub addresses: BTreeMap<HostName, String>,
}

/// An inventory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The file.
    pub yaml: String,
    /// What it does not say, one sentence each.
    pub left_out: Vec<String>,
}

/// Flags that no inventory may name.
const REFUSED: [&str; 2] = ["client_white_list", "enable_client_white_list"];

/// What one daemon needs beside what is so by default.
#[derive(Debug, Default)]
struct Settings {
    lines: Vec<(String, String)>,
    flags: BTreeMap<String, String>,
}

/// Writes the inventory of a cluster that [`super::check`] found to be one.
///
/// # Errors
/// Folders that an inventory cannot name, or builds that differ.
pub fn write(hosts: &[(HostName, Host)], options: &Options) -> Result<Written, Failure> {
    let mut faults = Vec::new();
    let version = options.version;
    builds(hosts, &mut faults);
    let mut left_out = BTreeSet::new();
    let mut text = String::new();
    for (name, host) in hosts.iter().filter(|(_, host)| !host.daemons.is_empty()) {
        entry(name, host, options, &mut text, (&mut faults, &mut left_out));
    }
    refuse(faults)?;
    let ssh: Vec<String> = options
        .ssh
        .iter()
        .map(|(key, value)| format!("{key}: {}", word(value)))
        .collect();
    let ssh = if ssh.is_empty() {
        String::new()
    } else {
        format!("ssh: {{{}}}\n", ssh.join(", "))
    };
    let yaml = format!(
        "# What `nbctl adopt` found. `nbctl deploy --dry-run` shows what would change.\nformat: 1\ncluster: {}\nnebula: {{version: {version}}}\n{ssh}hosts:\n{text}",
        options.cluster
    );
    Ok(Written {
        yaml,
        left_out: left_out.into_iter().collect(),
    })
}

/// Builds must not be mixed; which release they are nobody on the hosts says.
fn builds(hosts: &[(HostName, Host)], faults: &mut Vec<String>) {
    let all = hosts.iter().flat_map(|(_, host)| &host.daemons);
    let build = |text: &str| {
        text.split_once("Git:")
            .map_or(String::new(), |(_, rest)| rest.to_owned())
    };
    let builds: BTreeSet<String> = all.map(|daemon| build(&daemon.build)).collect();
    if builds.len() > 1 {
        let words: Vec<String> = builds.into_iter().collect();
        faults.push(format!(
            "daemons of different builds run:{}",
            words.join(" and")
        ));
    }
}

fn entry(
    name: &HostName,
    host: &Host,
    options: &Options,
    text: &mut String,
    (faults, left_out): (&mut Vec<String>, &mut BTreeSet<String>),
) {
    let mut roles: Vec<DaemonRole> = host.daemons.iter().map(|d| d.role).collect();
    roles.sort();
    let roles: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
    let ip = host.daemons.iter().find_map(|d| d.flags.get("local_ip"));
    let address = ip
        .or_else(|| options.addresses.get(name))
        .map_or_else(|| name.to_string(), Clone::clone);
    let _ = writeln!(text, "  - address: {}", word(&address));
    if address != name.as_str() {
        let _ = writeln!(text, "    name: {}", word(name.as_str()));
    }
    if let Some(reach) = options
        .addresses
        .get(name)
        .filter(|reach| **reach != address)
    {
        let _ = writeln!(text, "    ssh: {{host: {}}}", word(reach));
    }
    let _ = writeln!(text, "    roles: [{}]", roles.join(", "));
    for daemon in &host.daemons {
        if daemon.user != host.user {
            faults.push(format!(
                "{name}: {} runs as {}; log in as that user",
                daemon.role, daemon.user
            ));
        }
        let mut settings = Settings::default();
        folders(name, daemon, &mut settings, faults);
        ports(daemon, &mut settings);
        flags(daemon, options, &mut settings, left_out);
        let _ = writeln!(text, "    {}:", daemon.role);
        for (key, value) in &settings.lines {
            let _ = writeln!(text, "      {key}: {value}");
        }
        if !settings.flags.is_empty() {
            text.push_str("      flags:\n");
        }
        for (flag, value) in &settings.flags {
            let _ = writeln!(text, "        {flag}: {}", word(value));
        }
    }
}

/// `/x/y` as it is, `y` below the working directory.
fn absolute(cwd: &str, path: &str) -> String {
    let path = path.trim_end_matches('/');
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{cwd}/{}", path.trim_start_matches("./"))
    }
}

fn folders(name: &HostName, daemon: &Found, settings: &mut Settings, faults: &mut Vec<String>) {
    let (role, root) = (daemon.role, daemon.cwd.as_str());
    let mut fault = |what: String| faults.push(format!("{name}: {role}: {what}"));
    if daemon.exe != format!("{root}/bin/{}", role.program()) {
        fault(format!(
            "{} does not lie below the working directory {root}",
            daemon.exe
        ));
    }
    if daemon.conf != format!("{root}/etc/{}.conf", role.program()) {
        fault(format!(
            "its configuration is {}, not etc/{}.conf",
            daemon.conf,
            role.program()
        ));
    }
    settings.lines.push(("deploy_dir".to_owned(), word(root)));
    let logs = absolute(
        root,
        daemon.flags.get("log_dir").map_or("logs", String::as_str),
    );
    if logs != format!("{root}/logs") {
        settings.lines.push(("log_dir".to_owned(), word(&logs)));
    }
    let leaf = match role {
        DaemonRole::Graphd => return,
        DaemonRole::Metad => "meta",
        DaemonRole::Storaged => "storage",
    };
    let written = daemon.flags.get("data_path").cloned();
    let written = written.unwrap_or_else(|| format!("data/{leaf}"));
    let paths: Vec<String> = written
        .split(',')
        .map(|path| absolute(root, path.trim()))
        .collect();
    let mut dirs = Vec::new();
    for path in &paths {
        match path.strip_suffix(&format!("/{leaf}")) {
            Some(dir) => dirs.push(word(dir)),
            None => fault(format!(
                "its data lies in {path}, and nbctl names folders that hold {leaf}/; move it while the daemon is down"
            )),
        }
    }
    match dirs.as_slice() {
        [only] if *only == word(&format!("{root}/data")) => {}
        [only] => settings.lines.push(("data_dir".to_owned(), only.clone())),
        several => settings
            .lines
            .push(("data_dirs".to_owned(), format!("[{}]", several.join(", ")))),
    }
}

fn ports(daemon: &Found, settings: &mut Settings) {
    let role = daemon.role;
    let defaults = [
        ("port", "port", role.default_port()),
        ("ws_http_port", "http_port", role.default_http_port()),
    ];
    for (flag, key, default) in defaults {
        let written = daemon.flags.get(flag);
        if let Some(port) = written.filter(|port| **port != default.to_string()) {
            settings.lines.push((key.to_owned(), word(port)));
        }
    }
}

/// Flags that differ from what nbctl would write anyway; those that this version does not have never had an effect.
fn flags(
    daemon: &Found,
    options: &Options,
    settings: &mut Settings,
    left_out: &mut BTreeSet<String>,
) {
    let version = options.version;
    let shipped: BTreeMap<&str, &str> =
        Catalogue::builtin().shipped(daemon.role, version).collect();
    let known = |name: &str| Catalogue::builtin().get(name);
    for (name, value) in &daemon.flags {
        if REFUSED.contains(&name.as_str()) {
            left_out.insert(format!(
                "{name}: nbctl leaves it at its default, since daemons may not start with another value"
            ));
            continue;
        }
        if IDENTITY.contains(&name.as_str()) || shipped.get(name.as_str()) == Some(&value.as_str())
        {
            continue;
        }
        if options.unknown.contains(&(daemon.role, name.clone())) {
            left_out.insert(format!(
                "{name}: the {} that runs has no such flag",
                daemon.role
            ));
            continue;
        }
        match known(name) {
            Some(flag) if !flag.exists_in(version) => {
                left_out.insert(format!(
                    "{name}: {version} has no such flag, so it had no effect"
                ));
            }
            Some(flag) if !flag.is_for(daemon.role) => {
                left_out.insert(format!(
                    "{name}: no flag of {}, so it had no effect",
                    daemon.role
                ));
            }
            Some(flag)
                if !is_nested(name)
                    && flag.default(version) == Some(value.as_str())
                    && !shipped.contains_key(name.as_str()) => {}
            _ => drop(settings.flags.insert(name.clone(), value.clone())),
        }
    }
}

/// As a YAML scalar.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "./_-".contains(c);
    let is_plain = !text.is_empty() && text.chars().all(plain) && !text.starts_with('-');
    if is_plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}
