//! Requests: what a client calls, read by servers and written by clients.

use std::fmt;

use crate::codec::{read_props, write_props};
use crate::framing::{Framing, Protocol};
use crate::protocol::{MessageHead, MessageType, ReadProtocol, TType, WriteProtocol};
use crate::value::Props;
use crate::{WireError, binary::BinaryWriter, compact::CompactWriter};

/// A call of the graph service. Bytes are borrowed from the receive buffer.
#[derive(Clone, PartialEq)]
pub enum Call<'a> {
    /// `authenticate`.
    Authenticate {
        /// User name.
        user: &'a [u8],
        /// Password in plain.
        password: &'a [u8],
    },
    /// `signout`: never answered, whatever its message type says.
    Signout {
        /// Session to end.
        session: i64,
    },
    /// `execute` and `executeWithParameter`.
    Execute {
        /// Session id; 0 is a ping.
        session: i64,
        /// Statement text.
        stmt: &'a [u8],
        /// Whether the method is `executeWithParameter`.
        with_parameter: bool,
        /// Parameters; may be missing even with `executeWithParameter`.
        params: Option<Props>,
    },
    /// `executeJson` and `executeJsonWithParameter`.
    ExecuteJson {
        /// Session id.
        session: i64,
        /// Statement text.
        stmt: &'a [u8],
        /// Whether the method is `executeJsonWithParameter`.
        with_parameter: bool,
        /// Parameters.
        params: Option<Props>,
    },
    /// `verifyClientVersion`.
    VerifyClientVersion {
        /// Version the client claims.
        version: &'a [u8],
    },
    /// A method this crate does not know.
    Unknown {
        /// Its name.
        name: &'a [u8],
    },
}

impl Call<'_> {
    /// Method name on the wire.
    pub const fn name(&self) -> &[u8] {
        match self {
            Self::Authenticate { .. } => b"authenticate",
            Self::Signout { .. } => b"signout",
            Self::Execute {
                with_parameter: false,
                ..
            } => b"execute",
            Self::Execute { .. } => b"executeWithParameter",
            Self::ExecuteJson {
                with_parameter: false,
                ..
            } => b"executeJson",
            Self::ExecuteJson { .. } => b"executeJsonWithParameter",
            Self::VerifyClientVersion { .. } => b"verifyClientVersion",
            Self::Unknown { name } => name,
        }
    }
}

/// Without the password, which must not reach a log.
impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy;
        write!(f, "{}(", text(self.name()))?;
        match self {
            Self::Authenticate { user, .. } => write!(f, "{:?}, …", text(user)),
            Self::Signout { session } => write!(f, "{session}"),
            Self::Execute {
                session,
                stmt,
                params,
                ..
            }
            | Self::ExecuteJson {
                session,
                stmt,
                params,
                ..
            } => write!(f, "{session}, {:?}, {params:?}", text(stmt)),
            Self::VerifyClientVersion { version } => write!(f, "{:?}", text(version)),
            Self::Unknown { .. } => write!(f, "…"),
        }?;
        f.write_str(")")
    }
}

/// Appends `call` as one message. [`WireError::TooLarge`] leaves `out` as it was.
pub fn write_call(
    out: &mut Vec<u8>,
    framing: Framing,
    kind: MessageType,
    seq: i32,
    call: &Call<'_>,
) -> Result<(), WireError> {
    let name = call.name();
    let head = MessageHead { name, kind, seq };
    write_message(out, framing, &head, call)
}

/// Something that follows a message head.
pub(crate) trait Body {
    fn write<W: WriteProtocol>(&self, w: &mut W);
}

/// Appends one framed message.
pub(crate) fn write_message<B: Body>(
    out: &mut Vec<u8>,
    framing: Framing,
    head: &MessageHead<'_>,
    body: &B,
) -> Result<(), WireError> {
    let start = framing.begin(out);
    match framing.protocol() {
        Protocol::Binary => write_with(&mut BinaryWriter::new(out), head, body),
        Protocol::Compact => write_with(&mut CompactWriter::new(out), head, body),
    }
    framing.finish(out, start)
}

