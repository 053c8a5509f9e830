//! Typed flag values and the text forms gflags reads and prints.

use std::fmt;

/// Type of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int,
    Float,
    Text,
}

impl Kind {
    /// Reads the `type` column of the flag table.
    pub(super) fn parse(text: &str) -> Self {
        match text {
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            _ => Self::Text,
        }
    }

    /// The type's name as `/flags?verbose=true` and `SHOW CONFIGS` print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int64",
            Self::Float => "double",
            Self::Text => "string",
        }
    }

    /// Reads `text` as gflags does; `None` when it is no value of this type.
    pub fn read(self, text: &str) -> Option<Value> {
        match self {
            Self::Bool => read_bool(text).map(Value::Bool),
            Self::Int => read_int(text).map(Value::Int),
            Self::Float => text.trim_start().parse().ok().map(Value::Float),
            Self::Text => Some(Value::Text(text.to_owned())),
        }
    }
}

fn read_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "t" | "true" | "y" | "yes" => Some(true),
        "0" | "f" | "false" | "n" | "no" => Some(false),
        _ => None,
    }
}

fn read_int(text: &str) -> Option<i64> {
    let text = text.trim_start();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Value of a flag.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl Value {
    /// As it stands in the JSON form of `/flags`.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Bool(b) => (*b).into(),
            Self::Int(i) => (*i).into(),
            Self::Float(f) => (*f).into(),
            Self::Text(t) => t.as_str().into(),
        }
    }
}

/// The text form of `/flags`: strings stand in double quotes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Text(t) => write!(f, "\"{t}\""),
        }
    }
}
