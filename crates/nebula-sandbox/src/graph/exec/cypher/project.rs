//! WITH, RETURN and UNWIND: rows to rows.

use std::{cmp::Ordering, collections::HashMap};

use nebula_wire::Value;

use super::{
    cell::Cell,
    pattern::redefined,
    rows::Rows,
    scope::{CellScope, check_names, undefined},
    store::Env,
};
use crate::{
    graph::{
        error::QueryError,
        eval::{self, Scope},
        exec::aggregate::{aggregated, has_aggregate},
        key::keep_first,
        operators::sort_order,
    },
    ngql::{
        ast::{Column, Expr},
        cypher::Projection,
    },
};

/// `UNWIND list AS alias`: a row for each item; NULL has none, anything else is a list of itself.
pub(super) fn unwind(
    list: &Expr,
    alias: &str,
    rows: &Rows,
    env: &Env<'_>,
) -> Result<Rows, QueryError> {
    check_names(list, rows)?;
    if rows.slot(alias).is_some() {
        return Err(QueryError::semantic(format!(
            "Variable `{alias}` already declared"
        )));
    }
    let mut wider = rows.wider([alias.to_owned()]);
    for row in &rows.rows {
        let items = match eval::eval(list, &scope(rows, row, env))? {
            Value::List(items) | Value::Set(items) => items,
            Value::Null(_) | Value::Empty => Vec::new(),
            other => vec![other],
        };
        for item in items {
            wider.extend(row, [Cell::Value(item)])?;
        }
    }
    Ok(wider)
}

fn scope<'a>(rows: &'a Rows, row: &'a [Cell], env: &'a Env<'_>) -> CellScope<'a> {
    CellScope {
        env,
        columns: &rows.columns,
        row,
    }
}

/// The columns a projection makes: `*` stands for everything that has a name.
fn columns(projection: &Projection, rows: &Rows) -> Result<Vec<Column>, QueryError> {
    let mut columns = Vec::new();
    if projection.all {
        let named = rows.named().map(|name| Column {
            expr: Expr::Name(name.clone()),
            alias: Some(name.clone()),
        });
        columns.extend(named);
        if columns.is_empty() && projection.columns.is_empty() {
            return Err(QueryError::semantic(
                "RETURN * is not allowed when there are no variables in scope",
            ));
        }
    }
    columns.extend(projection.columns.iter().cloned());
    for column in &columns {
        check_names(&column.expr, rows)?;
    }
    Ok(columns)
}

/// What WITH or RETURN makes of the rows.
pub(super) fn project(
    projection: &Projection,
    rows: &Rows,
    env: &Env<'_>,
    with: bool,
) -> Result<Rows, QueryError> {
    let columns = columns(projection, rows)?;
    let mut made = Rows {
        columns: columns.iter().map(Column::name).collect(),
        rows: Vec::new(),
    };
    if with {
        check_with(&columns, &made)?;
    }
    if columns.iter().any(|column| has_aggregate(&column.expr)) {
        grouped(&columns, rows, env, &mut made)?;
    } else {
        for row in &rows.rows {
            let cells = columns
                .iter()
                .map(|column| cell(&column.expr, rows, row, env));
            let cells: Vec<Cell> = cells.collect::<Result<_, _>>()?;
            made.push(cells)?;
        }
    }
    if projection.distinct {
        distinct(&mut made, env)?;
    }
    sort(projection, &mut made, env)?;
    let size = |number: i64| usize::try_from(number).unwrap_or(0);
    if let Some(skip) = projection.skip {
        made.rows.drain(..size(skip).min(made.rows.len()));
    }
    if let Some(limit) = projection.limit {
        made.rows.truncate(size(limit));
    }
    Ok(made)
}

/// WITH needs names, each of them once.
fn check_with(columns: &[Column], made: &Rows) -> Result<(), QueryError> {
    for (at, column) in columns.iter().enumerate() {
        if column.alias.is_none() && !matches!(column.expr, Expr::Name(_)) {
            return Err(QueryError::semantic(
                "Expression in WITH must be aliased (use AS)",
            ));
        }
        if made.slot(&made.columns[at]) != Some(at) {
            return Err(redefined(&made.columns[at]));
        }
    }
    Ok(())
}

