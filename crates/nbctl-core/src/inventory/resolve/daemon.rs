//! Daemons: ports, folders and the final set of flags.

use std::collections::BTreeMap;

use super::super::at::{At, Place};
use super::super::cluster::{Daemon, Pin, processors};
use super::super::flags::{FlagLine, FlagValue};
use super::super::layer::{Layer, Layers};
use super::super::layout::Layout;
use super::super::names::DaemonRole;
use super::super::path::owned;
use super::super::problem::Problem;
use super::super::spec::{HostSpec, Inventory};
use super::super::version::Version;
use super::host::HostDraft;
use super::{Draft, keep, value};
use crate::flags::{Catalogue, Options, is_nested, read_options, write_options};
use crate::units::RemotePath;

/// A resolved daemon (flags still empty) and where its settings stand.
#[derive(Debug)]
pub(crate) struct DaemonDraft<'a> {
    pub daemon: Daemon,
    pub at: Places,
    layers: Layers<'a>,
}

/// Where the settings of a daemon stand; the host entry for those that nobody wrote.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// The host entry.
    pub host: Place,
    pub port: Place,
    pub http_port: Place,
    pub root: Place,
    pub data: Place,
    pub log: Place,
}

impl DaemonDraft<'_> {
    /// Where a flag of this daemon is written last; `None` when nobody wrote it.
    pub(crate) fn flag_place(&self, name: &str) -> Option<Place> {
        let written = |layer: &Layer<'_>| {
            layer
                .flags
                .lines
                .iter()
                .rev()
                .find(|l| l.name == name)
                .map(|l| l.place)
        };
        self.layers.strongest(written)
    }

    /// Where the processors it is bound to are written.
    pub(crate) fn cpus_place(&self) -> Option<Place> {
        self.layers
            .strongest(|l| l.pin?.cpus.as_ref())
            .map(|cpus| cpus.place)
    }
}

pub(super) fn all<'a>(
    spec: &'a Inventory,
    hosts: &[HostDraft<'a>],
    problems: &mut Vec<Problem>,
) -> Vec<DaemonDraft<'a>> {
    let mut daemons = Vec::new();
    for draft in hosts {
        for role in DaemonRole::START_ORDER {
            if draft.host.roles.iter().any(|r| r.daemon() == Some(role)) {
                daemons.extend(one(spec, draft, role, problems));
            }
        }
    }
    daemons
}

fn one<'a>(
    spec: &'a Inventory,
    draft: &HostDraft<'a>,
    role: DaemonRole,
    problems: &mut Vec<Problem>,
) -> Option<DaemonDraft<'a>> {
    let entry: &'a HostSpec = draft.spec;
    let layers = Layers::of(spec, entry, role);
    let root = root(&layers, draft, problems)?;
    let layout = Layout::new(root.clone());
    let port = layers.strongest(|l| l.port);
    let http_port = layers.strongest(|l| l.http_port);
    let log = layers.strongest(|l| l.log_dir);
    let data = data(&layers, &layout, role, problems)?;
    let place = |at: Option<Place>| at.unwrap_or(draft.place);
    let at = Places {
        host: draft.place,
        port: place(port.map(|p| p.place)),
        http_port: place(http_port.map(|p| p.place)),
        root: place(layers.strongest(|l| l.deploy_dir).map(|d| d.place)),
        data: place(layers.data().map(|(place, _)| place)),
        log: place(log.map(|l| l.place)),
    };
    let daemon = Daemon {
        role,
        host: draft.host.name.clone(),
        address: draft.host.address.clone(),
        port: number(port, role.default_port(), problems),
        http_port: number(http_port, role.default_http_port(), problems),
        exe: layout.exe(role),
        conf: layout.conf(role),
        pid_file: layout.pid_file(role),
        log_dir: log.map_or_else(
            || Some(layout.logs()),
            |l| keep(owned(l), l.place, problems),
        )?,
        data_paths: data.iter().map(|d| d.join(data_name(role))).collect(),
        data_dirs: data,
        pin: pin(&layers, problems),
        unit: None,
        flags: BTreeMap::new(),
        root,
    };
    Some(DaemonDraft { daemon, at, layers })
}

/// Each part from the strongest layer that names it.
fn pin(layers: &Layers<'_>, problems: &mut Vec<Problem>) -> Pin {
    let cpus = layers.strongest(|l| l.pin?.cpus.as_ref());
    let known = |cpus: &&At<String>| keep(processors(cpus), cpus.place, problems).is_some();
    Pin {
        cpus: cpus.filter(known).map(|cpus| cpus.value.clone()),
        numa: layers
            .strongest(|l| l.pin?.numa.as_ref())
            .map(|node| node.value),
        nofile: layers
            .strongest(|l| l.pin?.nofile.as_ref())
            .map(|files| files.value),
    }
}

const fn data_name(role: DaemonRole) -> &'static str {
    match role {
        DaemonRole::Metad => "meta",
        DaemonRole::Graphd | DaemonRole::Storaged => "storage",
    }
}

fn number(written: Option<&At<u32>>, default: u16, problems: &mut Vec<Problem>) -> u16 {
    let port = written.and_then(|p| keep(value::port(p.value), p.place, problems));
    port.unwrap_or(default)
}

fn root(
    layers: &Layers<'_>,
    draft: &HostDraft<'_>,
    problems: &mut Vec<Problem>,
) -> Option<RemotePath> {
    let Some(dir) = layers.strongest(|l| l.deploy_dir) else {
        let what = format!("no deploy_dir for {}", draft.host.name);
        let hint = "set `nebula.deploy_dir`, such as /home/vesoft/nebula";
        problems.push(Problem::error(Some(draft.place), what).hint(hint));
        return None;
    };
    keep(owned(dir), dir.place, problems)
}

