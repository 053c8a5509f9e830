//! What a release line refuses before anything runs.

use std::collections::HashSet;

use super::pattern::redefined;
use crate::{
    graph::{
        error::{Class, QueryError},
        exec::aggregate::has_aggregate,
    },
    line::Line,
    ngql::cypher::{Clause, Match, PathPattern, Projection, Query},
};

/// Clauses and patterns that the line does not know.
pub(super) fn line(query: &Query, line: Line) -> Result<(), QueryError> {
    for (at, clause) in query.clauses.iter().enumerate() {
        let Clause::Match(clause) = clause else {
            continue;
        };
        for path in &clause.paths {
            ranges(path, line)?;
            shortest(path, line)?;
        }
        if line.is_3x() {
            if clause.optional && clause.filter.is_some() {
                return Err(QueryError::semantic(
                    "Where clause in optional match is not supported.",
                ));
            }
        } else {
            old(clause, at)?;
        }
    }
    Ok(())
}

/// 2.x: one MATCH of one path, at the beginning, every name once.
fn old(clause: &Match, at: usize) -> Result<(), QueryError> {
    if at > 0 {
        return Err(QueryError::semantic(
            "Match clause is not supported to be followed by other cypher clauses",
        ));
    }
    if clause.optional {
        return Err(QueryError::semantic("OPTIONAL MATCH not supported"));
    }
    if clause.paths.len() > 1 {
        return Err(syntax(","));
    }
    let mut seen = HashSet::new();
    for path in &clause.paths {
        let nodes = path.nodes.iter().filter_map(|node| node.alias.as_ref());
        let edges = path.edges.iter().filter_map(|edge| edge.alias.as_ref());
        for alias in nodes.chain(edges).chain(&path.alias) {
            if !seen.insert(alias) {
                return Err(redefined(alias));
            }
        }
    }
    Ok(())
}

fn syntax(near: &str) -> QueryError {
    QueryError {
        class: Class::Syntax,
        text: format!("SyntaxError: syntax error near `{near}'"),
    }
}

/// Between two ends, and 3.x only.
fn shortest(path: &PathPattern, line: Line) -> Result<(), QueryError> {
    if path.shortest.is_none() {
        return Ok(());
    }
    if !line.is_3x() {
        return Err(syntax("("));
    }
    let [edge] = path.edges.as_slice() else {
        return Err(QueryError::semantic(
            "`shortestPath(...)' only support pattern like (start)-[edge*..hop]-(end)",
        ));
    };
    if edge.range.is_some_and(|(least, _)| least > 1) {
        return Err(QueryError::not_supported(
            "a shortest path with a least length",
        ));
    }
    Ok(())
}

/// Patterns as conditions, which 2.x does not know.
pub(super) fn conditions(any: bool, line: Line) -> Result<(), QueryError> {
    if any && !line.is_3x() {
        return Err(syntax("["));
    }
    Ok(())
}

fn ranges(path: &PathPattern, line: Line) -> Result<(), QueryError> {
    for (least, most) in path.edges.iter().filter_map(|edge| edge.range) {
        match most {
            None if !line.is_3x() => {
                return Err(QueryError::semantic(
                    "Cannot set maximum hop for variable length relationships",
                ));
            }
            Some(most) if most < least => {
                return Err(QueryError::semantic(format!(
                    "Max hop must be greater equal than min hop: {most} vs. {least}"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The rows a single MATCH has to find when nothing but a LIMIT follows it.
pub(super) fn pushed_limit(query: &Query) -> Option<usize> {
    let [Clause::Match(clause)] = query.clauses.as_slice() else {
        return None;
    };
    let Projection {
        distinct,
        columns,
        order,
        skip,
        limit,
        ..
    } = &query.result;
    let aggregates = columns.iter().any(|column| has_aggregate(&column.expr));
    if *distinct || aggregates || !order.is_empty() || clause.paths.len() != 1 {
        return None;
    }
    let rows = (*limit)?.saturating_add(skip.unwrap_or(0));
    usize::try_from(rows).ok()
}
