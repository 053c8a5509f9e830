//! Release lines the sandbox can be built as, and which trap belongs to which line.
//!
//! Code asks a question (`line.needs_add_hosts()`), never compares version numbers itself.

use std::{fmt, str::FromStr};

/// Git sha reserved for the sandbox: shown by `/status`, `--version` and `SHOW HOSTS GRAPH|META|STORAGE`.
pub const SANDBOX_GIT_SHA: &str = "5a4db0c";

/// A release line of NebulaGraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    V2_0_1,
    V2_6_2,
    V3_8_0,
}

impl Line {
    pub const ALL: [Self; 3] = [Self::V2_0_1, Self::V2_6_2, Self::V3_8_0];

    /// Version text as it stands in package names.
    pub const fn version(self) -> &'static str {
        match self {
            Self::V2_0_1 => "2.0.1",
            Self::V2_6_2 => "2.6.2",
            Self::V3_8_0 => "3.8.0",
        }
    }

    /// The letter this line has in the `lines` column of the tables (`flags.tsv`, `conf.tsv`).
    pub const fn letter(self) -> char {
        match self {
            Self::V2_0_1 => '0',
            Self::V2_6_2 => '6',
            Self::V3_8_0 => '8',
        }
    }

    pub const fn is_3x(self) -> bool {
        matches!(self, Self::V3_8_0)
    }

    /// A storaged opens nothing before `ADD HOSTS` named it.
    pub const fn needs_add_hosts(self) -> bool {
        self.is_3x()
    }

    /// The cluster id depends on more than the metad addresses, so a stale `cluster.id` never fits.
    pub const fn salts_cluster_id(self) -> bool {
        self.is_3x()
    }

    /// `SHOW HOSTS META` knows which metads are silent (3.3 and later).
    pub const fn shows_metads_offline(self) -> bool {
        self.is_3x()
    }

    /// Balancing is a job of one space; before it is a plan of the whole cluster.
    pub const fn balances_by_job(self) -> bool {
        self.is_3x()
    }

    /// graphd and storaged end at once when no metad answers (3 tries, a second apart).
    pub const fn gives_up_fast(self) -> bool {
        matches!(self, Self::V2_6_2)
    }

    /// graphd ends when it never reached a metad; 2.0.1 only warns and goes on.
    pub const fn graphd_gives_up(self) -> bool {
        !matches!(self, Self::V2_0_1)
    }

    /// `PUT /flags` without a body ends the process (guarded from 3.6 on).
    pub const fn dies_of_an_empty_put(self) -> bool {
        !self.is_3x()
    }

    /// The body of a 400 answer names the reason (3.6 and later).
    pub const fn explains_bad_requests(self) -> bool {
        self.is_3x()
    }

    /// The daemon refuses a `local_ip` that no interface of this host has.
    pub const fn checks_local_ip(self) -> bool {
        !matches!(self, Self::V2_0_1)
    }

    /// Log lines carry the year.
    pub const fn logs_year(self) -> bool {
        self.is_3x()
    }

    /// Sessions live in metad rather than in one graphd.
    pub const fn sessions_in_metad(self) -> bool {
        !matches!(self, Self::V2_0_1)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.version())
    }
}

/// The text names no release line the sandbox knows.
#[derive(Debug, thiserror::Error)]
#[error("unknown release line {0:?}\nhint: the sandbox plays 2.0.1, 2.6.2 and 3.8.0")]
pub struct UnknownLine(String);

impl FromStr for Line {
    type Err = UnknownLine;

    fn from_str(text: &str) -> Result<Self, UnknownLine> {
        Self::ALL
            .into_iter()
            .find(|line| line.version() == text)
            .ok_or_else(|| UnknownLine(text.to_owned()))
    }
}

/// Which of the three daemons a process plays.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Metad,
    Graphd,
    Storaged,
}

impl Role {
    pub const ALL: [Self; 3] = [Self::Metad, Self::Graphd, Self::Storaged];

    /// `metad`, `graphd` or `storaged`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Metad => "metad",
            Self::Graphd => "graphd",
            Self::Storaged => "storaged",
        }
    }

    /// Name of the executable.
    pub const fn binary(self) -> &'static str {
        match self {
            Self::Metad => "nebula-metad",
            Self::Graphd => "nebula-graphd",
            Self::Storaged => "nebula-storaged",
        }
    }

    /// The word in the Role column of `SHOW HOSTS`.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Metad => "META",
            Self::Graphd => "GRAPH",
            Self::Storaged => "STORAGE",
        }
    }

    /// The letter in the `roles` column of the tables.
    pub const fn letter(self) -> char {
        match self {
            Self::Metad => 'm',
            Self::Graphd => 'g',
            Self::Storaged => 's',
        }
    }

    /// Reads `metad` or `nebula-metad` (a path is cut to its last part).
    pub fn from_program(program: &str) -> Option<Self> {
        let base = program.rsplit('/').next().unwrap_or(program);
        Self::ALL
            .into_iter()
            .find(|role| base == role.binary() || base == role.name())
    }
}
