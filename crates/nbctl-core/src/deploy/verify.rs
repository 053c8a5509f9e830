//! Flags read back from a daemon, compared with those it was given.
//!
//! Duty: gflags take an unknown or misspelled line of a file without a word, so only what `/flags`
//! answers proves that a flag took effect. Values are compared by the type the daemon reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::flags::{is_nested, read_options};

/// Flags as a daemon reports them; `null` is a flag it does not have.
pub type ReadFlags = BTreeMap<String, Value>;

/// A flag that is not as rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name; for an option inside a flag `flag.option`.
    pub flag: String,
    /// As rendered; `None`: an option that nobody asked for.
    pub wanted: Option<String>,
    /// As reported; `None`: the daemon has no such flag, or was not given the option.
    pub found: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            flag,
            wanted,
            found,
        } = self;
        match (wanted, found) {
            (Some(wanted), Some(found)) => write!(f, "{flag} is {found}, not {wanted}"),
            (None, found) => write!(
                f,
                "{flag} is {}, not left out",
                found.as_deref().unwrap_or("set")
            ),
            (Some(wanted), None) if flag.contains('.') => {
                write!(f, "{flag} is not set, not {wanted}")
            }
            (Some(wanted), None) => write!(
                f,
                "this version has no flag {flag} ({wanted} has no effect)"
            ),
        }
    }
}

/// Reads the answer of `GET /flags?format=json`: `{"flags":[{"name":…,"value":…},…]}`.
///
/// # Errors
/// A sentence when the text is something else.
pub fn parse_flags(text: &str) -> Result<ReadFlags, String> {
    let wrong = || "the answer of /flags is not a list of flags".to_owned();
    let answer: Value = serde_json::from_str(text).map_err(|_| wrong())?;
    let rows = answer
        .get("flags")
        .and_then(Value::as_array)
        .ok_or_else(wrong)?;
    let flag = |row: &Value| {
        let name = row.get("name")?.as_str()?;
        Some((
            name.to_owned(),
            row.get("value").cloned().unwrap_or_default(),
        ))
    };
    rows.iter().map(|row| flag(row).ok_or_else(wrong)).collect()
}

/// What differs between the flags rendered and those reported. A flag that is not in the answer at
/// all counts as missing; flags that hold options are compared option by option.
pub fn differences(rendered: &BTreeMap<String, String>, read: &ReadFlags) -> Vec<Difference> {
    let of_flag = |(flag, wanted): (&String, &String)| {
        let found = read.get(flag).filter(|value| !value.is_null());
        match found {
            Some(found) if same(wanted, found) => Vec::new(),
            Some(Value::String(text)) if is_nested(flag) => of_options(flag, wanted, text),
            found => vec![Difference {
                flag: flag.clone(),
                wanted: Some(wanted.clone()),
                found: found.map(shown),
            }],
        }
    };
    rendered.iter().flat_map(of_flag).collect()
}

/// Options that differ; the whole flag when one of the two is no list of options.
fn of_options(flag: &str, wanted: &str, found: &str) -> Vec<Difference> {
    let (Ok(wants), Ok(has)) = (read_options(wanted), read_options(found)) else {
        let (wanted, found) = (Some(wanted.to_owned()), Some(found.to_owned()));
        return vec![Difference {
            flag: flag.to_owned(),
            wanted,
            found,
        }];
    };
    let names: BTreeSet<&String> = wants.keys().chain(has.keys()).collect();
    let one = |name: &String| {
        let of = |options: &BTreeMap<String, Option<String>>| options.get(name).cloned().flatten();
        let (wanted, found) = (of(&wants), of(&has));
        (wanted != found).then(|| Difference {
            flag: format!("{flag}.{name}"),
            wanted,
            found,
        })
    };
    names.into_iter().filter_map(one).collect()
}

/// A value as people read it.
pub(crate) fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether a reported value is what a text asks for.
pub(crate) fn same(wanted: &str, found: &Value) -> bool {
    match found {
        Value::Bool(found) => boolean(wanted.trim()) == Some(*found),
        Value::Number(found) => same_number(wanted.trim(), found),
        Value::String(found) => wanted == found || same_nested(wanted, found),
        _ => wanted == shown(found),
    }
}

