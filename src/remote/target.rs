//! How one host is reached: the inventory's words, with the host's name and address beside them.

use nbctl_core::inventory::{Host, SshTarget};
use nbctl_core::units::HostName;

/// One host to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name in the inventory.
    pub name: HostName,
    /// By which the daemons know each other; endpoints are found by it.
    pub address: String,
    /// How it is reached.
    pub ssh: SshTarget,
}

impl From<&Host> for Target {
    fn from(host: &Host) -> Self {
        Self {
            name: host.name.clone(),
            address: host.address.clone(),
            ssh: host.ssh.clone(),
        }
    }
}

impl Target {
    /// `user@host`, or `host` when the user is left to ssh.
    pub fn destination(&self) -> String {
        match &self.ssh.user {
            Some(user) => format!("{user}@{}", self.ssh.host),
            None => self.ssh.host.clone(),
        }
    }

    /// A target with nothing but a name and a host to connect to.
    #[cfg(test)]
    pub(super) fn bare(name: &str, host: &str) -> Self {
        use nbctl_core::inventory::{KnownHosts, Reach};
        Self {
            name: HostName::new(name),
            address: host.to_owned(),
            ssh: SshTarget {
                host: host.to_owned(),
                user: None,
                port: None,
                identity_file: None,
                config_file: None,
                known_hosts: KnownHosts::AcceptNew,
                known_hosts_file: None,
                jump: Vec::new(),
                persist_minutes: 0,
                sudo: false,
                reach: Reach::Direct,
                connect_timeout_s: 5,
            },
        }
    }
}
