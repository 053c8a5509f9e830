//! What the two thrift encodings have in common: wire types, readers and writers.
//!
//! Structs are read field by field with [`ReadProtocol::read_struct`]; unknown fields and fields of
//! an unexpected type are skipped, as thrift peers do, so newer servers stay readable.

use crate::WireError;

/// Type of a field or of a container's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TType {
    /// One bit; compact keeps it in the field header.
    Bool,
    /// Signed byte.
    Byte,
    /// 16-bit signed integer.
    I16,
    /// 32-bit signed integer.
    I32,
    /// 64-bit signed integer.
    I64,
    /// IEEE 754 double.
    Double,
    /// Length-prefixed bytes; thrift's `string` and `binary`.
    Bytes,
    /// Fields up to a stop mark. Unions look the same.
    Struct,
    /// Pairs.
    Map,
    /// Like a list, order not significant.
    Set,
    /// Elements of one type.
    List,
}

impl TType {
    const fn is_container(self) -> bool {
        matches!(self, Self::List | Self::Set | Self::Map)
    }
}

/// Kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageType {
    /// A request that is answered.
    Call,
    /// The answer.
    Reply,
    /// The answer of a server that could not dispatch the call.
    Exception,
    /// A request that is not answered.
    Oneway,
}

impl MessageType {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Call => 1,
            Self::Reply => 2,
            Self::Exception => 3,
            Self::Oneway => 4,
        }
    }

    pub(crate) const fn from_code(code: u8) -> Result<Self, WireError> {
        match code {
            1 => Ok(Self::Call),
            2 => Ok(Self::Reply),
            3 => Ok(Self::Exception),
            4 => Ok(Self::Oneway),
            _ => Err(WireError::Malformed("unknown message type")),
        }
    }
}

/// What precedes the arguments or the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHead<'a> {
    /// Method name as sent.
    pub name: &'a [u8],
    /// Call, reply, exception or oneway.
    pub kind: MessageType,
    /// Sequence number. Clients send 0 or a counter; only echo it, never rely on it.
    pub seq: i32,
}

/// Reads one encoding from a slice without copying.
pub trait ReadProtocol<'a>: Sized {
    /// Reads the message head.
    fn message(&mut self) -> Result<MessageHead<'a>, WireError>;
    /// Enters a struct; the result goes to [`Self::leave_struct`]. Fails when nested too deep.
    fn enter_struct(&mut self) -> Result<i16, WireError>;
    /// Leaves a struct after its stop mark.
    fn leave_struct(&mut self, outer: i16);
    /// Next field as (id, type), `None` at the stop mark.
    fn field(&mut self) -> Result<Option<(i16, TType)>, WireError>;
    /// A bool, in a field or a container.
    fn bool(&mut self) -> Result<bool, WireError>;
    /// A signed byte.
    fn byte(&mut self) -> Result<i8, WireError>;
    /// A 16-bit integer.
    fn i16(&mut self) -> Result<i16, WireError>;
    /// A 32-bit integer.
    fn i32(&mut self) -> Result<i32, WireError>;
    /// A 64-bit integer.
    fn i64(&mut self) -> Result<i64, WireError>;
    /// A double.
    fn double(&mut self) -> Result<f64, WireError>;
    /// Bytes, borrowed from the input.
    fn bytes(&mut self) -> Result<&'a [u8], WireError>;
    /// Head of a list or set: element type and count. The count never exceeds the bytes left.
    fn list(&mut self) -> Result<(TType, usize), WireError>;
    /// Head of a map: key type, value type, count. The count never exceeds the bytes left.
    fn map(&mut self) -> Result<(TType, TType, usize), WireError>;
    /// What has not been read yet.
    fn rest(&self) -> &'a [u8];
    /// Counts a level of nesting that is not a struct; pairs with [`Self::unnest`].
    fn nest(&mut self) -> Result<(), WireError>;
    /// Ends a level begun by [`Self::nest`].
    fn unnest(&mut self);

    /// Calls `each` for every field of a struct; it must read or skip the field's value.
    #[inline]
    fn read_struct(
        &mut self,
        mut each: impl FnMut(&mut Self, i16, TType) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let outer = self.enter_struct()?;
        while let Some((id, ty)) = self.field()? {
            each(self, id, ty)?;
        }
        self.leave_struct(outer);
        Ok(())
    }

    /// Reads an integer of either width (`latency_in_us` is i32 in 2.x and i64 in 3.x).
    fn int(&mut self, ty: TType) -> Result<i64, WireError> {
        match ty {
            TType::I32 => self.i32().map(i64::from),
            TType::I64 => self.i64(),
            _ => Err(WireError::Malformed("expected an integer")),
        }
    }

    /// Head of a list or set whose elements must be of type `want`; returns the count.
    #[inline]
    fn list_of(&mut self, want: TType) -> Result<usize, WireError> {
        let (ty, count) = self.list()?;
        if count > 0 && ty != want {
            return Err(WireError::Malformed("unexpected element type"));
        }
        Ok(count)
    }

    /// Head of a map with keys and values of the given types; returns the count.
    fn map_of(&mut self, key: TType, value: TType) -> Result<usize, WireError> {
        let (k, v, count) = self.map()?;
        if count > 0 && (k != key || v != value) {
            return Err(WireError::Malformed("unexpected map types"));
        }
        Ok(count)
    }

    /// Skips one value of type `ty`, checking its shape.
    fn skip(&mut self, ty: TType) -> Result<(), WireError> {
        match ty {
            TType::Bool => self.bool().map(drop),
            TType::Byte => self.byte().map(drop),
            TType::I16 => self.i16().map(drop),
            TType::I32 => self.i32().map(drop),
            TType::I64 => self.i64().map(drop),
            TType::Double => self.double().map(drop),
            TType::Bytes => self.bytes().map(drop),
            TType::Struct => self.read_struct(Self::skip_field),
            TType::List | TType::Set => {
                let (element, count) = self.list()?;
                self.skip_elements(count, &[element])
            }
            TType::Map => {
                let (key, value, count) = self.map()?;
                self.skip_elements(count, &[key, value])
            }
        }
    }

    /// Skips the value of a field; fits [`Self::read_struct`].
    fn skip_field(&mut self, _id: i16, ty: TType) -> Result<(), WireError> {
        self.skip(ty)
    }

    /// Skips `count` elements, each made of the given types. Only containers directly within
    /// containers count as a level of their own, so that skipping and decoding agree on depth.
    fn skip_elements(&mut self, count: usize, types: &[TType]) -> Result<(), WireError> {
        let nests = types.iter().any(|ty| ty.is_container());
        if nests {
            self.nest()?;
        }
        for _ in 0..count {
            for ty in types {
                self.skip(*ty)?;
            }
        }
        if nests {
            self.unnest();
        }
        Ok(())
    }
}

