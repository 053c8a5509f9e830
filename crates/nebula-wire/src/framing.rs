//! Where a message begins and ends on a connection.
//!
//! graphd accepts three framings on one port and answers in the framing of the request. Which one a
//! client uses shows in its first bytes: a strict binary or compact message head (unframed), a length
//! followed by such a head (framed), or a length followed by `0FFF` (`THeader`).

use crate::binary::{self, BinaryReader};
use crate::compact::{self, CompactReader, take_varint};
use crate::protocol::{ReadProtocol, TType};
use crate::{MAX_FRAME_SIZE, WireError};

const THEADER_MAGIC: u16 = 0x0FFF;
/// Marks fbthrift's frames above [`MAX_FRAME_SIZE`], which no NebulaGraph peer enables.
const BIG_FRAME: &[u8] = b"BIGF";
/// Bytes of a `THeader` frame before its header words: magic, flags, sequence number, header size.
const THEADER_FIXED: usize = 10;

/// Encoding of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Strict binary.
    Binary,
    /// fbthrift's compact, version 2.
    Compact,
}

/// How a message is delimited, with what a reply must echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// The message alone; its end is found by reading it.
    Unframed(Protocol),
    /// 4-byte length, then the message.
    Framed(Protocol),
    /// fbthrift's header transport.
    THeader {
        /// Encoding of the payload.
        protocol: Protocol,
        /// Sequence number of the frame; nothing to do with the message's own.
        seq: u32,
        /// Flags; 0x01 asks for replies out of order.
        flags: u16,
    },
}

impl Framing {
    /// Encoding of the messages.
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::Unframed(protocol) | Self::Framed(protocol) | Self::THeader { protocol, .. } => {
                protocol
            }
        }
    }

    /// Appends what precedes the message. [`Self::finish`] must follow once it is written.
    pub(crate) fn begin(self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        match self {
            Self::Unframed(_) => {}
            Self::Framed(_) => out.extend_from_slice(&[0; 4]),
            Self::THeader {
                protocol,
                seq,
                flags,
            } => {
                out.extend_from_slice(&[0; 4]);
                out.extend_from_slice(&THEADER_MAGIC.to_be_bytes());
                out.extend_from_slice(&flags.to_be_bytes());
                out.extend_from_slice(&seq.to_be_bytes());
                // One header word: protocol id, no transforms, padding.
                out.extend_from_slice(&[0, 1, protocol_id(protocol), 0, 0, 0]);
            }
        }
        start
    }

    /// Fills in the length of the frame begun at `start`. A frame that is too large is taken back.
    pub(crate) fn finish(self, out: &mut Vec<u8>, start: usize) -> Result<(), WireError> {
        let prefix = if matches!(self, Self::Unframed(_)) {
            0
        } else {
            4
        };
        let len = out.len().saturating_sub(start + prefix);
        let Some(word) = u32::try_from(len).ok().filter(|_| len <= MAX_FRAME_SIZE) else {
            out.truncate(start);
            return Err(WireError::TooLarge {
                len,
                max: MAX_FRAME_SIZE,
            });
        };
        if let Some(length) = out.get_mut(start..start + prefix).filter(|l| !l.is_empty()) {
            length.copy_from_slice(&word.to_be_bytes());
        }
        Ok(())
    }
}

const fn protocol_id(protocol: Protocol) -> u8 {
    match protocol {
        Protocol::Binary => 0,
        Protocol::Compact => 2,
    }
}

/// One message on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// How it was delimited.
    pub framing: Framing,
    /// The message.
    pub payload: &'a [u8],
    /// Bytes it takes on the connection, framing included.
    pub consumed: usize,
}

/// Finds the next message at the front of `buf`.
///
/// `None` asks for more bytes. `max` bounds a frame in bytes, whatever its length field says.
pub fn next_frame(buf: &[u8], max: usize) -> Result<Option<Frame<'_>>, WireError> {
    let Some((first, rest)) = word(buf) else {
        return Ok(None);
    };
    if let Some(protocol) = message_start(first) {
        return unframed(buf, protocol, max);
    }
    refuse_strangers(buf)?;
    let len = first as usize;
    if len > max {
        return Err(WireError::TooLarge { len, max });
    }
    if len < 4 {
        return Err(WireError::Malformed("frame shorter than a message head"));
    }
    let Some((second, _)) = word(rest) else {
        return Ok(None);
    };
    let theader = second >> 16 == u32::from(THEADER_MAGIC);
    let protocol = message_start(second);
    if !theader && protocol.is_none() {
        return Err(WireError::Malformed(
            "neither thrift nor THeader in the frame",
        ));
    }
    let Some(body) = rest.get(..len) else {
        return Ok(None);
    };
    let (framing, payload) = match protocol {
        Some(protocol) => (Framing::Framed(protocol), body),
        None => open_theader(body)?,
    };
    Ok(Some(Frame {
        framing,
        payload,
        consumed: len + 4,
    }))
}

