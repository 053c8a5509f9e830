//! Takes secrets out of text by their value.
//!
//! Purpose: promise 2: whatever path a secret took into a message, a plan or a file, it does not get out.
//! Duties: know the values, replace them in plain, JSON-escaped and URL-encoded form; say nothing about
//! them in debug output. Values that everybody knows or that are shorter than [`SHORTEST`] are left
//! alone: replacing `nebula` or `a` everywhere would destroy the record and hide nothing.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

/// What stands in the place of a secret.
const MARK: &str = "[redacted]";
/// Shorter values are not replaced.
const SHORTEST: usize = 4;
/// Default passwords printed in every manual.
const KNOWN: [&str; 4] = ["nebula", "admin", "root", "password"];

/// Replaces known secret values.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Every form of every secret, longest first, so that a secret within a secret leaves no rest.
    forms: Vec<String>,
}

impl Redactor {
    /// Knows `secrets` by value.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut forms: Vec<String> = secrets
            .into_iter()
            .filter(|secret| is_secret(secret.as_ref()))
            .flat_map(|secret| forms_of(secret.as_ref()))
            .collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { forms }
    }

    /// The text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        for form in &self.forms {
            if clean.contains(form.as_str()) {
                clean = Cow::Owned(clean.replace(form.as_str(), MARK));
            }
        }
        clean
    }

    /// The value without secrets, in strings and in keys.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(key, item)| (self.text(&key).into_owned(), self.value(item)))
                .collect(),
            other => other,
        }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} forms)", self.forms.len())
    }
}

fn is_secret(value: &str) -> bool {
    value.len() >= SHORTEST && !KNOWN.contains(&value)
}

/// The value as it is, within JSON text, and within a URL.
fn forms_of(secret: &str) -> [String; 3] {
    let json = Value::from(secret).to_string();
    let json = json
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or_default();
    let json = if json.is_empty() { secret } else { json };
    [secret.to_owned(), json.to_owned(), url_encoded(secret)]
}

fn url_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_goes() {
        let redactor = Redactor::new(["p@ss\"w0rd", "p@ss"]);
        let cases = [
            ("login p@ss\"w0rd ok", "login [redacted] ok"),
            (r#"{"p":"p@ss\"w0rd"}"#, r#"{"p":"[redacted]"}"#),
            ("http://u:p%40ss%22w0rd@h/db", "http://u:[redacted]@h/db"),
            ("only p@ss", "only [redacted]"),
            ("nothing here", "nothing here"),
        ];
        for (given, expected) in cases {
            assert_eq!(redactor.text(given), expected);
        }
    }

    #[test]
    fn known_and_tiny_values_stay() {
        let redactor = Redactor::new(["nebula", "abc", ""]);
        assert_eq!(
            redactor.text("/usr/local/nebula abc"),
            "/usr/local/nebula abc"
        );
        assert_eq!(format!("{redactor:?}"), "Redactor(0 forms)");
    }

    #[test]
    fn values_are_cleaned_at_any_depth() {
        let redactor = Redactor::new(["hunter22"]);
        let clean = redactor.value(json!({"a": ["x hunter22", 7], "hunter22": null}));
        assert_eq!(clean, json!({"a": ["x [redacted]", 7], "[redacted]": null}));
    }
}
