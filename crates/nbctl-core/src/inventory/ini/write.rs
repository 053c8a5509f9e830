//! The same cluster as YAML.
//!
//! Duty: what all hosts have in common is said once, hosts in a row become a range, and every line knows the line
//! of the INI file it comes from. The settings of nebula-ansible's templates that differ from the shipped files
//! are written out, since a cluster deployed by it runs with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::at::Place;
use super::super::names::{DaemonRole, Role};
use super::super::version::Version;
use super::Converted;
use super::meaning::{Meaning, Meant};
use super::read::Var;

/// YAML in the making.
#[derive(Default)]
struct Lines {
    text: String,
    origin: Vec<Option<Place>>,
}

impl Lines {
    fn add(&mut self, line: &str, place: Option<Place>) {
        self.text.push_str(line);
        self.text.push('\n');
        self.origin.push(place);
    }
}

pub(super) fn write(meaning: &Meaning, from: &Path) -> Converted {
    let mut out = Lines::default();
    let name = from
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    out.add(
        &format!("# Converted from {name} by `nbctl inventory convert`."),
        None,
    );
    out.add("format: 1", None);
    out.add("cluster: nebula", None);
    nebula(meaning, &mut out);
    ssh(meaning, &mut out);
    out.add("hosts:", None);
    for run in runs(meaning) {
        host(meaning, &run, &mut out);
    }
    let left_out: Vec<String> = meaning
        .left_out
        .iter()
        .map(|(at, text)| format!("line {}: {text}", at.line))
        .collect();
    if !left_out.is_empty() {
        out.add("", None);
        out.add("# Left out:", None);
        for line in &left_out {
            out.add(&format!("#   {line}"), None);
        }
    }
    Converted {
        yaml: out.text,
        left_out,
        origin: out.origin,
    }
}

fn nebula(meaning: &Meaning, out: &mut Lines) {
    out.add("nebula:", None);
    let mut key = |name: &str, var: Option<&Var>| {
        if let Some(var) = var {
            out.add(&format!("  {name}: {}", word(&var.value)), Some(var.place));
        }
    };
    key("version", meaning.version.as_ref());
    key("packages", meaning.packages.as_ref());
    key(
        "deploy_dir",
        most(meaning, |h| h.deploy_dir.as_ref()).as_ref(),
    );
    key("data_dir", most(meaning, |h| h.data_dir.as_ref()).as_ref());
    out.add(
        "  # what the templates of nebula-ansible say beyond the shipped files",
        None,
    );
    let version = meaning
        .version
        .as_ref()
        .and_then(|v| Version::parse(&v.value).ok());
    for role in [DaemonRole::Metad, DaemonRole::Graphd, DaemonRole::Storaged] {
        let flags = template(role, version);
        out.add(
            &format!("  {role}: {{flags: {{{}}}}}", flags.join(", ")),
            None,
        );
    }
}

/// Settings of the templates, where they differ from what the package ships.
fn template(role: DaemonRole, version: Option<Version>) -> Vec<&'static str> {
    match role {
        DaemonRole::Metad => vec!["rocksdb_wal_sync: true"],
        DaemonRole::Graphd => vec![
            "enable_authorize: true",
            "client_idle_timeout_secs: 28800",
            "session_idle_timeout_secs: 28800",
        ],
        DaemonRole::Storaged => {
            let mut all = vec![
                "rocksdb_block_cache: 4096",
                "rocksdb_db_options: {max_subcompactions: 4, max_background_jobs: 4}",
                "rocksdb_column_family_options: {disable_auto_compactions: false}",
                "enable_rocksdb_whole_key_filtering: true",
                "enable_rocksdb_prefix_filtering: false",
            ];
            if version.is_some_and(|v| !v.since(2, 5)) {
                all.push("rocksdb_filtering_prefix_length: 12");
            }
            all
        }
    }
}

fn ssh(meaning: &Meaning, out: &mut Lines) {
    let common = common_ssh(meaning);
    if common.is_empty() {
        return;
    }
    out.add("ssh:", None);
    for (key, var) in &common {
        out.add(&format!("  {key}: {}", word(&var.value)), Some(var.place));
    }
}

/// What every host says alike.
fn common_ssh(meaning: &Meaning) -> Vec<(&'static str, Var)> {
    let Some((first, rest)) = meaning.hosts.split_first() else {
        return Vec::new();
    };
    let says = |host: &Meant, key: &str, var: &Var| {
        host.ssh
            .iter()
            .any(|(k, v)| *k == key && v.value == var.value)
    };
    let everywhere =
        |(key, var): &&(&'static str, Var)| rest.iter().all(|host| says(host, key, var));
    first.ssh.iter().filter(everywhere).cloned().collect()
}

/// The value that most hosts have, provided that every host has one.
fn most<'a>(meaning: &'a Meaning, get: impl Fn(&'a Meant) -> Option<&'a Var>) -> Option<Var> {
    let mut counts: BTreeMap<&str, (usize, &Var)> = BTreeMap::new();
    for host in &meaning.hosts {
        let var = get(host)?;
        counts.entry(&var.value).or_insert((0, var)).0 += 1;
    }
    let (_, var) = counts
        .into_values()
        .max_by_key(|(count, var)| (*count, std::cmp::Reverse(var.place)))?;
    Some(var.clone())
}

/// Hosts in a row that differ in the last number of their address only.
struct Run<'a> {
    first: &'a Meant,
    address: String,
    name: Option<String>,
}

