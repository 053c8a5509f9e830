//! Thrift's compact encoding as fbthrift speaks it: version 2, doubles big-endian.
//!
//! Apache's compact encoding is version 1 with little-endian doubles; no NebulaGraph client sends it.

use crate::protocol::{MessageHead, MessageType, ReadProtocol, TType, WriteProtocol};
use crate::{MAX_DEPTH, WireError};

/// First byte of a compact message.
pub(crate) const MAGIC: u8 = 0x82;
const VERSION: u8 = 2;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
/// From this count on a list head carries its length as a varint.
const LONG_LIST: u8 = 15;

const fn code(ty: TType) -> u8 {
    match ty {
        TType::Bool => TRUE,
        TType::Byte => 3,
        TType::I16 => 4,
        TType::I32 => 5,
        TType::I64 => 6,
        TType::Double => 7,
        TType::Bytes => 8,
        TType::List => 9,
        TType::Set => 10,
        TType::Map => 11,
        TType::Struct => 12,
    }
}

const fn from_code(code: u8) -> Result<TType, WireError> {
    Ok(match code {
        TRUE | FALSE => TType::Bool,
        3 => TType::Byte,
        4 => TType::I16,
        5 => TType::I32,
        6 => TType::I64,
        7 => TType::Double,
        8 => TType::Bytes,
        9 => TType::List,
        10 => TType::Set,
        11 => TType::Map,
        12 => TType::Struct,
        _ => return Err(WireError::Malformed("unknown compact type")),
    })
}

/// Takes one base-128 number from the front of `bytes`.
#[inline]
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Result<u64, WireError> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(WireError::Truncated)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(WireError::Malformed("varint longer than 10 bytes"))
}

/// Reads the compact encoding.
#[derive(Debug, Clone)]
pub struct CompactReader<'a> {
    rest: &'a [u8],
    depth: u8,
    /// Id of the field read last in this struct; ids are sent as differences.
    last_id: i16,
    /// Value of a bool field, which its head carried.
    field_bool: Option<bool>,
}

impl<'a> CompactReader<'a> {
    /// A reader at the start of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            depth: 0,
            last_id: 0,
            field_bool: None,
        }
    }

    #[inline]
    fn u8(&mut self) -> Result<u8, WireError> {
        let (byte, rest) = self.rest.split_first().ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*byte)
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, WireError> {
        take_varint(&mut self.rest)
    }

    #[inline]
    fn zigzag(&mut self) -> Result<i64, WireError> {
        let n = self.varint()?;
        Ok((n >> 1).cast_signed() ^ -(n & 1).cast_signed())
    }

    #[inline]
    fn count(&mut self) -> Result<usize, WireError> {
        let count = self.varint()?;
        // thrift lengths are i32; a larger one can never become complete.
        let count = i32::try_from(count).map_err(|_| WireError::Malformed("length above 2^31"))?;
        self.check_count(count.unsigned_abs() as usize)
    }

    #[inline]
    const fn check_count(&self, count: usize) -> Result<usize, WireError> {
        if count > self.rest.len() {
            return Err(WireError::Truncated);
        }
        Ok(count)
    }
}

