//! The resolved inventory: every reference followed, every default filled in, checked.
//!
//! Duty: plain values that everything later reads, the run record stores and tests compare.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::at::Place;
use super::names::{DaemonRole, Role};
use super::spec::{Component, Install, KnownHosts, Reach, RegistryReach, TlsScope};
use super::version::{Line, Version};
use crate::units::{HostName, RemotePath, Sha256};

/// A cluster as the inventory wants it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    pub name: String,
    /// 12 hexadecimal digits, from the name and the addresses of the metads: the same inventory has
    /// the same id from any control machine.
    pub id: String,
    pub disposable: bool,
    pub version: Version,
    pub line: Line,
    pub install: Install,
    pub package: PackageSource,
    /// Where a package that is not there is fetched from, in order.
    #[serde(default)]
    pub mirrors: Vec<String>,
    /// Date of a nightly build, `2023.09.01`.
    #[serde(default)]
    pub nightly: Option<String>,
    /// Commit that its build must be made from.
    #[serde(default)]
    pub commit: Option<String>,
    pub graph: GraphLogin,
    /// Encryption of the graph service.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// In the order of the file.
    pub hosts: Vec<Host>,
    /// By host in the order of the file, then by start order.
    pub daemons: Vec<Daemon>,
    pub monitor: Option<Monitor>,
    pub source: SourceMark,
}

/// Where the package comes from, as a path of the control machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageSource {
    /// A folder in which a package of the right version, system and architecture is looked for.
    Folder(PathBuf),
    /// One file for all hosts.
    File(PathBuf),
}

/// How to log in to graphd: the user, and where the password is found. Never the password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphLogin {
    pub user: String,
    pub password: Secret,
}

/// Encryption of the graph service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    pub scope: TlsScope,
    /// Whether clients of ours refuse a server that `ca` did not sign.
    pub verify: bool,
    pub ca: LocalFile,
    pub cert: LocalFile,
    /// A handle of a secret: what it holds is in no plan and no record.
    pub key: LocalFile,
}

/// A file of the control machine that goes to the hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalFile {
    pub path: PathBuf,
    /// Size and digest, once it was read.
    pub seen: Option<(u64, Sha256)>,
}

impl Tls {
    /// The three files, with their names on the hosts and their permissions there.
    pub fn files(&self) -> [(&'static str, &LocalFile, u32); 3] {
        [
            ("ca.pem", &self.ca, 0o644),
            ("cert.pem", &self.cert, 0o644),
            ("key.pem", &self.key, 0o600),
        ]
    }

    /// The files, to be read.
    pub fn files_mut(&mut self) -> [&mut LocalFile; 3] {
        [&mut self.ca, &mut self.cert, &mut self.key]
    }

    /// Whether a daemon of this role needs them.
    pub fn is_for(&self, role: DaemonRole) -> bool {
        self.scope == TlsScope::All || role == DaemonRole::Graphd
    }
}

/// A handle of a secret; safe to store and to print.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Secret {
    /// The password a fresh cluster has.
    Factory,
    /// First line of a local file.
    File(PathBuf),
    /// First line that a local command prints.
    Command(String),
}

/// The inventory this was resolved from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceMark {
    pub file: PathBuf,
    pub sha256: Sha256,
}

/// One host entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub name: HostName,
    /// By which the daemons know each other.
    pub address: String,
    pub ssh: SshTarget,
    pub roles: BTreeSet<Role>,
    pub labels: BTreeMap<String, String>,
    /// Folder of the monitoring parts, on every host when there is a monitor.
    pub monitor_dir: Option<RemotePath>,
    /// Folder of the load worker, on load hosts.
    pub load_dir: Option<RemotePath>,
    /// Where the entry starts in the inventory.
    pub place: Place,
}

/// How one host is reached. `None` leaves it to the user's ssh configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SshTarget {
    /// Name or address to connect to.
    pub host: String,
    pub user: Option<String>,
    pub port: Option<u16>,
    pub identity_file: Option<PathBuf>,
    pub config_file: Option<PathBuf>,
    pub known_hosts: KnownHosts,
    pub known_hosts_file: Option<PathBuf>,
    pub jump: Vec<String>,
    pub persist_minutes: u32,
    pub sudo: bool,
    pub reach: Reach,
    pub connect_timeout_s: u64,
}

/// One daemon of the cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Daemon {
    pub role: DaemonRole,
    pub host: HostName,
    pub address: String,
    pub port: u16,
    pub http_port: u16,
    /// The installation, and the working directory of the daemon (`cluster.id` lies here).
    pub root: RemotePath,
    /// Through the `current` link; `/proc/<pid>/exe` shows it below `versions/`.
    pub exe: RemotePath,
    pub conf: RemotePath,
    pub pid_file: RemotePath,
    pub log_dir: RemotePath,
    /// Folders for data as the inventory names them; empty for graphd.
    pub data_dirs: Vec<RemotePath>,
    /// What the daemon is told, one below each of `data_dirs`.
    pub data_paths: Vec<RemotePath>,
    /// What it is bound to when it is started.
    #[serde(default)]
    pub pin: Pin,
    /// The unit of systemd that runs it; `None`: it is started by itself.
    #[serde(default)]
    pub unit: Option<String>,
    /// All that is written into the configuration file.
    pub flags: BTreeMap<String, String>,
}

