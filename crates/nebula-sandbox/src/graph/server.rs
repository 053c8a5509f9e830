//! The graph service's port: reads requests in whatever framing they come, answers in the same one and in the order
//! of arrival.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::{Buf, BytesMut};
use nebula_wire::{
    message::Call,
    response::{AuthResponse, ExecutionResponse, Latency, Response, VerifyResponse},
    server::{DEFAULT_MAX_REQUEST, Reply, Request, next_request},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::engine::{Engine, Outcome};
use crate::{daemon::log::log, line::Line};

/// Answer to a client whose version is not on the white list.
const INCOMPATIBLE: i32 = -3061;

/// Accepts clients for ever.
pub async fn serve(listener: TcpListener, engine: Arc<Engine>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => drop(tokio::spawn(connection(stream, peer, Arc::clone(&engine)))),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

const fn wire_line(line: Line) -> nebula_wire::Line {
    match line {
        Line::V2_0_1 => nebula_wire::Line::V2_0,
        Line::V2_6_2 => nebula_wire::Line::V2_6,
        Line::V3_8_0 => nebula_wire::Line::V3,
    }
}

async fn connection(mut stream: TcpStream, peer: SocketAddr, engine: Arc<Engine>) {
    stream.set_nodelay(true).ok();
    let idle = match engine.flags.count("client_idle_timeout_secs") {
        0 => Duration::from_hours(8760),
        seconds => Duration::from_secs(seconds),
    };
    let mut client = Client {
        engine,
        address: peer.ip().to_string(),
        output: Vec::new(),
    };
    let mut input = BytesMut::with_capacity(16 << 10);
    loop {
        input.reserve(16 << 10);
        let read = tokio::time::timeout(idle, stream.read_buf(&mut input)).await;
        match read {
            Ok(Ok(count)) if count > 0 => {}
            _ => return,
        }
        if client.serve(&mut input, &mut stream).await.is_err() {
            return;
        }
    }
}

struct Client {
    engine: Arc<Engine>,
    address: String,
    output: Vec<u8>,
}

impl Client {
    /// Answers every whole request in `input`.
    async fn serve(&mut self, input: &mut BytesMut, stream: &mut TcpStream) -> io::Result<()> {
        loop {
            let used = match next_request(input, DEFAULT_MAX_REQUEST) {
                Ok(None) => break,
                Ok(Some((request, used))) => {
                    self.answer(&request).await;
                    if !request.oneway && self.engine.knobs.cuts_reply(&self.engine.flags) {
                        let half = self.output.len() / 2;
                        stream.write_all(&self.output[..half]).await?;
                        return Err(io::ErrorKind::ConnectionAborted.into());
                    }
                    used
                }
                Err(error) => {
                    log!(Warning, "{}: {error}", self.address);
                    return Err(io::ErrorKind::InvalidData.into());
                }
            };
            input.advance(used);
            // Replies of pipelined requests leave together, but not without end.
            if self.output.len() > 1 << 20 {
                self.flush(stream).await?;
            }
        }
        self.flush(stream).await
    }

    async fn flush(&mut self, stream: &mut TcpStream) -> io::Result<()> {
        if !self.output.is_empty() {
            stream.write_all(&self.output).await?;
            self.output.clear();
        }
        Ok(())
    }

    async fn answer(&mut self, request: &Request<'_>) {
        let line = wire_line(self.engine.line);
        let reply = request.reply();
        match &request.method {
            Call::Authenticate { user, password } => {
                let user = String::from_utf8_lossy(user);
                let password = String::from_utf8_lossy(password);
                let result = self
                    .engine
                    .authenticate(&user, &password, &self.address)
                    .await;
                let result = result.map_err(|e| (e.class.code(self.engine.line), e.text));
                self.put_auth(&reply, line, &result);
            }
            Call::Signout { session } => self.engine.sign_out(*session).await,
            Call::Execute {
                session,
                stmt,
                with_parameter,
                ..
            } if line.has_parameters() || !with_parameter => {
                let outcome = self.engine.execute(*session, stmt).await;
                self.put_execution(&reply, line, outcome);
            }
            Call::VerifyClientVersion { version } if line.verifies_clients() => {
                let allowed = self.allows(version);
                let refusal = refusal(version);
                let verify = VerifyResponse {
                    error_code: if allowed { 0 } else { INCOMPATIBLE },
                    error_msg: (!allowed).then_some(refusal.as_bytes()),
                };
                self.put(&reply, &Response::Verify(verify));
            }
            _ => {
                if let Err(error) = reply.unknown_method(&mut self.output) {
                    log!(Error, "{error}");
                }
            }
        }
    }

    fn allows(&self, version: &[u8]) -> bool {
        if !self.engine.flags.on("enable_client_white_list") {
            return true;
        }
        let list = self.engine.flags.text("client_white_list");
        list.split(':').any(|allowed| allowed.as_bytes() == version)
    }

    fn put(&mut self, reply: &Reply<'_>, response: &Response<'_>) {
        if let Err(error) = reply.encode(&mut self.output, response) {
            log!(Error, "reply not sent: {error}");
        }
    }

    fn put_auth(
        &mut self,
        reply: &Reply<'_>,
        line: nebula_wire::Line,
        result: &Result<i64, (i32, String)>,
    ) {
        let zone = line.has_time_zone();
        let auth = match result {
            Ok(session) => AuthResponse {
                session_id: Some(*session),
                time_zone_offset_secs: zone.then_some(0),
                time_zone_name: zone.then_some(b"UTC".as_slice()),
                ..AuthResponse::default()
            },
            Err((code, text)) => AuthResponse {
                error_code: *code,
                error_msg: Some(text.as_bytes()),
                ..AuthResponse::default()
            },
        };
        self.put(reply, &Response::Auth(auth));
    }

    fn put_execution(&mut self, reply: &Reply<'_>, line: nebula_wire::Line, outcome: Outcome) {
        let latency = Latency::on(line, outcome.micros);
        let space = outcome.space.as_bytes();
        let result = match outcome.result {
            Ok(answer) => {
                let mut done = ExecutionResponse::ok(latency, space, answer.table);
                done.plan = answer.plan;
                reply.execution(&mut self.output, done)
            }
            Err((code, text)) => {
                let error = ExecutionResponse::error(latency, space, code, text.as_bytes());
                reply.execution(&mut self.output, error)
            }
        };
        if let Err(error) = result {
            log!(Error, "reply not sent: {error}");
        }
    }
}

fn refusal(version: &[u8]) -> String {
    let version = String::from_utf8_lossy(version);
    format!(
        "Graph client version({version}) is not accepted, current graph client white list: client_white_list."
    )
}
