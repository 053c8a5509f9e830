//! Whatever can be said is understood: encode, then decode, in every framing.

use nebula_wire::message::{Call, write_call};
use nebula_wire::protocol::MessageType;
use nebula_wire::response::{self, ExecutionResponse, Latency, Response};
use nebula_wire::server::next_request;
use nebula_wire::value::{
    Coordinate, Date, DateTime, Duration, Edge, Geography, Path, Props, Step, Tag, Time, Vertex,
};
use nebula_wire::{DataSet, Framing, MAX_FRAME_SIZE, Protocol, Value, framing::next_frame};
use proptest::collection::vec;
use proptest::prelude::*;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..20)
}

fn date() -> impl Strategy<Value = Date> {
    any::<(i16, i8, i8)>().prop_map(|(year, month, day)| Date { year, month, day })
}

fn time() -> impl Strategy<Value = Time> {
    any::<(i8, i8, i8, i32)>().prop_map(|(hour, minute, sec, microsec)| Time {
        hour,
        minute,
        sec,
        microsec,
    })
}

fn coordinate() -> impl Strategy<Value = Coordinate> {
    (-180.0..180.0, -90.0..90.0).prop_map(|(x, y)| Coordinate { x, y })
}

fn geography() -> impl Strategy<Value = Geography> {
    prop_oneof![
        Just(Geography::Empty),
        coordinate().prop_map(Geography::Point),
        vec(coordinate(), 0..4).prop_map(Geography::LineString),
        vec(vec(coordinate(), 0..4), 0..3).prop_map(Geography::Polygon),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Empty),
        any::<i32>().prop_map(|kind| Value::Null(kind.into())),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        proptest::num::f64::NORMAL.prop_map(Value::Float),
        bytes().prop_map(Value::String),
        date().prop_map(Value::Date),
        time().prop_map(Value::Time),
        (date(), time()).prop_map(|(date, time)| Value::DateTime(DateTime { date, time })),
        geography().prop_map(|shape| Value::Geography(Box::new(shape))),
        any::<(i64, i32, i32)>().prop_map(|(seconds, microseconds, months)| {
            Value::Duration(Duration {
                seconds,
                microseconds,
                months,
            })
        }),
    ]
}

fn props(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Props> {
    vec((bytes(), value), 0..4)
}

fn vertex(value: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Vertex> {
    let tag = (bytes(), props(value.clone())).prop_map(|(name, props)| Tag { name, props });
    (value, vec(tag, 0..3)).prop_map(|(vid, tags)| Vertex { vid, tags })
}

fn edge(value: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Edge> {
    let head = (value.clone(), value.clone(), any::<i32>());
    let tail = (bytes(), any::<i64>(), props(value));
    (head, tail).prop_map(|((src, dst, etype), (name, ranking, props))| Edge {
        src,
        dst,
        etype,
        name,
        ranking,
        props,
    })
}

fn path(value: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Path> {
    let tail = (any::<i32>(), bytes(), any::<i64>(), props(value.clone()));
    let step = (vertex(value.clone()), tail);
    let step = step.prop_map(|(dst, (etype, name, ranking, props))| Step {
        dst,
        etype,
        name,
        ranking,
        props,
    });
    (vertex(value), vec(step, 0..3)).prop_map(|(src, steps)| Path { src, steps })
}

fn data_set(value: impl Strategy<Value = Value>) -> impl Strategy<Value = DataSet> {
    let rows = vec(vec(value, 0..4), 0..4);
    (vec(bytes(), 0..4), rows).prop_map(|(columns, rows)| DataSet { columns, rows })
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(2, 24, 4, |inner| {
        let inner = inner.boxed();
        prop_oneof![
            vertex(inner.clone()).prop_map(|v| Value::Vertex(Box::new(v))),
            edge(inner.clone()).prop_map(|e| Value::Edge(Box::new(e))),
            path(inner.clone()).prop_map(|p| Value::Path(Box::new(p))),
            vec(inner.clone(), 0..20).prop_map(Value::List),
            vec(inner.clone(), 0..4).prop_map(Value::Set),
            props(inner.clone()).prop_map(Value::Map),
            data_set(inner).prop_map(|d| Value::DataSet(Box::new(d))),
        ]
    })
}

fn framing() -> impl Strategy<Value = Framing> {
    let protocol = prop_oneof![Just(Protocol::Binary), Just(Protocol::Compact)];
    (0..3, protocol, any::<u32>(), any::<u16>()).prop_map(|(kind, protocol, seq, flags)| match kind
    {
        0 => Framing::Unframed(protocol),
        1 => Framing::Framed(protocol),
        _ => Framing::THeader {
            protocol,
            seq,
            flags,
        },
    })
}

fn latency() -> impl Strategy<Value = Latency> {
    prop_oneof![
        any::<i32>().prop_map(Latency::Narrow),
        any::<i64>().prop_map(Latency::Wide),
    ]
}

proptest! {
    #[test]
    fn statements_and_tables_survive_the_wire(
        framing in framing(),
        seq in any::<i32>(),
        (session, stmt) in (any::<i64>(), bytes()),
        params in proptest::option::of(props(value())),
        (code, latency) in (any::<i32>(), latency()),
        data in proptest::option::of(data_set(value())),
        texts in (proptest::option::of(bytes()), proptest::option::of(bytes())),
    ) {
        let method = Call::Execute { session, stmt: &stmt, with_parameter: true, params };
        let mut sent = Vec::new();
        write_call(&mut sent, framing, MessageType::Call, seq, &method).unwrap();
        let (request, consumed) = next_request(&sent, MAX_FRAME_SIZE).unwrap().unwrap();
        prop_assert_eq!(consumed, sent.len());
        prop_assert_eq!(&request.method, &method);
        prop_assert_eq!((request.seq, request.framing, request.oneway), (seq, framing, false));

        let execution = ExecutionResponse {
            error_code: code,
            latency,
            data,
            space_name: texts.0.as_deref(),
            error_msg: texts.1.as_deref(),
            plan: None,
            comment: None,
        };
        let mut reply = Vec::new();
        request.reply().execution(&mut reply, execution.clone()).unwrap();
        let frame = next_frame(&reply, MAX_FRAME_SIZE).unwrap().unwrap();
        prop_assert_eq!((frame.framing, frame.consumed), (framing, reply.len()));
        let (head, response) = response::decode(&frame).unwrap();
        prop_assert_eq!(head.seq, seq);
        prop_assert_eq!(response, Response::Execution(execution));
    }

    #[test]
    fn nothing_makes_a_decoder_panic(data in vec(any::<u8>(), 0..400)) {
        nebula_wire::fuzz::fuzz_one(&data);
    }
}
