//! Expressions as NebulaGraph prints them: these texts are the column names of results.

use std::fmt::{self, Display, Formatter, Write};

use nebula_wire::{
    Value,
    value::{Date, DateTime, Edge, NullKind, Path, Time},
};

use super::ast::{Expr, Op};

impl Op {
    const fn text(self) -> &'static str {
        match self {
            Self::Or => " OR ",
            Self::Xor => " XOR ",
            Self::And => " AND ",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Regex => "=~",
            Self::In => " IN ",
            Self::NotIn => " NOT IN ",
            Self::Contains => " CONTAINS ",
            Self::NotContains => " NOT CONTAINS ",
            Self::StartsWith => " STARTS WITH ",
            Self::NotStartsWith => " NOT STARTS WITH ",
            Self::EndsWith => " ENDS WITH ",
            Self::NotEndsWith => " NOT ENDS WITH ",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
        }
    }
}

fn list(f: &mut Formatter<'_>, items: &[Expr]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_str(",")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const(value) => f.write_str(&value_text(value, true)),
            Self::Name(name) => f.write_str(name),
            Self::Dst => f.write_str("$$"),
            Self::Src => f.write_str("$^"),
            Self::Prop(owner, prop) => write!(f, "{owner}.{prop}"),
            Self::DstProp(tag, prop) => write!(f, "$$.{tag}.{prop}"),
            Self::SrcProp(tag, prop) => write!(f, "$^.{tag}.{prop}"),
            Self::Input(column) => write!(f, "$-.{column}"),
            Self::Var(name, column) => write!(f, "${name}.{column}"),
            Self::Attr(inner, name) => write!(f, "{inner}.{name}"),
            Self::Subscript(inner, index) => write!(f, "{inner}[{index}]"),
            Self::Call(name, args) => {
                write!(f, "{name}(")?;
                list(f, args)?;
                f.write_str(")")
            }
            Self::Aggregate(name, distinct, arg) => {
                let word = if *distinct { "distinct " } else { "" };
                match arg {
                    Some(arg) => write!(f, "{name}({word}{arg})"),
                    None => write!(f, "{name}({word}*)"),
                }
            }
            Self::List(items) => {
                f.write_str("[")?;
                list(f, items)?;
                f.write_str("]")
            }
            Self::Not(inner) => write!(f, "!({inner})"),
            Self::Minus(inner) => write!(f, "-({inner})"),
            Self::IsNull(inner, true) => write!(f, "{inner} IS NULL"),
            Self::IsNull(inner, false) => write!(f, "{inner} IS NOT NULL"),
            Self::Binary(op, left, right) => write!(f, "({left}{}{right})", op.text()),
            Self::Map(_) | Self::Case(..) => self.fmt_rare(f),
            Self::Pattern(_) => f.write_str("<pattern>"),
        }
    }
}

impl Expr {
    fn fmt_rare(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(items) => {
                f.write_str("{")?;
                for (at, (key, value)) in items.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    write!(f, "{comma}{key}:{value}")?;
                }
                f.write_str("}")
            }
            Self::Case(on, arms, other) => {
                f.write_str("CASE")?;
                if let Some(on) = on {
                    write!(f, " {on}")?;
                }
                for (when, then) in arms {
                    write!(f, " WHEN {when} THEN {then}")?;
                }
                if let Some(other) = other {
                    write!(f, " ELSE {other}")?;
                }
                f.write_str(" END")
            }
            _ => Ok(()),
        }
    }
}

fn date_text(date: Date) -> String {
    format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)
}

fn time_text(time: Time) -> String {
    format!(
        "{:02}:{:02}:{:02}.{:06}",
        time.hour, time.minute, time.sec, time.microsec
    )
}

/// Text of a value; `quoted` puts strings in double quotes.
pub fn value_text(value: &Value, quoted: bool) -> String {
    match value {
        Value::Empty => "__EMPTY__".to_owned(),
        Value::Null(NullKind::Null) => "NULL".to_owned(),
        Value::Null(kind) => format!("__NULL_{}__", i32::from(*kind)),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(x) => float_text(*x),
        Value::String(bytes) if quoted => format!("\"{}\"", String::from_utf8_lossy(bytes)),
        Value::String(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Date(date) => date_text(*date),
        Value::Time(time) => time_text(*time),
        Value::DateTime(DateTime { date, time }) => {
            format!("{}T{}", date_text(*date), time_text(*time))
        }
        Value::List(items) | Value::Set(items) => {
            let items: Vec<_> = items.iter().map(|item| value_text(item, quoted)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(items) => {
            let text = |(k, v): &(Vec<u8>, Value)| {
                format!("{}:{}", String::from_utf8_lossy(k), value_text(v, quoted))
            };
            let items: Vec<_> = items.iter().map(text).collect();
            format!("{{{}}}", items.join(","))
        }
        Value::Vertex(vertex) => format!("({})", value_text(&vertex.vid, quoted)),
        Value::Edge(edge) => edge_text(edge, quoted),
        Value::Path(path) => path_text(path, quoted),
        other => format!("{other:?}"),
    }
}

/// `[:E 1->2 @0]`, in the edge's own direction.
fn edge_text(edge: &Edge, quoted: bool) -> String {
    let (src, dst) = if edge.etype < 0 {
        (&edge.dst, &edge.src)
    } else {
        (&edge.src, &edge.dst)
    };
    format!(
        "[:{} {}->{} @{}]",
        String::from_utf8_lossy(&edge.name),
        value_text(src, quoted),
        value_text(dst, quoted),
        edge.ranking
    )
}

/// `<(1)-[:E@0]->(2)<-[:E@0]-(3)>`.
fn path_text(path: &Path, quoted: bool) -> String {
    let mut text = format!("<({})", value_text(&path.src.vid, quoted));
    for step in &path.steps {
        let (left, right) = if step.etype < 0 {
            ("<-", "-")
        } else {
            ("-", "->")
        };
        let name = String::from_utf8_lossy(&step.name);
        let end = value_text(&step.dst.vid, quoted);
        write!(text, "{left}[:{name}@{}]{right}({end})", step.ranking).ok();
    }
    text + ">"
}

fn float_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.1}")
    } else {
        value.to_string()
    }
}
