//! Rows of properties as bytes: schema version, a bit per NULL, then the values one after the other.

#![expect(
    clippy::cast_possible_truncation,
    reason = "packed fields are cut to their bits"
)]

use nebula_wire::{
    Value,
    value::{Date, DateTime, Time},
};

use super::{catalog::SchemaInfo, error::QueryError};
use crate::{
    meta::model::{Field, PropType},
    rpc::wire::{Malformed, Reader, put_bytes, put_signed, put_varint},
};

/// Builds the row of one tag or edge.
#[derive(Debug)]
pub(super) struct RowWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Where the NULL bits begin.
    nulls: usize,
    field: usize,
}

impl<'a> RowWriter<'a> {
    /// Starts a row of the current version of `schema`. A schema without fields makes an empty row.
    pub(super) fn new(schema: &SchemaInfo, out: &'a mut Vec<u8>) -> Self {
        let fields = schema.fields().len();
        if fields > 0 {
            put_varint(out, schema.version() as u64);
        }
        let nulls = out.len();
        out.resize(nulls + fields.div_ceil(8), 0);
        Self {
            out,
            nulls,
            field: 0,
        }
    }

    /// Appends the next field's value.
    pub(super) fn put(&mut self, field: &Field, value: &Value) -> Result<(), QueryError> {
        let at = self.field;
        self.field += 1;
        if matches!(value, Value::Null(_) | Value::Empty) {
            if !field.nullable {
                return Err(QueryError::execution(
                    "Storage Error: The not null field cannot be null.",
                ));
            }
            self.out[self.nulls + at / 8] |= 1 << (at % 8);
            return Ok(());
        }
        put_value(self.out, field.kind, value)
    }
}

fn mismatch() -> QueryError {
    QueryError::execution(
        "Storage Error: The data type does not meet the requirements. Use the correct type of data.",
    )
}

fn in_range(number: i64, low: i64, high: i64) -> Result<i64, QueryError> {
    if (low..=high).contains(&number) {
        return Ok(number);
    }
    Err(QueryError::execution("Storage Error: Out of range value."))
}

fn put_value(out: &mut Vec<u8>, kind: PropType, value: &Value) -> Result<(), QueryError> {
    match (kind, value) {
        (PropType::Bool, Value::Bool(b)) => out.push(u8::from(*b)),
        (PropType::Int8, Value::Int(i)) => put_signed(out, in_range(*i, -128, 127)?),
        (PropType::Int16, Value::Int(i)) => put_signed(out, in_range(*i, -32_768, 32_767)?),
        (PropType::Int32, Value::Int(i)) => {
            put_signed(out, in_range(*i, i64::from(i32::MIN), i64::from(i32::MAX))?);
        }
        (PropType::Int64 | PropType::Timestamp, Value::Int(i)) => put_signed(out, *i),
        (PropType::Timestamp, Value::String(text)) => put_signed(out, timestamp_of(text)?),
        (PropType::Float | PropType::Double, Value::Float(x)) => {
            out.extend_from_slice(&x.to_le_bytes());
        }
        #[expect(clippy::cast_precision_loss, reason = "so does the original")]
        (PropType::Float | PropType::Double, Value::Int(i)) => {
            out.extend_from_slice(&(*i as f64).to_le_bytes());
        }
        (PropType::Text, Value::String(text)) => put_bytes(out, text),
        (PropType::FixedText(size), Value::String(text)) => {
            let end = text.len().min(usize::from(size));
            put_bytes(out, text.get(..end).unwrap_or_default());
        }
        (PropType::Date, Value::Date(date)) => put_varint(out, pack_date(*date)),
        (PropType::Time, Value::Time(time)) => put_varint(out, pack_time(*time)),
        (PropType::DateTime, Value::DateTime(at)) => {
            let word = pack_date(at.date) << 37 | pack_time(at.time);
            out.extend_from_slice(&word.to_le_bytes());
        }
        _ => return Err(mismatch()),
    }
    Ok(())
}

fn timestamp_of(text: &[u8]) -> Result<i64, QueryError> {
    let text = std::str::from_utf8(text).map_err(|_| mismatch())?;
    let value = super::time::parse_datetime(text).ok_or_else(mismatch)?;
    Ok(super::time::micros_of(&value)
        .ok_or_else(mismatch)?
        .div_euclid(1_000_000))
}

