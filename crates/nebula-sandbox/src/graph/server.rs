//! The graph service's port: reads requests in whatever framing they come, answers in the same one and in the order
//! of arrival.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::{Buf, BytesMut};
use futures_util::future::join_all;
use nebula_wire::{
    message::Call,
    response::{AuthResponse, ExecutionResponse, Latency, Response, VerifyResponse},
    server::{DEFAULT_MAX_REQUEST, Reply, Request, next_request},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use super::{
    engine::{Engine, Outcome},
    error::QueryError,
    json, tls,
};
use crate::{daemon::log::log, line::Line};

/// Answer to a client whose version is not on the white list.
const INCOMPATIBLE: i32 = -3061;

/// A client that has not shaken hands by then is not one.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Accepts clients for ever. An error says why TLS cannot be had as the flags ask for it.
pub async fn serve(listener: TcpListener, engine: Arc<Engine>) -> Result<(), String> {
    let acceptor = tls::acceptor(&engine.flags)?;
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                stream.set_nodelay(true).ok();
                let engine = Arc::clone(&engine);
                match acceptor.clone() {
                    None => drop(tokio::spawn(connection(stream, peer, engine))),
                    Some(acceptor) => drop(tokio::spawn(encrypted(acceptor, stream, peer, engine))),
                }
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn encrypted(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    peer: SocketAddr,
    engine: Arc<Engine>,
) {
    match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => connection(stream, peer, engine).await,
        Ok(Err(error)) => log!(Warning, "{}: no TLS: {error}", peer.ip()),
        Err(_) => log!(Warning, "{}: no TLS in time", peer.ip()),
    }
}

const fn wire_line(line: Line) -> nebula_wire::Line {
    match line {
        Line::V2_0_1 => nebula_wire::Line::V2_0,
        Line::V2_6_2 => nebula_wire::Line::V2_6,
        Line::V3_8_0 => nebula_wire::Line::V3,
    }
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    peer: SocketAddr,
    engine: Arc<Engine>,
) {
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

/// Requests of one connection that run side by side.
const TOGETHER: usize = 64;

/// What a request came to.
enum Done {
    /// Signed out: no answer.
    Nothing,
    Authenticated(Result<i64, QueryError>),
    Executed(Outcome),
    AsJson(Outcome),
    /// Nothing was to be run.
    Asked,
}

async fn run(engine: &Engine, request: &Request<'_>, address: &str) -> Done {
    let line = wire_line(engine.line);
    let has = |with_parameter: bool| line.has_parameters() || !with_parameter;
    match &request.method {
        Call::Authenticate { user, password } => {
            let user = String::from_utf8_lossy(user);
            let password = String::from_utf8_lossy(password);
            Done::Authenticated(engine.authenticate(&user, &password, address).await)
        }
        Call::Signout { session } => {
            engine.sign_out(*session).await;
            Done::Nothing
        }
        Call::Execute {
            session,
            stmt,
            with_parameter,
            ..
        } if has(*with_parameter) => Done::Executed(engine.execute(*session, stmt).await),
        Call::ExecuteJson {
            session,
            stmt,
            with_parameter,
            ..
        } if line.has_json() && has(*with_parameter) => {
            Done::AsJson(engine.execute(*session, stmt).await)
        }
        _ => Done::Asked,
    }
}

struct Client {
    engine: Arc<Engine>,
    address: String,
    output: Vec<u8>,
}

impl Client {
    /// Answers every whole request in `input`. Those that arrived together run side by side, as they do in
    /// NebulaGraph; their answers leave together and in the order of arrival.
    async fn serve<S: AsyncWrite + Unpin>(
        &mut self,
        input: &mut BytesMut,
        stream: &mut S,
    ) -> io::Result<()> {
        loop {
            let (requests, used) = self.requests(input)?;
            if requests.is_empty() {
                return Ok(());
            }
            let engine = Arc::clone(&self.engine);
            let results = match requests.as_slice() {
                [one] => vec![run(&engine, one, &self.address).await],
                many => {
                    join_all(
                        many.iter()
                            .map(|request| run(&engine, request, &self.address)),
                    )
                    .await
                }
            };
            for (request, result) in requests.iter().zip(results) {
                if request.oneway {
                    continue;
                }
                let start = self.output.len();
                self.put_answer(request, result);
                if engine.knobs.cuts_reply(&engine.flags) {
                    self.output
                        .truncate(usize::midpoint(start, self.output.len()));
                    self.flush(stream).await?;
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
            }
            self.flush(stream).await?;
            input.advance(used);
        }
    }

    /// The whole requests at the front of `input`, and their length.
    fn requests<'r>(&self, input: &'r [u8]) -> io::Result<(Vec<Request<'r>>, usize)> {
        let (mut requests, mut used) = (Vec::new(), 0);
        while requests.len() < TOGETHER {
            match next_request(input.get(used..).unwrap_or_default(), DEFAULT_MAX_REQUEST) {
                Ok(None) => break,
                Ok(Some((request, length))) => {
                    requests.push(request);
                    used += length;
                }
                // What came before it is answered first.
                Err(_) if !requests.is_empty() => break,
                Err(error) => {
                    log!(Warning, "{}: {error}", self.address);
                    return Err(io::ErrorKind::InvalidData.into());
                }
            }
        }
        Ok((requests, used))
    }

    async fn flush<S: AsyncWrite + Unpin>(&mut self, stream: &mut S) -> io::Result<()> {
        if !self.output.is_empty() {
            stream.write_all(&self.output).await?;
            stream.flush().await?;
            self.output.clear();
        }
        Ok(())
    }

    fn put_answer(&mut self, request: &Request<'_>, result: Done) {
        let line = wire_line(self.engine.line);
        let reply = request.reply();
        match result {
            Done::Nothing => {}
            Done::Authenticated(result) => {
                let result = result.map_err(|e| (e.class.code(self.engine.line), e.text));
                self.put_auth(&reply, line, &result);
            }
            Done::Executed(outcome) => self.put_execution(&reply, line, outcome),
            Done::AsJson(outcome) => {
                self.put(&reply, &Response::Json(json::text(&outcome).as_bytes()));
            }
            Done::Asked => self.put_without_running(&reply, &request.method, line),
        }
    }

    /// Answers to what needs no statement to run.
    fn put_without_running(&mut self, reply: &Reply<'_>, call: &Call<'_>, line: nebula_wire::Line) {
        match call {
            Call::VerifyClientVersion { version } if line.verifies_clients() => {
                let allowed = self.allows(version);
                let refusal = refusal(version);
                let verify = VerifyResponse {
                    error_code: if allowed { 0 } else { INCOMPATIBLE },
                    error_msg: (!allowed).then_some(refusal.as_bytes()),
                };
                self.put(reply, &Response::Verify(verify));
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
