//! Thrift's strict binary encoding: fixed-width big-endian numbers, 4-byte lengths.

use crate::protocol::{MessageHead, MessageType, ReadProtocol, TType, WriteProtocol, wire_len};
use crate::{MAX_DEPTH, WireError};

/// Upper half of the first word of a strict message.
pub(crate) const VERSION: u32 = 0x8001_0000;

const fn code(ty: TType) -> u8 {
    match ty {
        TType::Bool => 2,
        TType::Byte => 3,
        TType::Double => 4,
        TType::I16 => 6,
        TType::I32 => 8,
        TType::I64 => 10,
        TType::Bytes => 11,
        TType::Struct => 12,
        TType::Map => 13,
        TType::Set => 14,
        TType::List => 15,
    }
}

const fn from_code(code: u8) -> Result<TType, WireError> {
    Ok(match code {
        2 => TType::Bool,
        3 => TType::Byte,
        4 => TType::Double,
        6 => TType::I16,
        8 => TType::I32,
        10 => TType::I64,
        11 => TType::Bytes,
        12 => TType::Struct,
        13 => TType::Map,
        14 => TType::Set,
        15 => TType::List,
        _ => return Err(WireError::Malformed("unknown wire type")),
    })
}

/// Reads the strict binary encoding.
#[derive(Debug, Clone)]
pub struct BinaryReader<'a> {
    rest: &'a [u8],
    depth: u8,
}

impl<'a> BinaryReader<'a> {
    /// A reader at the start of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            depth: 0,
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(WireError::Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    /// A length or count: not negative, and not above the bytes left, since every element takes one.
    #[inline]
    fn count(&mut self) -> Result<usize, WireError> {
        let count = usize::try_from(i32::from_be_bytes(self.array()?))
            .map_err(|_| WireError::Malformed("negative length"))?;
        if count > self.rest.len() {
            return Err(WireError::Truncated);
        }
        Ok(count)
    }

    #[inline]
    fn advance(&mut self, len: usize) -> Result<(), WireError> {
        self.rest = self.rest.get(len..).ok_or(WireError::Truncated)?;
        Ok(())
    }

    /// Skips a value by the wire's own type number: scanning a table is nothing but this.
    #[inline]
    fn skip_code(&mut self, code: u8) -> Result<(), WireError> {
        match code {
            2 | 3 => self.advance(1),
            6 => self.advance(2),
            8 => self.advance(4),
            4 | 10 => self.advance(8),
            11 => self.bytes().map(drop),
            12 => self.skip_struct(),
            other => self.skip_container(from_code(other)?),
        }
    }

    fn skip_struct(&mut self) -> Result<(), WireError> {
        self.nest()?;
        loop {
            let [code] = self.array()?;
            if code == 0 {
                break;
            }
            self.advance(2)?;
            self.skip_code(code)?;
        }
        self.unnest();
        Ok(())
    }

    fn skip_container(&mut self, ty: TType) -> Result<(), WireError> {
        if ty == TType::Map {
            let (key, value, count) = self.map()?;
            return self.skip_elements(count, &[key, value]);
        }
        let (element, count) = self.list()?;
        self.skip_elements(count, &[element])
    }
}

impl<'a> ReadProtocol<'a> for BinaryReader<'a> {
    fn message(&mut self) -> Result<MessageHead<'a>, WireError> {
        let [a, b, _, kind] = self.array()?;
        if u32::from_be_bytes([a, b, 0, 0]) != VERSION {
            return Err(WireError::Malformed("not a strict binary message"));
        }
        let kind = MessageType::from_code(kind)?;
        let name = self.bytes()?;
        let seq = self.i32()?;
        Ok(MessageHead { name, kind, seq })
    }

    #[inline]
    fn enter_struct(&mut self) -> Result<i16, WireError> {
        self.nest()?;
        Ok(0)
    }

    #[inline]
    fn leave_struct(&mut self, _outer: i16) {
        self.unnest();
    }

    #[inline]
    fn field(&mut self) -> Result<Option<(i16, TType)>, WireError> {
        let [code] = self.array()?;
        if code == 0 {
            return Ok(None);
        }
        let ty = from_code(code)?;
        Ok(Some((self.i16()?, ty)))
    }

    fn bool(&mut self) -> Result<bool, WireError> {
        self.array().map(|[byte]| byte != 0)
    }

    fn byte(&mut self) -> Result<i8, WireError> {
        self.array().map(i8::from_be_bytes)
    }

    #[inline]
    fn i16(&mut self) -> Result<i16, WireError> {
        self.array().map(i16::from_be_bytes)
    }

    #[inline]
    fn i32(&mut self) -> Result<i32, WireError> {
        self.array().map(i32::from_be_bytes)
    }

    #[inline]
    fn i64(&mut self) -> Result<i64, WireError> {
        self.array().map(i64::from_be_bytes)
    }

    #[inline]
    fn double(&mut self) -> Result<f64, WireError> {
        self.array().map(f64::from_be_bytes)
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
        let [ty] = self.array()?;
        let count = self.count()?;
        // Some encoders write type 0 for an empty list.
        let ty = if count == 0 {
            TType::Byte
        } else {
            from_code(ty)?
        };
        Ok((ty, count))
    }

    fn map(&mut self) -> Result<(TType, TType, usize), WireError> {
        let [key, value] = self.array()?;
        let count = self.count()?;
        if count == 0 {
            return Ok((TType::Byte, TType::Byte, 0));
        }
        Ok((from_code(key)?, from_code(value)?, count))
    }

    fn skip(&mut self, ty: TType) -> Result<(), WireError> {
        self.skip_code(code(ty))
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

/// Writes the strict binary encoding.
#[derive(Debug)]
pub struct BinaryWriter<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> BinaryWriter<'o> {
    /// A writer that appends to `out`.
    pub const fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out }
    }
}

