//! Names: of clusters, hosts and roles.
//!
//! Duty: one spelling rule per kind of name, so that a name is safe in a path, a label and a
//! command line wherever it turns up later.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::HostName;

/// What a host is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Meta service: schema, placement, raft group of the cluster.
    Metad,
    /// Query service: what clients talk to.
    Graphd,
    /// Storage service: partitions of the graph.
    Storaged,
    /// Prometheus, `InfluxDB` and Grafana run here.
    Monitor,
    /// Import and load workers run here.
    Load,
}

/// One of the three daemons.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum DaemonRole {
    Metad,
    Graphd,
    Storaged,
}

impl DaemonRole {
    /// All three, in the order in which a cluster is started; stopping goes backwards, except that
    /// graphd goes first (see [`DaemonRole::STOP_ORDER`]).
    pub const START_ORDER: [Self; 3] = [Self::Metad, Self::Storaged, Self::Graphd];
    /// Clients are turned away first, the meta service goes last.
    pub const STOP_ORDER: [Self; 3] = [Self::Graphd, Self::Storaged, Self::Metad];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Metad => "metad",
            Self::Graphd => "graphd",
            Self::Storaged => "storaged",
        }
    }

    /// File name of the binary, the configuration and the pid file (without suffix).
    pub const fn program(self) -> &'static str {
        match self {
            Self::Metad => "nebula-metad",
            Self::Graphd => "nebula-graphd",
            Self::Storaged => "nebula-storaged",
        }
    }

    /// Default RPC port of the shipped configuration files.
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Metad => 9559,
            Self::Graphd => 9669,
            Self::Storaged => 9779,
        }
    }

    /// Default HTTP port of the shipped configuration files.
    pub const fn default_http_port(self) -> u16 {
        10_000 + self.default_port()
    }
}

impl fmt::Display for DaemonRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for DaemonRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::START_ORDER
            .into_iter()
            .find(|r| r.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a daemon (metad, storaged, graphd)"))
    }
}

impl Role {
    /// The daemon behind this role, if it is one.
    pub const fn daemon(self) -> Option<DaemonRole> {
        match self {
            Self::Metad => Some(DaemonRole::Metad),
            Self::Graphd => Some(DaemonRole::Graphd),
            Self::Storaged => Some(DaemonRole::Storaged),
            Self::Monitor | Self::Load => None,
        }
    }
}

impl From<DaemonRole> for Role {
    fn from(role: DaemonRole) -> Self {
        match role {
            DaemonRole::Metad => Self::Metad,
            DaemonRole::Graphd => Self::Graphd,
            DaemonRole::Storaged => Self::Storaged,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Monitor => "monitor",
            Self::Load => "load",
            Self::Metad => "metad",
            Self::Graphd => "graphd",
            Self::Storaged => "storaged",
        })
    }
}

/// A host name that is safe in paths, labels and file names: letters, digits, `.`, `_` and `-`, at
/// most 63 of them, the first a letter or digit.
pub(crate) fn host_name(text: &str) -> Result<HostName, String> {
    let tail = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let head = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if head && text.len() <= 63 && text.chars().all(tail) {
        return Ok(HostName::new(text));
    }
    Err(format!("`{}` is not a host name", text.escape_debug()))
}

/// Whether `text` may name a cluster: `^[a-z][a-z0-9-]{0,30}$`.
pub(crate) fn is_cluster_name(text: &str) -> bool {
    let tail = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.len() <= 31 && text.chars().all(tail)
}

#[cfg(test)]
mod tests {
    use super::{host_name, is_cluster_name};

    #[test]
    fn names_are_safe_words() {
        for name in ["s1", "192.168.8.61", "node01.lab", "a_b-c"] {
            assert!(host_name(name).is_ok(), "{name}");
        }
        let long = "x".repeat(64);
        for name in ["", ".", "..", "-x", "a b", "a/b", "a;b", "ä", long.as_str()] {
            assert!(host_name(name).is_err(), "{name}");
        }
        for (name, good) in [
            ("demo", true),
            ("a-1", true),
            ("1a", false),
            ("Demo", false),
            ("", false),
        ] {
            assert_eq!(is_cluster_name(name), good, "{name}");
        }
        assert!(is_cluster_name(&"a".repeat(31)));
        assert!(!is_cluster_name(&"a".repeat(32)));
    }
}
