//! Built-in functions.

use nebula_wire::{
    Value,
    value::{Date, DateTime, Edge, NullKind, Path},
};

use super::{error::QueryError, time};
use crate::{clock, ngql::value_text, storage::murmur};

fn bad() -> Value {
    Value::Null(NullKind::BadType)
}

fn unknown(name: &str) -> QueryError {
    QueryError::semantic(format!("Unknown function `{name}'"))
}

/// Calls `name`, whatever its case.
pub(super) fn call(name: &str, args: &[Value]) -> Result<Value, QueryError> {
    let lower = name.to_ascii_lowercase();
    if matches!(
        lower.as_str(),
        "date" | "time" | "datetime" | "timestamp" | "now"
    ) {
        return temporal(&lower, args);
    }
    match args {
        [value] => one(&lower, value).ok_or_else(|| unknown(name)),
        _ => many(&lower, args).ok_or_else(|| unknown(name)),
    }
}

fn temporal(name: &str, args: &[Value]) -> Result<Value, QueryError> {
    let refused = |text: &str| QueryError::semantic(format!("invalid {name} format: {text}"));
    match (name, args) {
        ("now" | "timestamp", []) => Ok(Value::Int(clock::micros().div_euclid(1_000_000))),
        ("timestamp", [Value::Int(seconds)]) => Ok(Value::Int(*seconds)),
        (_, []) => {
            let at = time::datetime_of(clock::micros()).unwrap_or_default();
            Ok(match name {
                "date" => Value::Date(at.date),
                "time" => Value::Time(at.time),
                _ => Value::DateTime(at),
            })
        }
        (_, [Value::String(text)]) => {
            let text = String::from_utf8_lossy(text);
            let value = match name {
                "date" => time::parse_date(&text).map(Value::Date),
                "time" => time::parse_time(&text).map(Value::Time),
                "datetime" => time::parse_datetime(&text).map(Value::DateTime),
                _ => time::parse_datetime(&text)
                    .and_then(|at| time::micros_of(&at))
                    .map(|micros| Value::Int(micros.div_euclid(1_000_000))),
            };
            value.ok_or_else(|| refused(&text))
        }
        ("datetime", [Value::Int(seconds)]) => {
            let at = seconds.checked_mul(1_000_000).and_then(time::datetime_of);
            at.map(Value::DateTime)
                .ok_or_else(|| refused("out of range"))
        }
        (_, [Value::Null(kind)]) => Ok(Value::Null(*kind)),
        _ => Err(refused("bad argument")),
    }
}

fn one(name: &str, value: &Value) -> Option<Value> {
    if name == "exists" {
        return Some(Value::Bool(!matches!(value, Value::Null(_) | Value::Empty)));
    }
    if let Value::Null(kind) = value {
        return (name != "coalesce")
            .then_some(Value::Null(*kind))
            .or(Some(Value::NULL));
    }
    numeric(name, value)
        .or_else(|| textual(name, value))
        .or_else(|| graphical(name, value))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rounding functions work on doubles"
)]
fn numeric(name: &str, value: &Value) -> Option<Value> {
    let round = |f: fn(f64) -> f64| match value {
        Value::Int(i) => Value::Float(f(*i as f64)),
        Value::Float(x) => Value::Float(f(*x)),
        _ => bad(),
    };
    Some(match name {
        "abs" => match value {
            Value::Int(i) => i
                .checked_abs()
                .map_or(Value::Null(NullKind::Overflow), Value::Int),
            _ => round(f64::abs),
        },
        "floor" => round(f64::floor),
        "ceil" => round(f64::ceil),
        "round" => round(f64::round),
        "sqrt" => round(f64::sqrt),
        "tointeger" => to_integer(value),
        "tofloat" => match value {
            Value::String(text) => {
                let parsed = std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| text.parse().ok());
                parsed.map_or(Value::NULL, Value::Float)
            }
            _ => round(|x| x),
        },
        _ => return None,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "truncating is what the function does"
)]
fn to_integer(value: &Value) -> Value {
    match value {
        Value::Int(i) => Value::Int(*i),
        Value::Float(x) => Value::Int(*x as i64),
        Value::String(text) => {
            let parsed = std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.parse().ok());
            parsed.map_or(Value::NULL, Value::Int)
        }
        _ => bad(),
    }
}

fn int(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn textual(name: &str, value: &Value) -> Option<Value> {
    let text = match value {
        Value::String(text) => Some(text.as_slice()),
        _ => None,
    };
    let map = |f: fn(&[u8]) -> Vec<u8>| text.map_or_else(bad, |text| Value::String(f(text)));
    Some(match name {
        "lower" | "tolower" => map(<[u8]>::to_ascii_lowercase),
        "upper" | "toupper" => map(<[u8]>::to_ascii_uppercase),
        "trim" => map(|text| text.trim_ascii().to_vec()),
        "reverse" => map(|text| text.iter().rev().copied().collect()),
        "hash" => Value::Int(murmur(value_text(value, false).as_bytes()).cast_signed()),
        "tostring" => Value::from(value_text(value, false)),
        "toboolean" => match text {
            Some(text) if text.eq_ignore_ascii_case(b"true") => Value::Bool(true),
            Some(text) if text.eq_ignore_ascii_case(b"false") => Value::Bool(false),
            _ => value.clone(),
        },
        "size" | "length" => match value {
            Value::String(text) => int(text.len()),
            Value::List(items) | Value::Set(items) => int(items.len()),
            Value::Map(items) => int(items.len()),
            Value::Path(path) => int(path.steps.len()),
            _ => bad(),
        },
        _ => return None,
    })
}

fn names<'a>(items: impl Iterator<Item = &'a Vec<u8>>) -> Value {
    Value::List(items.map(|name| Value::String(name.clone())).collect())
}

