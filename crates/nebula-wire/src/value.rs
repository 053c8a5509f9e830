//! Values as graphd sends them, owned. Strings are bytes: the protocol promises no UTF-8.

use std::borrow::Cow;

/// One cell of a result. A union with no field set is [`Value::Empty`]; real answers contain it
/// (the `Total` row of `SHOW HOSTS`).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// No field set; clients print `__EMPTY__`.
    #[default]
    Empty,
    /// NULL with its reason.
    Null(NullKind),
    /// Boolean.
    Bool(bool),
    /// 64-bit integer; also numeric vertex ids.
    Int(i64),
    /// Double.
    Float(f64),
    /// Bytes; also string vertex ids.
    String(Vec<u8>),
    /// Calendar date.
    Date(Date),
    /// Time of day, UTC.
    Time(Time),
    /// Date and time, UTC.
    DateTime(DateTime),
    /// Vertex with its tags.
    Vertex(Box<Vertex>),
    /// Edge with its properties.
    Edge(Box<Edge>),
    /// Path of vertices and steps.
    Path(Box<Path>),
    /// List.
    List(Vec<Value>),
    /// Map in wire order.
    Map(Props),
    /// Set in wire order.
    Set(Vec<Value>),
    /// A table within a cell.
    DataSet(Box<DataSet>),
    /// Point, line or polygon (2.6+).
    Geography(Box<Geography>),
    /// Span of time (3.0+).
    Duration(Duration),
}

/// Properties in wire order.
pub type Props = Vec<(Vec<u8>, Value)>;

/// Why a value is NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullKind {
    /// Plain NULL.
    Null,
    /// Not a number.
    NaN,
    /// Undecodable data.
    BadData,
    /// Operation on a wrong type.
    BadType,
    /// Arithmetic overflow.
    Overflow,
    /// Property does not exist.
    UnknownProp,
    /// Division by zero.
    DivByZero,
    /// Index out of range.
    OutOfRange,
    /// A number no known release defines.
    Other(i32),
}

const NULL_KINDS: [NullKind; 8] = [
    NullKind::Null,
    NullKind::NaN,
    NullKind::BadData,
    NullKind::BadType,
    NullKind::Overflow,
    NullKind::UnknownProp,
    NullKind::DivByZero,
    NullKind::OutOfRange,
];

impl From<i32> for NullKind {
    fn from(code: i32) -> Self {
        let known = usize::try_from(code).ok().and_then(|i| NULL_KINDS.get(i));
        known.copied().unwrap_or(Self::Other(code))
    }
}

impl From<NullKind> for i32 {
    fn from(kind: NullKind) -> Self {
        match kind {
            NullKind::Null => 0,
            NullKind::NaN => 1,
            NullKind::BadData => 2,
            NullKind::BadType => 3,
            NullKind::Overflow => 4,
            NullKind::UnknownProp => 5,
            NullKind::DivByZero => 6,
            NullKind::OutOfRange => 7,
            NullKind::Other(code) => code,
        }
    }
}

/// Calendar date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Date {
    /// Year.
    pub year: i16,
    /// Month, 1 to 12.
    pub month: i8,
    /// Day, 1 to 31.
    pub day: i8,
}

/// Time of day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Time {
    /// Hour, 0 to 23.
    pub hour: i8,
    /// Minute.
    pub minute: i8,
    /// Second.
    pub sec: i8,
    /// Microsecond.
    pub microsec: i32,
}

/// Date and time in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateTime {
    /// Date part.
    pub date: Date,
    /// Time part.
    pub time: Time,
}

/// Span of time; months are kept apart because their length varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Duration {
    /// Seconds.
    pub seconds: i64,
    /// Microseconds.
    pub microseconds: i32,
    /// Months.
    pub months: i32,
}

/// Vertex.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vertex {
    /// Vertex id: [`Value::Int`] or [`Value::String`].
    pub vid: Value,
    /// Tags; empty where the query did not ask for properties.
    pub tags: Vec<Tag>,
}

/// Tag of a vertex.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tag {
    /// Name.
    pub name: Vec<u8>,
    /// Properties.
    pub props: Props,
}

/// Edge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Edge {
    /// Source vertex id.
    pub src: Value,
    /// Destination vertex id.
    pub dst: Value,
    /// Edge type number, negative when traversed against its direction.
    pub etype: i32,
    /// Edge type name.
    pub name: Vec<u8>,
    /// Rank.
    pub ranking: i64,
    /// Properties.
    pub props: Props,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Step {
    /// Vertex the step leads to.
    pub dst: Vertex,
    /// Edge type number, negative when traversed against its direction.
    pub etype: i32,
    /// Edge type name.
    pub name: Vec<u8>,
    /// Rank.
    pub ranking: i64,
    /// Properties of the edge.
    pub props: Props,
}

/// Path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Path {
    /// First vertex.
    pub src: Vertex,
    /// Steps in order.
    pub steps: Vec<Step>,
}

/// Longitude and latitude.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Coordinate {
    /// Longitude in degrees.
    pub x: f64,
    /// Latitude in degrees.
    pub y: f64,
}

/// Geometry.
#[derive(Debug, Clone, PartialEq)]
pub enum Geography {
    /// No field set.
    Empty,
    /// One place.
    Point(Coordinate),
    /// Line through places.
    LineString(Vec<Coordinate>),
    /// Rings, the outer one first.
    Polygon(Vec<Vec<Coordinate>>),
}

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataSet {
    /// Column names.
    pub columns: Vec<Vec<u8>>,
    /// Rows, each with one value per column.
    pub rows: Vec<Vec<Value>>,
}

impl DataSet {
    /// A table with these columns and no rows.
    pub fn with_columns<C: Into<Vec<u8>>>(columns: impl IntoIterator<Item = C>) -> Self {
        Self {
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Position of the column called `name`.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c == name.as_bytes())
    }

    /// Column names as text; bytes that are no UTF-8 are replaced.
    pub fn column_names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.columns.iter().map(|c| String::from_utf8_lossy(c))
    }

    /// The cell at `row` in the column called `name`.
    pub fn cell(&self, row: usize, name: &str) -> Option<&Value> {
        self.rows.get(row)?.get(self.column(name)?)
    }
}

impl Value {
    /// Plain NULL.
    pub const NULL: Self = Self::Null(NullKind::Null);

    /// The integer, if it is one.
    pub const fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The bytes of a string, if it is one.
    pub const fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::String(value) => Some(value.as_slice()),
            _ => None,
        }
    }

    /// The text of a string, if it is one and is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()?).ok()
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value.into_bytes())
    }
}
