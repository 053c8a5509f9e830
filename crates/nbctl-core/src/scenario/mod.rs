//! Scenarios: named statements that a load is made of.
//!
//! Purpose: a file people read, copy and edit; the same scenario has one text a release line, because the lines
//! differ in what they demand (3.x wants YIELD everywhere, 2.x refuses it in places).
//! Duties: refuse unknown keys, choose the text for a version, compile it ([`Template`]); no I/O.

mod template;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use template::{Forms, RenderError, Template, ValueForm};

use crate::failure::Failure;

/// Format number; a newer one is refused.
pub const FORMAT: u32 = 1;

/// A scenario file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// [`FORMAT`].
    pub format: u32,
    /// In the order they are listed.
    pub scenarios: Vec<Scenario>,
}

/// One scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name, as in reports: `Go1Step`.
    pub name: String,
    /// One line for `stress list`.
    pub about: String,
    /// What is spoken.
    pub protocol: Protocol,
    /// Whether it changes data.
    pub kind: Kind,
    /// Where the values of placeholders come from; a text without placeholders needs none.
    #[serde(default)]
    pub parameters: Option<Parameters>,
    /// Text by release: `2.x`, `3.x` or finer (`2.6`, `3.8.0`); the finest that fits wins.
    pub statements: BTreeMap<String, String>,
}

/// Wire protocol of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Graph service of `NebulaGraph`.
    Nebula,
}

impl Protocol {
    /// As written in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nebula => "nebula",
        }
    }
}

/// What a scenario does to the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Leaves it as it is.
    Read,
    /// Changes it.
    Write,
}

/// Where values come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// A file of the data set by its name without folder and ending: `person`.
    pub file: String,
}

impl ScenarioFile {
    /// Parses and checks a scenario file.
    ///
    /// # Errors
    /// Everything that is wrong, with line and caret where the parser knows them.
    pub fn parse(file: &str, text: &str) -> Result<Self, Failure> {
        let parsed: Self = serde_yaml::from_str(text).map_err(|error| {
            Failure::inventory("cannot read the scenario file")
                .at(file)
                .lines(error.to_string().lines())
        })?;
        let faults = parsed.faults();
        if faults.is_empty() {
            return Ok(parsed);
        }
        Err(Failure::inventory("the scenario file is not usable")
            .at(file)
            .lines(faults))
    }

    /// A scenario by its name, upper and lower case alike.
    ///
    /// # Errors
    /// The names there are, when it is none of them.
    pub fn find(&self, name: &str) -> Result<&Scenario, Failure> {
        let mut all = self.scenarios.iter();
        let found = all.find(|scenario| scenario.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names: Vec<&str> = self.scenarios.iter().map(|s| s.name.as_str()).collect();
            Failure::usage(format!("no scenario `{name}`"))
                .hint(format!("there are: {}", names.join(", ")))
        })
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.format != FORMAT {
            let format = self.format;
            faults.push(format!(
                "format {format} is not known; this nbctl reads {FORMAT}"
            ));
        }
        if self.scenarios.is_empty() {
            faults.push("no scenarios".to_owned());
        }
        let mut names = BTreeSet::new();
        for scenario in &self.scenarios {
            if !names.insert(scenario.name.to_ascii_lowercase()) {
                faults.push(format!("{}: defined twice", scenario.name));
            }
            faults.extend(scenario.faults());
        }
        faults
    }
}

impl Scenario {
    /// The text for a release: `3.8.0`, or as much of it as is known (`3.x`).
    ///
    /// # Errors
    /// When there is none, with the releases there are.
    pub fn statement(&self, version: &str) -> Result<&str, Failure> {
        let fitting = self
            .statements
            .iter()
            .filter_map(|(key, text)| Some((fit(key, version)?, text)));
        let best = fitting.max_by_key(|(fit, _)| *fit);
        best.map(|(_, text)| text.trim()).ok_or_else(|| {
            let keys: Vec<&str> = self.statements.keys().map(String::as_str).collect();
            let name = &self.name;
            Failure::usage(format!("scenario {name} has no statement for {version}"))
                .hint(format!("it has texts for {}", keys.join(", ")))
        })
    }

