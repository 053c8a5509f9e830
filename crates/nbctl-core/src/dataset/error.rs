//! What is wrong with a data set, each with file, line and column where there is one, and what to do.

/// Why a data set cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// Files that an import needs are not there.
    #[error("data set is incomplete: {} missing; hint: {hint}", .names.join(", "))]
    Missing {
        /// Names without folder and ending, in import order.
        names: Vec<&'static str>,
        /// What to do about it.
        hint: &'static str,
    },
    /// Two files claim to be the same part of the data set.
    #[error(
        "{first} and {second} hold the same part of the data set; hint: name the folder of one data set"
    )]
    Ambiguous {
        /// One path.
        first: String,
        /// The other path.
        second: String,
    },
    /// A header line does not fit its file.
    #[error("{file} header: {problem}; hint: {hint}")]
    Header {
        /// Path of the file whose header it is.
        file: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// Two files disagree about a property of the type that both belong to.
    #[error(
        "type {name}: {first} and {second} disagree about its properties; hint: do not mix data sets"
    )]
    Conflict {
        /// Tag or edge type.
        name: String,
        /// Path of the file seen first.
        first: String,
        /// Path of the other file.
        second: String,
    },
    /// A name that cannot stand in a statement.
    #[error(
        "space name {0:?} is not usable; hint: letters, digits and _ only, not starting with a digit"
    )]
    SpaceName(String),
    /// A row cannot be turned into a statement.
    #[error("{file} line {line}{}: {problem}", .column.as_ref().map(|name| format!(", column {name}")).unwrap_or_default())]
    Row {
        /// Path of the file.
        file: String,
        /// Line in the file, from 1, the header counted.
        line: u64,
        /// Column name, when the problem is in one column.
        column: Option<String>,
        /// What is wrong, with its hint.
        problem: RowProblem,
    },
}

/// What can be wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowProblem {
    /// More or fewer columns than the header has.
    #[error("{got} columns, the header has {expected}; hint: {}", column_hint(*.expected, *.got))]
    Columns {
        /// Columns of the header.
        expected: usize,
        /// Columns of the row.
        got: usize,
    },
    /// An id that is not a whole number of 64 bits.
    #[error(
        "id {0:?} is not a number below 2^63; hint: ids of LDBC data sets are numbers, check the column order"
    )]
    Id(String),
    /// A number was expected.
    #[error(
        "{0:?} is not a whole number; hint: the type comes from the first row, as in nebula-bench"
    )]
    Number(String),
    /// A date was expected.
    #[error(
        "{0:?} is not a date like 2010-02-14T15:32:10.447+0000; hint: the type comes from the first row; import dates as strings"
    )]
    Datetime(String),
    /// An id too long for the space's `fixed_string`.
    #[error(
        "id of {got} bytes does not fit fixed_string({length}); hint: choose a longer vid_type"
    )]
    LongId {
        /// Bytes of the id with its prefix.
        got: usize,
        /// Bytes that fit.
        length: u16,
    },
    /// A zero byte.
    #[error("holds a NUL byte; hint: the file is damaged, write it again")]
    Nul,
    /// Text that is not UTF-8.
    #[error("is not UTF-8; hint: convert it, for example with iconv")]
    Utf8,
    /// A Windows line end.
    #[error(
        "ends in a carriage return; hint: convert the file's line ends, for example with dos2unix"
    )]
    CarriageReturn,
}

fn column_hint(expected: usize, got: usize) -> &'static str {
    match got {
        1 => "an empty or cut line, or another separator than |",
        _ if got == expected + 1 => "very old generators end rows with |",
        _ if got > expected => "a text holds a |, which CsvBasic cannot",
        _ => "the file was cut, or its header belongs to another file",
    }
}
