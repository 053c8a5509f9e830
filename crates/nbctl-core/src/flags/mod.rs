//! The flag catalogue: what is known about daemon flags, by role and version.
//!
//! Duty: answer "does this daemon of this version have that flag, what is its default, can it be
//! changed while running". The facts are data (`data/flags.yaml`); a flag that is missing there is
//! unknown to nbctl, which does not mean that it does not exist.

mod options;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::inventory::{DaemonRole, Version};

pub use options::{Options, holder, is_nested, nearest_option, read_options, takes, write_options};

/// Flags that say who and where a daemon is: the inventory says them in its own words, or nbctl sets them by itself.
pub const IDENTITY: [&str; 13] = [
    "daemonize",
    "data_path",
    "local_config",
    "local_ip",
    "log_dir",
    "meta_server_addrs",
    "pid_file",
    "port",
    "ws_h2_port",
    "ws_http_port",
    "ws_ip",
    "ws_meta_http_port",
    "ws_storage_http_port",
];

/// How a new value reaches a daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// `PUT /flags` is enough.
    Dynamic,
    /// Read at start only.
    Restart,
}

/// A value that holds for a span of versions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dated {
    /// First version, all when absent.
    pub since: Option<Version>,
    /// First version for which it no longer holds.
    pub until: Option<Version>,
    pub value: String,
}

/// One flag.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    pub name: String,
    pub daemons: Vec<DaemonRole>,
    /// First version that has it, all known ones when absent.
    pub since: Option<Version>,
    /// First version that no longer has it.
    pub until: Option<Version>,
    pub change: Change,
    /// Default of the code; absent where it is not known or differs per role.
    #[serde(default)]
    pub default: Vec<Dated>,
    /// Value in the shipped `.conf.default`, where it differs from the code.
    #[serde(default)]
    pub shipped: Vec<Dated>,
    /// Roles whose shipped file has that value, all of `daemons` when empty.
    #[serde(default)]
    pub shipped_for: Vec<DaemonRole>,
    /// Names that people try instead, or an older name.
    pub note: Option<String>,
}

/// All known flags.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Catalogue {
    flags: Vec<Flag>,
}

static BUILTIN: LazyLock<Catalogue> = LazyLock::new(|| {
    // The text is part of the program; a test holds that it parses.
    Catalogue::parse(include_str!("../../data/flags.yaml")).unwrap_or_default()
});

impl Catalogue {
    /// The catalogue that comes with the program.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// Reads a catalogue; the error is the parser's text.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_yaml::from_str(text).map_err(|e| e.to_string())
    }

    pub fn iter(&self) -> impl Iterator<Item = &Flag> {
        self.flags.iter()
    }

    pub fn get(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().find(|f| f.name == name)
    }

    /// What the shipped configuration file of a role says beyond the defaults of the code.
    pub fn shipped(
        &self,
        role: DaemonRole,
        version: Version,
    ) -> impl Iterator<Item = (&str, &str)> {
        self.flags
            .iter()
            .filter_map(move |f| Some((f.name.as_str(), f.shipped(role, version)?)))
    }

    /// The known name that is closest to `name`, when it is close enough to be meant.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.flags.iter().map(|f| f.name.as_str()))
    }
}

/// The closest of some names, when it is close enough to be meant.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (best, known) = known.map(|k| (distance(k, name), k)).min()?;
    (best <= name.len().div_ceil(6)).then_some(known)
}

impl Flag {
    pub fn is_for(&self, role: DaemonRole) -> bool {
        self.daemons.contains(&role)
    }

    /// Whether `role` cannot have this flag. metad and storaged are built from the same storage code,
    /// so a flag that is documented for one of them may exist in the other as well.
    pub fn is_foreign_to(&self, role: DaemonRole) -> bool {
        let graph_side = self.is_for(DaemonRole::Graphd);
        match role {
            DaemonRole::Graphd => !graph_side,
            DaemonRole::Metad | DaemonRole::Storaged => self.daemons == [DaemonRole::Graphd],
        }
    }

    pub fn exists_in(&self, version: Version) -> bool {
        within(self.since, self.until, version)
    }

