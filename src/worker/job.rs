//! What a worker is asked to do: one JSON value on its standard input.
//!
//! Duty: shapes only. The password is in here and nowhere else: not in an argument, not in the environment.

use std::fmt;
use std::path::PathBuf;

use nbctl_core::scenario::Forms;
use serde::{Deserialize, Serialize};

/// Format number; worker and control machine are the same binary, so another one is refused.
pub const FORMAT: u32 = 1;

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// [`FORMAT`].
    pub format: u32,
    /// Ends the job when nothing arrives on standard input for this long, seconds; `None` waits for its end only.
    pub silence_s: Option<u64>,
    /// Where it is done.
    pub graph: GraphTarget,
    /// What is done.
    pub work: Work,
}

/// The graph service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphTarget {
    /// Every graphd, `address:port`, as seen from the load host.
    pub addresses: Vec<String>,
    /// User.
    pub user: String,
    /// Password.
    pub password: Password,
    /// Space, chosen in every session.
    pub space: String,
    /// Encrypted when given.
    #[serde(default)]
    pub tls: Option<TlsTarget>,
}

/// How the graph service encrypts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsTarget {
    /// Certificates of the authorities, PEM; `None` takes any server.
    pub ca: Option<String>,
}

impl TlsTarget {
    /// For connections.
    ///
    /// # Errors
    /// A sentence when the certificates are none.
    pub fn client(&self) -> Result<nebula_wire::client::Tls, String> {
        use nebula_wire::client::Tls;
        let made = match &self.ca {
            Some(ca) => Tls::trusting(ca.as_bytes(), None),
            None => Tls::unverified(None),
        };
        made.map_err(|error| error.to_string())
    }
}

/// A password that shows in no debug output.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Password(String);

impl Password {
    /// Takes it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Kinds of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Work {
    /// One scenario at one load.
    Stress(StressJob),
    /// A data set into the space.
    Import(ImportJob),
}

/// Files to statements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportJob {
    /// Folder of the data set on the load host.
    pub dir: PathBuf,
    /// Dates with a time of day are `datetime`, else strings.
    pub datetimes: bool,
    /// `int64` or `fixed_string(N)`, as the space has it.
    pub vid: String,
    /// Rows a statement.
    pub batch: u32,
    /// Connections.
    pub connections: u32,
    /// Statements in flight a connection.
    pub in_flight: u32,
    /// Times a statement is sent again.
    pub retries: u32,
    /// Count what the cluster should hold.
    pub count: bool,
    /// Folder for temporary files; the system's when `None`.
    pub temp: Option<PathBuf>,
}

/// A closed loop: each connection sends its next request when the last one is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StressJob {
    /// Name of the scenario.
    pub scenario: String,
    /// Its protocol.
    pub protocol: String,
    /// Text of the cluster's release.
    pub statement: String,
    /// How values are written.
    pub forms: Forms,
    /// Values of placeholders.
    pub parameters: Option<ParameterFile>,
    /// Requests in flight.
    pub concurrency: u32,
    /// Warm-up, seconds.
    pub warmup_s: u64,
    /// Window, seconds.
    pub duration_s: u64,
    /// Seed of all draws.
    pub seed: u64,
    /// Threads; `None` takes one a core.
    pub threads: Option<u32>,
}

/// A CSV file of the data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterFile {
    /// Path on the load host.
    pub path: PathBuf,
    /// Its first line is a header.
    pub header: bool,
}
