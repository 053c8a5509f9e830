//! What is known about a host before anything is planned.
//!
//! Purpose: one script per host answers everything the next phases ask (design 4.2).
//! Duties: [`script`] writes the question, [`HostFacts::parse`] reads the answer; neither runs anything.
//! The answer is line-wise and versioned; unknown lines are skipped, so an older or newer script is
//! read as far as it is understood, and an answer that was cut off is refused.

mod parse;
mod request;
mod sockets;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::units::{RemotePath, Sha256};

pub(crate) use request::quoted;
pub use request::{FactsRequest, script};
pub use sockets::{Listener, Owner};
pub use words::df_row;

/// What one host answered.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HostFacts {
    /// Operating system and hardware.
    pub system: System,
    /// Soft and hard limit of open files of a new process; `None`: unlimited or not told.
    pub nofile: (Option<u64>, Option<u64>),
    /// `thp`, `core_limit`, and by its last name each `sysctl` asked for, as the kernel shows them.
    pub settings: BTreeMap<String, String>,
    /// The host's clock while it answered.
    pub clock: Clock,
    /// Who answered.
    pub user: User,
    /// Which of the programs asked for are there.
    pub tools: BTreeSet<String>,
    /// Addresses on the interfaces, IPv4 and IPv6.
    pub addresses: BTreeSet<String>,
    /// IPv4 addresses a name resolves to on this host; empty when it does not resolve.
    pub names: BTreeMap<String, Vec<String>>,
    /// Listening TCP ports.
    pub listening: Vec<Listener>,
    /// Room by path asked for.
    pub space: BTreeMap<RemotePath, Space>,
    /// The disk below each of them, where it is one of the host's own.
    pub disks: BTreeMap<RemotePath, Disk>,
    /// Text of the owner marker by folder.
    pub owners: BTreeMap<RemotePath, String>,
    /// Programs below `versions/`, by folder of the installation, as paths relative to it.
    pub installed: BTreeMap<RemotePath, BTreeSet<String>>,
    /// Packages in the caches with their size.
    pub cached: BTreeMap<RemotePath, u64>,
    /// What lies at each path asked for.
    pub paths: BTreeMap<RemotePath, PathFact>,
    /// Digests of the files asked for; a file that is missing is not listed, an unreadable one is `None`.
    pub files: BTreeMap<RemotePath, Option<Sha256>>,
    /// Processes below the folders asked for and strays called `nebula-*`, zombies left out.
    pub processes: Vec<Process>,
    /// The Docker socket, when asked for.
    pub docker: Option<DockerSocket>,
    /// The pid files asked for that are there.
    pub pid_files: BTreeMap<RemotePath, PidFile>,
    /// The firewall, when asked for.
    pub firewall: Option<Firewall>,
    /// Installed packages asked for, as `name-version-release.arch`, with their prefix.
    pub rpms: BTreeMap<String, String>,
}

/// Operating system and hardware.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct System {
    /// `ID` of os-release: `centos`, `debian`, …
    pub os: String,
    /// `VERSION_ID` of os-release.
    pub os_version: String,
    /// `PRETTY_NAME` of os-release.
    pub os_name: String,
    /// `uname -r`.
    pub kernel: String,
    /// `uname -m`: `x86_64`, `aarch64`, …
    pub arch: String,
    /// `None` where the C library is another one.
    pub glibc: Option<Glibc>,
    /// Hosts that share it are one machine.
    pub boot_id: String,
    /// Processors online.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of memory that can be given out without swapping.
    pub memory_available: u64,
    /// Bytes of swap.
    pub swap: u64,
}

/// Version of the C library; ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Glibc {
    /// 2 in 2.17.
    pub major: u32,
    /// 17 in 2.17.
    pub minor: u32,
}

impl fmt::Display for Glibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The host's clock at the beginning and the end of its answer, milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Clock {
    /// First thing the script did.
    pub start_ms: i64,
    /// Last thing the script did.
    pub end_ms: i64,
    /// Set by [`HostFacts::observe_clock`].
    pub offset: Option<Offset>,
}

/// Bounds of (host clock − control clock), milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Offset {
    /// At least this.
    pub low_ms: i64,
    /// At most this.
    pub high_ms: i64,
}

impl Offset {
    /// How far the clocks are apart at the very least.
    pub fn at_least_ms(self) -> i64 {
        if self.low_ms > 0 {
            self.low_ms
        } else {
            (-self.high_ms).max(0)
        }
    }
}

