//! What metad knows: spaces, schemas, hosts, jobs, sessions. Kept as one JSON document, handed to the other daemons
//! as it is (a `Catalog`).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use super::balance::{Move, Plan};
use crate::line::Role;

/// `host:port` of a daemon.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPort {
    pub host: String,
    pub port: u16,
}

impl HostPort {
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
        }
    }

    /// The same host, `by` ports away (raft: 1, admin: −1).
    #[must_use]
    pub fn shifted(&self, by: i16) -> Self {
        Self {
            host: self.host.clone(),
            port: self.port.saturating_add_signed(by),
        }
    }

    /// A comma list.
    pub fn join(hosts: &[Self]) -> String {
        let hosts: Vec<_> = hosts.iter().map(ToString::to_string).collect();
        hosts.join(",")
    }

    /// Reads a comma list.
    pub fn list(text: &str) -> Vec<Self> {
        text.split(',')
            .filter_map(|item| item.trim().parse().ok())
            .collect()
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// The text is not `host:port`.
#[derive(Debug, thiserror::Error)]
#[error("bad address {0:?}")]
pub struct BadAddress(String);

impl FromStr for HostPort {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let parts = text.rsplit_once(':');
        let found = parts.and_then(|(host, port)| Some(Self::new(host, port.parse().ok()?)));
        found.ok_or_else(|| BadAddress(text.to_owned()))
    }
}

impl TryFrom<String> for HostPort {
    type Error = BadAddress;

    fn try_from(text: String) -> Result<Self, BadAddress> {
        text.parse()
    }
}

impl From<HostPort> for String {
    fn from(value: HostPort) -> Self {
        value.to_string()
    }
}

/// Type of a space's vertex ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum VidType {
    Int,
    /// At most so many bytes.
    Text(u16),
}

/// Type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PropType {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Float,
    Double,
    Text,
    FixedText(u16),
    Timestamp,
    Date,
    Time,
    DateTime,
}

impl fmt::Display for PropType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Bool => "bool",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float => "float",
            Self::Double => "double",
            Self::Text => "string",
            Self::FixedText(size) => return write!(f, "fixed_string({size})"),
            Self::Timestamp => "timestamp",
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "datetime",
        };
        f.write_str(name)
    }
}

/// A property of a tag or edge type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    pub name: String,
    pub kind: PropType,
    pub nullable: bool,
    /// nGQL text of the default value.
    pub default: Option<String>,
    pub comment: Option<String>,
}

/// A tag or an edge type with all the versions rows on disk may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    pub id: i32,
    pub name: String,
    /// Fields by schema version; the last one is current.
    pub versions: Vec<Vec<Field>>,
    pub ttl_col: Option<String>,
    pub ttl_duration: i64,
    pub comment: Option<String>,
}

impl Schema {
    /// The current fields.
    pub fn fields(&self) -> &[Field] {
        self.versions.last().map_or(&[], Vec::as_slice)
    }
}

/// Tags or edge types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SchemaKind {
    Tag,
    Edge,
}

/// An index on a tag or an edge type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    pub id: i32,
    pub name: String,
    pub on: SchemaKind,
    pub schema: String,
    /// Field and, for strings, the indexed length.
    pub fields: Vec<(String, Option<u16>)>,
    pub built: bool,
}

/// Where one partition lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The storaged that holds the data (the others are bookkeeping).
    pub home: HostPort,
    pub peers: Vec<HostPort>,
    pub leader: Option<HostPort>,
    /// Where its data is being copied to.
    #[serde(default)]
    pub moving_to: Option<HostPort>,
}

/// Counts found by a STATS job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub tags: BTreeMap<i32, u64>,
    pub edges: BTreeMap<i32, u64>,
    pub vertices: u64,
}

impl Counts {
    /// Adds what another storaged counted.
    pub fn merge(&mut self, other: &Self) {
        for (id, count) in &other.tags {
            *self.tags.entry(*id).or_default() += count;
        }
        for (id, count) in &other.edges {
            *self.edges.entry(*id).or_default() += count;
        }
        self.vertices += other.vertices;
    }
}

