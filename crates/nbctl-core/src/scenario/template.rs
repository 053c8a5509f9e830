//! Statement templates: compiled once, rendered into a reused buffer for every request.
//!
//! `{0}` is column 0 of the parameter file: escaped inside quotes, a whole number outside. `{vid:0}` is the same
//! column as a vertex id in the form of the space, `{value:0}` as a property in the form of its type: dates are
//! numbers in one data set and texts in another. Other braces are part of the statement (nGQL has map literals).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueForm {
    /// A whole number: `int64` ids, `int` properties.
    Number,
    /// Between quotes: `fixed_string` ids, `string` properties.
    Quoted,
    /// `datetime("…")` without the zone, which is GMT.
    Datetime,
}

/// How ids and columns are written in the space at hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forms {
    /// Vertex ids.
    pub vid: ValueForm,
    /// Columns of the parameter file; those beyond the end are quoted.
    pub columns: Vec<ValueForm>,
}

impl Forms {
    /// Ids of this form, columns all quoted.
    pub fn of_vid(vid: ValueForm) -> Self {
        Self {
            vid,
            columns: Vec::new(),
        }
    }

    fn column(&self, column: usize) -> ValueForm {
        self.columns
            .get(column)
            .copied()
            .unwrap_or(ValueForm::Quoted)
    }
}

/// A compiled statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
    columns: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    /// Inside quotes of this kind; the number is a position in `columns`, as below.
    Text(usize, u8),
    Whole(usize, ValueForm),
}

/// Why a value cannot stand in the statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderError {
    /// Column of the parameter file, from 0.
    pub column: usize,
    /// The beginning of the value.
    pub value: String,
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, value } = self;
        write!(
            f,
            "column {column}: {value:?} stands outside quotes and is not a whole number"
        )
    }
}

impl Template {
    /// Compiles a statement.
    ///
    /// # Errors
    /// A quote that is not closed.
    pub fn compile(text: &str, forms: &Forms) -> Result<Self, String> {
        let mut compiler = Compiler::new(forms);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let after = match placeholder(rest) {
                Some((role, column, after)) => {
                    compiler.place(role, column)?;
                    after
                }
                None => compiler.literal(rest, first),
            };
            rest = rest.get(after..).unwrap_or_default();
        }
        compiler.finish()
    }

    /// Columns of the parameter file that are used, ascending; [`Self::render`] asks for them by their position here.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Appends the statement; `value(i)` is the value of `columns()[i]`.
    ///
    /// # Errors
    /// A value outside quotes that is not a whole number.
    pub fn render<'a>(
        &self,
        value: impl Fn(usize) -> &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(bytes) => out.extend_from_slice(bytes),
                Piece::Text(at, quote) => append_escaped(value(*at), *quote, out),
                Piece::Whole(at, ValueForm::Number) if is_whole(value(*at)) => {
                    out.extend_from_slice(value(*at));
                }
                Piece::Whole(at, ValueForm::Number) => return Err(self.refused(*at, value(*at))),
                Piece::Whole(at, form) => append_quoted(value(*at), *form, out),
            }
        }
        Ok(())
    }

    fn refused(&self, at: usize, value: &[u8]) -> RenderError {
        RenderError {
            column: self.columns.get(at).copied().unwrap_or_default(),
            value: String::from_utf8_lossy(value).chars().take(40).collect(),
        }
    }
}

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    Vid,
    Value,
}

struct Compiler<'a> {
    pieces: Vec<Piece>,
    literal: Vec<u8>,
    columns: BTreeSet<usize>,
    forms: &'a Forms,
    quote: Option<u8>,
    escaped: bool,
}

impl<'a> Compiler<'a> {
    fn new(forms: &'a Forms) -> Self {
        Self {
            pieces: Vec::new(),
            literal: Vec::new(),
            columns: BTreeSet::new(),
            forms,
            quote: None,
            escaped: false,
        }
    }

    /// Takes one character; tells how many bytes it has.
    fn literal(&mut self, rest: &str, first: char) -> usize {
        let length = first.len_utf8();
        self.literal
            .extend_from_slice(rest.as_bytes().get(..length).unwrap_or_default());
        let is_quote = matches!(first, '"' | '\'');
        match self.quote {
            Some(_) if self.escaped => self.escaped = false,
            Some(_) if first == '\\' => self.escaped = true,
            Some(open) if is_quote && open == rest.as_bytes()[0] => self.quote = None,
            None if is_quote => self.quote = rest.bytes().next(),
            _ => {}
        }
        length
    }

    fn place(&mut self, role: Role, column: usize) -> Result<(), String> {
        self.columns.insert(column);
        let piece = match (self.quote, role) {
            (Some(quote), Role::Plain) => Piece::Text(column, quote),
            (Some(_), _) => return Err(format!("column {column} brings its own quotes there")),
            (None, Role::Plain) => Piece::Whole(column, ValueForm::Number),
            (None, Role::Vid) => Piece::Whole(column, self.forms.vid),
            (None, Role::Value) => Piece::Whole(column, self.forms.column(column)),
        };
        let before = std::mem::take(&mut self.literal);
        if !before.is_empty() {
            self.pieces.push(Piece::Literal(before));
        }
        self.pieces.push(piece);
        Ok(())
    }

