//! Requests to metad and their answers (JSON: none of them is on a hot path).

use serde::{Deserialize, Serialize};

use super::{
    balance::Plan,
    model::{Catalog, Field, HostPort, Index, Job, JobKind, Part, SchemaKind, Session, VidType},
};
use crate::line::Role;

/// Operation number of a metad request in the internal RPC.
pub const OP_META: u8 = 100;
/// Operation number of a message between metads.
pub const OP_PEER: u8 = 101;

/// A sign of life.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Heartbeat {
    pub role: Role,
    pub host: HostPort,
    pub http_port: u16,
    /// 0 = not known yet.
    pub cluster_id: i64,
    pub sha: String,
    pub version: String,
}

/// A new space.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewSpace {
    pub name: String,
    pub parts: Option<u32>,
    pub replica: Option<u32>,
    pub vid: VidType,
    pub comment: Option<String>,
    pub if_not_exists: bool,
}

/// A new tag or edge type.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewSchema {
    pub space: u32,
    pub kind: SchemaKind,
    pub name: String,
    pub fields: Vec<Field>,
    pub ttl_col: Option<String>,
    pub ttl_duration: i64,
    pub comment: Option<String>,
    pub if_not_exists: bool,
}

/// One clause of `ALTER TAG|EDGE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AlterItem {
    Add(Vec<Field>),
    Change(Vec<Field>),
    Drop(Vec<String>),
    Ttl(Option<String>, Option<i64>),
}

/// The forms `BALANCE DATA` has in 2.x.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Balance {
    /// Starts a plan, or the last one again when it failed; these hosts are emptied.
    Start(Vec<HostPort>),
    Stop,
    /// Forgets a failed plan.
    Reset,
    Show(i64),
}

/// What metad is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Request {
    Heartbeat(Heartbeat),
    /// The catalog when it is newer than this version.
    Catalog(u64),
    CreateSpace(NewSpace),
    DropSpace {
        name: String,
        if_exists: bool,
    },
    CreateSchema(NewSchema),
    AlterSchema {
        space: u32,
        kind: SchemaKind,
        name: String,
        items: Vec<AlterItem>,
    },
    DropSchema {
        space: u32,
        kind: SchemaKind,
        name: String,
        if_exists: bool,
    },
    CreateIndex {
        space: u32,
        index: Index,
        if_not_exists: bool,
    },
    DropIndex {
        space: u32,
        on: SchemaKind,
        name: String,
        if_exists: bool,
    },
    AddHosts(Vec<HostPort>),
    DropHosts(Vec<HostPort>),
    Hosts(Option<Role>),
    Parts(u32),
    SubmitJob {
        space: u32,
        kind: JobKind,
        argument: String,
    },
    StopJob {
        space: u32,
        id: i64,
    },
    RecoverJobs {
        space: u32,
    },
    Jobs(Option<u32>),
    BalanceLeader,
    BalanceData(Balance),
    NewSession {
        user: String,
        client: String,
        graph: HostPort,
        limit: u64,
    },
    FindSession(i64),
    /// Last use (microseconds) and current space.
    TouchSession {
        id: i64,
        space: String,
        used: i64,
    },
    EndSession(i64),
    Sessions,
    /// Registers the mutable flags of a `local_config=false` daemon.
    RegisterConfigs {
        module: String,
        values: Vec<(String, String)>,
    },
    SetConfig {
        module: Option<String>,
        name: String,
        value: String,
    },
    Configs(Option<String>),
    Leader,
}

/// A row of `SHOW HOSTS`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HostRow {
    pub host: HostPort,
    pub http_port: u16,
    pub online: bool,
    pub role: Role,
    pub sha: String,
    pub version: String,
    /// Leaders by space, parts by space.
    pub leaders: Vec<(String, usize)>,
    pub parts: Vec<(String, usize)>,
}

/// What metad answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Reply {
    Done,
    Heartbeat {
        cluster_id: i64,
        catalog: u64,
    },
    /// `None` = yours is the newest.
    Catalog(Option<Box<Catalog>>),
    Hosts(Vec<HostRow>),
    Parts {
        parts: Vec<Part>,
        offline: Vec<HostPort>,
    },
    Job(i64),
    Jobs(Vec<Job>),
    Plan(Plan),
    Session(Option<Session>),
    Sessions(Vec<Session>),
    /// Module, name, value.
    Configs(Vec<(String, String, String)>),
    Leader {
        leader: HostPort,
        heartbeat_age: u64,
    },
    Failed(Failure),
    /// Ask that one; `None` = no leader yet.
    NotLeader(Option<HostPort>),
}

/// Why metad refuses: the E_ number of NebulaGraph 2.5+ and the text graphd shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    pub code: i32,
    pub text: String,
}

impl Failure {
    pub fn new(code: i32, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
        }
    }

    pub fn existed() -> Self {
        Self::new(-2002, "Existed!")
    }
}