/// A graph space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Space {
    pub id: u32,
    pub name: String,
    pub replica: u32,
    pub vid: VidType,
    pub comment: Option<String>,
    pub parts: Vec<Part>,
    pub tags: BTreeMap<String, Schema>,
    pub edges: BTreeMap<String, Schema>,
    pub indexes: BTreeMap<String, Index>,
    pub stats: Option<Counts>,
}

impl Space {
    /// Tags or edge types.
    pub fn schemas(&self, kind: SchemaKind) -> &BTreeMap<String, Schema> {
        match kind {
            SchemaKind::Tag => &self.tags,
            SchemaKind::Edge => &self.edges,
        }
    }

    /// Tags or edge types, to be changed.
    pub fn schemas_mut(&mut self, kind: SchemaKind) -> &mut BTreeMap<String, Schema> {
        match kind {
            SchemaKind::Tag => &mut self.tags,
            SchemaKind::Edge => &mut self.edges,
        }
    }
}

/// A daemon that sent a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub role: Role,
    pub http_port: u16,
    pub sha: String,
    pub version: String,
    /// Milliseconds since the epoch.
    pub last_heartbeat: u64,
}

/// State of a job or task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum JobStatus {
    Queue,
    Running,
    Finished,
    Failed,
    Stopped,
}

impl JobStatus {
    /// The word `SHOW JOBS` prints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "QUEUE",
            Self::Running => "RUNNING",
            Self::Finished => "FINISHED",
            Self::Failed => "FAILED",
            Self::Stopped => "STOPPED",
        }
    }

    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Stopped)
    }
}

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum JobKind {
    Compact,
    Flush,
    Stats,
    LeaderBalance,
    DataBalance,
    RebuildTagIndex,
    RebuildEdgeIndex,
}

impl JobKind {
    /// The word in the Command column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compact => "COMPACT",
            Self::Flush => "FLUSH",
            Self::Stats => "STATS",
            Self::LeaderBalance => "LEADER_BALANCE",
            Self::DataBalance => "DATA_BALANCE",
            Self::RebuildTagIndex => "REBUILD_TAG_INDEX",
            Self::RebuildEdgeIndex => "REBUILD_EDGE_INDEX",
        }
    }
}

/// Part of a job done by one storaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub host: String,
    pub status: JobStatus,
    pub start: i64,
    pub stop: i64,
}

/// A job. Times are microseconds since the epoch, 0 = not yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: i64,
    pub space: u32,
    pub kind: JobKind,
    /// Name of the index for a rebuild, hosts to be emptied for a balance; empty = all, none.
    pub argument: String,
    pub status: JobStatus,
    pub start: i64,
    pub stop: i64,
    pub tasks: Vec<Task>,
    /// Only of a data balance.
    #[serde(default)]
    pub moves: Vec<Move>,
}

/// A client session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: i64,
    pub user: String,
    pub space: String,
    pub created: i64,
    pub updated: i64,
    pub graph: HostPort,
    pub client: String,
}

/// What other daemons cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    /// Rises with every change.
    pub version: u64,
    pub spaces: BTreeMap<String, Space>,
    /// User name to md5-free password text; the sandbox keeps no secrets worth more.
    pub users: BTreeMap<String, String>,
}

/// The whole document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub cluster_id: i64,
    /// Rises with everything that is written, jobs and hosts included.
    pub revision: u64,
    pub next_id: i32,
    pub next_space: u32,
    pub next_job: i64,
    pub catalog: Catalog,
    /// Storage addresses added by `ADD HOSTS`.
    pub machines: BTreeSet<HostPort>,
    pub hosts: BTreeMap<HostPort, Host>,
    pub jobs: Vec<Job>,
    #[serde(default)]
    pub plans: Vec<Plan>,
    pub sessions: BTreeMap<i64, Session>,
    /// Values registered by `local_config=false` daemons: module, name, value.
    pub configs: BTreeMap<String, BTreeMap<String, String>>,
}
