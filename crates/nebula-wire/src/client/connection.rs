//! One connection: sending, receiving, time limits, and never using it again once it failed.

use std::collections::VecDeque;
use std::fmt;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::deadline::Deadline;
use super::inbox::Inbox;
use super::reply::{Scanned, scan};
use super::stream::Stream;
use super::{ClientError, ConnectOptions, Reply};
use crate::framing::{Frame, Framing, Protocol, next_frame};
use crate::message::{Call, write_call};
use crate::protocol::MessageType;
use crate::response::{AppException, Latency};
use crate::{Line, WireError, codes};

/// Room for short statements; a large INSERT enlarges the buffer once.
const OUTBOX: usize = 4 * 1024;

/// A message out of the inbox, with the parts of the connection that are free beside it.
pub(super) struct Received<'s, T> {
    pub(super) message: T,
    pub(super) addr: &'s str,
    pub(super) line: &'s mut Option<Line>,
}

/// A connection to graphd. Sessions belong to the server, so several may be used on one connection
/// and one on several.
pub struct Connection {
    pub(super) addr: String,
    stream: Stream,
    framing: Framing,
    seq: i32,
    inbox: Inbox,
    outbox: Vec<u8>,
    /// When the requests in flight were sent, oldest first.
    in_flight: VecDeque<Instant>,
    deadline: Deadline,
    limit: std::time::Duration,
    max_reply: usize,
    /// Set while bytes are half sent, and for good after a failure.
    broken: bool,
    pub(super) line: Option<Line>,
}

impl Connection {
    /// Opens the socket; asks nothing.
    pub(super) async fn open(
        addr: &str,
        framing: Framing,
        options: &ConnectOptions,
    ) -> Result<Self, ClientError> {
        let stream = dial(addr, options).await?;
        Ok(Self {
            addr: addr.to_owned(),
            stream,
            framing,
            seq: 0,
            inbox: Inbox::new(),
            outbox: Vec::with_capacity(OUTBOX),
            in_flight: VecDeque::new(),
            deadline: Deadline::new(Instant::now() + options.request_timeout),
            limit: options.request_timeout,
            max_reply: options.max_reply,
            broken: false,
            line: options.line,
        })
    }

    /// `host:port` as given to [`Self::connect`].
    pub fn addr(&self) -> &str {
        &self.addr
    }

    /// Release line of the server; `None` until it is known, at the latest after
    /// [`Self::authenticate`].
    pub const fn line(&self) -> Option<Line> {
        self.line
    }

