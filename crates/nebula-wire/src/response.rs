//! Replies: what a server answers, written by servers and read by clients.

use crate::binary::BinaryReader;
use crate::codec::{read_data_set, write_data_set};
use crate::compact::CompactReader;
use crate::framing::{Frame, Protocol};
use crate::message::Body;
use crate::plan::{PlanDescription, read_plan, write_plan};
use crate::protocol::{MessageHead, MessageType, ReadProtocol, TType, WriteProtocol};
use crate::{DataSet, Line, WireError};

/// Code of success on every line.
pub const SUCCEEDED: i32 = 0;

/// Answer to `authenticate`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuthResponse<'a> {
    /// 0 or an error code of the server's line.
    pub error_code: i32,
    /// Text of the error.
    pub error_msg: Option<&'a [u8]>,
    /// New session, never 0.
    pub session_id: Option<i64>,
    /// Offset of the server's time zone (2.5+). Its presence tells 2.5 from 2.0.
    pub time_zone_offset_secs: Option<i32>,
    /// Name of the server's time zone (2.5+).
    pub time_zone_name: Option<&'a [u8]>,
}

/// `latency_in_us` with the width it has on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latency {
    /// 2.x.
    Narrow(i32),
    /// 3.x.
    Wide(i64),
}

impl Latency {
    /// `micros` as `line` sends it.
    pub fn on(line: Line, micros: i64) -> Self {
        if line.wide_latency() {
            return Self::Wide(micros);
        }
        Self::Narrow(i32::try_from(micros).unwrap_or(i32::MAX))
    }

    /// Microseconds.
    pub fn micros(self) -> i64 {
        match self {
            Self::Narrow(micros) => micros.into(),
            Self::Wide(micros) => micros,
        }
    }
}

/// Answer to `execute` and `executeWithParameter`.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionResponse<'a> {
    /// 0 or an error code of the server's line.
    pub error_code: i32,
    /// Time in graphd.
    pub latency: Latency,
    /// Table; `None` for statements that yield none (USE, INSERT, DDL).
    pub data: Option<DataSet>,
    /// Space of the session; graphd sends an empty name when none is chosen.
    pub space_name: Option<&'a [u8]>,
    /// Text of the error.
    pub error_msg: Option<&'a [u8]>,
    /// Plan of EXPLAIN and PROFILE.
    pub plan: Option<Box<PlanDescription>>,
    /// Warning text.
    pub comment: Option<&'a [u8]>,
}

impl<'a> ExecutionResponse<'a> {
    /// Success, with or without a table.
    pub const fn ok(latency: Latency, space: &'a [u8], data: Option<DataSet>) -> Self {
        Self {
            error_code: SUCCEEDED,
            latency,
            data,
            space_name: Some(space),
            error_msg: None,
            plan: None,
            comment: None,
        }
    }

    /// Failure.
    pub const fn error(latency: Latency, space: &'a [u8], code: i32, msg: &'a [u8]) -> Self {
        Self {
            error_code: code,
            latency,
            data: None,
            space_name: Some(space),
            error_msg: Some(msg),
            plan: None,
            comment: None,
        }
    }
}

/// Answer to `verifyClientVersion`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyResponse<'a> {
    /// 0 or -3061.
    pub error_code: i32,
    /// Text of the error.
    pub error_msg: Option<&'a [u8]>,
}

/// `TApplicationException` kind of a method the server does not have.
pub const UNKNOWN_METHOD: i32 = 1;

/// Answer of a server that could not dispatch a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppException<'a> {
    /// Text.
    pub message: &'a [u8],
    /// Kind; [`UNKNOWN_METHOD`] or another of thrift's.
    pub kind: i32,
}

