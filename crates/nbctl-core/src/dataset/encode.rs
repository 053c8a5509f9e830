//! One row of a file to the `VALUES` part of an `INSERT` statement.
//!
//! Values follow the column types: numbers as they are; strings between double quotes with `"` and `\` escaped,
//! empty ones staying empty strings; datetimes as `datetime("…")` with microseconds and without the zone, which is
//! always GMT. An empty number or datetime is `NULL`. A row that fails leaves the output as it was.

use std::fmt;
use std::io::Write;

use super::error::{DatasetError, RowProblem};
use super::header::{ColumnType, DataFile};
use super::kind::FileKind;

/// Type of vertex ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VidType {
    /// `int64`: ids of different classes meet, so one vertex can carry several tags.
    Int64,
    /// `fixed_string(length)`.
    FixedString {
        /// Bytes that fit.
        length: u16,
        /// Puts `p-` before the ids of persons and so on, so that classes stay apart.
        prefixed: bool,
    },
}

/// The ids of a row, for counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowIds {
    /// Of a vertex file.
    Vertex(i64),
    /// Of an edge file: source and destination.
    Edge(i64, i64),
}

/// Encodes the rows of one file.
#[derive(Debug, Clone)]
pub struct RowEncoder {
    path: String,
    columns: Vec<(String, ColumnType)>,
    vid: VidType,
    prefixes: Vec<&'static str>,
    head: String,
}

impl fmt::Display for VidType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int64 => f.write_str("int64"),
            Self::FixedString { length, .. } => write!(f, "fixed_string({length})"),
        }
    }
}

impl RowEncoder {
    /// `None` when the file is not imported.
    pub fn new(file: &DataFile, vid: VidType) -> Option<Self> {
        let what = match file.kind {
            FileKind::Vertex { .. } => "VERTEX",
            FileKind::Edge { .. } => "EDGE",
            FileKind::Skipped { .. } => return None,
        };
        let properties: Vec<String> = file
            .properties()
            .map(|column| format!("`{}`", column.name))
            .collect();
        let name = file.kind.type_name()?;
        Some(Self {
            path: file.path.clone(),
            columns: file
                .columns
                .iter()
                .map(|column| (column.name.clone(), column.ty))
                .collect(),
            vid,
            prefixes: file.kind.id_classes().into_iter().map(prefix).collect(),
            head: format!("INSERT {what} `{name}`({}) VALUES ", properties.join(", ")),
        })
    }

    /// What stands before the rows: ``INSERT EDGE `KNOWS`(`creationDate`) VALUES ``.
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Appends `1->2:("a")` or `1:("a", 2)` for `row` (without its line end); `line` is its number in the file, the
    /// header counted. Rows are to be joined with `,` by the caller.
    pub fn append(&self, line: u64, row: &[u8], out: &mut Vec<u8>) -> Result<RowIds, DatasetError> {
        let start = out.len();
        self.append_unchecked(row, out)
            .map_err(|(column, problem)| {
                out.truncate(start);
                let column = column
                    .and_then(|at| self.columns.get(at))
                    .map(|(name, _)| name.clone());
                DatasetError::Row {
                    file: self.path.clone(),
                    line,
                    column,
                    problem,
                }
            })
    }