    /// Whether the connection has failed and must be replaced.
    pub const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Requests sent and not yet received.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Runs one statement and waits for its reply. Session 0 is a ping: graphd answers with its
    /// "session invalid" code.
    pub async fn execute(&mut self, session: i64, stmt: &[u8]) -> Result<Reply<'_>, ClientError> {
        self.expect_idle()?;
        self.send_execute(session, stmt).await?;
        self.receive().await
    }

    /// Sends one statement without waiting. graphd runs what is in flight concurrently and answers
    /// in order of arrival: [`Self::receive`] returns the oldest. Never send a statement before
    /// the reply to a `USE` it depends on.
    pub async fn send_execute(&mut self, session: i64, stmt: &[u8]) -> Result<(), ClientError> {
        self.queue_execute(session, stmt)?;
        self.flush().await
    }

    /// As [`Self::send_execute`], but the statement leaves with the next one sent, or with [`Self::flush`]: several
    /// of them cost one system call on either side. Its time limit begins here.
    pub fn queue_execute(&mut self, session: i64, stmt: &[u8]) -> Result<(), ClientError> {
        let call = Call::Execute {
            session,
            stmt,
            with_parameter: false,
            params: None,
        };
        self.queue(MessageType::Call, &call)
    }

    /// Waits for the oldest reply in flight. May be dropped and called again.
    pub async fn receive(&mut self) -> Result<Reply<'_>, ClientError> {
        let received = self
            .next_message(|frame, at| scan(frame.payload, at))
            .await?;
        match received.message {
            Scanned::Reply(reply) => {
                let line = received.line;
                *line = line.map(|line| corrected(line, reply.latency()));
                Ok(reply)
            }
            Scanned::Exception(exception) => Err(refused(received.addr, "execute", &exception)),
        }
    }

    /// Ends a session. graphd does not answer.
    pub async fn signout(&mut self, session: i64) -> Result<(), ClientError> {
        self.send(MessageType::Oneway, &Call::Signout { session })
            .await
    }

    pub(super) fn expect_idle(&mut self) -> Result<(), ClientError> {
        if self.broken {
            return Err(self.closed(None));
        }
        if self.in_flight.is_empty() {
            return Ok(());
        }
        Err(ClientError::Misuse {
            addr: self.addr.clone(),
            what: "an earlier reply has not been received yet",
        })
    }

    /// Writes one message. Dropped half-way it leaves the connection broken.
    pub(super) async fn send(
        &mut self,
        kind: MessageType,
        call: &Call<'_>,
    ) -> Result<(), ClientError> {
        self.queue(kind, call)?;
        self.flush().await
    }

    /// Encodes one message behind those that wait.
    fn queue(&mut self, kind: MessageType, call: &Call<'_>) -> Result<(), ClientError> {
        if self.broken {
            return Err(self.closed(None));
        }
        self.seq = self.seq.wrapping_add(1);
        let framing = self.next_framing();
        write_call(&mut self.outbox, framing, kind, self.seq, call)
            .map_err(|source| self.protocol(source))?;
        if kind == MessageType::Call {
            self.in_flight.push_back(Instant::now());
        }
        Ok(())
    }

    /// Writes what is queued. Dropped half-way it leaves the connection broken.
    pub async fn flush(&mut self) -> Result<(), ClientError> {
        if self.broken {
            return Err(self.closed(None));
        }
        if self.outbox.is_empty() {
            return Ok(());
        }
        self.broken = true;
        self.write_outbox(Instant::now() + self.limit).await?;
        self.broken = false;
        self.outbox.clear();
        Ok(())
    }

    async fn write_outbox(&mut self, until: Instant) -> Result<(), ClientError> {
        let write = async {
            self.stream.write_all(&self.outbox).await?;
            // TLS may hold the end of it back.
            self.stream.flush().await
        };
        let written = tokio::select! {
            biased;
            written = write => written,
            () = self.deadline.expired(until) => return Err(self.timed_out("sending a request")),
        };
        written.map_err(|source| self.closed(Some(source)))
    }

    /// `THeader` counts its frames; the other framings have nothing to count.
    fn next_framing(&self) -> Framing {
        match self.framing {
            Framing::THeader { protocol, .. } => Framing::THeader {
                protocol,
                seq: self.seq.cast_unsigned(),
                flags: 0,
            },
            other => other,
        }
    }

    /// Waits for the oldest message in flight and decodes it.
    pub(super) async fn next_message<'s, T>(
        &'s mut self,
        decode: impl FnOnce(&Frame<'s>, std::time::Instant) -> Result<T, WireError>,
    ) -> Result<Received<'s, T>, ClientError> {
        let consumed = self.wait_for_frame().await?;
        let received_at = Instant::now().into_std();
        self.in_flight.pop_front();
        let addr = self.addr.as_str();
        let decoded = next_frame(self.inbox.consume(consumed), consumed)
            .and_then(|frame| frame.ok_or(WireError::Truncated))
            .and_then(|frame| decode(&frame, received_at));
        match decoded {
            Ok(message) => Ok(Received {
                message,
                addr,
                line: &mut self.line,
            }),
            Err(source) => {
                self.broken = true;
                let addr = addr.to_owned();
                Err(ClientError::Protocol { addr, source })
            }
        }
    }

    /// Waits until a whole frame is in the inbox; returns its size.
    async fn wait_for_frame(&mut self) -> Result<usize, ClientError> {
        if self.broken {
            return Err(self.closed(None));
        }
        self.flush().await?;
        let Some(sent_at) = self.in_flight.front() else {
            return Err(ClientError::Misuse {
                addr: self.addr.clone(),
                what: "nothing is in flight",
            });
        };
        let until = *sent_at + self.limit;
        loop {
            match next_frame(self.inbox.filled(), self.max_reply) {
                Ok(Some(frame)) => return self.check_framing(frame.framing, frame.consumed),
                Ok(None) => self.fill_inbox(until).await?,
                Err(source) => return Err(self.fail_protocol(source)),
            }
        }
    }

    /// Replies come in the framing of the request; anything else is not graphd.
    fn check_framing(&mut self, framing: Framing, consumed: usize) -> Result<usize, ClientError> {
        let same = std::mem::discriminant(&framing) == std::mem::discriminant(&self.framing);
        if same && framing.protocol() == Protocol::Binary {
            return Ok(consumed);
        }
        Err(self.fail_protocol(WireError::Malformed("reply in another framing")))
    }

    async fn fill_inbox(&mut self, until: Instant) -> Result<(), ClientError> {
        let read = tokio::select! {
            biased;
            read = self.stream.read(self.inbox.spare()) => read,
            () = self.deadline.expired(until) => return Err(self.timed_out("a reply")),
        };
        match read {
            Ok(0) => Err(self.closed(None)),
            Ok(n) => {
                self.inbox.fill(n);
                Ok(())
            }
            Err(source) => Err(self.closed(Some(source))),
        }
    }

    pub(super) fn fail_protocol(&mut self, source: WireError) -> ClientError {
        self.broken = true;
        self.protocol(source)
    }

    fn protocol(&self, source: WireError) -> ClientError {
        ClientError::Protocol {
            addr: self.addr.clone(),
            source,
        }
    }

    fn timed_out(&mut self, action: &'static str) -> ClientError {
        self.broken = true;
        ClientError::Timeout {
            addr: self.addr.clone(),
            action,
            limit: self.limit,
        }
    }

    fn closed(&mut self, source: Option<io::Error>) -> ClientError {
        self.broken = true;
        ClientError::Closed {
            addr: self.addr.clone(),
            source,
        }
    }
}

