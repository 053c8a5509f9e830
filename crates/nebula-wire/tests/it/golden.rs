//! Recorded conversations of official clients: everything decodes, and encodes to the same bytes.

use std::collections::HashMap;

use crate::support;
use nebula_wire::binary::{BinaryReader, BinaryWriter};
use nebula_wire::compact::{CompactReader, CompactWriter};
use nebula_wire::framing::next_frame;
use nebula_wire::message::{Call, write_call};
use nebula_wire::protocol::{MessageType, ReadProtocol};
use nebula_wire::server::{self, DEFAULT_MAX_REQUEST};
use nebula_wire::value::{Date, Geography};
use nebula_wire::{Framing, MAX_FRAME_SIZE, Value, read_value, response, write_value};

#[test]
fn requests_encode_to_the_bytes_they_came_from() {
    let mut compared = 0;
    for message in support::messages().iter().filter(|m| m.from_client) {
        let (request, consumed) = server::next_request(&message.bytes, DEFAULT_MAX_REQUEST)
            .unwrap_or_else(|error| panic!("{}: {error}", message.at))
            .unwrap_or_else(|| panic!("{}: incomplete", message.at));
        assert_eq!(consumed, message.bytes.len(), "{}", message.at);
        assert!(
            !matches!(request.method, Call::Unknown { .. }),
            "{}",
            message.at
        );
        let mut out = Vec::new();
        let kind = kind_of(&message.bytes);
        write_call(
            &mut out,
            request.framing,
            kind,
            request.seq,
            &request.method,
        )
        .unwrap();
        assert_eq!(payload(&out), payload(&message.bytes), "{}", message.at);
        compared += 1;
    }
    assert!(compared > 200, "only {compared} requests in the recordings");
}

#[test]
fn replies_encode_to_the_bytes_they_came_from() {
    let mut waiting: HashMap<(String, u32), Vec<u8>> = HashMap::new();
    let mut compared = 0;
    for message in support::messages() {
        let file = message.at.split(':').next().unwrap().to_owned();
        let key = (file, message.connection);
        if message.from_client {
            waiting.insert(key, message.bytes);
            continue;
        }
        let request = waiting.remove(&key).expect("a reply follows its request");
        let (request, _) = server::next_request(&request, DEFAULT_MAX_REQUEST)
            .unwrap()
            .unwrap();
        assert!(!request.oneway, "{}: signout was answered", message.at);
        let frame = next_frame(&message.bytes, MAX_FRAME_SIZE).unwrap().unwrap();
        let (_, response) =
            response::decode(&frame).unwrap_or_else(|error| panic!("{}: {error}", message.at));
        let mut out = Vec::new();
        request.reply().encode(&mut out, &response).unwrap();
        assert_eq!(out, message.bytes, "{}: {response:?}", message.at);
        compared += 1;
    }
    assert!(compared > 200, "only {compared} replies in the recordings");
}

/// nebula-go puts metadata into the first header of a connection; a server ignores it, so only the
/// message after the header is compared.
fn payload(message: &[u8]) -> &[u8] {
    let frame = next_frame(message, MAX_FRAME_SIZE).unwrap().unwrap();
    match frame.framing {
        Framing::THeader { .. } => frame.payload,
        _ => message,
    }
}

/// Message type as sent: Python sends signout as a call, nebula-go as oneway.
fn kind_of(message: &[u8]) -> MessageType {
    let frame = next_frame(message, MAX_FRAME_SIZE).unwrap().unwrap();
    let mut binary = BinaryReader::new(frame.payload);
    let head = binary
        .message()
        .or_else(|_| CompactReader::new(frame.payload).message());
    head.unwrap().kind
}

#[test]
fn every_value_reads_and_writes_in_both_encodings() {
    let values = support::values();
    assert!(values.len() >= 24, "values.tsv has {} lines", values.len());
    for (name, binary, compact) in values {
        let value = read_value(&mut BinaryReader::new(&binary)).unwrap();
        assert_eq!(
            value,
            read_value(&mut CompactReader::new(&compact)).unwrap(),
            "{name}"
        );
        let (mut b, mut c) = (Vec::new(), Vec::new());
        write_value(&mut BinaryWriter::new(&mut b), &value);
        write_value(&mut CompactWriter::new(&mut c), &value);
        assert_eq!(b, binary, "{name} in binary: {value:?}");
        assert_eq!(c, compact, "{name} in compact: {value:?}");
    }
}

#[test]
fn values_mean_what_their_name_says() {
    let date = Date {
        year: 2021,
        month: 9,
        day: 17,
    };
    for (name, want) in [
        ("empty", Value::Empty),
        ("null", Value::NULL),
        ("true", Value::Bool(true)),
        ("int", Value::Int(-42)),
        ("float", Value::Float(3.25)),
        ("str", Value::from("héllo")),
        ("date", Value::Date(date)),
        ("emptylist", Value::List(Vec::new())),
        ("set", Value::Set(vec![Value::Int(1)])),
    ] {
        let (_, binary, _) = support::values().into_iter().find(|v| v.0 == name).unwrap();
        assert_eq!(
            read_value(&mut BinaryReader::new(&binary)).unwrap(),
            want,
            "{name}"
        );
    }
    let (_, polygon, _) = support::values().into_iter().find(|v| v.0 == "pg").unwrap();
    match read_value(&mut BinaryReader::new(&polygon)).unwrap() {
        Value::Geography(shape) => assert!(matches!(*shape, Geography::Polygon(_))),
        other => panic!("pg reads as {other:?}"),
    }
}
