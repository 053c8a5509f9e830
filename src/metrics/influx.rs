//! The part of `InfluxDB` 1.x' HTTP API that is needed: one database, points in line protocol.
//!
//! Duties: statement errors come with status 200 and are failures here; times are nanoseconds, or points of one second
//! would replace each other.

use std::time::Duration;

use nbctl_core::failure::Failure;
use reqwest::Method;
use serde::Deserialize;

use crate::http;

/// A batch of a second is written in milliseconds; a load must not wait for more.
const TIMEOUT: Duration = Duration::from_secs(3);

/// One database of a server.
#[derive(Debug, Clone)]
pub struct Influx {
    base: String,
    database: String,
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    results: Vec<Statement>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Statement {
    #[serde(default)]
    error: Option<String>,
}

impl Influx {
    /// `database` of the server at `base`, e.g. `http://10.0.0.10:8086`.
    pub fn new(base: impl Into<String>, database: impl Into<String>) -> Self {
        Self {
            base: base.into(),
            database: database.into(),
        }
    }

    /// Makes the database unless it is there.
    ///
    /// # Errors
    /// No answer, or a server that refuses.
    pub async fn create(&self) -> Result<(), Failure> {
        let url = format!("{}/query", self.base);
        let statement = format!("CREATE DATABASE \"{}\"", self.database);
        let text = http::post_form(&url, &[("q", &statement)], TIMEOUT).await?;
        match refusal(&text) {
            Some(error) => Err(Failure::step(format!("InfluxDB refuses: {error}"))
                .at(url)
                .line(statement)),
            None => Ok(()),
        }
    }

    /// Writes lines with times in nanoseconds.
    ///
    /// # Errors
    /// No answer, or points that are refused.
    pub async fn write(&self, lines: String) -> Result<(), Failure> {
        let url = format!("{}/write?db={}&precision=ns", self.base, self.database);
        let request = http::request(Method::POST, &url, TIMEOUT)?.body(lines);
        http::send(&url, request).await.map(drop)
    }
}

/// The first error in an answer.
fn refusal(text: &str) -> Option<String> {
    match serde_json::from_str::<Body>(text) {
        Ok(body) => body.error.or_else(|| {
            let mut statements = body.results.into_iter();
            statements.find_map(|statement| statement.error)
        }),
        Err(error) => Some(format!("unexpected answer: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_statements_and_of_requests_are_seen() {
        let cases = [
            (r#"{"results":[{"statement_id":0}]}"#, None),
            (
                r#"{"results":[{"statement_id":0,"error":"no right"}]}"#,
                Some("no right"),
            ),
            (r#"{"error":"cannot parse"}"#, Some("cannot parse")),
        ];
        for (text, expected) in cases {
            assert_eq!(refusal(text).as_deref(), expected, "{text}");
        }
        assert!(refusal("<html>").is_some());
    }
}
