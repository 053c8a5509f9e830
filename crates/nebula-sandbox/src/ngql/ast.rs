//! Statements and expressions.

use nebula_wire::Value;

use super::cypher::{PathPattern, Query};
use crate::{
    line::Role,
    meta::{
        message::{AlterItem, Balance},
        model::{Field, HostPort, JobKind, SchemaKind, VidType},
    },
};

/// Operators with two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Or,
    Xor,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Regex,
    In,
    NotIn,
    Contains,
    NotContains,
    StartsWith,
    NotStartsWith,
    EndsWith,
    NotEndsWith,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Const(Value),
    /// A name alone: variable of `MATCH`, or `vertex`, `edge`, `path`.
    Name(String),
    /// `$$` and `$^`.
    Dst,
    Src,
    /// `name.prop`: property of a tag, an edge type or a variable.
    Prop(String, String),
    /// `$$.Tag.prop`.
    DstProp(String, String),
    /// `$^.Tag.prop`.
    SrcProp(String, String),
    /// `$-.column`.
    Input(String),
    /// `$name.column`.
    Var(String, String),
    /// `(expression).prop`.
    Attr(Box<Expr>, String),
    Subscript(Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    /// Aggregate: function, distinct, argument (`None` = `*`).
    Aggregate(String, bool, Option<Box<Expr>>),
    List(Vec<Expr>),
    Map(Vec<(String, Expr)>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    /// `x IS NULL`, `x IS NOT NULL`.
    IsNull(Box<Expr>, bool),
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `CASE [x] WHEN a THEN b … [ELSE c] END`.
    Case(Option<Box<Expr>>, Vec<(Expr, Expr)>, Option<Box<Expr>>),
    /// `(a)-[:type]->()`: whether there is such a way.
    Pattern(Box<PathPattern>),
}

/// A result column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub expr: Expr,
    pub alias: Option<String>,
}

impl Column {
    /// Its name in the result.
    pub fn name(&self) -> String {
        self.alias.clone().unwrap_or_else(|| self.expr.to_string())
    }
}

/// `YIELD [DISTINCT] …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Yield {
    pub distinct: bool,
    pub columns: Vec<Column>,
}

/// Direction of a traversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Out,
    In,
    Both,
}

/// `OVER a, b|* [REVERSELY|BIDIRECT]`; no names = all.
#[derive(Debug, Clone, PartialEq)]
pub struct Over {
    pub edges: Vec<String>,
    pub direction: Direction,
}

/// Vertices a statement starts from.
#[derive(Debug, Clone, PartialEq)]
pub enum From {
    Vids(Vec<Expr>),
    /// `$-.column`.
    Input(String),
}

/// `GO`.
#[derive(Debug, Clone, PartialEq)]
pub struct Go {
    /// First and last step that yields rows.
    pub steps: (u32, u32),
    pub from: From,
    pub over: Over,
    pub filter: Option<Expr>,
    pub yields: Option<Yield>,
}

/// Names one edge: `src -> dst @ rank`.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeKey {
    pub src: Expr,
    pub dst: Expr,
    pub rank: i64,
}

/// A row of `INSERT VERTEX`: id and values of all tags in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct VertexRow {
    pub vid: Expr,
    pub values: Vec<Expr>,
}

/// A row of `INSERT EDGE`.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeRow {
    pub key: EdgeKey,
    pub values: Vec<Expr>,
}

/// `CREATE SPACE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSpace {
    pub name: String,
    pub if_not_exists: bool,
    pub parts: Option<i64>,
    pub replica: Option<i64>,
    pub vid: Option<VidType>,
    pub comment: Option<String>,
}

/// `CREATE TAG|EDGE`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSchema {
    pub kind: SchemaKind,
    pub name: String,
    pub if_not_exists: bool,
    pub fields: Vec<Field>,
    pub ttl_col: Option<String>,
    pub ttl_duration: i64,
    pub comment: Option<String>,
}

/// `FIND … PATH`.
#[derive(Debug, Clone, PartialEq)]
pub struct FindPath {
    pub shortest: bool,
    pub no_loop: bool,
    pub with_props: bool,
    pub from: From,
    pub to: From,
    pub over: Over,
    pub upto: u32,
    pub limit: Option<i64>,
    pub yields: Option<Yield>,
}

/// What `UPDATE` and `UPSERT` change.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Vertex(Expr),
    Edge(EdgeKey),
}