/// 16 bits year, 4 month, 5 day.
fn pack_date(date: Date) -> u64 {
    let year = u64::from(date.year.cast_unsigned());
    year << 9 | u64::from(date.month.unsigned_abs()) << 5 | u64::from(date.day.unsigned_abs())
}

fn unpack_date(word: u64) -> Date {
    Date {
        year: ((word >> 9) as u16).cast_signed(),
        month: (word >> 5 & 15) as i8,
        day: (word & 31) as i8,
    }
}

/// 5 bits hour, 6 minute, 6 second, 20 microsecond.
fn pack_time(time: Time) -> u64 {
    let part = |n: i8| u64::from(n.unsigned_abs());
    part(time.hour) << 32
        | part(time.minute) << 26
        | part(time.sec) << 20
        | u64::from(time.microsec.unsigned_abs())
}

fn unpack_time(word: u64) -> Time {
    Time {
        hour: (word >> 32 & 31) as i8,
        minute: (word >> 26 & 63) as i8,
        sec: (word >> 20 & 63) as i8,
        microsec: (word & 0xf_ffff) as i32,
    }
}

fn read_value(reader: &mut Reader<'_>, kind: PropType) -> Result<Value, Malformed> {
    Ok(match kind {
        PropType::Bool => Value::Bool(reader.u8()? != 0),
        PropType::Int8
        | PropType::Int16
        | PropType::Int32
        | PropType::Int64
        | PropType::Timestamp => Value::Int(reader.signed()?),
        PropType::Float | PropType::Double => {
            Value::Float(f64::from_bits(reader.i64()?.cast_unsigned()))
        }
        PropType::Text | PropType::FixedText(_) => Value::String(reader.bytes()?.to_vec()),
        PropType::Date => Value::Date(unpack_date(reader.varint()?)),
        PropType::Time => Value::Time(unpack_time(reader.varint()?)),
        PropType::DateTime => {
            let word = reader.i64()?.cast_unsigned();
            Value::DateTime(DateTime {
                date: unpack_date(word >> 37),
                time: unpack_time(word & 0x1f_ffff_ffff),
            })
        }
    })
}

fn skip_value(reader: &mut Reader<'_>, kind: PropType) -> Result<(), Malformed> {
    match kind {
        PropType::Bool => reader.u8().map(drop),
        PropType::Float | PropType::Double | PropType::DateTime => reader.i64().map(drop),
        PropType::Text | PropType::FixedText(_) => reader.bytes().map(drop),
        _ => reader.varint().map(drop),
    }
}

/// The fields a row was written with, a reader at its first value, and its NULL bits.
fn open<'s, 'r>(
    schema: &'s SchemaInfo,
    row: &'r [u8],
) -> Result<(&'s [Field], Reader<'r>, &'r [u8]), Malformed> {
    let mut reader = Reader::new(row);
    if row.is_empty() {
        return Ok((&[], reader, &[]));
    }
    let version = usize::try_from(reader.varint()?).map_err(|_| Malformed)?;
    let fields = schema.schema.versions.get(version).ok_or(Malformed)?;
    let nulls = reader.take(fields.len().div_ceil(8))?;
    Ok((fields, reader, nulls))
}