/// A bare name stays what it is; everything else becomes a value.
fn cell(expr: &Expr, rows: &Rows, row: &[Cell], env: &Env<'_>) -> Result<Cell, QueryError> {
    if let Expr::Name(name) = expr {
        let slot = rows.slot(name).ok_or_else(|| undefined(name))?;
        return Ok(row[slot].clone());
    }
    eval::eval(expr, &scope(rows, row, env)).map(Cell::Value)
}

/// One row per group; the groups are made by the columns without aggregates, in the order of their first rows.
fn grouped(
    columns: &[Column],
    rows: &Rows,
    env: &Env<'_>,
    made: &mut Rows,
) -> Result<(), QueryError> {
    let keys: Vec<&Column> = columns.iter().filter(|c| !has_aggregate(&c.expr)).collect();
    let mut groups: Vec<Vec<&Vec<Cell>>> = Vec::new();
    let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
    for row in &rows.rows {
        let mut key = Vec::new();
        for column in &keys {
            cell(&column.expr, rows, row, env)?.put_key(&mut key, env)?;
        }
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(row);
    }
    if keys.is_empty() && groups.is_empty() {
        groups.push(Vec::new());
    }
    for group in groups {
        let scopes: Vec<CellScope<'_>> = group.iter().map(|row| scope(rows, row, env)).collect();
        let scopes: Vec<&dyn Scope> = scopes.iter().map(|scope| scope as &dyn Scope).collect();
        let mut cells = Vec::with_capacity(columns.len());
        for column in columns {
            cells.push(match (&column.expr, group.first()) {
                (Expr::Name(_), Some(row)) => cell(&column.expr, rows, row, env)?,
                (expr, _) => Cell::Value(aggregated(expr, &scopes)?),
            });
        }
        made.push(cells)?;
    }
    Ok(())
}

fn distinct(made: &mut Rows, env: &Env<'_>) -> Result<(), QueryError> {
    let mut keys = Vec::with_capacity(made.rows.len());
    for row in &made.rows {
        let mut key = Vec::new();
        for cell in row {
            cell.put_key(&mut key, env)?;
        }
        keys.push(key);
    }
    let mut keyed: Vec<_> = keys
        .into_iter()
        .zip(std::mem::take(&mut made.rows))
        .collect();
    keep_first(&mut keyed, |(key, _)| key.clone());
    made.rows = keyed.into_iter().map(|(_, row)| row).collect();
    Ok(())
}

/// ORDER BY the names of result columns.
fn sort(projection: &Projection, made: &mut Rows, env: &Env<'_>) -> Result<(), QueryError> {
    let mut slots = Vec::new();
    for (expr, down) in &projection.order {
        let Expr::Name(name) = expr else {
            return Err(QueryError::semantic(
                "Only column name can be used as sort item",
            ));
        };
        let unknown = || QueryError::semantic(format!("Column `{name}' not found"));
        slots.push((made.slot(name).ok_or_else(unknown)?, *down));
    }
    if slots.is_empty() {
        return Ok(());
    }
    let mut keyed = Vec::with_capacity(made.rows.len());
    for row in std::mem::take(&mut made.rows) {
        let key = slots.iter().map(|(slot, _)| row[*slot].value(env));
        keyed.push((key.collect::<Result<Vec<_>, _>>()?, row));
    }
    keyed.sort_by(|(a, _), (b, _)| {
        let orders = a.iter().zip(b).zip(&slots).map(|((a, b), (_, down))| {
            let order = sort_order(a, b);
            if *down { order.reverse() } else { order }
        });
        orders.fold(Ordering::Equal, Ordering::then)
    });
    made.rows = keyed.into_iter().map(|(_, row)| row).collect();
    Ok(())
}