/// What a daemon is bound to when it is started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Processors as `taskset` and `numactl` take them.
    pub cpus: Option<String>,
    /// NUMA node.
    pub numa: Option<u32>,
    /// Open files.
    pub nofile: Option<u32>,
}

impl Pin {
    /// The program that binds a daemon, and its arguments; empty when it is bound to nothing.
    pub fn command(&self) -> String {
        match (&self.cpus, self.numa) {
            (Some(cpus), Some(node)) => format!("numactl --physcpubind={cpus} --membind={node}"),
            (None, Some(node)) => format!("numactl --cpunodebind={node} --membind={node}"),
            (Some(cpus), None) => format!("taskset -c {cpus}"),
            (None, None) => String::new(),
        }
    }

    /// Numbers of the processors.
    pub fn processors(&self) -> BTreeSet<u32> {
        self.cpus
            .as_deref()
            .and_then(|cpus| processors(cpus).ok())
            .unwrap_or_default()
    }
}

/// Reads `0-15,32`.
///
/// # Errors
/// A sentence when the text is something else.
pub(crate) fn processors(text: &str) -> Result<BTreeSet<u32>, String> {
    let wrong = || {
        format!(
            "`{}` is not a list of processors such as 0-15,32",
            text.escape_debug()
        )
    };
    let number = |t: &str| {
        t.parse::<u32>()
            .ok()
            .filter(|n| *n < 4096 && t.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut all = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let bounds = number(first)
            .zip(number(last))
            .filter(|(first, last)| first <= last);
        let (first, last) = bounds.ok_or_else(wrong)?;
        all.extend(first..=last);
    }
    Ok(all)
}

/// The monitoring stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    pub host: HostName,
    /// Local folder with image archives.
    pub images: Option<PathBuf>,
    /// Where other images come from; `None`: the public one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registry: Option<Registry>,
    pub docker_socket: RemotePath,
    pub docker_sudo: bool,
    pub retention_s: u64,
    pub ports: BTreeMap<Component, u16>,
    pub components: BTreeSet<Component>,
}

/// A registry of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// `host:port`.
    pub address: String,
    pub reach: RegistryReach,
}

impl Cluster {
    pub fn host(&self, name: &HostName) -> Option<&Host> {
        self.hosts.iter().find(|h| h.name == *name)
    }

    pub fn daemons_on<'a>(&'a self, host: &'a HostName) -> impl Iterator<Item = &'a Daemon> {
        self.daemons.iter().filter(move |d| d.host == *host)
    }

    pub fn daemons_of(&self, role: DaemonRole) -> impl Iterator<Item = &Daemon> {
        self.daemons.iter().filter(move |d| d.role == role)
    }

    pub fn hosts_with(&self, role: Role) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(move |h| h.roles.contains(&role))
    }

    pub fn load_hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts_with(Role::Load)
    }

    /// `host:port,…` of all metads, the same text for every daemon.
    pub fn meta_server_addrs(&self) -> String {
        let addresses: Vec<String> = self
            .daemons_of(DaemonRole::Metad)
            .map(Daemon::endpoint)
            .collect();
        addresses.join(",")
    }

    /// The folders on a host that nbctl marks, fills and deletes; none lies inside another.
    pub fn owned_paths(&self, host: &HostName) -> Vec<RemotePath> {
        let mut all: BTreeSet<RemotePath> =
            self.daemons_on(host).flat_map(Daemon::folders).collect();
        let extra = self
            .host(host)
            .into_iter()
            .flat_map(|h| [&h.monitor_dir, &h.load_dir]);
        all.extend(extra.flatten().cloned());
        let inner = |path: &RemotePath| all.iter().any(|o| o != path && path.is_within(o));
        all.iter().filter(|p| !inner(p)).cloned().collect()
    }
}

impl Daemon {
    /// `metad@s1`: how people and events name a daemon.
    pub fn id(&self) -> String {
        format!("{}@{}", self.role, self.host)
    }

    /// `address:port`, the identity within the cluster.
    pub fn endpoint(&self) -> String {
        format!("{}:{}", self.address, self.port)
    }

    /// `address:http_port`.
    pub fn http_endpoint(&self) -> String {
        format!("{}:{}", self.address, self.http_port)
    }

    /// Where its unit of systemd lies.
    pub fn unit_file(&self) -> Option<RemotePath> {
        let unit = self.unit.as_ref()?;
        RemotePath::new(&format!("/etc/systemd/system/{unit}")).ok()
    }

    fn folders(&self) -> Vec<RemotePath> {
        let mut all = vec![self.root.clone(), self.log_dir.clone()];
        all.extend(self.data_dirs.iter().cloned());
        all
    }
}