impl<'a> ReadProtocol<'a> for CompactReader<'a> {
    fn message(&mut self) -> Result<MessageHead<'a>, WireError> {
        if self.u8()? != MAGIC {
            return Err(WireError::Malformed("not a compact message"));
        }
        let byte = self.u8()?;
        if byte & 0x1F != VERSION {
            return Err(WireError::Malformed("compact protocol version is not 2"));
        }
        let kind = MessageType::from_code(byte >> 5)?;
        let seq = u32::try_from(self.varint()?)
            .map_err(|_| WireError::Malformed("sequence number above 32 bits"))?
            .cast_signed();
        let name = self.bytes()?;
        Ok(MessageHead { name, kind, seq })
    }

    #[inline]
    fn enter_struct(&mut self) -> Result<i16, WireError> {
        self.nest()?;
        Ok(std::mem::take(&mut self.last_id))
    }

    #[inline]
    fn leave_struct(&mut self, outer: i16) {
        self.last_id = outer;
        self.unnest();
    }

    #[inline]
    fn field(&mut self) -> Result<Option<(i16, TType)>, WireError> {
        let head = self.u8()?;
        if head == 0 {
            return Ok(None);
        }
        let ty = from_code(head & 0x0F)?;
        let id = match head >> 4 {
            0 => self.i16()?,
            delta => self
                .last_id
                .checked_add(i16::from(delta))
                .ok_or(WireError::Malformed("field id above 32767"))?,
        };
        self.last_id = id;
        if ty == TType::Bool {
            self.field_bool = Some(head & 0x0F == TRUE);
        }
        Ok(Some((id, ty)))
    }

    fn bool(&mut self) -> Result<bool, WireError> {
        match self.field_bool.take() {
            Some(value) => Ok(value),
            None => Ok(self.u8()? == TRUE),
        }
    }

    fn byte(&mut self) -> Result<i8, WireError> {
        self.u8().map(u8::cast_signed)
    }

    fn i16(&mut self) -> Result<i16, WireError> {
        i16::try_from(self.zigzag()?).map_err(|_| WireError::Malformed("i16 out of range"))
    }

    #[inline]
    fn i32(&mut self) -> Result<i32, WireError> {
        i32::try_from(self.zigzag()?).map_err(|_| WireError::Malformed("i32 out of range"))
    }

    #[inline]
    fn i64(&mut self) -> Result<i64, WireError> {
        self.zigzag()
    }

    fn double(&mut self) -> Result<f64, WireError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(f64::from_be_bytes(*head))
    }

    #[inline]
    fn bytes(&mut self) -> Result<&'a [u8], WireError> {
        let len = self.count()?;
        let (bytes, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline]
    fn list(&mut self) -> Result<(TType, usize), WireError> {
        let head = self.u8()?;
        let count = match head >> 4 {
            LONG_LIST => self.count()?,
            short => self.check_count(usize::from(short))?,
        };
        let ty = if count == 0 {
            TType::Byte
        } else {
            from_code(head & 0x0F)?
        };
        Ok((ty, count))
    }

    fn map(&mut self) -> Result<(TType, TType, usize), WireError> {
        let count = self.count()?;
        if count == 0 {
            return Ok((TType::Byte, TType::Byte, 0));
        }
        let types = self.u8()?;
        Ok((from_code(types >> 4)?, from_code(types & 0x0F)?, count))
    }

    fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    fn nest(&mut self) -> Result<(), WireError> {
        if self.depth >= MAX_DEPTH {
            return Err(WireError::TooDeep);
        }
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn unnest(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

/// Writes the compact encoding.
#[derive(Debug)]
pub struct CompactWriter<'o> {
    out: &'o mut Vec<u8>,
    last_id: i16,
}

impl<'o> CompactWriter<'o> {
    /// A writer that appends to `out`.
    pub const fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, last_id: 0 }
    }

    #[inline]
    fn varint(&mut self, mut value: u64) {
        while let high @ 1.. = value >> 7 {
            self.out.push(0x80 | low_bits(value));
            value = high;
        }
        self.out.push(low_bits(value));
    }

    fn field_head(&mut self, id: i16, code: u8) {
        if let Ok(delta @ 1..=15) = u8::try_from(i32::from(id) - i32::from(self.last_id)) {
            self.out.push(delta << 4 | code);
        } else {
            self.out.push(code);
            self.i16(id);
        }
        self.last_id = id;
    }
}

/// The lowest 7 bits.
#[inline]
const fn low_bits(value: u64) -> u8 {
    value.to_le_bytes()[0] & 0x7F
}

impl WriteProtocol for CompactWriter<'_> {
    fn message(&mut self, head: &MessageHead<'_>) {
        self.out
            .extend_from_slice(&[MAGIC, head.kind.code() << 5 | VERSION]);
        self.varint(u64::from(head.seq.cast_unsigned()));
        self.bytes(head.name);
    }

    #[inline]
    fn begin_struct(&mut self) -> i16 {
        std::mem::take(&mut self.last_id)
    }

    #[inline]
    fn end_struct(&mut self, outer: i16) {
        self.out.push(0);
        self.last_id = outer;
    }

    #[inline]
    fn field(&mut self, id: i16, ty: TType) {
        self.field_head(id, code(ty));
    }

    fn bool_field(&mut self, id: i16, value: bool) {
        self.field_head(id, if value { TRUE } else { FALSE });
    }

    fn byte(&mut self, value: i8) {
        self.out.push(value.cast_unsigned());
    }

    fn i16(&mut self, value: i16) {
        self.i64(i64::from(value));
    }

    fn i32(&mut self, value: i32) {
        self.i64(i64::from(value));
    }

    #[inline]
    fn i64(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63).cast_unsigned());
    }

    fn double(&mut self, value: f64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn bytes(&mut self, value: &[u8]) {
        self.varint(value.len() as u64);
        self.out.extend_from_slice(value);
    }

    fn list(&mut self, element: TType, count: usize) {
        match u8::try_from(count) {
            Ok(short) if short < LONG_LIST => self.out.push(short << 4 | code(element)),
            _ => {
                self.out.push(LONG_LIST << 4 | code(element));
                self.varint(count as u64);
            }
        }
    }

    fn map(&mut self, key: TType, value: TType, count: usize) {
        self.varint(count as u64);
        if count > 0 {
            self.out.push(code(key) << 4 | code(value));
        }
    }
}