    fn faults(&self) -> Vec<String> {
        let name = &self.name;
        let mut faults = Vec::new();
        if self.statements.is_empty() {
            faults.push(format!("{name}: no statements"));
        }
        for (key, text) in &self.statements {
            if !is_release(key) {
                faults.push(format!(
                    "{name}: `{key}` is no release such as 3.x, 2.6 or 3.8.0"
                ));
            }
            match Template::compile(text.trim(), &Forms::of_vid(ValueForm::Number)) {
                Err(problem) => faults.push(format!("{name}, {key}: {problem}")),
                Ok(template) if !template.columns().is_empty() && self.parameters.is_none() => {
                    faults.push(format!(
                        "{name}, {key}: has placeholders but no `parameters`"
                    ));
                }
                Ok(_) => {}
            }
        }
        faults
    }
}

/// How well `key` describes `version`; `None` when it does not.
fn fit(key: &str, version: &str) -> Option<usize> {
    let mut known = version.trim_start_matches('v').split('.');
    let mut exact = 0;
    for part in key.split('.') {
        match known.next() {
            _ if part == "x" => {}
            Some(known) if known == part => exact += 1,
            _ => return None,
        }
    }
    Some(exact)
}

fn is_release(key: &str) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    let number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (2..=3).contains(&parts.len())
        && parts.first().is_some_and(number)
        && parts
            .iter()
            .skip(1)
            .all(|part| *part == "x" || number(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = include_str!("../../../../playbooks/scenarios/ldbc.yaml");

    fn scenario(statements: &str) -> String {
        format!(
            "format: 1\nscenarios:\n  - name: A\n    about: test\n    protocol: nebula\n    kind: read\n    \
             parameters: {{file: person}}\n    statements:\n{statements}"
        )
    }

    #[test]
    fn shipped_scenarios_have_a_text_for_every_line() {
        let file = ScenarioFile::parse("ldbc.yaml", SHIPPED).unwrap();
        let names: Vec<&str> = file.scenarios.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(
            names,
            ["Go1Step", "Go2Step", "Go3Step", "FetchTag", "InsertVertex"]
        );
        for scenario in &file.scenarios {
            for version in ["2.0.1", "2.5.0", "2.6.2", "3.8.0", "3.x", "2.0"] {
                let text = scenario.statement(version).unwrap();
                let is_query = scenario.kind == Kind::Read;
                let yields = text.to_uppercase().contains("YIELD");
                assert!(
                    !is_query || !version.starts_with('3') || yields,
                    "{version}: {text}"
                );
            }
        }
    }

    #[test]
    fn the_finest_text_wins() {
        let text = scenario("      2.x: two\n      3.x: three\n      \"3.8\": three eight\n");
        let file = ScenarioFile::parse("t.yaml", &text).unwrap();
        let scenario = file.find("a").unwrap();
        let cases = [
            ("2.6.2", "two"),
            ("3.1.0", "three"),
            ("3.8.0", "three eight"),
            ("3.x", "three"),
        ];
        for (version, expected) in cases {
            assert_eq!(scenario.statement(version).unwrap(), expected, "{version}");
        }
        let failure = scenario.statement("5.0.0").unwrap_err();
        assert!(
            failure.to_string().contains("texts for 2.x, 3.8, 3.x"),
            "{failure}"
        );
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let cases = [
            ("      3.x: a\n    rate: 3\n", "rate"),
            ("      latest: a\n", "is no release"),
            ("      3.x: 'GO {0'\n      2.x: '\"{0}'\n", "quote"),
        ];
        for (statements, expected) in cases {
            let failure = ScenarioFile::parse("t.yaml", &scenario(statements)).unwrap_err();
            assert!(
                failure.to_string().contains(expected),
                "{statements}: {failure}"
            );
        }
    }
}
