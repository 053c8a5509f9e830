//! A server on a real socket, made of the crate's server side: behaves like a release line and obeys
//! the statement it gets.

use nebula_wire::response::{AuthResponse, ExecutionResponse, Latency, VerifyResponse};
use nebula_wire::server::{Reply, Request, next_request};
use nebula_wire::{DataSet, Framing, Line, MAX_FRAME_SIZE, Value, message::Call};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How the server behaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fake {
    pub(crate) line: Line,
    /// Versions that `verifyClientVersion` welcomes.
    pub(crate) welcome: &'static [&'static str],
    /// Whether it hangs up on everything but `THeader`.
    pub(crate) theader_only: bool,
}

impl Fake {
    pub(crate) fn of(line: Line) -> Self {
        let welcome: &[&str] = match line {
            Line::V3 => &["3.0.0"],
            _ => &["2.5.0", "2.5.1", "2.6.0"],
        };
        Self {
            line,
            welcome,
            theader_only: false,
        }
    }

    /// Listens on a free port; returns its address.
    pub(crate) async fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(self.serve(stream));
            }
        });
        addr
    }

    async fn serve(self, mut stream: TcpStream) {
        let (mut received, mut replies) = (Vec::new(), Vec::new());
        loop {
            while let Some((request, consumed)) = next_request(&received, MAX_FRAME_SIZE).unwrap() {
                if self.theader_only && !matches!(request.framing, Framing::THeader { .. }) {
                    return;
                }
                let go_on = self.answer(&request, &mut replies);
                stream.write_all(&replies).await.unwrap();
                if !go_on {
                    return;
                }
                replies.clear();
                received.drain(..consumed);
            }
            if stream.read_buf(&mut received).await.unwrap_or(0) == 0 {
                return;
            }
        }
    }

    fn answer(self, request: &Request<'_>, out: &mut Vec<u8>) -> bool {
        let reply = request.reply();
        match &request.method {
            Call::VerifyClientVersion { version } if self.line.verifies_clients() => {
                let welcome = self.welcome.iter().any(|w| w.as_bytes() == *version);
                let error_code = if welcome { 0 } else { -3061 };
                let error_msg = None;
                reply
                    .verify(
                        out,
                        VerifyResponse {
                            error_code,
                            error_msg,
                        },
                    )
                    .unwrap();
            }
            Call::Authenticate { password, .. } => {
                reply.auth(out, self.auth(*password == b"nebula")).unwrap();
            }
            Call::Execute { stmt, .. } => {
                return self.execute(reply, &String::from_utf8_lossy(stmt), out);
            }
            Call::Signout { .. } => assert!(request.oneway),
            _ => reply.unknown_method(out).unwrap(),
        }
        true
    }

    fn auth(self, good: bool) -> AuthResponse<'static> {
        if !good {
            return AuthResponse {
                error_code: if self.line == Line::V2_0 { -4 } else { -1001 },
                error_msg: Some(b"Bad username/password"),
                ..AuthResponse::default()
            };
        }
        AuthResponse {
            session_id: Some(7),
            time_zone_offset_secs: self.line.has_time_zone().then_some(0),
            time_zone_name: self.line.has_time_zone().then_some(b"UTC"),
            ..AuthResponse::default()
        }
    }

    /// Obeys the statement; false hangs up.
    fn execute(self, reply: Reply<'_>, stmt: &str, out: &mut Vec<u8>) -> bool {
        let latency = Latency::on(self.line, 123);
        let (verb, arg) = stmt.split_once(' ').unwrap_or((stmt, ""));
        let number = || arg.parse::<i64>().unwrap();
        let ok = |data| ExecutionResponse::ok(latency, b"snb", data);
        let response = match verb {
            "rows" => ok(Some(table(number()))),
            "length" => ok(Some(one(i64::try_from(stmt.len()).unwrap()))),
            "fail" => ExecutionResponse::error(latency, b"", -1005, b"Storage Error: x"),
            "none" => ok(None),
            "silence" => return true,
            "garbage" => {
                out.extend_from_slice(b"\x00\x00\x00\x08whatever");
                return true;
            }
            "cut" => {
                reply.execution(out, ok(Some(table(10)))).unwrap();
                out.truncate(out.len() / 2);
                return false;
            }
            _ => return false,
        };
        reply.execution(out, response).unwrap();
        true
    }
}

/// `n` rows of an integer and a text.
pub(crate) fn table(n: i64) -> DataSet {
    let mut data = DataSet::with_columns(["id", "name"]);
    data.rows = (0..n)
        .map(|i| vec![Value::Int(i), Value::from(format!("name {i}"))])
        .collect();
    data
}

/// One row with one integer.
fn one(n: i64) -> DataSet {
    let mut data = DataSet::with_columns(["n"]);
    data.rows.push(vec![Value::Int(n)]);
    data
}
