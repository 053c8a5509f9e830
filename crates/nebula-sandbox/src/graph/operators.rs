//! Operators on values: comparison, logic, arithmetic, text.

use std::cmp::Ordering;

use nebula_wire::{Value, value::NullKind};

use crate::ngql::ast::{Expr, Op};

/// NULL and EMPTY stay what they are, everything else becomes this NULL.
pub(super) fn null_or(value: Value, kind: NullKind) -> Value {
    match value {
        Value::Null(_) | Value::Empty => value,
        _ => Value::Null(kind),
    }
}

pub(super) fn logic(op: Op, left: &Value, right: &Value) -> Value {
    let truth = |value: &Value| match value {
        Value::Bool(b) => Some(*b),
        _ => None,
    };
    match (op, truth(left), truth(right)) {
        (Op::And, Some(a), Some(b)) => Value::Bool(a && b),
        (Op::Or, Some(a), Some(b)) => Value::Bool(a || b),
        (Op::Xor, Some(a), Some(b)) => Value::Bool(a != b),
        (Op::And, _, Some(false)) => Value::Bool(false),
        (Op::Or, _, Some(true)) => Value::Bool(true),
        _ => Value::NULL,
    }
}

pub(super) fn compare_op(op: Op, left: &Value, right: &Value) -> Value {
    if matches!(left, Value::Null(_)) || matches!(right, Value::Null(_)) {
        return Value::NULL;
    }
    let Some(order) = compare(left, right) else {
        return match op {
            Op::Eq => Value::Bool(false),
            Op::Ne => Value::Bool(true),
            _ => Value::Null(NullKind::BadType),
        };
    };
    Value::Bool(match op {
        Op::Eq => order.is_eq(),
        Op::Ne => order.is_ne(),
        Op::Lt => order.is_lt(),
        Op::Le => order.is_le(),
        Op::Gt => order.is_gt(),
        _ => order.is_ge(),
    })
}

/// Order of two values of comparable types.
#[expect(
    clippy::cast_precision_loss,
    reason = "mixed comparison goes through doubles, as in the original"
)]
pub(super) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Float(b)) => (*a as f64).partial_cmp(b),
        (Value::Float(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Date(a), Value::Date(b)) => Some(date_key(*a).cmp(&date_key(*b))),
        (Value::Time(a), Value::Time(b)) => Some(time_key(*a).cmp(&time_key(*b))),
        (Value::DateTime(a), Value::DateTime(b)) => {
            Some((date_key(a.date), time_key(a.time)).cmp(&(date_key(b.date), time_key(b.time))))
        }
        (Value::Vertex(a), Value::Vertex(b)) => compare(&a.vid, &b.vid),
        (Value::Edge(a), Value::Edge(b)) => {
            let ends = compare(&a.src, &b.src)?.then(compare(&a.dst, &b.dst)?);
            Some(
                ends.then(a.name.cmp(&b.name))
                    .then(a.ranking.cmp(&b.ranking)),
            )
        }
        (Value::List(a), Value::List(b)) => {
            let firsts = a.iter().zip(b).map(|(a, b)| sort_order(a, b));
            Some(
                firsts
                    .fold(Ordering::Equal, Ordering::then)
                    .then(a.len().cmp(&b.len())),
            )
        }
        (a, b) if a == b => Some(Ordering::Equal),
        _ => None,
    }
}

const fn date_key(date: nebula_wire::value::Date) -> (i16, i8, i8) {
    (date.year, date.month, date.day)
}

const fn time_key(time: nebula_wire::value::Time) -> (i8, i8, i8, i32) {
    (time.hour, time.minute, time.sec, time.microsec)
}

/// Total order for sorting: NULL comes last, values of different types in the order of their types.
pub(super) fn sort_order(left: &Value, right: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) => 2,
        Value::String(_) => 3,
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => 4,
        Value::Empty => 8,
        Value::Null(_) => 9,
        _ => 5,
    };
    compare(left, right).unwrap_or_else(|| rank(left).cmp(&rank(right)))
}

pub(super) fn membership(left: &Value, right: &Value, wanted: bool) -> Value {
    let Value::List(items) = right else {
        return null_or(right.clone(), NullKind::BadType);
    };
    let found = items
        .iter()
        .any(|item| compare(item, left) == Some(Ordering::Equal));
    Value::Bool(found == wanted)
}

pub(super) fn text_op(op: Op, left: &Value, right: &Value) -> Value {
    let (Value::String(text), Value::String(part)) = (left, right) else {
        return null_or(left.clone(), NullKind::BadType);
    };
    let contains = || {
        part.is_empty()
            || text
                .windows(part.len())
                .any(|window| window == part.as_slice())
    };
    Value::Bool(match op {
        Op::Contains => contains(),
        Op::NotContains => !contains(),
        Op::StartsWith => text.starts_with(part),
        Op::NotStartsWith => !text.starts_with(part),
        Op::EndsWith => text.ends_with(part),
        _ => !text.ends_with(part),
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "mixed arithmetic goes through doubles, as in the original"
)]
pub(super) fn arithmetic(op: Op, left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => int_arithmetic(op, *a, *b),
        (Value::Float(a), Value::Float(b)) => float_arithmetic(op, *a, *b),
        (Value::Int(a), Value::Float(b)) => float_arithmetic(op, *a as f64, *b),
        (Value::Float(a), Value::Int(b)) => float_arithmetic(op, *a, *b as f64),
        (Value::String(a), Value::String(b)) if op == Op::Add => {
            Value::String([a.as_slice(), b].concat())
        }
        (Value::String(a), Value::Int(_) | Value::Float(_) | Value::Bool(_)) if op == Op::Add => {
            let text = Expr::Const(right.clone()).to_string();
            Value::String([a.as_slice(), text.as_bytes()].concat())
        }
        (Value::List(a), Value::List(b)) if op == Op::Add => {
            Value::List(a.iter().chain(b).cloned().collect())
        }
        (Value::List(a), b) if op == Op::Add => {
            let mut items = a.clone();
            items.push(b.clone());
            Value::List(items)
        }
        (Value::Null(kind), _) | (_, Value::Null(kind)) => Value::Null(*kind),
        _ => Value::Null(NullKind::BadType),
    }
}

fn int_arithmetic(op: Op, a: i64, b: i64) -> Value {
    if b == 0 && matches!(op, Op::Div | Op::Mod) {
        return Value::Null(NullKind::DivByZero);
    }
    let result = match op {
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Mul => a.checked_mul(b),
        Op::Div => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    result.map_or(Value::Null(NullKind::Overflow), Value::Int)
}

fn float_arithmetic(op: Op, a: f64, b: f64) -> Value {
    if b == 0.0 && matches!(op, Op::Div | Op::Mod) {
        return Value::Null(NullKind::DivByZero);
    }
    Value::Float(match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        _ => a % b,
    })
}