/// The account the script ran under.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct User {
    /// Login name.
    pub name: String,
    /// 0 is root.
    pub uid: u32,
    /// `$HOME`.
    pub home: String,
    /// `sudo -n true` works.
    pub sudo: bool,
}

/// Room at a path that exists or would be created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Space {
    /// Nearest folder that exists; the path itself when it does.
    pub at: RemotePath,
    /// Whether the account may create things there.
    pub writable: bool,
    /// Bytes free for the account.
    pub free: u64,
    /// Where the file system is mounted.
    pub mount: String,
}

/// The block device below a path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Disk {
    /// `none`, `mq-deadline`, …; empty when not told.
    pub scheduler: String,
    /// A spinning disk.
    pub spins: bool,
}

/// Content of a pid file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PidFile {
    /// 0 when it holds no number.
    pub pid: u32,
    /// `/proc/<pid>/comm`; empty when no process has that number.
    pub name: String,
}

/// What guards the host's ports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Firewall {
    /// `firewalld`, `ufw`, `iptables`, or `none`.
    pub kind: String,
    /// Ranges of ports that are let in; `None`: it may not be asked.
    pub open: Option<Vec<(u16, u16)>>,
}

impl Firewall {
    /// One is at work.
    pub fn is_on(&self) -> bool {
        self.kind != "none"
    }

    /// Whether a port is known to be let in.
    pub fn lets_in(&self, port: u16) -> bool {
        let within = |(first, last): &(u16, u16)| (*first..=*last).contains(&port);
        !self.is_on() || self.open.iter().flatten().any(within)
    }
}

/// What lies at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathFact {
    /// Nothing.
    None,
    /// A folder.
    Dir {
        /// With every link followed.
        real: String,
        /// Names of the first 200 entries.
        entries: Vec<String>,
    },
    /// A file.
    File {
        /// Size.
        bytes: u64,
    },
    /// A symbolic link.
    Link {
        /// Its text.
        target: String,
        /// With every link followed; empty when it leads nowhere.
        real: String,
    },
    /// A socket, device, …
    Other,
}

/// A process of interest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// `/proc/<pid>/exe`; empty when the account may not see it.
    pub exe: String,
    /// The executable's file was removed or replaced.
    pub deleted: bool,
    /// `/proc/<pid>/comm`.
    pub name: String,
    /// Account it runs under.
    pub user: String,
    /// Seconds since 1970 at which it started.
    pub started: u64,
    /// Soft limit of open files; `None`: unlimited or not visible.
    pub nofile: Option<u64>,
    /// Working directory.
    pub cwd: String,
    /// Command line, blanks between the words.
    pub command: String,
}

/// The socket of a Docker engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DockerSocket {
    /// No socket there.
    None,
    /// The account may use it.
    Usable,
    /// The account may not; holds `owner:group mode`.
    Denied(String),
}

impl HostFacts {
    /// Notes when the question left and when the answer was complete, on the control clock.
    pub fn observe_clock(&mut self, sent_ms: i64, received_ms: i64) {
        self.clock.offset = Some(Offset {
            low_ms: self.clock.end_ms - received_ms,
            high_ms: self.clock.start_ms - sent_ms,
        });
    }

    /// Who listens on `port`, if anybody.
    pub fn listener(&self, port: u16) -> Option<&Listener> {
        self.listening.iter().find(|l| l.port == port)
    }

    /// Whether a program is there; of `a|b` one of them.
    pub fn has(&self, tool: &str) -> bool {
        tool.split('|').any(|tool| self.tools.contains(tool))
    }

    /// Digest of a file, `None` when missing or unreadable.
    pub fn sha256(&self, path: &RemotePath) -> Option<Sha256> {
        self.files.get(path).copied().flatten()
    }

    /// Whether anything lies at a path that was asked for.
    pub fn exists(&self, path: &RemotePath) -> bool {
        !matches!(self.paths.get(path), None | Some(PathFact::None))
    }

    /// The path as the kernel shows it, links of parent folders followed, where that is known.
    pub fn real<'a>(&'a self, path: &'a RemotePath) -> &'a str {
        match self.paths.get(path) {
            Some(PathFact::Dir { real, .. } | PathFact::Link { real, .. }) if !real.is_empty() => {
                real
            }
            _ => path.as_str(),
        }
    }

    /// Processes whose executable lies below `folder` (as the kernel shows it).
    pub fn processes_below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Process> {
        self.processes
            .iter()
            .filter(move |p| is_below(&p.exe, folder))
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}