fn graphical(name: &str, value: &Value) -> Option<Value> {
    Some(match (name, value) {
        ("id", Value::Vertex(vertex)) => vertex.vid.clone(),
        ("tags" | "labels", Value::Vertex(vertex)) => {
            names(vertex.tags.iter().map(|tag| &tag.name))
        }
        ("properties", Value::Vertex(vertex)) => Value::Map(
            vertex
                .tags
                .iter()
                .flat_map(|tag| tag.props.clone())
                .collect(),
        ),
        ("properties", Value::Edge(edge)) => Value::Map(edge.props.clone()),
        ("properties", Value::Map(items)) => Value::Map(items.clone()),
        ("src", Value::Edge(edge)) if edge.etype < 0 => edge.dst.clone(),
        ("dst", Value::Edge(edge)) if edge.etype < 0 => edge.src.clone(),
        ("src", Value::Edge(edge)) => edge.src.clone(),
        ("dst", Value::Edge(edge)) => edge.dst.clone(),
        ("rank", Value::Edge(edge)) => Value::Int(edge.ranking),
        ("type", Value::Edge(edge)) => Value::String(edge.name.clone()),
        ("typeid", Value::Edge(edge)) => Value::Int(edge.etype.into()),
        ("nodes", Value::Path(path)) => {
            let steps = path.steps.iter().map(|step| &step.dst);
            let all = std::iter::once(&path.src).chain(steps);
            Value::List(
                all.map(|vertex| Value::Vertex(Box::new(vertex.clone())))
                    .collect(),
            )
        }
        ("relationships", Value::Path(path)) => relationships(path),
        ("startnode", Value::Path(path)) => Value::Vertex(Box::new(path.src.clone())),
        ("endnode", Value::Path(path)) => {
            let last = path.steps.last().map_or(&path.src, |step| &step.dst);
            Value::Vertex(Box::new(last.clone()))
        }
        ("keys", Value::Map(items)) => names(items.iter().map(|(key, _)| key)),
        ("head", Value::List(items)) => items.first().cloned().unwrap_or(Value::NULL),
        ("last", Value::List(items)) => items.last().cloned().unwrap_or(Value::NULL),
        ("coalesce", value) => value.clone(),
        (
            "id" | "tags" | "labels" | "properties" | "src" | "dst" | "rank" | "type" | "typeid"
            | "nodes" | "relationships" | "startnode" | "endnode" | "keys" | "head" | "last",
            _,
        ) => bad(),
        _ => return None,
    })
}

/// The edges of a path, seen in the direction of travel.
fn relationships(path: &Path) -> Value {
    let mut from = &path.src.vid;
    let mut edges = Vec::with_capacity(path.steps.len());
    for step in &path.steps {
        edges.push(Value::Edge(Box::new(Edge {
            src: from.clone(),
            dst: step.dst.vid.clone(),
            etype: step.etype,
            name: step.name.clone(),
            ranking: step.ranking,
            props: step.props.clone(),
        })));
        from = &step.dst.vid;
    }
    Value::List(edges)
}

fn many(name: &str, args: &[Value]) -> Option<Value> {
    Some(match (name, args) {
        ("concat", args) => {
            let texts: Vec<_> = args.iter().map(|arg| value_text(arg, false)).collect();
            Value::from(texts.concat())
        }
        ("coalesce", args) => {
            let first = args.iter().find(|arg| !matches!(arg, Value::Null(_)));
            first.cloned().unwrap_or(Value::NULL)
        }
        ("substr" | "substring", [Value::String(text), Value::Int(start), rest @ ..]) => {
            let start = usize::try_from(*start).unwrap_or(usize::MAX);
            let length = match rest {
                [Value::Int(length)] => usize::try_from(*length).unwrap_or(0),
                _ => usize::MAX,
            };
            Value::String(text.iter().skip(start).take(length).copied().collect())
        }
        ("pi", []) => Value::Float(std::f64::consts::PI),
        ("range", [Value::Int(first), Value::Int(last)]) if last - first < 1_000_000 => {
            Value::List((*first..=*last).map(Value::Int).collect())
        }
        _ => return None,
    })
}

/// `date.year` and the like.
pub(super) fn date_part(date: Date, name: &str) -> Option<Value> {
    let number = match name {
        "year" => i64::from(date.year),
        "month" => i64::from(date.month),
        "day" => i64::from(date.day),
        _ => return None,
    };
    Some(Value::Int(number))
}

/// `datetime.hour` and the like.
pub(super) fn datetime_part(at: &DateTime, name: &str) -> Option<Value> {
    let number = match name {
        "hour" => i64::from(at.time.hour),
        "minute" => i64::from(at.time.minute),
        "second" => i64::from(at.time.sec),
        "microsecond" => i64::from(at.time.microsec),
        _ => return date_part(at.date, name),
    };
    Some(Value::Int(number))
}
