//! Patterns as conditions: `WHERE (a)-[:type]->()`.
//!
//! Duties: put aside before anything runs, so that a filter is an expression over columns; then a column that says for
//! each row whether there is a way. A pattern starts at a name the rows have and brings no new names.

use super::{
    Run,
    cell::Cell,
    expand,
    pattern::PathPlan,
    rows::Rows,
    scope::undefined,
    seek::{Seek, Start},
};
use crate::{
    graph::{error::QueryError, exec::scope::walk},
    ngql::{
        ast::{Column, Expr},
        cypher::{Clause, PathPattern, Query},
    },
};
use nebula_wire::Value;

/// Begins the names of the columns.
const CONDITION: &str = " condition";
/// Apart from the numbers of a clause's own paths.
const NUMBER: usize = 1000;

/// The statement with a name for each pattern in a filter, and those patterns by number.
pub(super) fn lift(query: &Query) -> Result<(Query, Vec<PathPattern>), QueryError> {
    for column in columns(query) {
        let mut refused = false;
        walk(&column.expr, &mut |expr| {
            refused |= matches!(expr, Expr::Pattern(_));
        });
        if refused {
            return Err(QueryError::not_supported("a pattern that is no condition"));
        }
    }
    let mut query = query.clone();
    let mut patterns = Vec::new();
    for clause in &mut query.clauses {
        let (Clause::Match(super::Match { filter, .. }) | Clause::With(_, filter)) = clause else {
            continue;
        };
        if let Some(filter) = filter {
            *filter = lifted(filter, &mut patterns)?;
        }
    }
    Ok((query, patterns))
}

/// Of `WITH` and `RETURN`.
fn columns(query: &Query) -> impl Iterator<Item = &Column> {
    let before = query.clauses.iter().filter_map(|clause| match clause {
        Clause::With(projection, _) => Some(&projection.columns),
        _ => None,
    });
    before.chain([&query.result.columns]).flatten()
}

fn lifted(filter: &Expr, patterns: &mut Vec<PathPattern>) -> Result<Expr, QueryError> {
    filter.try_map(&mut |expr| {
        let pattern = match expr {
            Expr::Pattern(pattern) => pattern,
            Expr::Call(name, args) if name.eq_ignore_ascii_case("exists") => {
                match args.as_slice() {
                    [Expr::Pattern(pattern)] => pattern,
                    _ => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        patterns.push((**pattern).clone());
        Ok(Some(Expr::Name(format!(
            "{CONDITION}{}",
            patterns.len() - 1
        ))))
    })
}

impl Run<'_> {
    /// The rows with a column for every pattern that `filter` asks for.
    pub(super) async fn conditions(
        &mut self,
        filter: &Expr,
        mut rows: Rows,
    ) -> Result<Rows, QueryError> {
        let mut wanted: Vec<usize> = super::pattern::names(filter)
            .into_iter()
            .filter_map(|name| name.strip_prefix(CONDITION)?.parse().ok())
            .collect();
        wanted.sort_unstable();
        for number in wanted {
            rows = self.condition(number, rows).await?;
        }
        Ok(rows)
    }

    async fn condition(&mut self, number: usize, rows: Rows) -> Result<Rows, QueryError> {
        let Some(pattern) = self.patterns.get(number).cloned() else {
            return Ok(rows);
        };
        let nodes = pattern.nodes.iter().filter_map(|node| node.alias.as_ref());
        let edges = pattern.edges.iter().filter_map(|edge| edge.alias.as_ref());
        if let Some(new) = nodes.chain(edges).find(|name| rows.slot(name).is_none()) {
            return Err(undefined(new));
        }
        let found = Box::pin(self.ways(&pattern, NUMBER + number, &rows)).await?;
        let mut matched = vec![false; rows.rows.len()];
        for at in found.origins() {
            matched[at] = true;
        }
        let mut wider = rows.wider([format!("{CONDITION}{number}")]);
        for (row, matched) in rows.rows.iter().zip(matched) {
            wider.extend(row, [Cell::Value(Value::Bool(matched))])?;
        }
        Ok(wider)
    }

    /// All ways of a pattern that begin at what the rows have.
    async fn ways(
        &mut self,
        pattern: &PathPattern,
        number: usize,
        rows: &Rows,
    ) -> Result<Rows, QueryError> {
        let rows = rows.numbered()?;
        let plan = PathPlan::new(pattern, number, &rows, &self.env, &self.needs)?;
        let seek = Seek {
            plan: &plan,
            filter: None,
            limit: None,
            text: &self.query.text,
        };
        let bound = plan
            .nodes
            .iter()
            .position(|node| rows.slot(&node.name).is_some());
        let Some(at) = bound else {
            return Err(QueryError::not_supported(
                "a condition that starts at no vertex of the rows",
            ));
        };
        let rows = seek.begin(&Start::Bound(at), rows, &mut self.env).await?;
        expand::walk(&plan, (at, at), rows, &mut self.env).await
    }
}
