//! The daemons' own RPC: length-prefixed binary frames, many requests in flight on one connection.
//!
//! Frame: `u32 length · u32 request number · u8 operation or status · body`, little-endian; `length` counts what
//! follows it. Replies carry the request's number and come back in the order of the requests of a connection.
//! Nobody but the sandbox speaks this; it stands in for the thrift services between the real daemons.

mod client;
mod server;
pub mod wire;

pub use client::{CallError, Client, Pool};
pub use server::{Service, listen, serve};

/// Status of a reply: the body is the answer.
pub const OK: u8 = 0;
/// Status of a reply: the body is an `i32` code and a text.
pub const FAILED: u8 = 1;

/// Bytes of a frame before the body.
const HEAD: usize = 9;
/// Bytes of the largest frame taken.
const MAX_FRAME: usize = 256 << 20;

/// Appends a frame to `out`.
fn put_frame(out: &mut Vec<u8>, number: u32, kind: u8, body: &[u8]) {
    let length = u32::try_from(body.len() + HEAD - 4).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&number.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(body);
}

/// Head of the frame at the start of `buffer`: (whole length, number, kind); `None` while incomplete.
fn frame_head(buffer: &[u8]) -> Option<(usize, u32, u8)> {
    let (length, rest) = buffer.split_first_chunk::<4>()?;
    let (number, rest) = rest.split_first_chunk::<4>()?;
    let kind = *rest.first()?;
    let whole = u32::from_le_bytes(*length) as usize + 4;
    Some((whole, u32::from_le_bytes(*number), kind))
}
