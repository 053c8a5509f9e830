//! Evaluates expressions.

use nebula_wire::{Value, value::NullKind};

use super::{
    error::QueryError,
    functions,
    operators::{arithmetic, compare_op, logic, membership, null_or, text_op},
};
use crate::ngql::ast::{Expr, Op};

/// Where names and properties come from.
pub(super) trait Scope {
    /// A bare name.
    fn name(&self, name: &str) -> Result<Value, QueryError> {
        Err(QueryError::semantic(format!("`{name}' is not defined")))
    }
    /// `owner.prop`.
    fn prop(&self, owner: &str, prop: &str) -> Result<Value, QueryError> {
        Err(QueryError::semantic(format!(
            "`{owner}.{prop}' is not defined"
        )))
    }
    /// `$$` (true) or `$^` as a vertex.
    fn end(&self, _destination: bool) -> Result<Value, QueryError> {
        Err(QueryError::semantic("`$$' and `$^' need a traversal"))
    }
    /// `$$.tag.prop` (true) or `$^.tag.prop`.
    fn end_prop(&self, _destination: bool, tag: &str, prop: &str) -> Result<Value, QueryError> {
        Err(QueryError::semantic(format!(
            "`{tag}.{prop}' needs a traversal"
        )))
    }
    /// `$-.column`.
    fn input(&self, column: &str) -> Result<Value, QueryError> {
        Err(QueryError::semantic(format!(
            "`$-.{column}', not exist prop `{column}'"
        )))
    }
    /// `inner.name` that is cheaper to answer without evaluating all of `inner`.
    fn attribute(&self, _inner: &Expr, _name: &str) -> Option<Result<Value, QueryError>> {
        None
    }
    /// A call that is cheaper to answer without evaluating its argument.
    fn shortcut(&self, _function: &str, _argument: &Expr) -> Option<Result<Value, QueryError>> {
        None
    }
}

/// Knows no names.
#[derive(Debug, Clone, Copy)]
pub(super) struct NoScope;

impl Scope for NoScope {}

/// The value of `expr`.
pub(super) fn eval(expr: &Expr, scope: &dyn Scope) -> Result<Value, QueryError> {
    match expr {
        Expr::Const(value) => Ok(value.clone()),
        Expr::Name(name) => scope.name(name),
        Expr::Prop(owner, prop) => scope.prop(owner, prop),
        Expr::Dst => scope.end(true),
        Expr::Src => scope.end(false),
        Expr::DstProp(tag, prop) => scope.end_prop(true, tag, prop),
        Expr::SrcProp(tag, prop) => scope.end_prop(false, tag, prop),
        Expr::Input(column) | Expr::Var(_, column) => scope.input(column),
        Expr::Attr(inner, name) => match scope.attribute(inner, name) {
            Some(result) => result,
            None => Ok(attribute(&eval(inner, scope)?, name)),
        },
        Expr::Subscript(inner, index) => Ok(subscript(&eval(inner, scope)?, &eval(index, scope)?)),
        Expr::Call(name, args) => call(name, args, scope),
        Expr::Aggregate(name, ..) => Err(QueryError::semantic(format!(
            "Invalid use of aggregating function `{name}' in this context."
        ))),
        Expr::List(items) => Ok(Value::List(eval_all(items, scope)?)),
        Expr::Map(items) => {
            let pair =
                |(key, value): &(String, Expr)| Ok((key.as_bytes().to_vec(), eval(value, scope)?));
            items
                .iter()
                .map(pair)
                .collect::<Result<_, QueryError>>()
                .map(Value::Map)
        }
        Expr::Not(inner) => Ok(match eval(inner, scope)? {
            Value::Bool(b) => Value::Bool(!b),
            Value::Null(kind) => Value::Null(kind),
            Value::Empty => Value::Empty,
            _ => Value::Null(NullKind::BadType),
        }),
        Expr::Minus(inner) => Ok(match eval(inner, scope)? {
            Value::Int(i) => i
                .checked_neg()
                .map_or(Value::Null(NullKind::Overflow), Value::Int),
            Value::Float(x) => Value::Float(-x),
            other => null_or(other, NullKind::BadType),
        }),
        Expr::IsNull(inner, wanted) => {
            let null = matches!(eval(inner, scope)?, Value::Null(_));
            Ok(Value::Bool(null == *wanted))
        }
        Expr::Binary(op, left, right) => binary(*op, left, right, scope),
        Expr::Case(on, arms, other) => case(on.as_deref(), arms, other.as_deref(), scope),
        Expr::Pattern(_) => Err(QueryError::not_supported("a pattern that is no condition")),
    }
}

pub(super) fn eval_all(items: &[Expr], scope: &dyn Scope) -> Result<Vec<Value>, QueryError> {
    items.iter().map(|item| eval(item, scope)).collect()
}

/// A filter passes when it is true; NULL and everything else fails.
pub(super) fn passes(filter: Option<&Expr>, scope: &dyn Scope) -> Result<bool, QueryError> {
    match filter {
        None => Ok(true),
        Some(expr) => Ok(eval(expr, scope)? == Value::Bool(true)),
    }
}

fn call(name: &str, args: &[Expr], scope: &dyn Scope) -> Result<Value, QueryError> {
    if let [argument] = args
        && let Some(result) = scope.shortcut(name, argument)
    {
        return result;
    }
    functions::call(name, &eval_all(args, scope)?)
}