    /// Default of the code in this version.
    pub fn default(&self, version: Version) -> Option<&str> {
        dated(&self.default, version)
    }

    fn shipped(&self, role: DaemonRole, version: Version) -> Option<&str> {
        let named = self.shipped_for.is_empty() || self.shipped_for.contains(&role);
        let here = named && self.is_for(role) && self.exists_in(version);
        dated(&self.shipped, version).filter(|_| here)
    }
}

fn dated(values: &[Dated], version: Version) -> Option<&str> {
    let holds = |v: &&Dated| within(v.since, v.until, version);
    values.iter().find(holds).map(|v| v.value.as_str())
}

fn within(since: Option<Version>, until: Option<Version>, version: Version) -> bool {
    since.is_none_or(|first| version >= first) && until.is_none_or(|end| version < end)
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, y) in b.chars().enumerate() {
            let above = row.get(j + 1).copied().unwrap_or_default();
            let cost = (diagonal + usize::from(x != y))
                .min(above + 1)
                .min(left + 1);
            diagonal = above;
            if let Some(cell) = row.get_mut(j) {
                *cell = left;
            }
            left = cost;
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Catalogue, distance};
    use crate::inventory::{DaemonRole, Version};

    #[test]
    fn builtin_catalogue_is_sound() {
        let catalogue = Catalogue::parse(include_str!("../../data/flags.yaml")).unwrap();
        let names: Vec<&str> = catalogue.iter().map(|f| f.name.as_str()).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted, "sorted, no name twice");
        assert!(catalogue.iter().all(|f| !f.daemons.is_empty()));
        assert!(names.len() > 50);
    }

    #[test]
    fn flags_by_version() {
        let catalogue = Catalogue::builtin();
        let v = Version::new;
        let cases = [
            ("enable_vertex_cache", v(2, 5, 1), true),
            ("enable_vertex_cache", v(2, 6, 2), false),
            ("ws_h2_port", v(3, 0, 2), true),
            ("ws_h2_port", v(3, 1, 0), false),
            ("max_sessions_per_ip_per_user", v(3, 0, 0), false),
            ("max_sessions_per_ip_per_user", v(3, 8, 0), true),
        ];
        for (name, version, there) in cases {
            assert_eq!(
                catalogue.get(name).unwrap().exists_in(version),
                there,
                "{name} {version}"
            );
        }
        for (role, flag, foreign) in [
            (DaemonRole::Graphd, "wal_ttl", true),
            (DaemonRole::Metad, "wal_ttl", false),
            (DaemonRole::Storaged, "enable_optimizer", true),
            (DaemonRole::Metad, "v", false),
        ] {
            assert_eq!(
                catalogue.get(flag).unwrap().is_foreign_to(role),
                foreign,
                "{role} {flag}"
            );
        }
        let default = |name: &str, version| catalogue.get(name).unwrap().default(version);
        assert_eq!(default("session_idle_timeout_secs", v(2, 6, 2)), Some("0"));
        assert_eq!(
            default("session_idle_timeout_secs", v(3, 8, 0)),
            Some("28800")
        );
    }

    #[test]
    fn shipped_values_by_role() {
        let at = |role, version, name| {
            let mut all = Catalogue::builtin().shipped(role, version);
            all.find(|(n, _)| *n == name).map(|(_, value)| value)
        };
        let (v2, v3) = (Version::new(2, 0, 1), Version::new(3, 8, 0));
        assert_eq!(
            at(DaemonRole::Storaged, v3, "rocksdb_block_cache"),
            Some("4")
        );
        assert_eq!(
            at(DaemonRole::Metad, v3, "raft_heartbeat_interval_secs"),
            None
        );
        assert_eq!(
            at(DaemonRole::Storaged, v3, "query_concurrently"),
            Some("true")
        );
        assert_eq!(at(DaemonRole::Storaged, v2, "query_concurrently"), None);
    }

    #[test]
    fn near_names() {
        assert_eq!(distance("wal_ttl", "wal_tll"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(Catalogue::builtin().nearest("wal_tll"), Some("wal_ttl"));
        assert_eq!(Catalogue::builtin().nearest("my_own_flag"), None);
    }
}