#[inline]
fn write_with<W: WriteProtocol, B: Body>(w: &mut W, head: &MessageHead<'_>, body: &B) {
    w.message(head);
    body.write(w);
}

impl Body for Call<'_> {
    fn write<W: WriteProtocol>(&self, w: &mut W) {
        let outer = w.begin_struct();
        match self {
            Call::Authenticate { user, password } => {
                w.bytes_field(1, user);
                w.bytes_field(2, password);
            }
            Call::Signout { session } => w.i64_field(1, *session),
            Call::Execute {
                session,
                stmt,
                params,
                ..
            }
            | Call::ExecuteJson {
                session,
                stmt,
                params,
                ..
            } => {
                w.i64_field(1, *session);
                w.bytes_field(2, stmt);
                if let Some(params) = params {
                    w.field(3, TType::Map);
                    write_props(w, params);
                }
            }
            Call::VerifyClientVersion { version } => {
                w.field(1, TType::Struct);
                let request = w.begin_struct();
                w.bytes_field(1, version);
                w.end_struct(request);
            }
            Call::Unknown { .. } => {}
        }
        w.end_struct(outer);
    }
}

/// Reads a message head and the arguments of the method it names.
pub(crate) fn read_call<'a, R: ReadProtocol<'a>>(
    r: &mut R,
) -> Result<(MessageHead<'a>, Call<'a>), WireError> {
    let head = r.message()?;
    let call = match head.name {
        b"authenticate" => read_authenticate(r)?,
        b"signout" => Call::Signout {
            session: read_execute(r)?.session,
        },
        b"execute" | b"executeWithParameter" => {
            let with_parameter = head.name != b"execute";
            read_execute(r)?.into_execute(with_parameter)
        }
        b"executeJson" | b"executeJsonWithParameter" => {
            let with_parameter = head.name != b"executeJson";
            read_execute(r)?.into_json(with_parameter)
        }
        b"verifyClientVersion" => read_verify(r)?,
        name => {
            r.skip(TType::Struct)?;
            Call::Unknown { name }
        }
    };
    Ok((head, call))
}

fn read_authenticate<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Call<'a>, WireError> {
    let (mut user, mut password): (&[u8], &[u8]) = (b"", b"");
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Bytes) => user = r.bytes()?,
            (2, TType::Bytes) => password = r.bytes()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(Call::Authenticate { user, password })
}

/// Arguments shared by the execute family; signout has the first of them.
#[derive(Default)]
struct ExecuteArgs<'a> {
    session: i64,
    stmt: &'a [u8],
    params: Option<Props>,
}

impl<'a> ExecuteArgs<'a> {
    fn into_execute(self, with_parameter: bool) -> Call<'a> {
        let Self {
            session,
            stmt,
            params,
        } = self;
        Call::Execute {
            session,
            stmt,
            with_parameter,
            params,
        }
    }

    fn into_json(self, with_parameter: bool) -> Call<'a> {
        let Self {
            session,
            stmt,
            params,
        } = self;
        Call::ExecuteJson {
            session,
            stmt,
            with_parameter,
            params,
        }
    }
}

fn read_execute<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<ExecuteArgs<'a>, WireError> {
    let mut args = ExecuteArgs::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::I64) => args.session = r.i64()?,
            (2, TType::Bytes) => args.stmt = r.bytes()?,
            (3, TType::Map) => args.params = Some(read_props(r)?),
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(args)
}

fn read_verify<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<Call<'a>, WireError> {
    let mut version: &[u8] = b"";
    r.read_struct(|r, id, ty| {
        if (id, ty) != (1, TType::Struct) {
            return r.skip(ty);
        }
        r.read_struct(|r, id, ty| {
            if (id, ty) != (1, TType::Bytes) {
                return r.skip(ty);
            }
            version = r.bytes()?;
            Ok(())
        })
    })?;
    Ok(Call::VerifyClientVersion { version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_password() {
        let call = Call::Authenticate {
            user: b"root",
            password: b"secret",
        };
        assert_eq!(format!("{call:?}"), r#"authenticate("root", …)"#);
    }
}
