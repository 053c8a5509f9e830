//! Connecting: which framing the server takes, which release line it is, and sessions.
//!
//! `verifyClientVersion` answers 0 to "3.0.0" on 3.x, -3061 on 2.6, and does not exist before. 2.5
//! differs from 2.0 by the time zone in the answer to `authenticate`, and by its error numbers.

use super::connection::{Received, refused, refused_by_code};
use super::{ClientError, ConnectOptions, Connection, Transport};
use crate::framing::{Framing, Protocol};
use crate::message::Call;
use crate::protocol::MessageType;
use crate::response::{self, AuthResponse, Response, SUCCEEDED};
use crate::{Line, WireError};

const FRAMED: Framing = Framing::Framed(Protocol::Binary);
const THEADER: Framing = Framing::THeader {
    protocol: Protocol::Binary,
    seq: 0,
    flags: 0,
};

/// A session, created by [`Connection::authenticate`]. End it with [`Connection::signout`]: graphd
/// counts forgotten ones against the user until they expire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Id to execute with, never 0.
    pub id: i64,
    /// Offset of the server's time zone in seconds (2.5+). Values are UTC regardless.
    pub time_zone_offset_secs: Option<i32>,
    /// Name of the server's time zone (2.5+).
    pub time_zone_name: Option<String>,
}

impl Connection {
    /// Connects to `addr` (`host:port`) and finds out the release line unless `options` say it.
    pub async fn connect(addr: &str, options: &ConnectOptions) -> Result<Self, ClientError> {
        match options.transport {
            Transport::Framed => Self::connect_with(addr, FRAMED, options).await,
            Transport::THeader => Self::connect_with(addr, THEADER, options).await,
            Transport::Auto => match Self::connect_with(addr, FRAMED, options).await {
                Err(ClientError::Closed { .. } | ClientError::Protocol { .. }) => {
                    Self::connect_with(addr, THEADER, options).await
                }
                other => other,
            },
        }
    }

    async fn connect_with(
        addr: &str,
        framing: Framing,
        options: &ConnectOptions,
    ) -> Result<Self, ClientError> {
        let mut connection = Self::open(addr, framing, options).await?;
        if connection.line.is_none() {
            connection.line = connection.detect_line().await?;
        }
        Ok(connection)
    }

    /// `None` is 2.0 or 2.5: only authentication tells.
    async fn detect_line(&mut self) -> Result<Option<Line>, ClientError> {
        match self.verify(b"3.0.0").await? {
            None => return Ok(None),
            Some(SUCCEEDED) => return Ok(Some(Line::V3)),
            Some(_) => {}
        }
        match self.verify(b"2.6.0").await? {
            Some(SUCCEEDED) => Ok(Some(Line::V2_6)),
            // Locked to clients we are not; graphd keeps no state of it, so go on and see.
            Some(_) => Ok(Some(Line::V3)),
            None => Ok(None),
        }
    }

    /// Asks whether a client version is welcome: its code, `None` if the method does not exist.
    async fn verify(&mut self, version: &[u8]) -> Result<Option<i32>, ClientError> {
        let answer = self.call(&Call::VerifyClientVersion { version }).await?;
        match answer.message {
            Response::Verify(verify) => Ok(Some(verify.error_code)),
            Response::Exception(exception) if exception.kind == response::UNKNOWN_METHOD => {
                Ok(None)
            }
            Response::Exception(exception) => {
                Err(refused(answer.addr, "verifyClientVersion", &exception))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Creates a session.
    pub async fn authenticate(
        &mut self,
        user: &str,
        password: &str,
    ) -> Result<Session, ClientError> {
        self.expect_idle()?;
        let call = Call::Authenticate {
            user: user.as_bytes(),
            password: password.as_bytes(),
        };
        let answer = self.call(&call).await?;
        match answer.message {
            Response::Auth(auth) => {
                let line = *answer.line.get_or_insert_with(|| early_line(&auth));
                session(answer.addr, line, &auth)
            }
            Response::Exception(exception) => Err(refused(answer.addr, "authenticate", &exception)),
            _ => Err(self.unexpected()),
        }
    }

    /// One call and its decoded answer.
    async fn call(&mut self, call: &Call<'_>) -> Result<Received<'_, Response<'_>>, ClientError> {
        self.send(MessageType::Call, call).await?;
        self.next_message(|frame, _| response::decode(frame).map(|(_, response)| response))
            .await
    }

    fn unexpected(&mut self) -> ClientError {
        self.fail_protocol(WireError::Malformed("reply to another method"))
    }
}

/// 2.0 or 2.5, from the answer to `authenticate`.
fn early_line(auth: &AuthResponse<'_>) -> Line {
    let unified = auth.error_code <= -1000;
    if unified || auth.time_zone_offset_secs.is_some() {
        Line::V2_5
    } else {
        Line::V2_0
    }
}

fn session(addr: &str, line: Line, auth: &AuthResponse<'_>) -> Result<Session, ClientError> {
    if auth.error_code != SUCCEEDED {
        let (code, text) = (auth.error_code, auth.error_msg);
        return Err(refused_by_code(addr, "the user", line, code, text));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match auth.session_id {
        Some(id) if id != 0 => Ok(Session {
            id,
            time_zone_offset_secs: auth.time_zone_offset_secs,
            time_zone_name: auth.time_zone_name.map(text),
        }),
        _ => Err(ClientError::Protocol {
            addr: addr.to_owned(),
            source: WireError::Malformed("no session id in a successful authentication"),
        }),
    }
}