/// The send buffer may hold a password, so it stays out.
impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("addr", &self.addr)
            .field("line", &self.line)
            .field("framing", &self.framing)
            .field("in_flight", &self.in_flight.len())
            .field("broken", &self.broken)
            .finish_non_exhaustive()
    }
}

async fn dial(addr: &str, options: &ConnectOptions) -> Result<Stream, ClientError> {
    let limit = options.connect_timeout;
    let connected = timeout(limit, open_stream(addr, options)).await;
    let addr = addr.to_owned();
    match connected {
        Ok(connected) => connected.map_err(|source| ClientError::Connect { addr, source }),
        Err(_) => Err(ClientError::Timeout {
            addr,
            action: "connecting",
            limit,
        }),
    }
}

#[cfg_attr(
    not(feature = "tls"),
    expect(unused_variables, reason = "TLS is all there is to choose")
)]
async fn open_stream(addr: &str, options: &ConnectOptions) -> io::Result<Stream> {
    let stream = TcpStream::connect(addr).await?;
    stream.set_nodelay(true)?;
    #[cfg(feature = "tls")]
    if let Some(tls) = &options.tls {
        let stream = tls.connect(addr, stream).await?;
        return Ok(Stream::Tls(Box::new(stream)));
    }
    Ok(Stream::Plain(stream))
}

/// The latency's width separates 2.x from 3.x whatever the handshake suggested: a 2.6 with its
/// client check off accepts any version, a 3.x with a changed list refuses its own.
const fn corrected(line: Line, latency: Latency) -> Line {
    match (line, latency) {
        (Line::V3, Latency::Narrow(_)) => Line::V2_6,
        (_, Latency::Wide(_)) => Line::V3,
        (line, Latency::Narrow(_)) => line,
    }
}

pub(super) fn refused(
    addr: &str,
    action: &'static str,
    exception: &AppException<'_>,
) -> ClientError {
    ClientError::Refused {
        addr: addr.to_owned(),
        action,
        code: exception.kind,
        name: "TApplicationException",
        message: String::from_utf8_lossy(exception.message).into_owned(),
    }
}

pub(super) fn refused_by_code(
    addr: &str,
    action: &'static str,
    line: Line,
    code: i32,
    message: Option<&[u8]>,
) -> ClientError {
    ClientError::Refused {
        addr: addr.to_owned(),
        action,
        code,
        name: codes::name(line, code).unwrap_or("unknown code"),
        message: String::from_utf8_lossy(message.unwrap_or_default()).into_owned(),
    }
}
