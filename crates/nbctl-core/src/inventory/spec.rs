//! The inventory as it is written: one Rust type for the parser, the JSON schema and the docs.
//!
//! Duty: shape only. Unknown keys are refused here; what the values mean together is decided in
//! `resolve` and `check`, which can name every problem at once instead of the first one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::at::At;
use super::flags::Flags;
use super::names::Role;

/// Where to run: hosts, what runs on them, and how to reach them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// Version of this file format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: At<u32>,
    /// Name of the cluster: a small letter, then up to 30 small letters, digits or dashes.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9-]{0,30}$"))]
    pub cluster: At<String>,
    /// Whether commands that destroy the cluster may run without asking for its name.
    #[serde(default)]
    pub disposable: bool,
    /// What is installed, and how it is configured.
    pub nebula: NebulaSpec,
    /// How hosts are reached; a host may override each of these.
    #[serde(default)]
    pub ssh: SshSpec,
    /// The monitoring stack.
    pub monitor: Option<At<MonitorSpec>>,
    /// The load generators.
    pub load: Option<At<LoadSpec>>,
    /// The hosts, one entry for one host or for a range of alike ones.
    #[schemars(length(min = 1))]
    pub hosts: At<Vec<At<HostSpec>>>,
}

/// What is installed, and how it is configured.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NebulaSpec {
    /// Version to install, such as 3.8.0; lines 2.0, 2.5, 2.6 and 3 are known.
    #[schemars(regex(pattern = r"^v?[0-9]+\.[0-9]+\.[0-9]+$"))]
    pub version: At<String>,
    /// Folder with the package and its `.sha256sum.txt`, relative to this file (default `./packages`).
    pub packages: Option<At<String>>,
    /// One package file instead of a folder, relative to this file.
    pub package: Option<At<String>>,
    /// Where a package that is not in the folder is fetched from, the first one first: `http(s)://…` with `{version}`, `{date}`
    /// and `{file}` in it, or without them the folder that holds `3.8.0/` or `nightly/2023.09.01/`.
    pub mirrors: Option<Vec<At<String>>>,
    /// Date of a nightly build, such as 2023.09.01, instead of the release; `version` says what it behaves like.
    #[schemars(regex(pattern = r"^[0-9]{4}\.[0-9]{2}\.[0-9]{2}$"))]
    pub nightly: Option<At<String>>,
    /// Commit that the build must be made from, 7 to 40 digits; daemons that tell another one are a difference. Without it
    /// a `commit.txt` beside the package counts.
    #[schemars(regex(pattern = r"^[0-9a-fA-F]{7,40}$"))]
    pub commit: Option<At<String>>,
    /// How the package is installed (default `extract`).
    #[serde(default)]
    pub install: Install,
    /// Folder of the installation on every host; owned by nbctl.
    pub deploy_dir: Option<At<String>>,
    /// Folder for data (default `<deploy_dir>/data`); `meta` and `storage` are made in it.
    pub data_dir: Option<At<String>>,
    /// Folder for logs (default `<deploy_dir>/logs`).
    pub log_dir: Option<At<String>>,
    /// Graph user (default `root`).
    pub user: Option<At<String>>,
    /// File whose first line is the password of the graph user, relative to this file.
    pub password_file: Option<At<String>>,
    /// Command that prints the password of the graph user.
    pub password_command: Option<At<String>>,
    /// Whether daemons are units of systemd, which starts them with the machine and again after a crash (default false).
    #[serde(default)]
    pub systemd: bool,
    /// Encryption of the graph service, from 2.6 on.
    pub tls: Option<At<TlsSpec>>,
    /// Flags of all daemons; weakest.
    #[serde(default)]
    pub flags: Flags,
    /// What is the same for every metad.
    pub metad: Option<RoleSpec>,
    /// What is the same for every graphd.
    pub graphd: Option<RoleSpec>,
    /// What is the same for every storaged.
    pub storaged: Option<RoleSpec>,
    // Only here to be refused with a better hint than "unknown key".
    #[schemars(skip)]
    pub(crate) password: Option<At<String>>,
}

