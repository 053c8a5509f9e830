//! Hostile and broken bytes: errors, never panics, and no memory because a length field says so.

use nebula_wire::binary::{BinaryReader, BinaryWriter};
use nebula_wire::client::Reply;
use nebula_wire::compact::{CompactReader, CompactWriter};
use nebula_wire::framing::{Frame, next_frame};
use nebula_wire::protocol::{ReadProtocol, TType};
use nebula_wire::response::{ExecutionResponse, Latency};
use nebula_wire::server::{DEFAULT_MAX_REQUEST, next_request};
use nebula_wire::{
    DataSet, Framing, MAX_FRAME_SIZE, Protocol, Value, WireError, read_value, response, write_value,
};

use crate::support::{messages, values};

#[test]
fn a_prefix_of_a_message_asks_for_more() {
    for message in messages() {
        for len in 0..message.bytes.len() {
            let prefix = &message.bytes[..len];
            assert_eq!(
                next_frame(prefix, MAX_FRAME_SIZE),
                Ok(None),
                "{} at {len}",
                message.at
            );
            assert_eq!(
                next_request(prefix, DEFAULT_MAX_REQUEST),
                Ok(None),
                "{}",
                message.at
            );
        }
    }
}

#[test]
fn a_message_cut_inside_its_frame_is_an_error() {
    for message in messages() {
        let frame = next_frame(&message.bytes, MAX_FRAME_SIZE).unwrap().unwrap();
        for len in 0..frame.payload.len() {
            let cut = Frame {
                payload: &frame.payload[..len],
                ..frame
            };
            if message.from_client {
                let framed = framed(cut.payload);
                let result = next_request(&framed, DEFAULT_MAX_REQUEST);
                let is_error = matches!(result, Err(WireError::Malformed(_)));
                assert!(is_error, "{} at {len}: {result:?}", message.at);
            } else {
                let result = response::decode(&cut);
                assert_eq!(result, Err(WireError::Truncated), "{} at {len}", message.at);
            }
        }
    }
}

/// The payload behind a 4-byte length that fits it.
fn framed(payload: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(payload.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(payload);
    bytes
}

#[test]
fn every_byte_of_every_message_may_be_anything() {
    for message in messages() {
        let mut bytes = message.bytes.clone();
        for at in 0..bytes.len() {
            let good = bytes[at];
            for bad in [0, 0x7F, 0x80, 0xFF, good ^ 1, good.wrapping_add(1)] {
                bytes[at] = bad;
                nebula_wire::fuzz::fuzz_one(&bytes);
            }
            bytes[at] = good;
        }
    }
}

#[test]
fn messages_that_follow_each_other_are_told_apart() {
    let all: Vec<_> = messages().into_iter().filter(|m| m.from_client).collect();
    let stream: Vec<u8> = all.iter().flat_map(|m| m.bytes.clone()).collect();
    let mut rest = stream.as_slice();
    for message in &all {
        let (request, consumed) = next_request(rest, DEFAULT_MAX_REQUEST).unwrap().unwrap();
        let alone = next_request(&message.bytes, DEFAULT_MAX_REQUEST)
            .unwrap()
            .unwrap();
        assert_eq!(
            (&request, consumed),
            (&alone.0, message.bytes.len()),
            "{}",
            message.at
        );
        rest = &rest[consumed..];
    }
    assert!(rest.is_empty());
}

#[test]
fn values_cut_short_are_errors() {
    for (name, binary, compact) in values() {
        for len in 0..binary.len() {
            let result = read_value(&mut BinaryReader::new(&binary[..len]));
            assert_eq!(
                result,
                Err(WireError::Truncated),
                "{name} in binary at {len}"
            );
        }
        for len in 0..compact.len() {
            let result = read_value(&mut CompactReader::new(&compact[..len]));
            assert_eq!(
                result,
                Err(WireError::Truncated),
                "{name} in compact at {len}"
            );
        }
    }
}

/// `levels` lists around an integer.
fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Int(1), |value, _| Value::List(vec![value]))
}

#[test]
fn nesting_is_bounded() {
    // A list costs two levels, the value in it one: 15 lists and an integer make 31.
    for (levels, ok) in [(1, true), (15, true), (16, false), (200, false)] {
        let (mut binary, mut compact) = (Vec::new(), Vec::new());
        write_value(&mut BinaryWriter::new(&mut binary), &nested(levels));
        write_value(&mut CompactWriter::new(&mut compact), &nested(levels));
        for result in [
            read_value(&mut BinaryReader::new(&binary)),
            read_value(&mut CompactReader::new(&compact)),
        ] {
            let want = if ok {
                Ok(nested(levels))
            } else {
                Err(WireError::TooDeep)
            };
            assert_eq!(result, want, "{levels} levels");
        }
    }
    // Skipped lists of lists have no structs between them.
    let lists = [0x0F, 0, 0, 0, 1].repeat(100_000);
    let result = BinaryReader::new(&lists).skip(TType::List);
    assert_eq!(result, Err(WireError::TooDeep));
}