impl WriteProtocol for BinaryWriter<'_> {
    fn message(&mut self, head: &MessageHead<'_>) {
        let word = VERSION | u32::from(head.kind.code());
        self.out.extend_from_slice(&word.to_be_bytes());
        self.bytes(head.name);
        self.i32(head.seq);
    }

    #[inline]
    fn begin_struct(&mut self) -> i16 {
        0
    }

    #[inline]
    fn end_struct(&mut self, _outer: i16) {
        self.out.push(0);
    }

    #[inline]
    fn field(&mut self, id: i16, ty: TType) {
        let [hi, lo] = id.to_be_bytes();
        self.out.extend_from_slice(&[code(ty), hi, lo]);
    }

    #[inline]
    fn bool_field(&mut self, id: i16, value: bool) {
        let [hi, lo] = id.to_be_bytes();
        self.out
            .extend_from_slice(&[code(TType::Bool), hi, lo, u8::from(value)]);
    }

    fn byte(&mut self, value: i8) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn i16(&mut self, value: i16) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn i32(&mut self, value: i32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn i64(&mut self, value: i64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn double(&mut self, value: f64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn bytes(&mut self, value: &[u8]) {
        self.i32(wire_len(value.len()));
        self.out.extend_from_slice(value);
    }

    #[inline]
    fn list(&mut self, element: TType, count: usize) {
        let [a, b, c, d] = wire_len(count).to_be_bytes();
        self.out.extend_from_slice(&[code(element), a, b, c, d]);
    }

    fn map(&mut self, key: TType, value: TType, count: usize) {
        self.out.extend_from_slice(&[code(key), code(value)]);
        self.i32(wire_len(count));
    }

    /// One append instead of two: ids and counts are what most rows are made of.
    #[inline]
    fn i64_field(&mut self, id: i16, value: i64) {
        let mut field = [0; 11];
        field[0] = code(TType::I64);
        field[1..3].copy_from_slice(&id.to_be_bytes());
        field[3..].copy_from_slice(&value.to_be_bytes());
        self.out.extend_from_slice(&field);
    }

    #[inline]
    fn bytes_field(&mut self, id: i16, value: &[u8]) {
        let mut head = [0; 7];
        head[0] = code(TType::Bytes);
        head[1..3].copy_from_slice(&id.to_be_bytes());
        head[3..].copy_from_slice(&wire_len(value.len()).to_be_bytes());
        self.out.extend_from_slice(&head);
        self.out.extend_from_slice(value);
    }
}