/// Encryption of the graph service: PEM files here, sent to the hosts.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlsSpec {
    /// Certificate of the authority that signed `cert`, relative to this file.
    pub ca: At<String>,
    /// Certificate of every graphd, relative to this file; it names the addresses of all of them.
    pub cert: At<String>,
    /// Private key of `cert`, relative to this file.
    pub key: At<String>,
    /// Who encrypts (default `graph`).
    #[serde(default)]
    pub scope: TlsScope,
    /// Whether nbctl and its workers refuse a graphd whose certificate `ca` did not sign (default true).
    pub verify: Option<bool>,
}

/// Who encrypts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TlsScope {
    /// graphd and its clients.
    #[default]
    Graph,
    /// The daemons among each other as well.
    All,
}

/// Settings of one daemon role, for the cluster or for one host.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleSpec {
    /// RPC port; neighbours of it are used too (see the design page).
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<At<u32>>,
    /// HTTP port.
    #[schemars(range(min = 1, max = 65535))]
    pub http_port: Option<At<u32>>,
    /// Folder of the installation.
    pub deploy_dir: Option<At<String>>,
    /// Folder for data.
    pub data_dir: Option<At<String>>,
    /// Several folders for data, one per disk; storaged only, instead of `data_dir`.
    pub data_dirs: Option<At<Vec<At<String>>>>,
    /// Folder for logs.
    pub log_dir: Option<At<String>>,
    /// Processors, memory and limits it is bound to.
    pub pin: Option<PinSpec>,
    /// Flags of this role.
    #[serde(default)]
    pub flags: Flags,
}

/// What a daemon is bound to when it is started.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinSpec {
    /// Processors by number, such as `0-15,32-47`.
    pub cpus: Option<At<String>>,
    /// NUMA node of its memory, and of its processors unless `cpus` says which.
    pub numa: Option<At<u32>>,
    /// Open files it may have (default 130000).
    #[schemars(range(min = 1024))]
    pub nofile: Option<At<u32>>,
}

/// How a package is installed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Install {
    /// Unpacked into a folder of its own below `deploy_dir`; needs no root, two versions fit side by side.
    #[default]
    Extract,
    /// Through the host's RPM database, relocated with `--prefix`.
    Rpm,
}

/// How hosts are reached. What is not said here is left to the user's own ssh configuration.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SshSpec {
    /// Name or address to connect to, when it is not the host's `address`.
    pub host: Option<At<String>>,
    /// Login user.
    pub user: Option<At<String>>,
    /// Port of sshd (default 22).
    #[schemars(range(min = 1, max = 65535))]
    pub port: Option<At<u32>>,
    /// Private key; with it no other key is offered. Relative to this file, `~` allowed.
    pub identity_file: Option<At<String>>,
    /// An ssh configuration to include instead of the user's own one.
    pub config_file: Option<At<String>>,
    /// Whether unknown host keys are remembered or refused (default `accept-new`).
    pub known_hosts: Option<KnownHosts>,
    /// File of the host keys (default: one file per cluster, kept by nbctl).
    pub known_hosts_file: Option<At<String>>,
    /// Hosts to jump over, in order.
    pub jump: Option<Vec<At<String>>>,
    /// Minutes to keep connections open after a command (default 0).
    #[schemars(range(max = 1440))]
    pub persist: Option<At<u32>>,
    /// Whether commands that need root go through `sudo -n` (default false).
    pub sudo: Option<bool>,
    /// `direct`: HTTP and graph ports are reachable; `ssh`: only port 22 is; `local`: no ssh, this machine (default `direct`).
    pub reach: Option<Reach>,
    /// How long one attempt to connect may take (default `10s`).
    pub connect_timeout: Option<At<String>>,
    #[schemars(skip)]
    pub(crate) password: Option<At<String>>,
}

/// What happens with a host key that is not known yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownHosts {
    /// Refused.
    Strict,
    /// Remembered; a changed key is refused all the same.
    #[default]
    AcceptNew,
}

/// Which ports of a host can be reached from the control machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// All that are needed.
    #[default]
    Direct,
    /// Only sshd; everything else goes through forwards.
    Ssh,
    /// No ssh at all: the host is the control machine itself, worked on as the user who runs the command.
    Local,
}

/// The monitoring stack, run over Docker.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MonitorSpec {
    /// Folder on the hosts (default `nbctl-monitor` in the login user's home).
    pub dir: Option<At<String>>,
    /// Folder with image archives, relative to this file; without it images are pulled.
    pub images: Option<At<String>>,
    /// Registry that has what `images` has not, instead of the public one.
    pub registry: Option<RegistrySpec>,
    /// How the Docker engine is reached.
    #[serde(default)]
    pub docker: DockerSpec,
    /// How long Prometheus and `InfluxDB` keep samples (default `15d`).
    pub retention: Option<At<String>>,
    /// Ports of the parts.
    #[serde(default)]
    pub ports: MonitorPortsSpec,
    /// Parts to run (default all).
    pub components: Option<Vec<At<Component>>>,
}