fn is_null(nulls: &[u8], at: usize) -> bool {
    nulls
        .get(at / 8)
        .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// Value of one property of the current schema.
pub(super) fn read_field(schema: &SchemaInfo, row: &[u8], name: &str) -> Result<Value, Malformed> {
    let (fields, mut reader, nulls) = open(schema, row)?;
    for (at, field) in fields.iter().enumerate() {
        let null = is_null(nulls, at);
        if field.name == name {
            return if null {
                Ok(Value::NULL)
            } else {
                read_value(&mut reader, field.kind)
            };
        }
        if !null {
            skip_value(&mut reader, field.kind)?;
        }
    }
    Ok(schema.default_of(name))
}

/// All properties of the current schema, in its order.
pub(super) fn read_all(
    schema: &SchemaInfo,
    row: &[u8],
) -> Result<Vec<(Vec<u8>, Value)>, Malformed> {
    let (fields, mut reader, nulls) = open(schema, row)?;
    let mut stored = Vec::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate() {
        let value = if is_null(nulls, at) {
            Value::NULL
        } else {
            read_value(&mut reader, field.kind)?
        };
        stored.push((field.name.as_bytes(), value));
    }
    let take = |field: &Field| {
        let name = field.name.as_bytes();
        let found = stored.iter().find(|(known, _)| *known == name);
        let value = found.map_or_else(
            || schema.default_of(&field.name),
            |(_, value)| value.clone(),
        );
        (name.to_vec(), value)
    };
    Ok(schema.fields().iter().map(take).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph::catalog::SchemaInfo, meta::model::Schema};

    fn schema(versions: Vec<Vec<(&str, PropType)>>) -> SchemaInfo {
        let field = |(name, kind): (&str, PropType)| Field {
            name: name.to_owned(),
            kind,
            nullable: true,
            default: (name == "later").then(|| "7".to_owned()),
            comment: None,
        };
        SchemaInfo::new(&Schema {
            id: 2,
            name: "T".to_owned(),
            versions: versions
                .into_iter()
                .map(|v| v.into_iter().map(field).collect())
                .collect(),
            ttl_col: None,
            ttl_duration: 0,
            comment: None,
        })
    }

    #[test]
    fn values_survive() {
        let at = DateTime {
            date: Date {
                year: 2012,
                month: 12,
                day: 31,
            },
            time: Time {
                hour: 23,
                minute: 59,
                sec: 58,
                microsec: 999_999,
            },
        };
        let cases = [
            (PropType::Bool, Value::Bool(true)),
            (PropType::Int8, Value::Int(-128)),
            (PropType::Int64, Value::Int(i64::MIN)),
            (PropType::Double, Value::Float(-0.5)),
            (PropType::Text, Value::String(vec![0, 255, 7])),
            (PropType::FixedText(3), Value::String(b"abc".to_vec())),
            (PropType::Date, Value::Date(at.date)),
            (PropType::Time, Value::Time(at.time)),
            (PropType::DateTime, Value::DateTime(at)),
            (
                PropType::DateTime,
                Value::DateTime(DateTime {
                    date: Date {
                        year: -5,
                        month: 1,
                        day: 1,
                    },
                    ..at
                }),
            ),
            (PropType::Int64, Value::NULL),
        ];
        for (kind, value) in cases {
            let schema = schema(vec![vec![
                ("a", PropType::Text),
                ("b", kind),
                ("c", PropType::Int64),
            ]]);
            let mut row = Vec::new();
            let mut writer = RowWriter::new(&schema, &mut row);
            let values = [Value::from("x"), value.clone(), Value::Int(9)];
            for (field, value) in schema.fields().iter().zip(&values) {
                writer.put(field, value).expect("fits");
            }
            assert_eq!(read_field(&schema, &row, "b"), Ok(value));
            assert_eq!(read_field(&schema, &row, "c"), Ok(Value::Int(9)));
            assert_eq!(read_all(&schema, &row).expect("reads").len(), 3);
        }
    }

    #[test]
    fn old_rows_get_the_defaults_of_new_fields() {
        let old = schema(vec![vec![("a", PropType::Int64)]]);
        let mut row = Vec::new();
        RowWriter::new(&old, &mut row)
            .put(&old.fields()[0], &Value::Int(1))
            .expect("fits");
        let new = schema(vec![
            vec![("a", PropType::Int64)],
            vec![
                ("later", PropType::Int64),
                ("a", PropType::Int64),
                ("b", PropType::Text),
            ],
        ]);
        assert_eq!(read_field(&new, &row, "later"), Ok(Value::Int(7)));
        assert_eq!(read_field(&new, &row, "a"), Ok(Value::Int(1)));
        assert_eq!(read_field(&new, &row, "b"), Ok(Value::NULL));
        assert_eq!(read_field(&new, &[], "later"), Ok(Value::Int(7)));
    }

    #[test]
    fn wrong_types_and_ranges_are_refused() {
        let cases = [
            (PropType::Int8, Value::Int(128)),
            (PropType::Int64, Value::from("1")),
            (PropType::DateTime, Value::from("2010-01-01")),
            (PropType::Text, Value::Int(1)),
            (PropType::Bool, Value::Int(1)),
        ];
        for (kind, value) in cases {
            let schema = schema(vec![vec![("a", kind)]]);
            let mut row = Vec::new();
            let result = RowWriter::new(&schema, &mut row).put(&schema.fields()[0], &value);
            assert!(result.is_err(), "{kind} {value:?}");
        }
    }
}
