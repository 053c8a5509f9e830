//! What a fuzzer calls: everything that reads bytes from a peer, on the same input; and a small fuzzer for this and
//! other targets.

mod campaign;
mod random;

pub use campaign::{Campaign, Tally};
pub use random::Random;

use std::time::Instant;

use crate::binary::{BinaryReader, BinaryWriter};
use crate::client::scan;
use crate::compact::{CompactReader, CompactWriter};
use crate::framing::next_frame;
use crate::message::write_call;
use crate::protocol::MessageType;
use crate::server::next_request;
use crate::{Value, WireError, read_value, response, write_value};

/// Longest frame accepted here, in bytes.
const MAX: usize = 1 << 20;

/// Decodes `data` as a request, as a reply and as a value, and checks that what decodes also
/// encodes, to bytes that decode to the same. Returns how many decoders accepted it.
///
/// # Panics
/// When a decoder accepts something it cannot reproduce.
pub fn fuzz_one(data: &[u8]) -> usize {
    let accepted = [
        as_request(data),
        as_reply(data),
        scan(data, Instant::now()).is_ok(),
        as_value(read_value(&mut BinaryReader::new(data))),
        as_value(read_value(&mut CompactReader::new(data))),
    ];
    accepted.into_iter().filter(|accepted| *accepted).count()
}

fn as_request(data: &[u8]) -> bool {
    let Ok(Some((request, consumed))) = next_request(data, MAX) else {
        return false;
    };
    assert!(consumed <= data.len(), "consumed more than there is");
    let mut out = Vec::new();
    let (framing, kind) = (request.framing, MessageType::Call);
    let written = write_call(&mut out, framing, kind, request.seq, &request.method);
    assert!(written.is_ok(), "a decoded request does not encode");
    let again = next_request(&out, 2 * MAX);
    let whole = matches!(again, Ok(Some((_, n))) if n == out.len());
    assert!(whole, "an encoded request does not decode: {request:?}");
    true
}

fn as_reply(data: &[u8]) -> bool {
    let Ok(Some(frame)) = next_frame(data, MAX) else {
        return false;
    };
    response::decode(&frame).is_ok()
}

fn as_value(read: Result<Value, WireError>) -> bool {
    let Ok(value) = read else {
        return false;
    };
    let (binary, compact) = (to_binary(&value), to_compact(&value));
    let again = read_value(&mut BinaryReader::new(&binary)).map(|value| to_binary(&value));
    assert_eq!(again, Ok(binary), "binary does not reproduce {value:?}");
    let again = read_value(&mut CompactReader::new(&compact)).map(|value| to_compact(&value));
    assert_eq!(again, Ok(compact), "compact does not reproduce {value:?}");
    true
}

fn to_binary(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(&mut BinaryWriter::new(&mut out), value);
    out
}

fn to_compact(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(&mut CompactWriter::new(&mut out), value);
    out
}
