//! Playbooks: an ordered list of phases with typed parameters.
//!
//! Purpose: what a benchmark run does, as a file people read, copy and edit (design 4).
//! Duties: refuse unknown phases and parameters with their line; no loops, no conditions, no variables.

mod estimate;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

pub use estimate::{Estimate, Volume};

/// Format number; a newer one is refused.
pub const FORMAT: u32 = 1;

/// A playbook file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Playbook {
    /// [`FORMAT`].
    pub format: u32,
    /// Name, also of the runs made with it.
    pub name: String,
    /// One line for `bench list`.
    pub about: String,
    /// In order.
    pub phases: Vec<Phase>,
}

/// One phase with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Phase {
    /// Find or make the data set and bring it to the load host.
    Data(Data),
    /// Space, tags, edge types.
    Schema(Schema),
    /// Load the data set and check the counts.
    Import(Import),
    /// `SUBMIT JOB COMPACT`, waited for.
    Compact(Compact),
    /// Wait until leaders and disks are quiet.
    Settle(Settle),
    /// Scenarios at each load.
    Stress(Stress),
}

/// Parameters of `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// An existing folder (LDBC CsvBasic layout), or none: generate.
    #[serde(default)]
    pub folder: Option<String>,
    /// Persons of a generated set.
    #[serde(default = "Data::default_persons")]
    pub persons: u64,
    /// Seed of a generated set.
    #[serde(default = "Data::default_seed")]
    pub seed: u64,
}

impl Data {
    fn default_persons() -> u64 {
        1000
    }

    fn default_seed() -> u64 {
        42
    }
}

impl Default for Data {
    fn default() -> Self {
        Self {
            folder: None,
            persons: Self::default_persons(),
            seed: Self::default_seed(),
        }
    }
}

/// Parameters of `schema`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Schema {
    /// Space name.
    pub space: String,
    /// Partitions.
    pub partitions: u32,
    /// Replica factor.
    pub replicas: u32,
    /// Vertex id type: `int64` or `fixed_string(N)`.
    pub vid: String,
    /// Drop the space first when it is there.
    pub fresh: bool,
}

impl Default for Schema {
    fn default() -> Self {
        Self {
            space: "snb".to_owned(),
            partitions: 24,
            replicas: 1,
            vid: "int64".to_owned(),
            fresh: true,
        }
    }
}

/// Parameters of `import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Import {
    /// Rows a statement.
    pub batch: u32,
    /// Connections a worker.
    pub connections: u32,
    /// Statements in flight a connection.
    pub in_flight: u32,
    /// Times a statement is sent again after a retryable error.
    pub retries: u32,
    /// Fail when a count differs.
    pub check_counts: bool,
}

impl Default for Import {
    fn default() -> Self {
        Self {
            batch: 128,
            connections: 8,
            in_flight: 2,
            retries: 10,
            check_counts: true,
        }
    }
}

/// Parameters of `compact`: none yet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Compact {}

/// Parameters of `settle`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settle {
    /// At most this long, seconds.
    pub at_most_s: u64,
}

impl Default for Settle {
    fn default() -> Self {
        Self { at_most_s: 30 }
    }
}

/// Parameters of `stress`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stress {
    /// Scenario names, in order.
    pub scenarios: Vec<String>,
    /// Requests in flight; each value is a run of each scenario.
    pub concurrency: Vec<u32>,
    /// Warm-up, seconds, kept apart.
    pub warmup_s: u64,
    /// Measured window, seconds.
    pub duration_s: u64,
}

impl Default for Stress {
    fn default() -> Self {
        Self {
            scenarios: ["Go1Step", "Go2Step", "Go3Step", "FetchTag", "InsertVertex"]
                .map(str::to_owned)
                .to_vec(),
            concurrency: vec![10, 50],
            warmup_s: 5,
            duration_s: 30,
        }
    }
}

impl Playbook {
    /// Parses and checks a playbook.
    ///
    /// # Errors
    /// Everything that is wrong, with line and caret where the parser knows them.
    pub fn parse(file: &str, text: &str) -> Result<Self, Failure> {
        let playbook: Self = serde_yaml::from_str(text).map_err(|error| {
            Failure::inventory("cannot read the playbook")
                .at(file)
                .lines(error.to_string().lines())
        })?;
        let faults = playbook.faults();
        if faults.is_empty() {
            Ok(playbook)
        } else {
            Err(Failure::inventory("the playbook is not usable")
                .at(file)
                .lines(faults))
        }
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.format != FORMAT {
            faults.push(format!(
                "format {} is not known; this nbctl reads {FORMAT}",
                self.format
            ));
        }
        if self.phases.is_empty() {
            faults.push("no phases".to_owned());
        }
        for phase in &self.phases {
            faults.extend(phase.faults());
        }
        faults
    }
}

impl Phase {
    /// Name shown to people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Data(_) => "data",
            Self::Schema(_) => "schema",
            Self::Import(_) => "import",
            Self::Compact(_) => "compact",
            Self::Settle(_) => "settle",
            Self::Stress(_) => "stress",
        }
    }

    fn faults(&self) -> Vec<String> {
        match self {
            Self::Schema(schema) if schema.partitions == 0 || schema.replicas == 0 => {
                vec!["schema: partitions and replicas must be at least 1".to_owned()]
            }
            Self::Import(import) => import.faults(),
            Self::Stress(stress) => stress.faults(),
            _ => Vec::new(),
        }
    }
}

impl Import {
    /// NebulaGraph refuses more than 512 statements and 4 MB of text at once.
    const MOST_ROWS: u32 = 512;

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.batch == 0 || self.batch > Self::MOST_ROWS {
            faults.push(format!("import: batch must be 1 to {}", Self::MOST_ROWS));
        }
        if self.connections == 0 || self.in_flight == 0 {
            faults.push("import: connections and in_flight must be at least 1".to_owned());
        }
        faults
    }
}

impl Stress {
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.scenarios.is_empty() {
            faults.push("stress: no scenarios".to_owned());
        }
        if self.scenarios.iter().collect::<BTreeSet<_>>().len() < self.scenarios.len() {
            faults.push("stress: a scenario is named twice".to_owned());
        }
        if self.concurrency.is_empty() || self.concurrency.contains(&0) {
            faults.push("stress: concurrency wants numbers of at least 1".to_owned());
        }
        if self.duration_s == 0 {
            faults.push("stress: duration_s must be at least 1".to_owned());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "format: 1\nname: t\nabout: test\nphases:\n";

    #[test]
    fn reads_phases_with_their_defaults() {
        let text = format!(
            "{HEAD}  - data: {{persons: 50}}\n  - schema: {{}}\n  - stress: {{concurrency: [4]}}\n"
        );
        let playbook = Playbook::parse("t.yaml", &text).unwrap();
        assert_eq!(
            playbook.phases[0],
            Phase::Data(Data {
                persons: 50,
                ..Data::default()
            })
        );
        assert_eq!(playbook.phases[1], Phase::Schema(Schema::default()));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let cases = [
            ("  - dance: {}\n", "dance"),
            ("  - import: {bach: 3}\n", "bach"),
            ("  - import: {batch: 0}\n", "batch must be 1 to 512"),
            ("  - stress: {scenarios: [A, A]}\n", "named twice"),
            ("  - stress: {concurrency: [0]}\n", "at least 1"),
        ];
        for (phases, expected) in cases {
            let error = Playbook::parse("t.yaml", &format!("{HEAD}{phases}")).unwrap_err();
            assert!(error.to_string().contains(expected), "{phases}: {error}");
        }
    }
}