/// Any answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Response<'a> {
    /// To `authenticate`.
    Auth(AuthResponse<'a>),
    /// To `execute` and `executeWithParameter`.
    Execution(ExecutionResponse<'a>),
    /// To `executeJson` and `executeJsonWithParameter`: JSON text.
    Json(&'a [u8]),
    /// To `verifyClientVersion`.
    Verify(VerifyResponse<'a>),
    /// Instead of any of them.
    Exception(AppException<'a>),
}

impl Response<'_> {
    /// Type of the message that carries it.
    pub(crate) const fn message_type(&self) -> MessageType {
        match self {
            Self::Exception(_) => MessageType::Exception,
            _ => MessageType::Reply,
        }
    }
}

impl Body for Response<'_> {
    fn write<W: WriteProtocol>(&self, w: &mut W) {
        if let Self::Exception(exception) = self {
            return write_exception(w, exception);
        }
        let outer = w.begin_struct();
        match self {
            Self::Json(text) => w.bytes_field(0, text),
            structured => {
                w.field(0, TType::Struct);
                structured.write_success(w);
            }
        }
        w.end_struct(outer);
    }
}

impl Response<'_> {
    fn write_success<W: WriteProtocol>(&self, w: &mut W) {
        let outer = w.begin_struct();
        match self {
            Self::Auth(auth) => write_auth(w, auth),
            Self::Execution(execution) => write_execution(w, execution),
            Self::Verify(verify) => {
                w.i32_field(1, verify.error_code);
                w.optional_bytes_field(2, verify.error_msg);
            }
            Self::Json(_) | Self::Exception(_) => {}
        }
        w.end_struct(outer);
    }
}

fn write_exception<W: WriteProtocol>(w: &mut W, exception: &AppException<'_>) {
    let outer = w.begin_struct();
    w.bytes_field(1, exception.message);
    w.i32_field(2, exception.kind);
    w.end_struct(outer);
}

fn write_auth<W: WriteProtocol>(w: &mut W, auth: &AuthResponse<'_>) {
    w.i32_field(1, auth.error_code);
    w.optional_bytes_field(2, auth.error_msg);
    if let Some(session) = auth.session_id {
        w.i64_field(3, session);
    }
    if let Some(offset) = auth.time_zone_offset_secs {
        w.i32_field(4, offset);
    }
    w.optional_bytes_field(5, auth.time_zone_name);
}

fn write_execution<W: WriteProtocol>(w: &mut W, execution: &ExecutionResponse<'_>) {
    w.i32_field(1, execution.error_code);
    match execution.latency {
        Latency::Narrow(micros) => w.i32_field(2, micros),
        Latency::Wide(micros) => w.i64_field(2, micros),
    }
    if let Some(data) = &execution.data {
        w.field(3, TType::Struct);
        write_data_set(w, data);
    }
    w.optional_bytes_field(4, execution.space_name);
    w.optional_bytes_field(5, execution.error_msg);
    if let Some(plan) = &execution.plan {
        w.field(6, TType::Struct);
        write_plan(w, plan);
    }
    w.optional_bytes_field(7, execution.comment);
}

/// Decodes the answer in a frame.
pub fn decode<'a>(frame: &Frame<'a>) -> Result<(MessageHead<'a>, Response<'a>), WireError> {
    match frame.framing.protocol() {
        Protocol::Binary => read_response(&mut BinaryReader::new(frame.payload)),
        Protocol::Compact => read_response(&mut CompactReader::new(frame.payload)),
    }
}

/// Reads a message head and the answer to the method it names.
fn read_response<'a, R: ReadProtocol<'a>>(
    r: &mut R,
) -> Result<(MessageHead<'a>, Response<'a>), WireError> {
    let head = r.message()?;
    let response = match head.kind {
        MessageType::Exception => Response::Exception(read_exception(r)?),
        MessageType::Reply => read_result(r, head.name)?,
        _ => return Err(WireError::Malformed("a call where a reply was expected")),
    };
    Ok((head, response))
}

pub(crate) fn read_exception<'a, R: ReadProtocol<'a>>(
    r: &mut R,
) -> Result<AppException<'a>, WireError> {
    let mut exception = AppException::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::Bytes) => exception.message = r.bytes()?,
            (2, TType::I32) => exception.kind = r.i32()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(exception)
}

fn read_result<'a, R: ReadProtocol<'a>>(
    r: &mut R,
    method: &[u8],
) -> Result<Response<'a>, WireError> {
    let mut response = None;
    r.read_struct(|r, id, ty| {
        response = Some(match (id, ty, method) {
            (0, TType::Struct, b"authenticate") => Response::Auth(read_auth(r)?),
            (0, TType::Struct, b"execute" | b"executeWithParameter") => {
                Response::Execution(read_execution(r)?)
            }
            (0, TType::Bytes, b"executeJson" | b"executeJsonWithParameter") => {
                Response::Json(r.bytes()?)
            }
            (0, TType::Struct, b"verifyClientVersion") => Response::Verify(read_verify(r)?),
            _ => return r.skip(ty),
        });
        Ok(())
    })?;
    response.ok_or(WireError::Malformed("reply without a result"))
}

fn read_auth<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<AuthResponse<'a>, WireError> {
    let mut auth = AuthResponse::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::I32) => auth.error_code = r.i32()?,
            (2, TType::Bytes) => auth.error_msg = Some(r.bytes()?),
            (3, TType::I64) => auth.session_id = Some(r.i64()?),
            (4, TType::I32) => auth.time_zone_offset_secs = Some(r.i32()?),
            (5, TType::Bytes) => auth.time_zone_name = Some(r.bytes()?),
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(auth)
}

fn read_execution<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<ExecutionResponse<'a>, WireError> {
    let mut execution = ExecutionResponse {
        error_code: SUCCEEDED,
        latency: Latency::Narrow(0),
        data: None,
        space_name: None,
        error_msg: None,
        plan: None,
        comment: None,
    };
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::I32) => execution.error_code = r.i32()?,
            (2, TType::I32) => execution.latency = Latency::Narrow(r.i32()?),
            (2, TType::I64) => execution.latency = Latency::Wide(r.i64()?),
            (3, TType::Struct) => execution.data = Some(read_data_set(r)?),
            (4, TType::Bytes) => execution.space_name = Some(r.bytes()?),
            (5, TType::Bytes) => execution.error_msg = Some(r.bytes()?),
            (6, TType::Struct) => execution.plan = Some(Box::new(read_plan(r)?)),
            (7, TType::Bytes) => execution.comment = Some(r.bytes()?),
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(execution)
}

fn read_verify<'a, R: ReadProtocol<'a>>(r: &mut R) -> Result<VerifyResponse<'a>, WireError> {
    let mut verify = VerifyResponse::default();
    r.read_struct(|r, id, ty| {
        match (id, ty) {
            (1, TType::I32) => verify.error_code = r.i32()?,
            (2, TType::Bytes) => verify.error_msg = Some(r.bytes()?),
            _ => r.skip(ty)?,
        }
        Ok(())
    })?;
    Ok(verify)
}
