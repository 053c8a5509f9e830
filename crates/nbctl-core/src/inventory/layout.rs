//! Where things lie below a daemon's `deploy_dir`.
//!
//! Duty: one list of names. The working directory of the daemons is `deploy_dir` itself, so that
//! `cluster.id`, `pids/`, `logs/`, `data/` and `etc/` outlive a change of version; binaries come
//! from `versions/<sha12>` through the `current` link. `share` is a link into it as well, because
//! the daemons look for `share/resources` in their working directory.

use super::names::DaemonRole;
use crate::units::{RemotePath, Sha256};

/// Names below `deploy_dir` that no data or log folder may take.
pub(crate) const RESERVED: &[&str] = &[
    "versions",
    "current",
    "cache",
    "share",
    "etc",
    "pids",
    "cluster.id",
    "backup",
];

/// The paths below one `deploy_dir`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: RemotePath,
}

impl Layout {
    pub const fn new(root: RemotePath) -> Self {
        Self { root }
    }

    /// The unpacked package with this digest.
    pub fn version(&self, package: Sha256) -> RemotePath {
        self.versions().join(&package.short())
    }

    pub fn versions(&self) -> RemotePath {
        self.root.join("versions")
    }

    /// Link to the version in use; its text is relative (`versions/<sha12>`).
    pub fn current(&self) -> RemotePath {
        self.root.join("current")
    }

    /// Link to `current/share`.
    pub fn share(&self) -> RemotePath {
        self.root.join("share")
    }

    pub fn exe(&self, role: DaemonRole) -> RemotePath {
        self.current().join("bin").join(role.program())
    }

    pub fn conf(&self, role: DaemonRole) -> RemotePath {
        self.root
            .join("etc")
            .join(&format!("{}.conf", role.program()))
    }

    /// Certificates and key.
    pub fn tls(&self) -> RemotePath {
        self.root.join("etc").join("tls")
    }

    pub fn pid_file(&self, role: DaemonRole) -> RemotePath {
        self.root
            .join("pids")
            .join(&format!("{}.pid", role.program()))
    }

    pub fn cluster_id(&self) -> RemotePath {
        self.root.join("cluster.id")
    }

    pub fn data(&self) -> RemotePath {
        self.root.join("data")
    }

    /// Copies that an upgrade keeps of what it changes.
    pub fn backup(&self) -> RemotePath {
        self.root.join("backup")
    }

    pub fn logs(&self) -> RemotePath {
        self.root.join("logs")
    }
}
