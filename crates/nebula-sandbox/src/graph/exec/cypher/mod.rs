//! One bounded evaluator for statements of patterns: rows go from clause to clause.
//!
//! `pattern` looks names up, `seek` finds where to begin, `expand` and `trail` walk, `project` makes columns; `cell`
//! and `rows` are what they work on, `store` is what was read of the graph. Nothing is optimized beyond the choice of
//! a start, and the number of cells between two steps is limited.

mod cell;
mod check;
mod condition;
mod expand;
mod pattern;
mod project;
mod rows;
mod scope;
mod seek;
mod store;
mod trail;

use std::sync::Arc;

use nebula_wire::{DataSet, Value};

use self::{
    cell::Cell,
    pattern::{Needs, PathPlan},
    rows::{ORIGIN, Rows},
    seek::{Seek, Start},
    store::Env,
};
use super::{Context, Table};
use crate::{
    graph::{catalog::SpaceInfo, error::QueryError},
    ngql::{
        ast::Expr,
        cypher::{Clause, Match, PathPattern, Query},
    },
};

pub(super) async fn run(context: &Context<'_>, query: &Query) -> Table {
    check::line(query, context.engine.line)?;
    let (query, patterns) = condition::lift(query)?;
    let query = &query;
    check::conditions(!patterns.is_empty(), context.engine.line)?;
    let matches = |clause: &Clause| matches!(clause, Clause::Match(_));
    let info = match context.space() {
        Err(error) if query.clauses.iter().any(matches) => return Err(error),
        // Nothing of the graph is read.
        Err(_) => Arc::new(SpaceInfo::nothing()),
        Ok(info) => info,
    };
    let mut run = Run {
        env: Env::new(context, &info),
        needs: Needs::of(query),
        limit: check::pushed_limit(query),
        query,
        patterns,
    };
    let mut rows = Rows::unit();
    for clause in &query.clauses {
        rows = run.clause(clause, rows).await?;
    }
    let result = project::project(&query.result, &rows, &run.env, false)?;
    run.table(&result).map(Some)
}

/// A statement at work.
struct Run<'a> {
    env: Env<'a>,
    needs: Needs,
    limit: Option<usize>,
    query: &'a Query,
    /// Conditions that are patterns, by number.
    patterns: Vec<PathPattern>,
}

impl Run<'_> {
    async fn clause(&mut self, clause: &Clause, rows: Rows) -> Result<Rows, QueryError> {
        match clause {
            Clause::Match(clause) if clause.optional => self.optional(clause, rows).await,
            Clause::Match(clause) => self.matching(clause, rows).await,
            Clause::Unwind(list, alias) => project::unwind(list, alias, &rows, &self.env),
            Clause::With(projection, filter) => {
                let mut made = project::project(projection, &rows, &self.env, true)?;
                if let Some(filter) = filter {
                    made = self.filtered(filter, made).await?;
                }
                Ok(made)
            }
        }
    }

    async fn matching(&mut self, clause: &Match, mut rows: Rows) -> Result<Rows, QueryError> {
        for (number, path) in clause.paths.iter().enumerate() {
            rows = self.path(clause, path, number, rows).await?;
        }
        rows.keep(|name| name == ORIGIN || !name.starts_with(' '));
        self.load(&rows).await?;
        match &clause.filter {
            Some(filter) => self.filtered(filter, rows).await,
            None => Ok(rows),
        }
    }

    /// The rows that pass.
    async fn filtered(&mut self, filter: &Expr, rows: Rows) -> Result<Rows, QueryError> {
        let mut rows = self.conditions(filter, rows).await?;
        scope::check_names(filter, &rows)?;
        rows.filter(filter, &self.env)?;
        rows.keep(|name| name == ORIGIN || !name.starts_with(' '));
        Ok(rows)
    }

    async fn path(
        &mut self,
        clause: &Match,
        path: &PathPattern,
        number: usize,
        rows: Rows,
    ) -> Result<Rows, QueryError> {
        let plan = PathPlan::new(path, number, &rows, &self.env, &self.needs)?;
        let seek = Seek {
            plan: &plan,
            filter: clause.filter.as_ref(),
            limit: self.limit,
            text: &self.query.text,
        };
        let start = seek.choose(&rows, &self.env)?;
        let rows = seek.begin(&start, rows, &mut self.env).await?;
        let ends = match start {
            Start::Bound(at) | Start::Ids(at, _) | Start::Tag(at, _) => (at, at),
            Start::Edge(at) => (at, at + 1),
            Start::Scan(_) => (0, plan.edges.len()),
        };
        let rows = expand::walk(&plan, ends, rows, &mut self.env).await?;
        expand::bind_path(&plan, rows)
    }

    /// Reads the tags of vertices whose properties the statement asks for.
    async fn load(&mut self, rows: &Rows) -> Result<(), QueryError> {
        let mut vids = Vec::new();
        for (slot, name) in rows.columns.iter().enumerate() {
            if !self.needs.has(name) {
                continue;
            }
            for row in &rows.rows {
                match &row[slot] {
                    Cell::Node(vid) => vids.push(vid.clone()),
                    Cell::Path(walk) => {
                        vids.push(walk.start.clone());
                        vids.extend(walk.hops.iter().map(|hop| hop.to.clone()));
                    }
                    _ => {}
                }
            }
        }
        self.env.load(vids).await
    }

    /// Rows without a match stay, with NULL for what the clause would have named.
    async fn optional(&mut self, clause: &Match, rows: Rows) -> Result<Rows, QueryError> {
        let mut found = self.matching(clause, rows.numbered()?).await?;
        let Some(origin) = found.slot(ORIGIN) else {
            return Ok(found);
        };
        let mut matched = vec![false; rows.rows.len()];
        for at in found.origins() {
            matched[at] = true;
        }
        for (at, row) in rows.rows.iter().enumerate().filter(|(at, _)| !matched[*at]) {
            let at = Cell::Value(Value::Int(i64::try_from(at).unwrap_or(i64::MAX)));
            let missing = found.columns.len() - row.len() - 1;
            let nulls = std::iter::repeat_n(Cell::NULL, missing);
            found.extend(row, std::iter::once(at).chain(nulls))?;
        }
        found.rows.sort_by_key(|row| rows::origin(row, origin));
        found.drop_hidden();
        Ok(found)
    }

    fn table(&self, rows: &Rows) -> Result<DataSet, QueryError> {
        let mut data = DataSet::with_columns(rows.columns.iter().map(String::as_str));
        for row in &rows.rows {
            let values = row.iter().map(|cell| cell.value(&self.env));
            data.rows.push(values.collect::<Result<_, _>>()?);
        }
        Ok(data)
    }
}