/// Data folders as named; none for graphd, which keeps nothing.
fn data(
    layers: &Layers<'_>,
    layout: &Layout,
    role: DaemonRole,
    problems: &mut Vec<Problem>,
) -> Option<Vec<RemotePath>> {
    if role == DaemonRole::Graphd {
        return Some(Vec::new());
    }
    match layers.data() {
        None => Some(vec![layout.data()]),
        Some((_, dirs)) => dirs
            .iter()
            .map(|d| keep(owned(d), d.place, problems))
            .collect(),
    }
}

/// Fills in the flags of every daemon: shipped values, then the user's from weak to strong, then
/// those that make the daemon what it is, which nothing overrides.
pub(super) fn fill_flags(draft: &mut Draft<'_>, version: Version) {
    let metads = draft
        .daemons
        .iter()
        .filter(|d| d.daemon.role == DaemonRole::Metad);
    let addresses: Vec<String> = metads.map(|d| d.daemon.endpoint()).collect();
    let addresses = addresses.join(",");
    for DaemonDraft { daemon, layers, .. } in &mut draft.daemons {
        let mut merged = Merged::default();
        weak_flags(daemon.role, version).for_each(|(name, value)| merged.text(name, value));
        for layer in layers.weakest_first() {
            written_flags(layer, daemon.role).for_each(|line| merged.line(line));
        }
        daemon.flags = merged.into_texts();
        daemon
            .flags
            .extend(identity_flags(daemon, version, &addresses));
        // The port tells several daemons of one machine apart.
        let unit = || {
            format!(
                "nbctl-{}-{}-{}.service",
                draft.spec.cluster.value, daemon.role, daemon.port
            )
        };
        daemon.unit = draft.spec.nebula.systemd.then(unit);
        let tls = draft.spec.nebula.tls.as_ref();
        let tls = tls.map(|tls| super::tls::flags(tls, daemon.role, &daemon.root));
        let tls = tls.into_iter().flatten();
        daemon
            .flags
            .extend(tls.map(|(name, value)| (name.to_owned(), value)));
    }
}

/// Flags of one daemon while layers are laid over each other: those with options are merged option by option.
#[derive(Default)]
struct Merged {
    texts: BTreeMap<String, String>,
    options: BTreeMap<String, Options>,
}

impl Merged {
    fn line(&mut self, line: &FlagLine) {
        match &line.value {
            FlagValue::Text(scalar) => self.text(&line.name, &scalar.text),
            FlagValue::Options(options) => {
                for (name, option) in options {
                    let value = option.value.as_ref().map(|scalar| scalar.text.as_str());
                    self.option(&line.name, name, value);
                }
            }
        }
    }

    /// A text that is not what the flag wants was told by the checks and is left out.
    fn text(&mut self, name: &str, text: &str) {
        if !is_nested(name) {
            self.texts.insert(name.to_owned(), text.to_owned());
            return;
        }
        self.options.entry(name.to_owned()).or_default();
        for (option, value) in read_options(text).unwrap_or_default() {
            self.option(name, &option, value.as_deref());
        }
    }

    fn option(&mut self, flag: &str, name: &str, value: Option<&str>) {
        let options = self.options.entry(flag.to_owned()).or_default();
        match value {
            Some(value) => options.insert(name.to_owned(), value.to_owned()),
            None => options.remove(name),
        };
    }

    fn into_texts(self) -> BTreeMap<String, String> {
        let nested = self
            .options
            .iter()
            .map(|(flag, options)| (flag.clone(), write_options(options)));
        let mut all = self.texts;
        all.extend(nested);
        all
    }
}

fn weak_flags(
    role: DaemonRole,
    version: Version,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    Catalogue::builtin()
        .shipped(role, version)
        .chain([("ws_ip", "0.0.0.0")])
}

/// What a layer says to this role. From a list for all daemons, flags that the catalogue gives to
/// other roles only are left out, so that one list can hold flags of each.
fn written_flags<'a>(layer: &'a Layer<'_>, role: DaemonRole) -> impl Iterator<Item = &'a FlagLine> {
    let known = move |name: &str| {
        Catalogue::builtin()
            .get(name)
            .is_none_or(|f| f.is_for(role))
    };
    let fits = move |name: &str| layer.role.is_some() || known(name);
    layer
        .flags
        .lines
        .iter()
        .filter(move |line| fits(&line.name))
}

fn identity_flags(daemon: &Daemon, version: Version, metads: &str) -> Vec<(String, String)> {
    let mut flags = vec![
        ("daemonize", "true".to_owned()),
        ("local_ip", daemon.address.clone()),
        ("log_dir", daemon.log_dir.to_string()),
        ("meta_server_addrs", metads.to_owned()),
        ("pid_file", daemon.pid_file.to_string()),
        ("port", daemon.port.to_string()),
        ("ws_http_port", daemon.http_port.to_string()),
    ];
    // metad has no such flag: it is where others would take their flags from.
    if daemon.role != DaemonRole::Metad {
        flags.push(("local_config", "true".to_owned()));
    }
    if version.has_http2_port() {
        flags.push(("ws_h2_port", daemon.http_port.saturating_add(1).to_string()));
    }
    if !daemon.data_paths.is_empty() {
        let paths: Vec<&str> = daemon.data_paths.iter().map(RemotePath::as_str).collect();
        flags.push(("data_path", paths.join(",")));
    }
    flags
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