#[test]
fn scanning_and_decoding_agree_on_depth() {
    // Result, response, table, row and cell are five levels; every list adds two.
    for (levels, ok) in [(13, true), (14, false)] {
        let mut data = DataSet::with_columns(["nested"]);
        data.rows.push(vec![nested(levels)]);
        let response = ExecutionResponse::ok(Latency::Wide(1), b"", Some(data));
        let call = framed(b"\x80\x01\x00\x01\0\0\0\x07execute\0\0\0\0\0");
        let (request, _) = next_request(&call, DEFAULT_MAX_REQUEST).unwrap().unwrap();
        let mut out = Vec::new();
        request.reply().execution(&mut out, response).unwrap();
        let frame = next_frame(&out, MAX_FRAME_SIZE).unwrap().unwrap();
        assert_eq!(
            response::decode(&frame).is_ok(),
            ok,
            "decoding {levels} levels"
        );
        let scanned = Reply::parse(frame.payload, std::time::Instant::now());
        assert_eq!(scanned.is_ok(), ok, "scanning {levels} levels");
    }
}

#[test]
fn counts_are_bounded_by_what_is_there() {
    for (what, bytes) in [
        ("rows", b"\x0f\x00\x02\x0c\x7f\xff\xff\xff".as_slice()),
        ("map", b"\x0d\x00\x01\x0b\x0c\x7f\xff\xff\xff"),
        ("text", b"\x0b\x00\x05\x7f\xff\xff\xff"),
    ] {
        let result = BinaryReader::new(bytes).skip(TType::Struct);
        assert_eq!(result, Err(WireError::Truncated), "{what}");
    }
    let negative = BinaryReader::new(b"\x0b\x00\x05\xff\xff\xff\xff").skip(TType::Struct);
    assert!(matches!(negative, Err(WireError::Malformed(_))));
    let long = CompactReader::new(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").i64();
    assert!(matches!(long, Err(WireError::Malformed(_))));
}

#[test]
fn strangers_and_oversized_frames_are_refused() {
    for (what, bytes) in [
        ("http", b"GET / HTTP/1.1\r\n".as_slice()),
        ("http2", b"PRI * HTTP/2.0\r\n"),
        ("tls", b"\x16\x03\x01\x02\x00\x01\x00"),
        ("big frame", b"BIGF\x00\x00\x00\x01"),
        ("empty frame", b"\x00\x00\x00\x00\x80\x01\x00\x01"),
        ("something else", b"\x00\x00\x00\x10whatever it is"),
        (
            "compressed",
            b"\0\0\0\x0e\x0f\xff\0\0\0\0\0\0\0\x01\x02\x01\x01\0\x82\x22\0\0",
        ),
    ] {
        let result = next_frame(bytes, MAX_FRAME_SIZE);
        assert!(
            matches!(result, Err(WireError::Malformed(_))),
            "{what}: {result:?}"
        );
    }
    let framed = b"\x00\x10\x00\x00\x80\x01\x00\x01";
    let too_large = WireError::TooLarge {
        len: 0x10_0000,
        max: 0xF_FFFF,
    };
    assert_eq!(next_frame(framed, 0xF_FFFF), Err(too_large));
    assert_eq!(next_frame(framed, 0x10_0000), Ok(None));
    // Unframed, the limit is on what has arrived.
    let mut unframed =
        b"\x80\x01\x00\x01\x00\x00\x00\x07execute\0\0\0\0\x0b\0\x02\x7f\0\0\0".to_vec();
    assert_eq!(next_frame(&unframed, 100), Ok(None));
    unframed.resize(101, b'x');
    assert_eq!(
        next_frame(&unframed, 100),
        Err(WireError::TooLarge { len: 101, max: 100 })
    );
}

#[test]
fn a_frame_of_the_other_encoding_is_recognised() {
    let compact = framed(b"\x82\x22\x00\x07execute\x00");
    let frame = next_frame(&compact, MAX_FRAME_SIZE).unwrap().unwrap();
    assert_eq!(frame.framing, Framing::Framed(Protocol::Compact));
    let unframed = next_frame(&compact[4..], MAX_FRAME_SIZE).unwrap().unwrap();
    assert_eq!(unframed.framing, Framing::Unframed(Protocol::Compact));
}
