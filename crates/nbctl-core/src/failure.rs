//! Failures a user can act on, and the exit codes of the program.
//!
//! Purpose: one shape for every expected failure: what, where, last lines, hint.
//! Duties: the table of exit codes ([`ExitCode`]) is the only place where they are defined; anything
//! that is not a [`Failure`] is a bug and ends with [`ExitCode::Bug`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// Exit codes of nbctl; also printed by `nbctl help exit-codes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ExitCode {
    /// Everything asked for was done and seen.
    Good = 0,
    /// A defect in nbctl.
    Bug = 1,
    /// Wrong command line or inventory.
    Usage = 2,
    /// A host or its connection.
    Host = 3,
    /// The cluster is not in the state the inventory asks for.
    Unhealthy = 4,
    /// A step failed.
    Step = 5,
    /// A threshold of the run was missed.
    Threshold = 10,
    /// The run cannot be trusted.
    Invalid = 11,
    /// Worse than the baseline.
    Regression = 12,
    /// Interrupted by the user.
    Interrupted = 130,
}

impl ExitCode {
    /// Every code with its meaning, in ascending order.
    pub const ALL: [(Self, &'static str); 10] = [
        (Self::Good, "done and verified"),
        (Self::Bug, "a defect in nbctl; please report it"),
        (
            Self::Usage,
            "wrong command line, inventory, playbook or data files",
        ),
        (
            Self::Host,
            "a host cannot be reached or refuses (ssh, sudo, docker socket)",
        ),
        (Self::Unhealthy, "the cluster differs from its inventory"),
        (Self::Step, "a step failed"),
        (Self::Threshold, "a threshold of the run was missed"),
        (
            Self::Invalid,
            "the run is not valid; its numbers are not results",
        ),
        (Self::Regression, "worse than the baseline"),
        (Self::Interrupted, "interrupted"),
    ];

    /// The number given to the operating system.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// What kind of failure it is; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Command line.
    Usage,
    /// Inventory, playbook, scenario or another file people write.
    Inventory,
    /// A data file.
    Data,
    /// Host or connection.
    Host,
    /// Cluster state.
    Cluster,
    /// A step of a plan.
    Step,
    /// Threshold missed.
    Threshold,
    /// Run not valid.
    Invalid,
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

impl FailureKind {
    /// The exit code this kind ends with.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Usage | Self::Inventory | Self::Data => ExitCode::Usage,
            Self::Host => ExitCode::Host,
            Self::Cluster => ExitCode::Unhealthy,
            Self::Step => ExitCode::Step,
            Self::Threshold => ExitCode::Threshold,
            Self::Invalid => ExitCode::Invalid,
            Self::Interrupted => ExitCode::Interrupted,
        }
    }
}

/// An expected failure: what, where, evidence, and what to do about it.
///
/// Displayed as `what`, ` (place)`, the detail lines indented by two, and `hint: …`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Decides the exit code.
    pub kind: FailureKind,
    /// Lower case, fits after "cannot …: ".
    pub what: String,
    /// `file:line:column`, host, or host and command.
    pub place: Option<String>,
    /// Evidence: source snippet, last lines of output, one line per host.
    pub detail: Vec<String>,
    /// What the user can do.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure of `kind`.
    pub fn new(kind: FailureKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            place: None,
            detail: Vec::new(),
            hint: None,
        }
    }

    /// Wrong command line.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, what)
    }

    /// Wrong inventory (or another file people write).
    pub fn inventory(what: impl Into<String>) -> Self {
        Self::new(FailureKind::Inventory, what)
    }

    /// Wrong or missing data file.
    pub fn data(what: impl Into<String>) -> Self {
        Self::new(FailureKind::Data, what)
    }

    /// Host or connection.
    pub fn host(what: impl Into<String>) -> Self {
        Self::new(FailureKind::Host, what)
    }

    /// Cluster differs from the inventory.
    pub fn cluster(what: impl Into<String>) -> Self {
        Self::new(FailureKind::Cluster, what)
    }

    /// A step failed.
    pub fn step(what: impl Into<String>) -> Self {
        Self::new(FailureKind::Step, what)
    }

    /// Where it happened.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// One more line of evidence.
    #[must_use]
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.detail.push(line.into());
        self
    }

    /// Several lines of evidence.
    #[must_use]
    pub fn lines<S: Into<String>>(mut self, lines: impl IntoIterator<Item = S>) -> Self {
        self.detail.extend(lines.into_iter().map(Into::into));
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The exit code it ends with.
    pub fn exit_code(&self) -> ExitCode {
        self.kind.exit_code()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(place) = &self.place {
            write!(f, " ({place})")?;
        }
        for text in &self.detail {
            for line in text.lines() {
                write!(f, "\n  {line}")?;
            }
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_where_evidence_and_hint() {
        let failure = Failure::step("cannot start nebula-metad: exit code 1")
            .at("h2: scripts/nebula.service start metad")
            .line("E1130 address in use")
            .hint("see who holds port 9559: ss -lntp");
        assert_eq!(
            failure.to_string(),
            "cannot start nebula-metad: exit code 1 (h2: scripts/nebula.service start metad)\n  \
             E1130 address in use\nhint: see who holds port 9559: ss -lntp"
        );
        assert_eq!(failure.exit_code().number(), 5);
    }

    #[test]
    fn table_lists_codes_in_order() {
        let numbers: Vec<u8> = ExitCode::ALL
            .iter()
            .map(|(code, _)| code.number())
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 10, 11, 12, 130]);
    }
}