    fn finish(mut self) -> Result<Template, String> {
        if let Some(quote) = self.quote {
            return Err(format!("a quote {} is not closed", char::from(quote)));
        }
        if !self.literal.is_empty() {
            self.pieces.push(Piece::Literal(self.literal));
        }
        let columns: Vec<usize> = self.columns.into_iter().collect();
        for piece in &mut self.pieces {
            if let Piece::Text(at, _) | Piece::Whole(at, _) = piece {
                *at = columns.binary_search(at).unwrap_or_default();
            }
        }
        let pieces = self.pieces;
        Ok(Template { pieces, columns })
    }
}

/// A placeholder at the start of `text`: what it stands for, its column, its length in bytes.
fn placeholder(text: &str) -> Option<(Role, usize, usize)> {
    let (inside, _) = text.strip_prefix('{')?.split_once('}')?;
    let (role, number) = match inside.split_once(':') {
        Some(("vid", number)) => (Role::Vid, number),
        Some(("value", number)) => (Role::Value, number),
        _ => (Role::Plain, inside),
    };
    let all_digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let column = number.parse().ok().filter(|_| all_digits)?;
    Some((role, column, inside.len() + 2))
}

fn append_quoted(value: &[u8], form: ValueForm, out: &mut Vec<u8>) {
    let is_date = form == ValueForm::Datetime;
    let zone: &[u8] = if is_date { b"+0000" } else { b"" };
    out.extend_from_slice(if is_date { b"datetime(\"" } else { b"\"" });
    append_escaped(value.strip_suffix(zone).unwrap_or(value), b'"', out);
    out.extend_from_slice(if is_date { b"\")" } else { b"\"" });
}

fn append_escaped(value: &[u8], quote: u8, out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(at) = rest
        .iter()
        .position(|byte| *byte == quote || *byte == b'\\')
    {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&[b'\\', rest[at]]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn is_whole(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str, vid: ValueForm, row: &[&str]) -> Result<String, String> {
        let columns = vec![
            vid,
            ValueForm::Quoted,
            ValueForm::Number,
            ValueForm::Datetime,
        ];
        let template = Template::compile(text, &Forms { vid, columns })?;
        let columns = template.columns().to_vec();
        let mut out = Vec::new();
        let value = |at: usize| row[columns[at]].as_bytes();
        template
            .render(value, &mut out)
            .map_err(|error| error.to_string())?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn renders_by_place() {
        use ValueForm::{Number, Quoted};
        let row = [
            "933",
            "Anne \"x\" O'Hara\\",
            "-7",
            "2010-02-14T15:32:10.447+0000",
        ];
        let cases = [
            ("GO FROM {vid:0} OVER E", Number, Ok("GO FROM 933 OVER E")),
            (
                "GO FROM {vid:0} OVER E",
                Quoted,
                Ok("GO FROM \"933\" OVER E"),
            ),
            (
                "VALUES {0}:(\"{1}\", {2})",
                Quoted,
                Ok(r#"VALUES 933:("Anne \"x\" O'Hara\\", -7)"#),
            ),
            (
                "({value:1}, {value:2})",
                Number,
                Ok(r#"("Anne \"x\" O'Hara\\", -7)"#),
            ),
            (
                "({value:3})",
                Number,
                Ok(r#"(datetime("2010-02-14T15:32:10.447"))"#),
            ),
            ("x == '{1}'", Number, Ok(r#"x == 'Anne "x" O\'Hara\\'"#)),
            (r#"x == "a\"{0}""#, Number, Ok(r#"x == "a\"933""#)),
            (
                "MATCH (v{id: {0}}) {} {a",
                Number,
                Ok("MATCH (v{id: 933}) {} {a"),
            ),
            ("GO FROM {1}", Number, Err("column 1: \"Anne")),
            ("x == \"{0}", Number, Err("not closed")),
            ("x == \"{vid:0}\"", Number, Err("brings its own quotes")),
        ];
        for (text, vid, expected) in cases {
            match (render(text, vid, &row), expected) {
                (Ok(got), Ok(expected)) => assert_eq!(got, expected, "{text}"),
                (Err(got), Err(part)) => assert!(got.contains(part), "{text}: {got}"),
                (got, _) => panic!("{text}: {got:?}"),
            }
        }
    }

    #[test]
    fn only_used_columns_are_asked_for() {
        let forms = Forms::of_vid(ValueForm::Number);
        let template = Template::compile("{7} {2} \"{7}\"", &forms).unwrap();
        assert_eq!(template.columns(), [2, 7]);
    }
}
