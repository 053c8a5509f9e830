//! From a header line and the first row to columns with types.

use super::error::DatasetError;
use super::kind::FileKind;
use super::layout::Found;

/// A file that is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// Path as it was handed in.
    pub path: String,
    /// What the file is.
    pub kind: FileKind,
    /// All columns in file order, ids included.
    pub columns: Vec<Column>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name in the header; of properties also the property's name.
    pub name: String,
    /// What the column holds.
    pub ty: ColumnType,
    /// The file has no rows, so the type comes from the name and gives way to that of other files.
    pub guessed: bool,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Id of a vertex: no property.
    Id,
    /// `int` property.
    Int,
    /// `string` property.
    String,
    /// `datetime` property.
    Datetime,
}

/// What dates with a time of day become. Dates in epoch milliseconds are ints either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dates {
    /// Strings, as in nebula-bench of 2021.
    #[default]
    String,
    /// `datetime`, as in its successor of 2024.
    Datetime,
}

const CSV_BASIC: &str = "only the CsvBasic serializers of the LDBC generator are understood";
const LINE_ENDS: &str = "convert the file's line ends, for example with dos2unix";
const DAMAGED: &str = "the file is damaged, write it again";

impl DataFile {
    /// Understands a file by its header line and, where there is one, its first data row (both without line end).
    pub fn derive(
        found: &Found,
        header: &str,
        first_row: Option<&str>,
        dates: Dates,
    ) -> Result<Self, DatasetError> {
        let fail = |problem: String, hint| {
            Err(DatasetError::Header {
                file: found.path.clone(),
                problem,
                hint,
            })
        };
        if header.ends_with('\r') {
            return fail("ends in a carriage return".to_owned(), LINE_ENDS);
        }
        let names: Vec<&str> = header.split('|').collect();
        let ids = found.kind.id_classes();
        let mut properties = names.iter().skip(ids.len()).filter(|_| !ids.is_empty());
        if let Some(name) = properties.find(|name| !is_property(name)) {
            return fail(format!("column {name:?} cannot be a property"), CSV_BASIC);
        }
        if !ids_fit(&found.kind, &names) {
            return fail(
                format!("{header:?} does not begin with the ids of {}", found.name),
                CSV_BASIC,
            );
        }
        let row: Option<Vec<&str>> = first_row.map(|row| row.split('|').collect());
        if let Some(row) = row.as_ref().filter(|row| row.len() != names.len()) {
            let problem = format!("{} columns, the first row has {}", names.len(), row.len());
            return fail(problem, DAMAGED);
        }
        let column = |(at, name): (usize, &&str)| Column {
            name: (*name).to_owned(),
            ty: match row.as_ref().and_then(|row| row.get(at)) {
                _ if at < ids.len() => ColumnType::Id,
                Some(value) => by_value(value, dates),
                None => by_name(name, dates),
            },
            guessed: row.is_none(),
        };
        let columns = names.iter().enumerate().map(column).collect();
        Ok(Self {
            path: found.path.clone(),
            kind: found.kind.clone(),
            columns,
        })
    }

    /// The columns that become properties.
    pub fn properties(&self) -> impl Iterator<Item = &Column> {
        self.columns
            .iter()
            .filter(|column| column.ty != ColumnType::Id)
    }
}

/// `id` for vertices, `Person.id|Place.id` for edges; files that are skipped may have anything.
fn ids_fit(kind: &FileKind, names: &[&str]) -> bool {
    match kind {
        FileKind::Vertex { .. } => names.first() == Some(&"id"),
        FileKind::Edge { .. } => {
            let classes = kind.id_classes();
            let fits = |(class, name): (&&str, &&str)| {
                name.strip_suffix(".id")
                    .is_some_and(|got| got.eq_ignore_ascii_case(class))
            };
            names.len() >= classes.len() && classes.iter().zip(names).all(fits)
        }
        FileKind::Skipped { .. } => true,
    }
}

/// Property names go into statements between backticks.
fn is_property(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn by_value(value: &str, dates: Dates) -> ColumnType {
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        ColumnType::Int
    } else if dates == Dates::Datetime && super::encode::datetime_parts(value).is_some() {
        ColumnType::Datetime
    } else {
        ColumnType::String
    }
}

fn by_name(name: &str, dates: Dates) -> ColumnType {
    match name {
        "length" | "classYear" | "workFrom" => ColumnType::Int,
        "creationDate" | "joinDate" if dates == Dates::Datetime => ColumnType::Datetime,
        _ => ColumnType::String,
    }
}
