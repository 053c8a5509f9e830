//! Flags that hold a JSON object of options (`rocksdb_*_options`).
//!
//! Duty: which flag an option belongs to, and a flag's text to options and back. NebulaGraph wants every value
//! as a string and prints it as one, whatever was written.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::nearest;

/// Options of one flag, by name.
pub type Options = BTreeMap<String, String>;

static BUILTIN: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    // The text is part of the program; a test holds that it parses.
    serde_yaml::from_str(include_str!("../../data/options.yaml")).unwrap_or_default()
});

/// Whether a flag holds options rather than one value.
pub fn is_nested(flag: &str) -> bool {
    BUILTIN.contains_key(flag)
}

/// The flag an option belongs to.
pub fn holder(option: &str) -> Option<&'static str> {
    let has = |known: &Vec<String>| known.iter().any(|name| name == option);
    BUILTIN
        .iter()
        .find(|(_, known)| has(known))
        .map(|(flag, _)| flag.as_str())
}

/// Whether this flag is known to take that option.
pub fn takes(flag: &str, option: &str) -> bool {
    BUILTIN
        .get(flag)
        .is_some_and(|known| known.iter().any(|name| name == option))
}

/// The option of a flag that is meant by a misspelled one, if any is close enough.
pub fn nearest_option(flag: &str, option: &str) -> Option<&'static str> {
    nearest(option, BUILTIN.get(flag)?.iter().map(String::as_str))
}

/// Reads the text of such a flag: a JSON object; `None` is an option that is taken away (`null`).
///
/// # Errors
/// A sentence part when it is something else.
pub fn read_options(text: &str) -> Result<BTreeMap<String, Option<String>>, String> {
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return Err("is not a JSON object such as {\"name\":\"value\"}".to_owned());
    };
    let option = |(name, value)| match value {
        Value::Null => Ok((name, None)),
        Value::String(text) => Ok((name, Some(text))),
        Value::Bool(_) | Value::Number(_) => Ok((name, Some(value.to_string()))),
        Value::Array(_) | Value::Object(_) => Err(format!("holds more than one value for {name}")),
    };
    object.into_iter().map(option).collect()
}

/// The text a daemon is given: JSON without blanks, sorted, every value a string.
pub fn write_options(options: &Options) -> String {
    let quoted: Vec<String> = options
        .iter()
        .map(|(name, value)| {
            format!(
                "{}:{}",
                Value::from(name.as_str()),
                Value::from(value.as_str())
            )
        })
        .collect();
    format!("{{{}}}", quoted.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_one_place() {
        assert_eq!(BUILTIN.len(), 3);
        for (flag, known) in BUILTIN.iter() {
            assert!(known.is_sorted(), "{flag}");
            assert!(
                known.iter().all(|option| holder(option) == Some(flag)),
                "{flag}"
            );
            assert!(
                super::super::Catalogue::builtin().get(flag).is_some(),
                "{flag}"
            );
        }
        assert_eq!(
            holder("write_buffer_size"),
            Some("rocksdb_column_family_options")
        );
        assert_eq!(holder("wal_ttl"), None);
        assert_eq!(
            nearest_option("rocksdb_db_options", "max_background_job"),
            Some("max_background_jobs")
        );
    }

    #[test]
    fn texts_and_back() {
        let text = r#"{"b": 4, "a":"x\"y", "c": null, "d": true}"#;
        let read = read_options(text).unwrap();
        let kept = read
            .into_iter()
            .filter_map(|(k, v)| Some((k, v?)))
            .collect();
        assert_eq!(write_options(&kept), r#"{"a":"x\"y","b":"4","d":"true"}"#);
        for bad in ["", "x", "[]", r#"{"a":{}}"#, r#"{"a":[1]}"#, "{a: 1}"] {
            assert!(read_options(bad).is_err(), "{bad}");
        }
    }
}
