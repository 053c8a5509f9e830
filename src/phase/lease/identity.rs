//! Who this process is, for leases and the journal.
//!
//! Duty: tell apart control machines of the same name and processes of the same number, from `/proc` alone.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nbctl_core::lease::Lease;
use nbctl_core::units::Sha256;

use crate::remote::scripts_of_process;

/// Place of the start time in `/proc/<pid>/stat`, counted behind the program's name.
const START_FIELD: usize = 19;

/// A lease of this process for a command.
pub(super) fn lease(command: &str, control: &str) -> Lease {
    let pid = std::process::id();
    let machine = machine();
    let started = started(pid).unwrap_or_default();
    let time = jiff::Timestamp::now();
    let unique = format!("{machine} {pid} {started} {}", time.as_nanosecond());
    Lease {
        token: Sha256::of(unique.as_bytes()).to_string(),
        command: command.to_owned(),
        user: user(),
        control: control.to_owned(),
        machine,
        pid,
        started,
        scripts: scripts_of_process().to_owned(),
        time: time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}

/// The process that took the lease was one of this machine and has ended.
pub(super) fn has_ended(lease: &Lease) -> bool {
    lease.machine == machine() && started(lease.pid) != Some(lease.started)
}

/// This boot of this machine, as seen by this namespace of process ids.
fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let pids = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    Sha256::of(format!("{} {}", boot.trim(), pids.display()).as_bytes()).short()
}

fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let (_, behind) = stat.rsplit_once(") ")?;
    behind.split(' ').nth(START_FIELD)?.parse().ok()
}

/// Login name of this process's account.
pub(super) fn user() -> String {
    let uid = fs::metadata("/proc/self").map_or(0, |meta| meta.uid());
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid.to_string()).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid {uid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_not_ended_and_one_of_another_start_has() {
        let mine = lease("test", "here");
        assert!(mine.started > 0 && !has_ended(&mine));
        let earlier = Lease {
            started: mine.started - 1,
            ..mine.clone()
        };
        assert!(has_ended(&earlier));
        let elsewhere = Lease {
            machine: "other".into(),
            ..earlier
        };
        assert!(!has_ended(&elsewhere));
        assert_ne!(mine.token, lease("test", "here").token);
    }
}