fn runs(meaning: &Meaning) -> Vec<Run<'_>> {
    let mut all: Vec<(Run<'_>, Vec<&Meant>)> = Vec::new();
    for host in &meaning.hosts {
        let joined = all.last_mut().is_some_and(|(_, members)| {
            let fits = members
                .last()
                .is_some_and(|last| alike(last, host) && follows(&last.address, &host.address));
            if fits {
                members.push(host);
            }
            fits
        });
        if !joined {
            let name = own_name(host, meaning);
            let run = Run {
                first: host,
                address: host.address.clone(),
                name,
            };
            all.push((run, vec![host]));
        }
    }
    all.into_iter()
        .map(|(run, members)| closed(run, &members))
        .collect()
}

/// A run with the range of its members.
fn closed<'a>(mut run: Run<'a>, members: &[&Meant]) -> Run<'a> {
    if let Some(last) = members.last().filter(|_| members.len() > 1) {
        run.address = range(&run.address, &last.address);
    }
    run
}

/// A host that is known by another name than its address.
fn own_name(host: &Meant, meaning: &Meaning) -> Option<String> {
    if host.aliases == [host.address.clone()] {
        return None;
    }
    let folder = |host: &Meant| {
        Some(
            host.deploy_dir
                .as_ref()?
                .value
                .trim_end_matches('/')
                .rsplit('/')
                .next()?
                .to_owned(),
        )
    };
    let unique: BTreeSet<Option<String>> = meaning.hosts.iter().map(folder).collect();
    // Three daemons of one folder are better called by the folder than by one of them.
    let by_folder =
        folder(host).filter(|_| host.aliases.len() > 1 && unique.len() == meaning.hosts.len());
    by_folder.or_else(|| host.aliases.first().cloned())
}

fn alike(a: &Meant, b: &Meant) -> bool {
    let plain = |host: &Meant| host.aliases == [host.address.clone()];
    let value = |var: &Option<Var>| var.as_ref().map(|v| v.value.clone());
    let ports = |host: &Meant| {
        host.ports
            .iter()
            .map(|(role, (port, _))| (*role, *port))
            .collect::<Vec<_>>()
    };
    let ssh = |host: &Meant| {
        host.ssh
            .iter()
            .map(|(key, var)| (*key, var.value.clone()))
            .collect::<Vec<_>>()
    };
    plain(a)
        && plain(b)
        && a.roles == b.roles
        && value(&a.deploy_dir) == value(&b.deploy_dir)
        && value(&a.data_dir) == value(&b.data_dir)
        && ports(a) == ports(b)
        && ssh(a) == ssh(b)
}

/// The last number of a text with what stands before and behind it.
fn last_number(text: &str) -> Option<(&str, &str, &str)> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = text
        .get(..end)?
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    Some((text.get(..start)?, text.get(start..end)?, text.get(end..)?))
}

fn follows(a: &str, b: &str) -> bool {
    let (Some((head, x, tail)), Some((head2, y, tail2))) = (last_number(a), last_number(b)) else {
        return false;
    };
    // `node09` to `node10` keeps its width; `9` to `10` has none to keep.
    let width = x.len() == y.len() || !x.starts_with('0');
    let next = |n: &str| n.parse::<u32>().ok();
    head == head2
        && tail == tail2
        && width
        && next(x).and_then(|n| n.checked_add(1)) == next(y)
        && next(y).is_some()
}

fn range(first: &str, last: &str) -> String {
    match (last_number(first), last_number(last)) {
        (Some((head, x, tail)), Some((_, y, _))) => format!("{head}[{x}:{y}]{tail}"),
        _ => first.to_owned(),
    }
}

fn host(meaning: &Meaning, run: &Run<'_>, out: &mut Lines) {
    let host = run.first;
    out.add(
        &format!("  - address: {}", word(&run.address)),
        Some(host.place),
    );
    if let Some(name) = &run.name {
        let aliases = host.aliases.join(", ");
        let comment = if aliases == *name {
            String::new()
        } else {
            format!("  # {aliases}")
        };
        out.add(
            &format!("    name: {}{comment}", word(name)),
            Some(host.place),
        );
    }
    let roles: Vec<String> = host.roles.iter().map(Role::to_string).collect();
    out.add(
        &format!("    roles: [{}]", roles.join(", ")),
        Some(host.place),
    );
    let folders = [
        (
            "deploy_dir",
            &host.deploy_dir,
            most(meaning, |h| h.deploy_dir.as_ref()),
        ),
        (
            "data_dir",
            &host.data_dir,
            most(meaning, |h| h.data_dir.as_ref()),
        ),
    ];
    for (key, own, common) in folders {
        let differs = |var: &&Var| common.as_ref().is_none_or(|c| c.value != var.value);
        if let Some(var) = own.as_ref().filter(differs) {
            out.add(&format!("    {key}: {}", word(&var.value)), Some(var.place));
        }
    }
    let common = common_ssh(meaning);
    let own: Vec<String> = host
        .ssh
        .iter()
        .filter(|(key, _)| !common.iter().any(|(k, _)| k == key))
        .map(|(key, var)| format!("{key}: {}", word(&var.value)))
        .collect();
    if !own.is_empty() {
        out.add(
            &format!("    ssh: {{{}}}", own.join(", ")),
            Some(host.place),
        );
    }
    for (role, (port, place)) in &host.ports {
        // nebula-ansible puts a 1 in front of the port.
        out.add(
            &format!("    {role}: {{port: {port}, http_port: 1{port}}}"),
            Some(*place),
        );
    }
}

/// A word of YAML, quoted where it has to be.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-~@+".contains(c);
    let first = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "/.~".contains(c));
    if first && text.chars().all(plain) && text != "~" {
        return text.to_owned();
    }
    serde_json::Value::from(text).to_string()
}
