//! Kernel settings, limits and disks against the vendor's advice: one table, told and (with `--apply`) changed by it.
//!
//! Duty: what is unusual costs speed or safety and never stops a deploy.

use super::Look;
use crate::facts::{Disk, HostFacts};

const GIB: u64 = 1 << 30;

/// What a setting should be, and the value that a change gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// This much or more.
    AtLeast(u64, u64),
    /// This much or less.
    AtMost(u64, u64),
    /// Anything but this word.
    Not(&'static str, &'static str),
}

/// One setting of the kernel.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Name of the check.
    pub(crate) check: &'static str,
    /// In the facts, and the last part of its name.
    pub(crate) key: &'static str,
    /// As `sysctl` calls it, or the path of a file.
    pub(crate) name: &'static str,
    /// `None`: it does not matter on this host.
    pub(crate) wanted: fn(&HostFacts) -> Option<Wanted>,
    /// What it is good for.
    pub(crate) why: &'static str,
}

/// `reference/deploy.md` 8, by importance.
pub(crate) const SETTINGS: [Setting; 10] = [
    Setting {
        check: "huge pages",
        key: "thp",
        name: "/sys/kernel/mm/transparent_hugepage/enabled",
        wanted: |_| Some(Wanted::Not("always", "never")),
        why: "transparent huge pages stall RocksDB",
    },
    Setting {
        check: "swap",
        key: "swappiness",
        name: "vm.swappiness",
        wanted: |facts| (facts.system.swap > 0).then_some(Wanted::AtMost(1, 0)),
        why: "there is swap, and a daemon that is swapped out misses heartbeats",
    },
    Setting {
        check: "memory maps",
        key: "max_map_count",
        name: "vm.max_map_count",
        wanted: |_| Some(Wanted::AtLeast(65_530, 131_060)),
        why: "each file of RocksDB takes some",
    },
    Setting {
        check: "memory reserve",
        key: "min_free_kbytes",
        name: "vm.min_free_kbytes",
        wanted: reserve,
        why: "the kernel keeps it for bursts of the network on large hosts",
    },
    Setting {
        check: "overcommit",
        key: "overcommit_memory",
        name: "vm.overcommit_memory",
        wanted: |_| Some(Wanted::AtMost(1, 0)),
        why: "strict accounting refuses memory that is there",
    },
    Setting {
        check: "numa balancing",
        key: "numa_balancing",
        name: "kernel.numa_balancing",
        wanted: |_| Some(Wanted::AtMost(0, 0)),
        why: "pages that move between nodes make latencies jump",
    },
    Setting {
        check: "listen queue",
        key: "somaxconn",
        name: "net.core.somaxconn",
        wanted: |_| Some(Wanted::AtLeast(1024, 4096)),
        why: "clients that connect at once are refused beyond it",
    },
    Setting {
        check: "listen queue",
        key: "tcp_max_syn_backlog",
        name: "net.ipv4.tcp_max_syn_backlog",
        wanted: |_| Some(Wanted::AtLeast(1024, 4096)),
        why: "clients that connect at once wait a second beyond it",
    },
    Setting {
        check: "packet queue",
        key: "netdev_max_backlog",
        name: "net.core.netdev_max_backlog",
        wanted: |_| Some(Wanted::AtLeast(10_000, 10_000)),
        why: "packets beyond it are dropped",
    },
    Setting {
        check: "slow start",
        key: "tcp_slow_start_after_idle",
        name: "net.ipv4.tcp_slow_start_after_idle",
        wanted: |_| Some(Wanted::AtMost(0, 0)),
        why: "connections that rested begin slowly again",
    },
];

/// About two percent from 64 GiB on, 1 to 5 GiB.
fn reserve(facts: &HostFacts) -> Option<Wanted> {
    let memory = facts.system.memory;
    let kib = (memory / 50).clamp(GIB, 5 * GIB) >> 10;
    (memory >= 64 * GIB).then_some(Wanted::AtLeast(GIB >> 10, kib))
}

impl Wanted {
    /// Whether `value` will do.
    pub(crate) fn is_met(self, value: &str) -> bool {
        let number = |met: &dyn Fn(u64) -> bool| value.parse().is_ok_and(met);
        match self {
            Self::AtLeast(least, _) => number(&|is| is >= least),
            Self::AtMost(most, _) => number(&|is| is <= most),
            Self::Not(bad, _) => value != bad,
        }
    }

    /// What a change writes.
    pub(crate) fn value(self) -> String {
        match self {
            Self::AtLeast(_, value) | Self::AtMost(_, value) => value.to_string(),
            Self::Not(_, value) => value.to_owned(),
        }
    }
}

impl Setting {
    /// What it is and should be, where it matters and is known.
    pub(crate) fn of<'a>(&self, facts: &'a HostFacts) -> Option<(&'a str, Wanted)> {
        let value = facts
            .settings
            .get(self.key)
            .filter(|value| !value.is_empty())?;
        Some((value, (self.wanted)(facts)?))
    }

    /// Where the kernel shows it.
    pub(crate) fn path(&self) -> String {
        let name = self.name;
        if name.starts_with('/') {
            name.to_owned()
        } else {
            format!("/proc/sys/{}", name.replace('.', "/"))
        }
    }

    /// The command that changes it until the next boot.
    fn by_hand(&self, value: &str) -> String {
        let name = self.name;
        if name.starts_with('/') {
            format!("echo {value} > {name}")
        } else {
            format!("sysctl -w {name}={value}")
        }
    }
}

pub(super) fn all(look: &mut Look<'_>) {
    if look.daemons.is_empty() {
        return;
    }
    for setting in &SETTINGS {
        kernel(look, setting);
    }
    core_files(look);
    disks(look);
}

fn kernel(look: &mut Look<'_>, setting: &Setting) {
    let Some((value, wanted)) = setting.of(look.facts) else {
        return;
    };
    let name = setting.name;
    if wanted.is_met(value) {
        look.pass(setting.check, format!("{name} is {value}"));
    } else {
        let message = format!("{name} is {value}: {}", setting.why);
        look.warn(setting.check, message, &setting.by_hand(&wanted.value()));
    }
}

fn core_files(look: &mut Look<'_>) {
    let Some(limit) = look.facts.settings.get("core_limit") else {
        return;
    };
    if limit == "0" {
        let fix = "`* hard core unlimited` in /etc/security/limits.d, and log in again";
        look.warn(
            "core files",
            "a daemon that crashes leaves no core file",
            fix,
        );
    } else {
        look.pass("core files", format!("limit {limit}"));
    }
}

fn disks(look: &mut Look<'_>) {
    let facts = look.facts;
    let paths = look.daemons.iter().flat_map(|daemon| &daemon.data_paths);
    let disks: Vec<_> = paths
        .filter_map(|path| Some((path, facts.disks.get(path)?)))
        .collect();
    for (path, Disk { scheduler, spins }) in disks {
        let known = !scheduler.is_empty();
        if *spins {
            let message = format!("{path} is on a spinning disk");
            look.warn("disk", message, "the vendor asks for SSDs");
        } else if known && !matches!(scheduler.as_str(), "none" | "noop") {
            let message = format!("the disk of {path} has the I/O scheduler {scheduler}");
            look.warn(
                "disk",
                message,
                "echo none > /sys/block/DISK/queue/scheduler",
            );
        } else if known {
            look.pass("disk", format!("{path}: I/O scheduler {scheduler}"));
        }
    }
}