/// Writes one encoding to the end of a `Vec`.
pub trait WriteProtocol {
    /// Writes the message head.
    fn message(&mut self, head: &MessageHead<'_>);
    /// Begins a struct; the result goes to [`Self::end_struct`].
    fn begin_struct(&mut self) -> i16;
    /// Writes the stop mark.
    fn end_struct(&mut self, outer: i16);
    /// Field head. Bools have [`Self::bool_field`].
    fn field(&mut self, id: i16, ty: TType);
    /// A whole bool field.
    fn bool_field(&mut self, id: i16, value: bool);
    /// A signed byte.
    fn byte(&mut self, value: i8);
    /// A 16-bit integer.
    fn i16(&mut self, value: i16);
    /// A 32-bit integer.
    fn i32(&mut self, value: i32);
    /// A 64-bit integer.
    fn i64(&mut self, value: i64);
    /// A double.
    fn double(&mut self, value: f64);
    /// Length and bytes.
    fn bytes(&mut self, value: &[u8]);
    /// Head of a list or set.
    fn list(&mut self, element: TType, count: usize);
    /// Head of a map.
    fn map(&mut self, key: TType, value: TType, count: usize);

    /// A whole byte field.
    fn byte_field(&mut self, id: i16, value: i8) {
        self.field(id, TType::Byte);
        self.byte(value);
    }

    /// A whole 16-bit field.
    fn i16_field(&mut self, id: i16, value: i16) {
        self.field(id, TType::I16);
        self.i16(value);
    }

    /// A whole 32-bit field.
    #[inline]
    fn i32_field(&mut self, id: i16, value: i32) {
        self.field(id, TType::I32);
        self.i32(value);
    }

    /// A whole 64-bit field.
    #[inline]
    fn i64_field(&mut self, id: i16, value: i64) {
        self.field(id, TType::I64);
        self.i64(value);
    }

    /// A whole double field.
    #[inline]
    fn double_field(&mut self, id: i16, value: f64) {
        self.field(id, TType::Double);
        self.double(value);
    }

    /// A whole bytes field.
    #[inline]
    fn bytes_field(&mut self, id: i16, value: &[u8]) {
        self.field(id, TType::Bytes);
        self.bytes(value);
    }

    /// A bytes field that is left out when there is no value.
    fn optional_bytes_field(&mut self, id: i16, value: Option<&[u8]>) {
        if let Some(value) = value {
            self.bytes_field(id, value);
        }
    }
}

/// A length as thrift's i32. Frames above [`crate::MAX_FRAME_SIZE`] are refused when they are
/// finished, so the saturated value is never sent.
pub(crate) fn wire_len(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(i32::MAX)
}
