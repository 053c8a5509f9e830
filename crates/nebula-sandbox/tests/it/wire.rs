//! What goes over graphd's socket, byte framing by byte framing and line by line (wire.md 1 and 2).

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use nebula_wire::{
    Framing, Protocol, Value,
    framing::next_frame,
    message::{Call, write_call},
    protocol::MessageType,
    response::{self, ExecutionResponse, Latency, Response},
};

use crate::support::{Cluster, is_open, wait};

const LINES: [&str; 3] = ["2.0.1", "2.6.2", "3.8.0"];

const fn theader(protocol: Protocol) -> Framing {
    Framing::THeader {
        protocol,
        seq: 77,
        flags: 0,
    }
}

const FRAMINGS: [Framing; 6] = [
    Framing::Unframed(Protocol::Binary),
    Framing::Unframed(Protocol::Compact),
    Framing::Framed(Protocol::Binary),
    Framing::Framed(Protocol::Compact),
    theader(Protocol::Binary),
    theader(Protocol::Compact),
];

/// A metad and a graphd: nothing here needs storage.
fn cluster(line: &'static str) -> Cluster {
    let mut cluster = Cluster::plan(line, 1, 0);
    cluster.metads[0].start();
    wait("metad", || is_open(cluster.metads[0].port));
    cluster.graphd.start();
    wait("graphd", || is_open(cluster.graphd.port));
    cluster
}

/// A socket and what came out of it so far.
struct Socket {
    stream: TcpStream,
    received: Vec<u8>,
    framing: Framing,
}

/// A reply without its borrowed parts.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Session(i64),
    Refused(i32),
    /// Code, latency is 64 bits wide, first cell.
    Execution(i32, bool, Option<Value>),
    Json(String),
    Version(i32),
    Exception(i32),
}

impl Socket {
    fn open(cluster: &Cluster, framing: Framing) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", cluster.graphd.port)).expect("connect");
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .expect("time limit");
        Self {
            stream,
            received: Vec::new(),
            framing,
        }
    }

    fn bytes(&self, kind: MessageType, seq: i32, call: &Call<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        write_call(&mut out, self.framing, kind, seq, call).expect("encodes");
        out
    }

    fn send(&mut self, kind: MessageType, seq: i32, call: &Call<'_>) {
        let bytes = self.bytes(kind, seq, call);
        self.stream.write_all(&bytes).expect("send");
    }

    /// The next reply: name, sequence number, content. Its framing must be that of the requests.
    fn receive(&mut self) -> (String, i32, Seen) {
        loop {
            if let Some(frame) = next_frame(&self.received, 1 << 20).expect("a frame") {
                assert_eq!(frame.framing, self.framing);
                let (head, answer) = response::decode(&frame).expect("decodes");
                let seen = (
                    String::from_utf8_lossy(head.name).into_owned(),
                    head.seq,
                    seen(answer),
                );
                let consumed = frame.consumed;
                self.received.drain(..consumed);
                return seen;
            }
            let mut chunk = [0; 4096];
            let count = self.stream.read(&mut chunk).expect("a reply in time");
            assert!(count > 0, "hung up");
            self.received.extend_from_slice(&chunk[..count]);
        }
    }

    fn ask(&mut self, call: &Call<'_>) -> Seen {
        self.send(MessageType::Call, 5, call);
        let (name, seq, seen) = self.receive();
        assert_eq!((name.as_bytes(), seq), (call.name(), 5));
        seen
    }

    fn sign_in(&mut self) -> i64 {
        let call = Call::Authenticate {
            user: b"root",
            password: b"nebula",
        };
        match self.ask(&call) {
            Seen::Session(id) => id,
            other => panic!("{other:?}"),
        }
    }
}

fn seen(response: Response<'_>) -> Seen {
    match response {
        Response::Auth(auth) => auth
            .session_id
            .map_or(Seen::Refused(auth.error_code), Seen::Session),
        Response::Execution(ExecutionResponse {
            error_code,
            latency,
            data,
            ..
        }) => {
            let cell = data.and_then(|data| Some(data.rows.first()?.first()?.clone()));
            Seen::Execution(error_code, matches!(latency, Latency::Wide(_)), cell)
        }
        Response::Json(text) => Seen::Json(String::from_utf8_lossy(text).into_owned()),
        Response::Verify(verify) => Seen::Version(verify.error_code),
        Response::Exception(exception) => Seen::Exception(exception.kind),
    }
}

const fn execute(session: i64, stmt: &[u8]) -> Call<'_> {
    Call::Execute {
        session,
        stmt,
        with_parameter: false,
        params: None,
    }
}

const fn json(session: i64, stmt: &[u8]) -> Call<'_> {
    Call::ExecuteJson {
        session,
        stmt,
        with_parameter: false,
        params: None,
    }
}

const UNKNOWN_METHOD: i32 = 1;

