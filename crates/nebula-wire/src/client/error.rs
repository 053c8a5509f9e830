//! Why a call failed before graphd's own answer was there.

use std::io;
use std::time::Duration;

use crate::WireError;

/// A failure of the connection, or graphd refusing the client. Error codes of statements are not
/// errors here: [`super::Reply::code`] has them.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection came about.
    #[error("cannot connect to graphd {addr}: {source}")]
    Connect {
        /// `host:port`.
        addr: String,
        /// Cause.
        source: io::Error,
    },
    /// Something took too long.
    #[error("graphd {addr}: {action} took longer than {limit:?}")]
    Timeout {
        /// `host:port`.
        addr: String,
        /// What was waited for.
        action: &'static str,
        /// Limit that was exceeded.
        limit: Duration,
    },
    /// The connection is closed: by graphd, by an error, or by an earlier failure.
    #[error("graphd {addr}: connection closed{}", cause(source.as_ref()))]
    Closed {
        /// `host:port`.
        addr: String,
        /// Cause, if it was not an orderly end.
        source: Option<io::Error>,
    },
    /// The bytes make no sense.
    #[error("graphd {addr}: {source}\nhint: is this the graph service port (9669), without TLS?")]
    Protocol {
        /// `host:port`.
        addr: String,
        /// Defect.
        source: WireError,
    },
    /// The connection was used out of order.
    #[error("graphd {addr}: {what}")]
    Misuse {
        /// `host:port`.
        addr: String,
        /// What was wrong.
        what: &'static str,
    },
    /// graphd answered, and said no: to the user, to the client's version, or to the method.
    #[error("graphd {addr} refuses {action}: {message} ({name} {code})")]
    Refused {
        /// `host:port`.
        addr: String,
        /// What was refused.
        action: &'static str,
        /// Error code on the server's line.
        code: i32,
        /// Name of the code.
        name: &'static str,
        /// graphd's text.
        message: String,
    },
}

fn cause(source: Option<&io::Error>) -> String {
    source.map_or_else(String::new, |source| format!(": {source}"))
}

impl ClientError {
    /// Whether another connection may work: everything but a refusal and misuse.
    pub const fn is_transport(&self) -> bool {
        !matches!(self, Self::Refused { .. } | Self::Misuse { .. })
    }

    /// Name for statistics: `connect`, `timeout`, `closed`, `protocol`, `misuse` or `refused`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "connect",
            Self::Timeout { .. } => "timeout",
            Self::Closed { .. } => "closed",
            Self::Protocol { .. } => "protocol",
            Self::Misuse { .. } => "misuse",
            Self::Refused { .. } => "refused",
        }
    }
}
