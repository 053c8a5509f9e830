//! YIELD, GROUP BY, ORDER BY and LIMIT over what was piped in.

use std::cmp::Ordering;

use nebula_wire::{DataSet, Value};

use super::{
    Context, Table, aggregate,
    fetch::distinct,
    scope::{RowScope, walk},
};
use crate::{
    graph::{
        error::QueryError,
        eval::{self, NoScope, Scope},
        key::key_of,
        operators::sort_order,
    },
    ngql::ast::{Column, Expr, SortKey, Yield},
};

fn has_aggregate(yields: &Yield) -> bool {
    let mut columns = yields.columns.iter();
    columns.any(|column| aggregate::has_aggregate(&column.expr))
}

fn uses_input(yields: &Yield) -> bool {
    let mut found = false;
    for column in &yields.columns {
        walk(&column.expr, &mut |expr| {
            found |= matches!(expr, Expr::Input(_) | Expr::Var(..));
        });
    }
    found
}

/// `YIELD …` alone or after a pipe.
pub(super) fn yields(context: &Context<'_>, yields: &Yield, filter: Option<&Expr>) -> Table {
    let Some(input) = &context.input else {
        return alone(yields, filter);
    };
    let yields = &spread(yields, input);
    let mut kept = Vec::new();
    for row in &input.rows {
        if eval::passes(filter, &RowScope { table: input, row })? {
            kept.push(row.as_slice());
        }
    }
    let mut data = DataSet::with_columns(yields.columns.iter().map(Column::name));
    if has_aggregate(yields) {
        data.rows.push(aggregate_row(input, &kept, yields)?);
        return Ok(Some(data));
    }
    if !uses_input(yields) && !input.rows.is_empty() {
        // Constants after a pipe: one row for each row of the input.
        data.rows.reserve(kept.len());
    }
    for row in kept {
        data.rows
            .push(row_of(yields, &RowScope { table: input, row })?);
    }
    if yields.distinct {
        distinct(&mut data);
    }
    Ok(Some(data))
}

/// `$-.*` and `$name.*` are all columns.
fn spread(yields: &Yield, input: &DataSet) -> Yield {
    let mut columns = Vec::with_capacity(yields.columns.len());
    for column in &yields.columns {
        let name = |name: &str| match &column.expr {
            Expr::Var(variable, _) => Expr::Var(variable.clone(), name.to_owned()),
            _ => Expr::Input(name.to_owned()),
        };
        match &column.expr {
            Expr::Input(all) | Expr::Var(_, all) if all == "*" => {
                columns.extend(input.column_names().map(|column| Column {
                    expr: name(&column),
                    alias: None,
                }));
            }
            _ => columns.push(column.clone()),
        }
    }
    Yield {
        distinct: yields.distinct,
        columns,
    }
}

fn alone(yields: &Yield, filter: Option<&Expr>) -> Table {
    let mut data = DataSet::with_columns(yields.columns.iter().map(Column::name));
    if has_aggregate(yields) {
        let empty = DataSet::default();
        data.rows.push(aggregate_row(&empty, &[&[]], yields)?);
    } else if eval::passes(filter, &NoScope)? {
        data.rows.push(row_of(yields, &NoScope)?);
    }
    Ok(Some(data))
}

fn row_of(yields: &Yield, scope: &dyn Scope) -> Result<Vec<Value>, QueryError> {
    yields
        .columns
        .iter()
        .map(|column| eval::eval(&column.expr, scope))
        .collect()
}

/// One row out of a group of rows.
fn aggregate_row(
    table: &DataSet,
    rows: &[&[Value]],
    yields: &Yield,
) -> Result<Vec<Value>, QueryError> {
    let scopes: Vec<RowScope<'_>> = rows.iter().map(|row| RowScope { table, row }).collect();
    let scopes: Vec<&dyn Scope> = scopes.iter().map(|scope| scope as &dyn Scope).collect();
    yields
        .columns
        .iter()
        .map(|column| aggregate::aggregated(&column.expr, &scopes))
        .collect()
}

/// `GROUP BY keys YIELD …`: groups come in the order of their first rows.
pub(super) fn group_by(context: &Context<'_>, keys: &[Expr], yields: &Yield) -> Table {
    let empty = DataSet::default();
    let input = context.input.as_ref().unwrap_or(&empty);
    let mut groups: Vec<Vec<&[Value]>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for row in &input.rows {
        let key = eval::eval_all(keys, &RowScope { table: input, row })?;
        let place = *places.entry(key_of(&key)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(row);
    }
    let mut data = DataSet::with_columns(yields.columns.iter().map(Column::name));
    for group in groups {
        data.rows.push(aggregate_row(input, &group, yields)?);
    }
    Ok(Some(data))
}

pub(super) fn order_by(context: &Context<'_>, keys: &[SortKey]) -> Table {
    let Some(mut data) = context.input.clone() else {
        return Ok(None);
    };
    let mut keyed = Vec::with_capacity(data.rows.len());
    for row in &data.rows {
        let scope = RowScope { table: &data, row };
        let key: Result<Vec<_>, _> = keys
            .iter()
            .map(|(expr, _)| eval::eval(expr, &scope))
            .collect();
        keyed.push((key?, row.clone()));
    }
    keyed.sort_by(|(a, _), (b, _)| {
        let orders = a.iter().zip(b).zip(keys).map(|((a, b), (_, down))| {
            let order = sort_order(a, b);
            if *down { order.reverse() } else { order }
        });
        orders.fold(Ordering::Equal, Ordering::then)
    });
    data.rows = keyed.into_iter().map(|(_, row)| row).collect();
    Ok(Some(data))
}

pub(super) fn limit(context: &Context<'_>, skip: i64, count: i64) -> Option<DataSet> {
    let size = |number: i64| usize::try_from(number).unwrap_or(0);
    context.input.clone().map(|mut data| {
        let rows = data.rows.into_iter();
        data.rows = rows.skip(size(skip)).take(size(count)).collect();
        data
    })
}