#[test]
fn every_framing_on_every_line() {
    for line in LINES {
        let cluster = cluster(line);
        let wide = line.starts_with('3');
        let code = |old, new| if line == "2.0.1" { old } else { new };
        for framing in FRAMINGS {
            let mut socket = Socket::open(&cluster, framing);
            let session = socket.sign_in();
            let cases: [(i64, &[u8], i32, Option<Value>); 5] = [
                (session, b"YIELD 7", 0, Some(Value::Int(7))),
                (0, b"YIELD 1", code(-5, -1002), None),
                (session, b"nonsense", code(-7, -1004), None),
                (session, b"", code(-9, -1006), None),
                (session, b"USE nowhere", code(-8, -1005), None),
            ];
            for (session, stmt, code, cell) in cases {
                let answer = socket.ask(&execute(session, stmt));
                let text = String::from_utf8_lossy(stmt).into_owned();
                assert_eq!(
                    answer,
                    Seen::Execution(code, wide, cell),
                    "{line} {framing:?} {text}"
                );
            }
            methods(&mut socket, session, line);
            signing_out(&mut socket, session, code(-5, -1002), wide);
        }
        in_order(&cluster);
    }
}

/// Which methods a line has.
fn methods(socket: &mut Socket, session: i64, line: &str) {
    let missing = Seen::Exception(UNKNOWN_METHOD);
    let version = socket.ask(&Call::VerifyClientVersion { version: b"2.6.0" });
    let with_parameter = socket.ask(&Call::Execute {
        session,
        stmt: b"YIELD 7",
        with_parameter: true,
        params: None,
    });
    let as_json = socket.ask(&json(session, b"YIELD 7 AS x"));
    if line == "2.0.1" {
        assert_eq!((version, as_json), (missing.clone(), missing));
    } else {
        let accepted = if line == "2.6.2" { 0 } else { -3061 };
        assert_eq!(version, Seen::Version(accepted), "{line}");
        let Seen::Json(text) = as_json else {
            panic!("{as_json:?}")
        };
        assert!(text.contains("\"row\":[7]"), "{line}: {text}");
    }
    if line == "3.8.0" {
        assert_eq!(
            with_parameter,
            Seen::Execution(0, true, Some(Value::Int(7)))
        );
    } else {
        assert_eq!(with_parameter, Seen::Exception(UNKNOWN_METHOD), "{line}");
    }
    let unknown = socket.ask(&Call::Unknown { name: b"dance" });
    assert_eq!(unknown, Seen::Exception(UNKNOWN_METHOD));
}

/// Never answered, sent as a call (Python) or as oneway (Go); what comes next is the answer to the next request.
fn signing_out(socket: &mut Socket, session: i64, gone: i32, wide: bool) {
    let second = socket.sign_in();
    socket.send(MessageType::Call, 8, &Call::Signout { session });
    socket.send(MessageType::Oneway, 9, &Call::Signout { session: second });
    for session in [session, second] {
        let answer = socket.ask(&execute(session, b"YIELD 1"));
        assert_eq!(answer, Seen::Execution(gone, wide, None));
    }
}

/// Requests in one piece and byte by byte; replies in the order of arrival, each with its own number.
fn in_order(cluster: &Cluster) {
    for framing in FRAMINGS {
        let mut socket = Socket::open(cluster, framing);
        let session = socket.sign_in();
        let statements: Vec<String> = (0..30).map(|n| format!("YIELD {n}")).collect();
        let mut all = Vec::new();
        for (n, statement) in (0..).zip(&statements) {
            // Numbers that go down: order is that of arrival.
            let call = execute(session, statement.as_bytes());
            all.extend(socket.bytes(MessageType::Call, 1000 - n, &call));
        }
        let (whole, pieces) = all.split_at(all.len() / 2);
        socket.stream.write_all(whole).expect("send");
        socket.stream.set_nodelay(true).expect("nodelay");
        for byte in pieces.chunks(7) {
            socket.stream.write_all(byte).expect("send");
        }
        for n in 0..30 {
            let (_, seq, seen) = socket.receive();
            let Seen::Execution(0, _, Some(Value::Int(value))) = seen else {
                panic!("{framing:?}: {seen:?}")
            };
            assert_eq!((seq, value), (1000 - n, i64::from(n)), "{framing:?}");
        }
    }
}

#[test]
fn json_has_the_shape_clients_know() {
    let cluster = cluster("3.8.0");
    let mut socket = Socket::open(&cluster, theader(Protocol::Compact));
    let session = socket.sign_in();
    let mut ask = |statement: &str| match socket.ask(&json(session, statement.as_bytes())) {
        Seen::Json(text) => serde_json::from_str::<serde_json::Value>(&text).expect("JSON"),
        other => panic!("{other:?}"),
    };
    let statement = "YIELD 1 AS a, \"x\" AS b, datetime(\"2020-01-02T03:04:05.678\") AS c, null AS d, [1, 2] AS e";
    let answer = ask(statement);
    assert_eq!(answer["errors"], serde_json::json!([{ "code": 0 }]));
    let result = &answer["results"][0];
    assert!(
        result["latencyInUs"].is_i64() && result["spaceName"] == "",
        "{answer}"
    );
    assert_eq!(
        result["columns"],
        serde_json::json!(["a", "b", "c", "d", "e"])
    );
    assert_eq!(
        result["data"],
        serde_json::json!([{
            "row": [1, "x", "2020-01-02T03:04:05.678000Z", null, [1, 2]],
            "meta": [null, null, { "type": "datetime" }, null, [null, null]],
        }])
    );
    let answer = ask("nonsense");
    assert_eq!(answer["errors"][0]["code"], -1004);
    assert!(
        answer["errors"][0]["message"]
            .as_str()
            .is_some_and(|text| text.contains("SyntaxError"))
    );
    assert!(answer["results"][0].get("data").is_none(), "{answer}");
}
