//! Steps as values: what a phase wants done, before anything is done.
//!
//! Purpose: one list serves `--dry-run`, the runner, the run record and the tests (design 4).
//! Duties: say what, where and why; hold no secret (only handles); know how a step is shown.
//! A stage is a barrier: all its steps end before the next stage begins. Within a stage the steps of
//! different hosts run side by side, those of one host in their order.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::container::{ContainerSpec, ImageSpec};
use crate::units::{HostName, RemotePath, Sha256};

/// What a phase wants done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Plan {
    /// In order.
    pub stages: Vec<Stage>,
}

/// Steps between two barriers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// Shown as the heading, e.g. `start metad`.
    pub name: String,
    /// Steps; may be of any host.
    pub steps: Vec<Step>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Where; `None` is the cluster as a whole (queries, waits).
    pub host: Option<HostName>,
    /// Shown to the user: what and why, e.g. `start nebula-metad`.
    pub title: String,
    /// How.
    pub action: Action,
    /// POSIX sh; exit 0 says "already so" and the action is left out.
    pub check: Option<String>,
}

/// How a step is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A POSIX sh script on the host.
    Run(Script),
    /// A small rendered file, written beside its target and renamed over it.
    Put(RenderedFile),
    /// A local file (package, image, binary), sha256 verified at both ends.
    Upload(Upload),
    /// Load an image tarball into the host's engine.
    Image(ImageSpec),
    /// A container that must run exactly so.
    Container(Box<ContainerSpec>),
    /// A container (or volume, network) of ours that must be gone.
    Remove(Removal),
    /// A statement to the graph service.
    Query(Statement),
    /// Flags of a running daemon, read back afterwards.
    Flags(SetFlags),
    /// Until the world is so.
    Wait(Wait),
    /// A path of ours that must be gone.
    Delete(Delete),
}

/// A POSIX sh script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Script {
    /// Text given to `sh -s` on standard input.
    pub text: String,
    /// Under `sudo -n`.
    pub sudo: bool,
    /// Ends with a failure after this long.
    pub timeout: Duration,
}

/// A file whose content nbctl made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RenderedFile {
    /// Where.
    pub path: RemotePath,
    /// Octal permissions, e.g. `0o644`.
    pub mode: u32,
    /// Content.
    pub text: String,
}

impl RenderedFile {
    /// Digest of the content.
    pub fn sha256(&self) -> Sha256 {
        Sha256::of(self.text.as_bytes())
    }
}

/// A local file to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Upload {
    /// Path on the control machine.
    pub source: String,
    /// Bytes.
    pub bytes: u64,
    /// Digest of the source.
    pub sha256: Sha256,
    /// Where it goes.
    pub path: RemotePath,
    /// Octal permissions.
    pub mode: u32,
}

/// Which container, volume or network goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Removal {
    /// By name; only when it carries our label.
    Container(String),
    /// By name; only when it carries our label.
    Volume(String),
    /// By reference; only when nothing else uses it and we loaded it.
    Image(String),
}

/// A statement to the graph service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// Text.
    pub text: String,
    /// An error whose message contains this means "already so".
    pub tolerate: Option<String>,
}

/// New values of flags that a running daemon takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetFlags {
    /// `address:port` of HTTP.
    pub http: String,
    /// Values by name.
    pub flags: BTreeMap<String, String>,
}

/// Waiting for a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wait {
    /// The state.
    pub probe: Probe,
    /// Ends with a failure after this long.
    pub timeout: Duration,
    /// Fails when waiting has no sense any more, and says why.
    pub hopeless: Option<Script>,
}

/// A state of the world, see `reference/deploy.md` 6.2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// RPC port open and `/status` answers: metad, and storaged once it is added.
    DaemonUp {
        /// `address:port` of RPC.
        rpc: String,
        /// `address:port` of HTTP.
        http: String,
    },
    /// Process runs but may not serve yet (storaged ≥ 3.0 before ADD HOSTS).
    ProcessUp {
        /// Executable, resolved.
        exe: RemotePath,
    },
    /// No process of this executable is left.
    ProcessGone {
        /// Executable, resolved.
        exe: RemotePath,
    },
    /// authenticate and `SHOW HOSTS`, which metad answers, succeed.
    GraphReady {
        /// `address:port` of graphd.
        rpc: String,
    },
    /// SHOW HOSTS lists exactly these as ONLINE.
    StoragesOnline {
        /// `address:port` of every storaged.
        hosts: Vec<String>,
    },
    /// A GET answers 2xx.
    HttpOk {
        /// `http://…`.
        url: String,
    },
}

/// A path that must go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Delete {
    /// What goes, with all below it (but never below another mount).
    pub path: RemotePath,
    /// Folder whose owner marker must name our cluster.
    pub owner_root: RemotePath,
    /// Id of our cluster.
    pub cluster_id: String,
    /// Under `sudo -n`.
    pub sudo: bool,
}

impl Plan {
    /// Adds a stage unless it would be empty.
    pub fn stage(&mut self, name: impl Into<String>, steps: Vec<Step>) {
        if !steps.is_empty() {
            self.stages.push(Stage {
                name: name.into(),
                steps,
            });
        }
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.stages.iter().map(|stage| stage.steps.len()).sum()
    }

    /// Nothing to do.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Appends another plan's stages.
    pub fn extend(&mut self, other: Self) {
        self.stages.extend(other.stages);
    }
}

impl Step {
    /// A step on a host.
    pub fn on(host: &HostName, title: impl Into<String>, action: Action) -> Self {
        Self {
            host: Some(host.clone()),
            title: title.into(),
            action,
            check: None,
        }
    }

    /// A step of the cluster as a whole.
    pub fn cluster(title: impl Into<String>, action: Action) -> Self {
        Self {
            host: None,
            title: title.into(),
            action,
            check: None,
        }
    }

    /// With a check that says "already so".
    #[must_use]
    pub fn unless(mut self, check: impl Into<String>) -> Self {
        self.check = Some(check.into());
        self
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for stage in &self.stages {
            writeln!(f, "{}", stage.name)?;
            for step in &stage.steps {
                writeln!(f, "  {step}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.as_ref().map_or("cluster", HostName::as_str);
        write!(f, "{host}: {}", self.title)
    }
}