fn case(
    on: Option<&Expr>,
    arms: &[(Expr, Expr)],
    other: Option<&Expr>,
    scope: &dyn Scope,
) -> Result<Value, QueryError> {
    let wanted = on.map_or(Ok(Value::Bool(true)), |on| eval(on, scope))?;
    for (when, then) in arms {
        if eval(when, scope)? == wanted {
            return eval(then, scope);
        }
    }
    other.map_or(Ok(Value::NULL), |other| eval(other, scope))
}

fn find(props: &[(Vec<u8>, Value)], name: &str) -> Option<Value> {
    props
        .iter()
        .find(|(key, _)| key == name.as_bytes())
        .map(|(_, value)| value.clone())
}

/// `value.name`.
pub(super) fn attribute(value: &Value, name: &str) -> Value {
    let missing = || Value::Null(NullKind::UnknownProp);
    match value {
        Value::Map(items) => find(items, name).unwrap_or_else(missing),
        Value::Edge(edge) => find(&edge.props, name).unwrap_or_else(missing),
        Value::Vertex(vertex) => {
            let tag = vertex.tags.iter().find(|tag| tag.name == name.as_bytes());
            match tag {
                Some(tag) => Value::Map(tag.props.clone()),
                None => vertex
                    .tags
                    .iter()
                    .find_map(|tag| find(&tag.props, name))
                    .unwrap_or_else(missing),
            }
        }
        Value::Date(date) => functions::date_part(*date, name).unwrap_or_else(missing),
        Value::DateTime(at) => functions::datetime_part(at, name).unwrap_or_else(missing),
        Value::Null(kind) => Value::Null(*kind),
        _ => Value::Null(NullKind::BadType),
    }
}

fn subscript(value: &Value, index: &Value) -> Value {
    match (value, index) {
        (Value::List(items), Value::Int(at)) => {
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let at = if *at < 0 { at + length } else { *at };
            let found = usize::try_from(at).ok().and_then(|at| items.get(at));
            found.cloned().unwrap_or(Value::Null(NullKind::OutOfRange))
        }
        (Value::Map(_) | Value::Vertex(_) | Value::Edge(_), Value::String(name)) => {
            attribute(value, &String::from_utf8_lossy(name))
        }
        _ => Value::Null(NullKind::BadType),
    }
}

fn binary(op: Op, left: &Expr, right: &Expr, scope: &dyn Scope) -> Result<Value, QueryError> {
    let left = eval(left, scope)?;
    match (op, &left) {
        (Op::And, Value::Bool(false)) | (Op::Or, Value::Bool(true)) => return Ok(left),
        _ => {}
    }
    let right = eval(right, scope)?;
    Ok(match op {
        Op::And | Op::Or | Op::Xor => logic(op, &left, &right),
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => compare_op(op, &left, &right),
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod => arithmetic(op, &left, &right),
        Op::In | Op::NotIn => membership(&left, &right, op == Op::In),
        Op::Regex => return Err(QueryError::not_supported("=~")),
        _ => text_op(op, &left, &right),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ngql::{ast::Stmt, parse};

    fn value(text: &str) -> Result<Value, QueryError> {
        let statements = parse(format!("YIELD {text}").as_bytes())?;
        let Stmt::Yield { yields, .. } = &statements[0] else {
            panic!("{text}");
        };
        eval(&yields.columns[0].expr, &NoScope)
    }

    #[test]
    fn expressions() {
        let cases = [
            ("1 + 2 * 3", Value::Int(7)),
            ("-2 - -3", Value::Int(1)),
            ("7 / 2", Value::Int(3)),
            ("7 / 2.0", Value::Float(3.5)),
            ("1 / 0", Value::Null(NullKind::DivByZero)),
            ("9223372036854775807 + 1", Value::Null(NullKind::Overflow)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("1 < 2 AND NOT false", Value::Bool(true)),
            ("NULL == 1", Value::NULL),
            ("NULL IS NULL", Value::Bool(true)),
            ("1 == \"1\"", Value::Bool(false)),
            ("\"abc\" STARTS WITH \"ab\"", Value::Bool(true)),
            ("\"abc\" NOT CONTAINS \"x\"", Value::Bool(true)),
            ("2 IN [1, 2]", Value::Bool(true)),
            ("2 NOT IN [1, 2]", Value::Bool(false)),
            ("\"a\" + \"b\"", Value::from("ab")),
            ("[1,2,3][-1]", Value::Int(3)),
            ("{a: 5}.a", Value::Int(5)),
            ("CASE WHEN 1 > 2 THEN 1 ELSE 2 END", Value::Int(2)),
            ("CASE 3 WHEN 3 THEN \"x\" END", Value::from("x")),
            ("date(\"2010-01-02\").year", Value::Int(2010)),
            (
                "datetime(\"2010-01-02T03:04:05\") > datetime(\"2010-01-02T03:04:04\")",
                Value::Bool(true),
            ),
            ("true XOR true", Value::Bool(false)),
            ("lower(\"AbC\")", Value::from("abc")),
            ("size([1,2])", Value::Int(2)),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
        let long = format!("{}1", "1+".repeat(399));
        assert_eq!(value(&long), Ok(Value::Int(400)), "the longest chain");
        for bad in [
            "x",
            "x.y",
            "$$.a.b",
            "nofunction(1)",
            "datetime(\"x\")",
            "count(*)",
        ] {
            assert!(value(bad).is_err(), "{bad}");
        }
    }
}