/// A registry of the user's own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistrySpec {
    /// `host:port`; images lie below it under their own names.
    pub address: At<String>,
    /// Who reaches it (default `hosts`).
    pub reach: Option<RegistryReach>,
}

/// Who reaches a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegistryReach {
    /// The hosts themselves.
    #[default]
    Hosts,
    /// The control machine only: the hosts get it through their ssh connections.
    Control,
}

/// How the Docker engine of a host is reached.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DockerSpec {
    /// Socket of the engine (default `/var/run/docker.sock`).
    pub socket: Option<At<String>>,
    /// Whether the socket needs `sudo -n` (default false).
    pub sudo: Option<bool>,
}

/// Ports of the monitoring parts.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MonitorPortsSpec {
    #[schemars(range(min = 1, max = 65535))]
    pub prometheus: Option<At<u32>>,
    #[schemars(range(min = 1, max = 65535))]
    pub influxdb: Option<At<u32>>,
    #[schemars(range(min = 1, max = 65535))]
    pub grafana: Option<At<u32>>,
    #[schemars(range(min = 1, max = 65535))]
    pub node_exporter: Option<At<u32>>,
    #[schemars(range(min = 1, max = 65535))]
    pub process_exporter: Option<At<u32>>,
    #[schemars(range(min = 1, max = 65535))]
    pub exporter: Option<At<u32>>,
}

/// A part of the monitoring stack.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Deserialize,
    JsonSchema,
    serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    /// Collects metrics; monitor host.
    Prometheus,
    /// Keeps what load runs write; monitor host.
    Influxdb,
    /// Shows both; monitor host.
    Grafana,
    /// CPU, memory, disk and network of every host.
    NodeExporter,
    /// CPU and memory per daemon on every host.
    ProcessExporter,
    /// Turns the daemons' own statistics into Prometheus text; monitor host.
    Exporter,
}

/// The load generators.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// Folder on the hosts (default `nbctl-load` in the login user's home).
    pub dir: Option<At<String>>,
}

/// One host, or a range of alike hosts.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// IPv4 address or host name by which the daemons know each other; `[61:63]` makes a range.
    pub address: At<String>,
    /// Name in commands and reports (default the address); for a range a range of the same size.
    pub name: Option<At<String>>,
    /// What runs here.
    #[schemars(length(min = 1))]
    pub roles: At<Vec<At<Role>>>,
    /// How this host is reached, where it differs.
    #[serde(default)]
    pub ssh: SshSpec,
    /// Folder of the installation on this host.
    pub deploy_dir: Option<At<String>>,
    /// Folder for data on this host.
    pub data_dir: Option<At<String>>,
    /// Folder for logs on this host.
    pub log_dir: Option<At<String>>,
    /// Flags of all daemons on this host; stronger than those of a role.
    #[serde(default)]
    pub flags: Flags,
    /// The metad of this host; strongest.
    pub metad: Option<RoleSpec>,
    /// The graphd of this host; strongest.
    pub graphd: Option<RoleSpec>,
    /// The storaged of this host; strongest.
    pub storaged: Option<RoleSpec>,
    /// Free labels, carried into metrics and reports.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

impl Inventory {
    /// Every list of flags.
    pub(crate) fn all_flags(&mut self) -> impl Iterator<Item = &mut Flags> {
        let nebula = &mut self.nebula;
        let roles = [&mut nebula.metad, &mut nebula.graphd, &mut nebula.storaged];
        let of_hosts = self.hosts.value.iter_mut().flat_map(|host| {
            let host = &mut host.value;
            let roles = [&mut host.metad, &mut host.graphd, &mut host.storaged];
            let roles = roles.into_iter().flatten().map(|r| &mut r.flags);
            [&mut host.flags].into_iter().chain(roles)
        });
        let roles = roles.into_iter().flatten().map(|r| &mut r.flags);
        [&mut nebula.flags].into_iter().chain(roles).chain(of_hosts)
    }

    /// The JSON schema of this file, for editors and `inventory schema`.
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}
