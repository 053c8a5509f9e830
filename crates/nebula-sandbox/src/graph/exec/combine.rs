//! UNION, INTERSECT and MINUS of two tables.

use std::collections::HashSet;

use nebula_wire::DataSet;

use super::fetch::distinct;
use crate::{
    graph::{error::QueryError, key::key_of},
    ngql::ast::SetOp,
};

/// Both tables must have the same columns.
pub(super) fn combine(
    op: SetOp,
    left: Option<DataSet>,
    right: Option<DataSet>,
) -> Result<Option<DataSet>, QueryError> {
    let (mut left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
    if left.columns.len() != right.columns.len() {
        return Err(QueryError::semantic(
            "number of columns to UNION/INTERSECT/MINUS must be same",
        ));
    }
    if left.columns != right.columns {
        return Err(QueryError::semantic(
            "different column names to UNION/INTERSECT/MINUS are not supported",
        ));
    }
    match op {
        SetOp::Union | SetOp::UnionAll => left.rows.extend(right.rows),
        SetOp::Intersect | SetOp::Minus => {
            let keys: HashSet<Vec<u8>> = right.rows.iter().map(|row| key_of(row)).collect();
            let wanted = op == SetOp::Intersect;
            left.rows
                .retain(|row| keys.contains(&key_of(row)) == wanted);
        }
    }
    if op == SetOp::Union {
        distinct(&mut left);
    }
    Ok(Some(left))
}
