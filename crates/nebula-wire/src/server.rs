//! The server's side: requests out of a receive buffer, replies into a send buffer.
//!
//! ```
//! use nebula_wire::server::{self, Reply};
//! # fn serve(received: &[u8]) -> Result<(), nebula_wire::WireError> {
//! let mut replies = Vec::new();
//! if let Some((request, _consumed)) = server::next_request(received, server::DEFAULT_MAX_REQUEST)? {
//!     let reply = request.reply();
//!     reply.unknown_method(&mut replies)?;
//! }
//! # Ok(())
//! # }
//! ```

use crate::WireError;
use crate::binary::BinaryReader;
use crate::compact::CompactReader;
use crate::framing::{Framing, Protocol, next_frame};
use crate::message::{Call, read_call, write_message};
use crate::protocol::{MessageHead, MessageType};
use crate::response::{
    AppException, AuthResponse, ExecutionResponse, Response, UNKNOWN_METHOD, VerifyResponse,
};

/// Room for a statement of graphd's `max_allowed_query_size` (4 MiB) and what surrounds it, in bytes.
pub const DEFAULT_MAX_REQUEST: usize = 4_194_304 + 65_536;

/// A request and what its reply must echo.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<'a> {
    /// What is called.
    pub method: Call<'a>,
    /// Sequence number of the message.
    pub seq: i32,
    /// How it was delimited.
    pub framing: Framing,
    /// Whether no reply may be sent. True for every `signout`: Python sends it as an ordinary call
    /// and still does not read an answer.
    pub oneway: bool,
}

/// Takes the next request from the front of `buf`: the request and the bytes it occupies.
///
/// `None` asks for more bytes. After an error the connection must be closed, its state is lost.
pub fn next_request(buf: &[u8], max: usize) -> Result<Option<(Request<'_>, usize)>, WireError> {
    let Some(frame) = next_frame(buf, max)? else {
        return Ok(None);
    };
    let (head, method) = match frame.framing.protocol() {
        Protocol::Binary => read_call(&mut BinaryReader::new(frame.payload)),
        Protocol::Compact => read_call(&mut CompactReader::new(frame.payload)),
    }
    .map_err(incomplete)?;
    if matches!(head.kind, MessageType::Reply | MessageType::Exception) {
        return Err(WireError::Malformed("a reply where a call was expected"));
    }
    let request = Request {
        oneway: head.kind == MessageType::Oneway || matches!(method, Call::Signout { .. }),
        seq: head.seq,
        framing: frame.framing,
        method,
    };
    Ok(Some((request, frame.consumed)))
}

/// The frame is whole: a message that goes on behind it never gets there.
const fn incomplete(error: WireError) -> WireError {
    match error {
        WireError::Truncated => WireError::Malformed("message is longer than its frame"),
        other => other,
    }
}

impl Request<'_> {
    /// What encodes the reply to this request.
    pub fn reply(&self) -> Reply<'_> {
        Reply {
            name: self.method.name(),
            seq: self.seq,
            framing: self.framing,
        }
    }
}

/// Encodes replies in the framing of the request they answer, appending to a reused buffer.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    name: &'a [u8],
    seq: i32,
    framing: Framing,
}

impl Reply<'_> {
    /// Appends any answer. [`WireError::TooLarge`] leaves `out` as it was.
    pub fn encode(&self, out: &mut Vec<u8>, response: &Response<'_>) -> Result<(), WireError> {
        let head = MessageHead {
            name: self.name,
            kind: response.message_type(),
            seq: self.seq,
        };
        write_message(out, self.framing, &head, response)
    }

    /// Appends the answer to `authenticate`.
    pub fn auth(&self, out: &mut Vec<u8>, auth: AuthResponse<'_>) -> Result<(), WireError> {
        self.encode(out, &Response::Auth(auth))
    }

    /// Appends the answer to `execute` and `executeWithParameter`.
    pub fn execution(
        &self,
        out: &mut Vec<u8>,
        execution: ExecutionResponse<'_>,
    ) -> Result<(), WireError> {
        self.encode(out, &Response::Execution(execution))
    }

    /// Appends the answer to `verifyClientVersion`.
    pub fn verify(&self, out: &mut Vec<u8>, verify: VerifyResponse<'_>) -> Result<(), WireError> {
        self.encode(out, &Response::Verify(verify))
    }

    /// Appends fbthrift's answer to a method the server does not have.
    pub fn unknown_method(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let message = format!(
            "Method name {} not found",
            String::from_utf8_lossy(self.name)
        );
        let exception = AppException {
            message: message.as_bytes(),
            kind: UNKNOWN_METHOD,
        };
        self.encode(out, &Response::Exception(exception))
    }
}