/// `UPDATE|UPSERT VERTEX|EDGE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The row is made where it is missing.
    pub upsert: bool,
    pub target: Target,
    /// Tag or edge type behind ON or OF.
    pub schema: Option<String>,
    /// `[schema.]prop = expression`.
    pub sets: Vec<(Option<String>, String, Expr)>,
    pub when: Option<Expr>,
    pub yields: Option<Yield>,
}

/// How two tables are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOp {
    Union,
    UnionAll,
    Intersect,
    Minus,
}

/// `EXPLAIN` and `PROFILE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    /// The statements run as well.
    pub profile: bool,
    /// `row`, `dot`, `dot:struct` or `tck`: clients print by it.
    pub format: String,
    pub statements: Vec<Stmt>,
}

/// What `SHOW` lists.
#[derive(Debug, Clone, PartialEq)]
pub enum Show {
    Spaces,
    Schemas(SchemaKind),
    Indexes(SchemaKind),
    IndexStatus(SchemaKind),
    CreateSpace(String),
    CreateSchema(SchemaKind, String),
    Hosts(Option<Role>),
    Parts(Vec<i64>),
    Stats,
    Jobs,
    Job(i64),
    Sessions,
    Queries,
    MetaLeader,
    Configs(Option<String>),
    Users,
    Charset,
    Zones,
    Snapshots,
}

/// A sort key: expression or column, descending.
pub type SortKey = (Expr, bool);

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt {
    Use(String),
    CreateSpace(CreateSpace),
    DropSpace {
        name: String,
        if_exists: bool,
    },
    DescSpace(String),
    CreateSchema(CreateSchema),
    AlterSchema {
        kind: SchemaKind,
        name: String,
        items: Vec<AlterItem>,
    },
    DropSchema {
        kind: SchemaKind,
        name: String,
        if_exists: bool,
    },
    DescSchema(SchemaKind, String),
    CreateIndex {
        kind: SchemaKind,
        name: String,
        on: String,
        fields: Vec<(String, Option<u16>)>,
        if_not_exists: bool,
    },
    DropIndex {
        kind: SchemaKind,
        name: String,
        if_exists: bool,
    },
    DescIndex(SchemaKind, String),
    RebuildIndex(SchemaKind, String),
    InsertVertices {
        tags: Vec<(String, Option<Vec<String>>)>,
        rows: Vec<VertexRow>,
        if_not_exists: bool,
    },
    InsertEdges {
        edge: String,
        props: Option<Vec<String>>,
        rows: Vec<EdgeRow>,
        if_not_exists: bool,
    },
    DeleteVertices {
        vids: From,
        with_edges: bool,
    },
    DeleteTags {
        tags: Vec<String>,
        vids: From,
    },
    DeleteEdges {
        edge: String,
        keys: Vec<EdgeKey>,
    },
    Go(Go),
    FetchTags {
        tags: Vec<String>,
        vids: From,
        yields: Option<Yield>,
    },
    FetchEdges {
        edge: String,
        keys: Vec<EdgeKey>,
        yields: Option<Yield>,
    },
    Lookup {
        on: String,
        filter: Option<Expr>,
        yields: Option<Yield>,
    },
    FindPath(FindPath),
    /// `MATCH` and what may stand around it.
    Match(Box<Query>),
    /// `YIELD …` and `RETURN …` without a pattern.
    Yield {
        yields: Yield,
        filter: Option<Expr>,
    },
    GroupBy {
        keys: Vec<Expr>,
        yields: Yield,
    },
    OrderBy(Vec<SortKey>),
    Limit {
        skip: i64,
        count: i64,
    },
    Pipe(Box<Stmt>, Box<Stmt>),
    Combine(SetOp, Box<Stmt>, Box<Stmt>),
    /// `$name = statement`.
    Assign(String, Box<Stmt>),
    /// A statement that reads the variable of this name.
    Reading(String, Box<Stmt>),
    Update(Box<Update>),
    Explain(Explain),
    Show(Show),
    AddHosts(Vec<HostPort>),
    DropHosts(Vec<HostPort>),
    /// Kind and argument.
    SubmitJob(JobKind, String),
    StopJob(i64),
    RecoverJob,
    BalanceLeader,
    BalanceData(Balance),
    UpdateConfigs {
        module: Option<String>,
        name: String,
        value: String,
    },
    GetConfigs {
        module: Option<String>,
        name: Option<String>,
    },
}
