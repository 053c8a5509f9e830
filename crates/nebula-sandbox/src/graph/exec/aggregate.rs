//! Aggregate functions over the rows of a group, each row given as the scope its expressions are read in.

use std::cmp::Ordering;

use nebula_wire::Value;

use super::scope::walk;
use crate::{
    graph::{
        error::QueryError,
        eval::{self, NoScope, Scope},
        key::{keep_first, key_of},
        operators::{arithmetic, sort_order},
    },
    ngql::ast::{Expr, Op},
};

/// Whether an aggregate function is in `expr`.
pub(super) fn has_aggregate(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |expr| {
        found |= matches!(expr, Expr::Aggregate(..));
    });
    found
}

/// The value of `expr` over a group: aggregates see all rows, the rest the first one.
pub(super) fn aggregated(expr: &Expr, rows: &[&dyn Scope]) -> Result<Value, QueryError> {
    let first = || rows.first().copied();
    if !has_aggregate(expr) {
        return first().map_or(Ok(Value::NULL), |scope| eval::eval(expr, scope));
    }
    if let Expr::Aggregate(name, distinct, argument) = expr {
        return compute(name, *distinct, argument.as_deref(), rows);
    }
    let folded = expr.try_map(&mut |inner| match inner {
        Expr::Aggregate(name, distinct, argument) => {
            compute(name, *distinct, argument.as_deref(), rows)
                .map(|value| Some(Expr::Const(value)))
        }
        _ => Ok(None),
    })?;
    eval::eval(&folded, first().unwrap_or(&NoScope))
}

fn compute(
    name: &str,
    distinct: bool,
    argument: Option<&Expr>,
    rows: &[&dyn Scope],
) -> Result<Value, QueryError> {
    let Some(argument) = argument else {
        return Ok(count(rows.len()));
    };
    let mut values = Vec::with_capacity(rows.len());
    for scope in rows {
        values.push(eval::eval(argument, *scope)?);
    }
    values.retain(|value| !matches!(value, Value::Null(_) | Value::Empty));
    if distinct {
        keep_first(&mut values, |value| key_of(std::slice::from_ref(value)));
    }
    aggregate(&name.to_ascii_lowercase(), values)
}

fn count(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn sum(values: &[Value]) -> Value {
    let add = |total, value: &Value| arithmetic(Op::Add, &total, value);
    values.iter().fold(Value::Int(0), add)
}

#[expect(clippy::cast_precision_loss, reason = "an average is a double")]
fn numbers(values: &[Value]) -> Vec<f64> {
    let number = |value: &Value| match value {
        Value::Int(i) => Some(*i as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    };
    values.iter().filter_map(number).collect()
}

/// Mean and population standard deviation.
#[expect(clippy::cast_precision_loss, reason = "an average is a double")]
fn spread(values: &[Value]) -> Option<(f64, f64)> {
    let numbers = numbers(values);
    let length = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / length;
    let squares: f64 = numbers.iter().map(|x| (x - mean).powi(2)).sum();
    (!numbers.is_empty()).then(|| (mean, (squares / length).sqrt()))
}

/// The result of an aggregate function over values without NULLs.
fn aggregate(name: &str, mut values: Vec<Value>) -> Result<Value, QueryError> {
    let pick = |values: Vec<Value>, wanted: Ordering| {
        let better = |a: Value, b: Value| if sort_order(&b, &a) == wanted { b } else { a };
        values.into_iter().reduce(better).unwrap_or(Value::NULL)
    };
    let bits = |values: Vec<Value>, op: fn(i64, i64) -> i64| {
        let numbers = values.iter().filter_map(Value::as_int);
        numbers.reduce(op).map_or(Value::NULL, Value::Int)
    };
    Ok(match name {
        "count" => count(values.len()),
        "sum" => sum(&values),
        "avg" => spread(&values).map_or(Value::NULL, |(mean, _)| Value::Float(mean)),
        "std" => spread(&values).map_or(Value::NULL, |(_, std)| Value::Float(std)),
        "min" => pick(values, Ordering::Less),
        "max" => pick(values, Ordering::Greater),
        "collect" => Value::List(values),
        "collect_set" => {
            keep_first(&mut values, |value| key_of(std::slice::from_ref(value)));
            Value::Set(values)
        }
        "bit_and" => bits(values, |a, b| a & b),
        "bit_or" => bits(values, |a, b| a | b),
        other => return Err(QueryError::not_supported(other)),
    })
}
