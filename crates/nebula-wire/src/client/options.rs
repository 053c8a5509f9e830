//! How to connect.

use std::time::Duration;

use crate::{Line, MAX_FRAME_SIZE};

/// Framing a client speaks; the payload is strict binary in either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// Framed first; `THeader` on a second connection if graphd hangs up on that. With a given
    /// [`ConnectOptions::line`] nothing is asked at connect, so it means framed.
    #[default]
    Auto,
    /// 4-byte length before each message.
    Framed,
    /// fbthrift's header transport.
    THeader,
}

/// How to connect.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    /// Limit for the TCP handshake, name lookup included.
    pub connect_timeout: Duration,
    /// Limit from sending a request to the last byte of its reply.
    pub request_timeout: Duration,
    /// Framing.
    pub transport: Transport,
    /// Release line if it is known already; spares the question at connect. A wrong one is
    /// corrected by the first reply as far as 2.x and 3.x go.
    pub line: Option<Line>,
    /// Longest reply accepted, in bytes.
    pub max_reply: usize,
    /// TLS, where graphd wants it; it refuses plain clients then.
    #[cfg(feature = "tls")]
    pub tls: Option<super::Tls>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(3),
            request_timeout: Duration::from_mins(1),
            transport: Transport::Auto,
            line: None,
            max_reply: MAX_FRAME_SIZE,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}
