//! The NebulaGraph graph-service protocol, both sides of it.
//!
//! Duties: values and messages as Rust types ([`Value`], [`message`], [`response`]), the two thrift
//! encodings ([`binary`], [`compact`]), the three framings graphd accepts on one port ([`framing`]),
//! decoding requests and encoding replies ([`server`]) and the release lines with what differs
//! between them ([`mod@line`]). It knows nothing of clusters, runs or reports.
//!
//! Everything read from the wire is checked: nesting is bounded ([`MAX_DEPTH`]), counts are bounded
//! by the bytes that are left, and nothing is allocated because a length field says so.

pub mod binary;
pub mod client;
mod codec;
pub mod codes;
pub mod compact;
mod error;
pub mod framing;
#[doc(hidden)]
pub mod fuzz;
pub mod line;
pub mod message;
pub mod plan;
pub mod protocol;
pub mod response;
pub mod server;
pub mod value;

pub use codec::{read_data_set, read_value, write_data_set, write_value};
pub use error::WireError;
pub use framing::{Framing, Protocol};
pub use line::Line;
pub use value::{DataSet, Value};

/// Deepest nesting of structs accepted from the wire. A row of a reply sits at depth 4 and each
/// nested list costs 2, so real data stays far below; a hostile message cannot exhaust the stack.
pub const MAX_DEPTH: u8 = 32;

/// Largest frame fbthrift sends or accepts (`MAX_FRAME_SIZE` of its `THeader`), in bytes.
pub const MAX_FRAME_SIZE: usize = 0x3FFF_FFFF;