fn word(buf: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = buf.split_first_chunk()?;
    Some((u32::from_be_bytes(*word), rest))
}

/// The encoding whose message begins with this word.
const fn message_start(word: u32) -> Option<Protocol> {
    if word & 0xFFFF_0000 == binary::VERSION {
        return Some(Protocol::Binary);
    }
    if word.to_be_bytes()[0] == compact::MAGIC {
        return Some(Protocol::Compact);
    }
    None
}

/// Names the peers that a wrong port brings, instead of taking their text for a length.
fn refuse_strangers(buf: &[u8]) -> Result<(), WireError> {
    let http = [b"GET ", b"POST", b"HEAD", b"PRI ", b"HTTP"];
    if http.iter().any(|verb| buf.starts_with(*verb)) {
        return Err(WireError::Malformed("HTTP on the graph port"));
    }
    if buf.starts_with(&[0x16, 0x03]) {
        return Err(WireError::Malformed("TLS on a plain port"));
    }
    if buf.starts_with(BIG_FRAME) {
        return Err(WireError::Malformed("frames above 1 GiB are not supported"));
    }
    Ok(())
}

fn unframed(buf: &[u8], protocol: Protocol, max: usize) -> Result<Option<Frame<'_>>, WireError> {
    let rest = match protocol {
        Protocol::Binary => end_of_message(BinaryReader::new(buf)),
        Protocol::Compact => end_of_message(CompactReader::new(buf)),
    };
    let rest = match rest {
        Ok(rest) => rest,
        Err(WireError::Truncated) if buf.len() <= max => return Ok(None),
        Err(WireError::Truncated) => {
            return Err(WireError::TooLarge {
                len: buf.len(),
                max,
            });
        }
        Err(other) => return Err(other),
    };
    let consumed = buf.len() - rest.len();
    Ok(Some(Frame {
        framing: Framing::Unframed(protocol),
        payload: &buf[..consumed],
        consumed,
    }))
}

/// Strings are skipped by their length, so this costs the number of fields, not of bytes.
fn end_of_message<'a, R: ReadProtocol<'a>>(mut r: R) -> Result<&'a [u8], WireError> {
    r.message()?;
    r.skip(TType::Struct)?;
    Ok(r.rest())
}

fn open_theader(body: &[u8]) -> Result<(Framing, &[u8]), WireError> {
    let (fixed, rest) = body
        .split_first_chunk::<THEADER_FIXED>()
        .ok_or(WireError::Malformed("THeader shorter than its head"))?;
    let [_, _, f1, f0, s3, s2, s1, s0, w1, w0] = *fixed;
    let words = usize::from(u16::from_be_bytes([w1, w0]));
    let (header, payload) = rest
        .split_at_checked(words * 4)
        .ok_or(WireError::Malformed("THeader words exceed the frame"))?;
    let protocol = header_protocol(header)?;
    let framing = Framing::THeader {
        protocol,
        seq: u32::from_be_bytes([s3, s2, s1, s0]),
        flags: u16::from_be_bytes([f1, f0]),
    };
    Ok((framing, payload))
}

/// Protocol id of a header. Info blocks (client metadata) follow and are not needed.
fn header_protocol(mut header: &[u8]) -> Result<Protocol, WireError> {
    let incomplete = |_| WireError::Malformed("THeader words are incomplete");
    let id = take_varint(&mut header).map_err(incomplete)?;
    if take_varint(&mut header).map_err(incomplete)? != 0 {
        return Err(WireError::Malformed(
            "compressed THeader payload is not supported",
        ));
    }
    match id {
        0 => Ok(Protocol::Binary),
        2 => Ok(Protocol::Compact),
        _ => Err(WireError::Malformed(
            "THeader protocol is neither binary nor compact",
        )),
    }
}
