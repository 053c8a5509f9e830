//! What is wrong with an inventory, and where.
//!
//! Duty: collect every problem with its line, show the line with a caret, and never show a secret
//! while doing so.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::at::Place;
use super::version::Version;

/// An inventory file: the text, and what to call it.
#[derive(Debug, Clone)]
pub struct Source {
    /// The path as the user gave it; relative paths inside the file start at its folder.
    pub path: PathBuf,
    pub text: String,
    /// Read as if it said this version.
    pub version: Option<Version>,
}

/// Whether a problem stops the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
}

/// One problem of an inventory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub severity: Severity,
    /// What is wrong, in lower case, without the place.
    pub message: String,
    pub place: Option<Place>,
    /// `file:line:column`, or the file alone.
    pub location: String,
    /// The line and a caret below it; secrets are masked. Empty when there is no place.
    pub snippet: Vec<String>,
    pub hint: Option<String>,
}

impl Problem {
    pub(crate) fn error(place: Option<Place>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            place,
            location: String::new(),
            snippet: Vec::new(),
            hint: None,
        }
    }

    pub(crate) fn warning(place: Option<Place>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(place, message)
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the file's name and the line itself.
    #[must_use]
    pub(crate) fn shown_in(mut self, source: &Source) -> Self {
        let file = source.path.display();
        match self.place {
            Some(place) => {
                self.location = format!("{file}:{place}");
                self.snippet = source.snippet(place);
            }
            None => self.location = file.to_string(),
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `{:#}` is for whoever has said already that it is a warning.
        let said = f.alternate() || self.severity != Severity::Warning;
        let warning = if said { "" } else { "warning: " };
        write!(f, "{}: {warning}{}", self.location, self.message)?;
        for line in &self.snippet {
            write!(f, "\n  {line}")?;
        }
        self.hint
            .iter()
            .try_for_each(|hint| write!(f, "\n  hint: {hint}"))
    }
}

impl Source {
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            version: None,
        }
    }

    /// A local path of the inventory as seen from the current folder; `~/…` and absolute paths stay.
    pub fn local_path(&self, text: &str) -> PathBuf {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        if text.starts_with("~/") {
            PathBuf::from(text)
        } else {
            folder.join(text)
        }
    }

    fn snippet(&self, place: Place) -> Vec<String> {
        let index = usize::try_from(place.line).unwrap_or(0).wrapping_sub(1);
        let Some(line) = self.text.lines().nth(index) else {
            return Vec::new();
        };
        let number = place.line.to_string();
        let before = usize::try_from(place.column).unwrap_or(1).saturating_sub(1);
        // A value over several lines (a whole host) is marked by its first character.
        let room = line.chars().count().saturating_sub(before).max(1);
        let len = usize::try_from(place.len).unwrap_or(1);
        let carets = if len > room { 1 } else { len.max(1) };
        // Tabs are kept so that the caret stands under its character.
        let indent: String = line
            .chars()
            .take(before)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        vec![
            format!("{number} | {}", mask(line)),
            format!(
                "{} | {indent}{}",
                " ".repeat(number.len()),
                "^".repeat(carets)
            ),
        ]
    }
}

/// Hides everything behind a key that sounds like a secret, unless it names a file or a command.
fn mask(line: &str) -> String {
    let mut start = 0;
    while let Some(mark) = line.get(start..).and_then(|rest| rest.find([':', '='])) {
        let end = start + mark;
        let (before, after) = line.split_at(end);
        let mark = if after.starts_with(':') { ": " } else { "=" };
        if is_secret(before) && !after.trim_start_matches([':', '=']).trim().is_empty() {
            return format!("{before}{mark}***");
        }
        start = end + 1;
    }
    line.to_owned()
}

/// Whether the last word of `text` is the name of a secret.
fn is_secret(text: &str) -> bool {
    let word = text.trim_end_matches(['"', '\'', ' ']).to_lowercase();
    let word = word
        .rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
        .next();
    let word = word.unwrap_or_default();
    let secret = ["password", "passwd", "passphrase", "secret", "token"];
    let handle = ["_file", "_command"].iter().any(|s| word.ends_with(s));
    (secret.iter().any(|s| word.contains(s)) || word.ends_with("_pass")) && !handle
}

#[cfg(test)]
mod tests {
    use super::{Problem, Source, mask};
    use crate::inventory::Place;

    #[test]
    fn a_problem_shows_its_line() {
        let source = Source::new("inv.yaml", "format: 1\n  port: 99\n");
        let place = Place {
            line: 2,
            column: 9,
            len: 2,
        };
        let problem = Problem::error(Some(place), "no")
            .hint("yes")
            .shown_in(&source);
        assert_eq!(
            problem.to_string(),
            "inv.yaml:2:9: no\n  2 |   port: 99\n    |         ^^\n  hint: yes"
        );
    }

    #[test]
    fn secrets_are_masked() {
        assert_eq!(mask("  password: hunter2"), "  password: ***");
        assert_eq!(mask("  password_file: pw.txt"), "  password_file: pw.txt");
        assert_eq!(
            mask("ssh: {port: 1, \"password\": x}"),
            "ssh: {port: 1, \"password\": ***"
        );
        assert_eq!(mask("  - db-token : x"), "  - db-token : ***");
        assert_eq!(mask("password:"), "password:");
        assert_eq!(
            mask("h1 a=b ansible_ssh_pass=x y=z"),
            "h1 a=b ansible_ssh_pass=***"
        );
    }
}