    fn append_unchecked(
        &self,
        row: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<RowIds, (Option<usize>, RowProblem)> {
        let text = text(row).map_err(|problem| (None, problem))?;
        let got = text.bytes().filter(|&byte| byte == b'|').count() + 1;
        if got != self.columns.len() {
            return Err((
                None,
                RowProblem::Columns {
                    expected: self.columns.len(),
                    got,
                },
            ));
        }
        let mut ids = [0; 2];
        let fields = text.split('|').zip(&self.columns).enumerate();
        let last_id = self.prefixes.len() - 1;
        for (at, (value, (_, ty))) in fields {
            let fail = |problem| (Some(at), problem);
            if *ty == ColumnType::Id {
                out.extend_from_slice(if at > 0 { b"->" } else { b"" });
                ids[at] = self.append_id(at, value, out).map_err(fail)?;
            } else {
                out.extend_from_slice(if at > last_id + 1 { b", " } else { b":(" });
                append_value(*ty, value, out).map_err(fail)?;
            }
        }
        out.extend_from_slice(if self.columns.len() == self.prefixes.len() {
            b":()"
        } else {
            b")"
        });
        let [first, second] = ids;
        Ok(if last_id == 0 {
            RowIds::Vertex(first)
        } else {
            RowIds::Edge(first, second)
        })
    }

    fn append_id(&self, at: usize, value: &str, out: &mut Vec<u8>) -> Result<i64, RowProblem> {
        let id = whole(value).ok_or_else(|| RowProblem::Id(shortened(value)))?;
        match self.vid {
            VidType::Int64 => append_number(id, out),
            VidType::FixedString { length, prefixed } => {
                let prefix = if prefixed { self.prefixes[at] } else { "" };
                let got = prefix.len() + value.len();
                if got > usize::from(length) {
                    return Err(RowProblem::LongId { got, length });
                }
                append_parts(out, &["\"", prefix, value, "\""]);
            }
        }
        Ok(id)
    }
}

/// Prefixes of nebula-bench's successor.
fn prefix(class: &str) -> &'static str {
    match class {
        "Comment" => "c-",
        "Forum" => "f-",
        "Organisation" => "o-",
        "Person" => "p-",
        "Place" => "l-",
        "Post" => "s-",
        "Tag" => "t-",
        _ => "g-",
    }
}

fn text(row: &[u8]) -> Result<&str, RowProblem> {
    if row.ends_with(b"\r") {
        return Err(RowProblem::CarriageReturn);
    }
    if row.contains(&0) {
        return Err(RowProblem::Nul);
    }
    std::str::from_utf8(row).map_err(|_| RowProblem::Utf8)
}

fn append_value(ty: ColumnType, value: &str, out: &mut Vec<u8>) -> Result<(), RowProblem> {
    match ty {
        ColumnType::String => append_string(value, out),
        _ if value.is_empty() => out.extend_from_slice(b"NULL"),
        ColumnType::Int | ColumnType::Id => {
            let number = whole(value).ok_or_else(|| RowProblem::Number(shortened(value)))?;
            append_number(number, out);
        }
        ColumnType::Datetime => {
            let parts =
                datetime_parts(value).ok_or_else(|| RowProblem::Datetime(shortened(value)))?;
            // Six digits: a fraction of three is milliseconds to some releases and microseconds to others.
            let zeros = "000000".get(parts.1.len()..).unwrap_or_default();
            append_parts(out, &["datetime(\"", parts.0, ".", parts.1, zeros, "\")"]);
        }
    }
    Ok(())
}

/// Digits only: a sign or blanks are no LDBC number, and leading zeros must not reach a parser that may read octal.
fn whole(value: &str) -> Option<i64> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    if digits { value.parse().ok() } else { None }
}

fn append_number(number: i64, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _written = write!(out, "{number}");
}

fn append_string(value: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = value.as_bytes();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn append_parts(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

/// `2010-02-14T15:32:10` and `447` of `2010-02-14T15:32:10.447+0000`; the zone may be missing or `Z`. `None` when
/// the text is anything else, another zone included.
pub(super) fn datetime_parts(value: &str) -> Option<(&str, &str)> {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let (seconds, rest) = value.split_at_checked(SHAPE.len())?;
    let fits = |(shape, got): (&u8, u8)| {
        if *shape == b'd' {
            got.is_ascii_digit()
        } else {
            got == *shape
        }
    };
    if !SHAPE.iter().zip(seconds.bytes()).all(fits) {
        return None;
    }
    let rest = ["+0000", "+00:00", "Z"]
        .iter()
        .find_map(|zone| rest.strip_suffix(zone))
        .unwrap_or(rest);
    let fraction = if rest.is_empty() {
        ""
    } else {
        rest.strip_prefix('.')?
    };
    let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
    (digits && fraction.len() <= 6 && rest != ".").then_some((seconds, fraction))
}

/// Enough of a value for a message.
fn shortened(value: &str) -> String {
    value.chars().take(40).collect()
}
