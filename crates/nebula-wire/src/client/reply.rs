//! A reply as a view into the receive buffer.
//!
//! Receiving scans the message once: it checks its shape, counts the rows and notes where the parts
//! are, without allocating. Cells are decoded only by [`Reply::data`].

use std::borrow::Cow;
use std::time::Instant;

use crate::binary::BinaryReader;
use crate::codec::read_data_set;
use crate::plan::{PlanDescription, read_plan};
use crate::protocol::{MessageType, ReadProtocol, TType};
use crate::response::{AppException, Latency, SUCCEEDED, read_exception};
use crate::{DataSet, WireError};

/// Answer to a statement. Valid until the connection is used again.
#[derive(Debug, Clone)]
pub struct Reply<'c> {
    code: i32,
    latency: Latency,
    table: Option<Table<'c>>,
    space: &'c [u8],
    error_msg: &'c [u8],
    comment: &'c [u8],
    plan: Option<&'c [u8]>,
    wire_size: usize,
    received_at: Instant,
}

/// Where the table is, and its size.
#[derive(Debug, Clone, Copy)]
struct Table<'c> {
    bytes: &'c [u8],
    columns: &'c [u8],
    rows: usize,
}

impl<'c> Reply<'c> {
    /// Reads a reply to `execute` out of a strict binary message without its framing.
    pub fn parse(message: &'c [u8], received_at: Instant) -> Result<Self, WireError> {
        match scan(message, received_at)? {
            Scanned::Reply(reply) => Ok(reply),
            Scanned::Exception(_) => Err(WireError::Malformed("an exception, not a reply")),
        }
    }

    /// Error code; 0 is success. [`crate::codes`] has the names.
    pub const fn code(&self) -> i32 {
        self.code
    }

    /// Whether the statement succeeded.
    pub const fn is_ok(&self) -> bool {
        self.code == SUCCEEDED
    }

    /// graphd's own time for the statement in microseconds, for either width on the wire.
    pub fn latency_us(&self) -> i64 {
        self.latency.micros()
    }

    /// Latency with the width it had on the wire; tells 2.x from 3.x.
    pub const fn latency(&self) -> Latency {
        self.latency
    }

    /// Space of the session; empty if none is chosen.
    pub const fn space(&self) -> &'c [u8] {
        self.space
    }

    /// Text of the error; empty on success.
    pub const fn error_msg(&self) -> &'c [u8] {
        self.error_msg
    }

    /// Text of the error as text; bytes that are no UTF-8 are replaced.
    pub fn error_text(&self) -> Cow<'c, str> {
        String::from_utf8_lossy(self.error_msg)
    }

    /// Warning text; empty if none.
    pub const fn comment(&self) -> &'c [u8] {
        self.comment
    }

    /// Rows of the table, 0 without one. Counted while receiving.
    pub const fn row_count(&self) -> usize {
        match self.table {
            Some(table) => table.rows,
            None => 0,
        }
    }

    /// Whether the statement yielded a table, be it empty. USE, INSERT and DDL yield none.
    pub const fn has_data(&self) -> bool {
        self.table.is_some()
    }

    /// Column names; empty without a table.
    pub fn columns(&self) -> Vec<&'c [u8]> {
        let Some(table) = self.table else {
            return Vec::new();
        };
        let mut r = BinaryReader::new(table.columns);
        let count = r.list_of(TType::Bytes).unwrap_or(0);
        (0..count).map_while(|_| r.bytes().ok()).collect()
    }

    /// The table, decoded.
    pub fn data(&self) -> Result<Option<DataSet>, WireError> {
        let decode = |table: Table<'_>| read_data_set(&mut BinaryReader::new(table.bytes));
        self.table.map(decode).transpose()
    }

    /// Plan of EXPLAIN and PROFILE, decoded.
    pub fn plan(&self) -> Result<Option<PlanDescription>, WireError> {
        let decode = |bytes| read_plan(&mut BinaryReader::new(bytes));
        self.plan.map(decode).transpose()
    }

    /// Bytes of the message, framing not counted.
    pub const fn wire_size(&self) -> usize {
        self.wire_size
    }

    /// When the last byte had been read, before the message was scanned.
    pub const fn received_at(&self) -> Instant {
        self.received_at
    }
}

/// What a scanned message is.
#[derive(Debug)]
pub(crate) enum Scanned<'c> {
    Reply(Reply<'c>),
    Exception(AppException<'c>),
}

/// Scans the answer to `execute`.
pub(crate) fn scan(payload: &[u8], received_at: Instant) -> Result<Scanned<'_>, WireError> {
    let mut r = BinaryReader::new(payload);
    match r.message()?.kind {
        MessageType::Exception => return Ok(Scanned::Exception(read_exception(&mut r)?)),
        MessageType::Reply => {}
        _ => return Err(WireError::Malformed("a call where a reply was expected")),
    }
    let mut reply = Reply {
        code: SUCCEEDED,
        latency: Latency::Narrow(0),
        table: None,
        space: b"",
        error_msg: b"",
        comment: b"",
        plan: None,
        wire_size: payload.len(),
        received_at,
    };
    let mut found = false;
    r.read_struct(|r, id, ty| {
        if (id, ty) != (0, TType::Struct) {
            return r.skip(ty);
        }
        found = true;
        r.read_struct(|r, id, ty| reply.scan_field(r, id, ty))
    })?;
    if found {
        Ok(Scanned::Reply(reply))
    } else {
        Err(WireError::Malformed("reply without a result"))
    }
}

impl<'c> Reply<'c> {
    fn scan_field(
        &mut self,
        r: &mut BinaryReader<'c>,
        id: i16,
        ty: TType,
    ) -> Result<(), WireError> {
        match (id, ty) {
            (1, TType::I32) => self.code = r.i32()?,
            (2, TType::I32) => self.latency = Latency::Narrow(r.i32()?),
            (2, TType::I64) => self.latency = Latency::Wide(r.i64()?),
            (3, TType::Struct) => self.table = Some(scan_table(r)?),
            (4, TType::Bytes) => self.space = r.bytes()?,
            (5, TType::Bytes) => self.error_msg = r.bytes()?,
            (6, TType::Struct) => self.plan = Some(spanned(r, |r| r.skip(TType::Struct))?),
            (7, TType::Bytes) => self.comment = r.bytes()?,
            _ => r.skip(ty)?,
        }
        Ok(())
    }
}

fn scan_table<'c>(r: &mut BinaryReader<'c>) -> Result<Table<'c>, WireError> {
    let (mut columns, mut rows): (&[u8], usize) = (b"", 0);
    let bytes = spanned(r, |r| {
        r.read_struct(|r, id, ty| {
            match (id, ty) {
                (1, TType::List) => columns = spanned(r, |r| r.skip(TType::List))?,
                (2, TType::List) => {
                    rows = r.list_of(TType::Struct)?;
                    r.skip_elements(rows, &[TType::Struct])?;
                }
                _ => r.skip(ty)?,
            }
            Ok(())
        })
    })?;
    Ok(Table {
        bytes,
        columns,
        rows,
    })
}

/// The bytes that `read` consumes.
fn spanned<'c>(
    r: &mut BinaryReader<'c>,
    read: impl FnOnce(&mut BinaryReader<'c>) -> Result<(), WireError>,
) -> Result<&'c [u8], WireError> {
    let before = r.rest();
    read(r)?;
    let len = before.len() - r.rest().len();
    Ok(before.get(..len).unwrap_or_default())
}