/// The words gflags takes for a boolean.
fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

fn same_number(wanted: &str, found: &serde_json::Number) -> bool {
    if let (Ok(wanted), Some(found)) = (wanted.parse::<i128>(), found.as_i128()) {
        return wanted == found;
    }
    match (wanted.parse::<f64>(), found.as_f64()) {
        // Printed with six digits by some versions.
        (Ok(wanted), Some(found)) => (wanted - found).abs() <= 1e-6 * wanted.abs().max(1e-9),
        _ => false,
    }
}

/// Options inside a flag are JSON in a string; order, blanks and quotes around values do not matter.
fn same_nested(wanted: &str, found: &str) -> bool {
    match (read_options(wanted), read_options(found)) {
        (Ok(wanted), Ok(found)) => wanted == found,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_type() {
        let cases = [
            ("14400", "14400", true),
            ("14400", "600", false),
            ("+5", "5", true),
            ("9223372036854775807", "9223372036854775807", true),
            ("9223372036854775807", "9223372036854775806", false),
            ("0.80", "0.8", true),
            ("1", "1.0", true),
            ("0.8", "0.800001", false),
            ("true", "true", true),
            ("1", "true", true),
            ("no", "false", true),
            ("true", "false", false),
            ("maybe", "true", false),
            ("lz4", "\"lz4\"", true),
            ("lz4", "\"snappy\"", false),
            ("lz4 ", "\"lz4\"", false),
            (
                r#"{"a":"1","b":"2"}"#,
                r#""{\"b\":\"2\", \"a\":\"1\"}""#,
                true,
            ),
            (r#"{"a":"1"}"#, r#""{\"a\":\"2\"}""#, false),
            (r#"{"a":"1"}"#, r#""{\"a\": 1}""#, true),
            ("{}", "\"\"", false),
        ];
        for (wanted, found, expected) in cases {
            let found: Value = serde_json::from_str(found).unwrap();
            assert_eq!(same(wanted, &found), expected, "{wanted} {found}");
        }
    }

    /// A daemon that remembers another identity, or lets metad overrule its file, is told by what it reads back.
    #[test]
    fn an_identity_that_is_not_the_rendered_one_is_a_difference() {
        let text = r#"{"flags": [{"name":"local_ip","value":"127.0.0.1"},{"name":"local_config","value":false}]}"#;
        let rendered = [("local_ip", "10.0.0.2"), ("local_config", "true")];
        let rendered = rendered.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let found = differences(&rendered, &parse_flags(text).unwrap());
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected = [
            "local_config is false, not true",
            "local_ip is 127.0.0.1, not 10.0.0.2",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_flag_without_effect_is_a_difference() {
        let text = r#"{"flags": [{"name":"wal_ttl","value":14400},{"name":"max_handlers_per_req","value":null}]}"#;
        let read = parse_flags(text).unwrap();
        let rendered = [
            ("wal_ttl", "600"),
            ("max_handlers_per_req", "10"),
            ("absent", "1"),
        ];
        let rendered = rendered.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let found: Vec<String> = differences(&rendered, &read)
            .iter()
            .map(ToString::to_string)
            .collect();
        let expected = [
            "this version has no flag absent (1 has no effect)",
            "this version has no flag max_handlers_per_req (10 has no effect)",
            "wal_ttl is 14400, not 600",
        ];
        assert_eq!(found, expected);
        let nested = r#"{"flags":[{"name":"rocksdb_db_options","value":"{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}"}]}"#;
        let wanted = r#"{"a":"1","b":"4","d":"5"}"#.to_owned();
        let rendered = [("rocksdb_db_options".to_owned(), wanted)].into();
        let found = differences(&rendered, &parse_flags(nested).unwrap());
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expected = [
            "rocksdb_db_options.b is 2, not 4",
            "rocksdb_db_options.c is 3, not left out",
            "rocksdb_db_options.d is not set, not 5",
        ];
        assert_eq!(found, expected);
        assert!(
            parse_flags("[]").is_err() && parse_flags("{}").is_err() && parse_flags("").is_err()
        );
        assert!(parse_flags(r#"{"flags":[{"value":1}]}"#).is_err());
    }
}
