//! Statements of patterns: `MATCH`, `OPTIONAL MATCH`, `UNWIND`, `WITH`, `RETURN`.

use super::ast::{Column, Direction, Expr, SortKey};

/// Names and wanted values in braces.
pub type Props = Vec<(String, Expr)>;

/// `(alias:Label{prop: value}:Other)`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodePattern {
    pub alias: Option<String>,
    pub labels: Vec<String>,
    /// Wanted properties with the label they stand behind (`None` = any tag).
    pub props: Vec<(Option<String>, String, Expr)>,
}

/// `-[alias:type|type*1..3{prop: value}]->`.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgePattern {
    pub alias: Option<String>,
    /// Empty = all.
    pub types: Vec<String>,
    /// From the node on the left.
    pub direction: Direction,
    /// Fewest and most hops of a pattern of variable length; no maximum = as far as it goes.
    pub range: Option<(u32, Option<u32>)>,
    pub props: Props,
}

/// Which ways between two ends are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortest {
    /// `shortestPath`: one of the shortest.
    One,
    /// `allShortestPaths`.
    All,
}

/// `alias = (…)-[…]->(…)`: one node more than edges.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathPattern {
    pub alias: Option<String>,
    pub nodes: Vec<NodePattern>,
    pub edges: Vec<EdgePattern>,
    /// Between each pair of ends; `None`: every way.
    pub shortest: Option<Shortest>,
}

/// `[OPTIONAL] MATCH path, … [WHERE …]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    pub optional: bool,
    pub paths: Vec<PathPattern>,
    pub filter: Option<Expr>,
}

/// What follows `WITH` and `RETURN`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Projection {
    pub distinct: bool,
    /// `*`: everything that has a name, before `columns`.
    pub all: bool,
    pub columns: Vec<Column>,
    pub order: Vec<SortKey>,
    pub skip: Option<i64>,
    pub limit: Option<i64>,
}

/// What comes before `RETURN`.
#[derive(Debug, Clone, PartialEq)]
pub enum Clause {
    Match(Match),
    Unwind(Expr, String),
    With(Projection, Option<Expr>),
}

/// A whole statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub clauses: Vec<Clause>,
    pub result: Projection,
    /// As it was written, with single blanks: an error of 2.x quotes it.
    pub text: String,
}
