//! The ports a daemon really uses.
//!
//! Duty: the written port and its silent neighbours, by role and version.

use super::cluster::Daemon;
use super::names::DaemonRole;
use super::version::Version;

/// One listening port and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Port {
    pub number: u16,
    pub purpose: &'static str,
}

/// Offsets from the RPC port, by role: raft above; admin and (up to 3.3) internal storage below.
fn neighbours(role: DaemonRole, version: Version) -> &'static [(i32, &'static str)] {
    match role {
        DaemonRole::Graphd => &[(0, "rpc")],
        DaemonRole::Metad => &[(0, "rpc"), (1, "raft")],
        DaemonRole::Storaged if version.since(3, 4) => &[(-1, "admin"), (0, "rpc"), (1, "raft")],
        DaemonRole::Storaged => &[
            (-2, "internal storage"),
            (-1, "admin"),
            (0, "rpc"),
            (1, "raft"),
        ],
    }
}

impl Daemon {
    /// All ports of this daemon, in ascending offset; `Err` holds the purpose that falls outside
    /// 1–65535.
    pub fn ports(&self, version: Version) -> Result<Vec<Port>, &'static str> {
        let mut all = vec![(i32::from(self.http_port), "http")];
        if version.has_http2_port() {
            all.push((i32::from(self.http_port) + 1, "http/2"));
        }
        let rpc = i32::from(self.port);
        all.extend(
            neighbours(self.role, version)
                .iter()
                .map(|&(off, what)| (rpc + off, what)),
        );
        all.into_iter()
            .map(|(number, purpose)| port(number, purpose))
            .collect()
    }
}

fn port(number: i32, purpose: &'static str) -> Result<Port, &'static str> {
    match u16::try_from(number) {
        Ok(number) if number > 0 => Ok(Port { number, purpose }),
        _ => Err(purpose),
    }
}
