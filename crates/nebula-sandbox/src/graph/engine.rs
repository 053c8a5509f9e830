//! A graphd: its state, its connections to metad and storaged, and the life of one query.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use bytes::Bytes;

use super::{
    catalog::{GraphCatalog, SpaceInfo},
    error::{Class, QueryError},
    exec::{self, Answer},
    in_flight::InFlight,
    knobs::{Fate, Knobs},
    session::{Live, Sessions},
};
use crate::{
    clock,
    daemon::log::log,
    flags::Flags,
    line::{Line, Role, SANDBOX_GIT_SHA},
    meta::{
        MetaClient,
        message::{Failure, Heartbeat, Reply, Request},
        model::HostPort,
        sync_configs,
    },
    ngql,
    rpc::{CallError, Pool},
    stats::Stats,
};

/// A graphd.
#[derive(Debug)]
pub struct Engine {
    pub(super) line: Line,
    pub(super) flags: Arc<Flags>,
    pub(super) stats: Arc<Stats>,
    pub(super) me: HostPort,
    pub(super) sessions: Sessions,
    pub(super) knobs: Knobs,
    pub(super) in_flight: InFlight,
    metas: MetaClient,
    storages: Pool,
    catalog: RwLock<Arc<GraphCatalog>>,
}

/// What a query came to.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) space: Arc<str>,
    pub(super) micros: i64,
    /// A table, a plan, nothing, or a code and a text.
    pub(super) result: Result<Answer, (i32, String)>,
}

impl Engine {
    pub fn new(line: Line, flags: Arc<Flags>, stats: Arc<Stats>, me: HostPort) -> Arc<Self> {
        let limit = Duration::from_millis(flags.count("storage_client_timeout_ms").max(1));
        Arc::new(Self {
            line,
            metas: MetaClient::new(&flags.text("meta_server_addrs")),
            storages: Pool::new(limit),
            flags,
            stats,
            me,
            sessions: Sessions::default(),
            knobs: Knobs::default(),
            in_flight: InFlight::default(),
            catalog: RwLock::default(),
        })
    }

    pub(super) fn catalog(&self) -> Arc<GraphCatalog> {
        Arc::clone(&self.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks metad.
    pub(super) async fn ask(&self, request: &Request) -> Result<Reply, Failure> {
        let reply = self.metas.ask(request).await;
        let failed = matches!(&reply, Err(failure) if failure.code == -3);
        self.stats.add_all(&[
            ("num_rpc_sent_to_metad", 1),
            ("num_rpc_sent_to_metad_failed", i64::from(failed)),
        ]);
        reply
    }

    /// Asks the storaged at `host` of a space; `part` is named in errors.
    pub(super) async fn storage(
        &self,
        info: &SpaceInfo,
        host: usize,
        part: usize,
        op: u8,
        body: &[u8],
    ) -> Result<Bytes, QueryError> {
        let address = info.hosts.get(host).map_or("", String::as_str);
        let answer = self.storages.get(address).call(op, body).await;
        self.stats.add_all(&[
            ("num_rpc_sent_to_storaged", 1),
            (
                "num_rpc_sent_to_storaged_failed",
                i64::from(answer.is_err()),
            ),
        ]);
        answer.map_err(|error| self.storage_error(&error, part))
    }

    fn storage_error(&self, error: &CallError, part: usize) -> QueryError {
        log!(Error, "part {part}: {error}");
        let text = match error {
            CallError::Remote { code: -3529, .. } => {
                format!("Storage Error: Part {part} raft buffer is full. Please retry later.")
            }
            CallError::Remote { code: -4, .. } => {
                format!("Storage Error: Not the leader of {part}. Please retry later.")
            }
            CallError::Remote { code, text } => {
                format!("Storage Error: part: {part}, error: {text}({code}).")
            }
            _ if self.line.is_3x() => "Storage Error: RPC failure, probably timeout.".to_owned(),
            _ => format!("Storage Error: part: {part}, error: E_RPC_FAILURE(-3)."),
        };
        QueryError::execution(text)
    }

    /// Tries to reach metad as often as the line does.
    pub async fn register(&self) -> Result<(), Failure> {
        let pause = if self.line.gives_up_fast() {
            1
        } else {
            10.min(self.interval())
        };
        for attempt in 1..=3 {
            match self.beat().await {
                Ok(()) => return Ok(()),
                Err(failure) => log!(Error, "Heartbeat failed, status:{failure}"),
            }
            if attempt < 3 {
                tokio::time::sleep(Duration::from_secs(pause)).await;
            }
        }
        Err(Failure::new(
            -3,
            "Failed to wait for meta service ready synchronously.",
        ))
    }

    fn interval(&self) -> u64 {
        self.flags.count("heartbeat_interval_secs").max(1)
    }

    async fn beat(&self) -> Result<(), Failure> {
        let beat = Heartbeat {
            role: Role::Graphd,
            host: self.me.clone(),
            http_port: self.flags.port("ws_http_port"),
            cluster_id: 0,
            sha: SANDBOX_GIT_SHA.to_owned(),
            version: self.line.version().to_owned(),
        };
        let Reply::Heartbeat { catalog, .. } = self.ask(&Request::Heartbeat(beat)).await? else {
            return Err(Failure::new(-8000, "Unknown error!"));
        };
        if catalog != self.catalog().version {
            self.refresh().await?;
        }
        sync_configs(&self.metas, &self.flags, Role::Graphd.column()).await;
        Ok(())
    }

    async fn refresh(&self) -> Result<(), Failure> {
        let since = self.catalog().version;
        if let Reply::Catalog(Some(catalog)) = self.ask(&Request::Catalog(since)).await? {
            let fresh = Arc::new(GraphCatalog::new(&catalog));
            *self.catalog.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        }
        Ok(())
    }

    /// Heartbeats and session upkeep, for ever.
    pub async fn keep_house(self: Arc<Self>) {
        let mut reclaimed = clock::seconds();
        let mut beaten = clock::seconds();
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let now = clock::seconds();
            if now - beaten >= self.interval() {
                beaten = now;
                if let Err(failure) = self.beat().await {
                    log!(Error, "Heartbeat failed, status:{failure}");
                }
            }
            if now - reclaimed >= self.flags.count("session_reclaim_interval_secs").max(1) {
                reclaimed = now;
                self.reclaim().await;
            }
        }
    }

    /// Runs a query text in a session.
    pub(super) async fn execute(&self, session: i64, text: &[u8]) -> Outcome {
        let started = clock::micros();
        let (space, result) = self.admitted(session, text).await;
        let micros = clock::micros() - started;
        self.count(micros, result.as_ref().err());
        Outcome {
            space,
            micros,
            result: result.map_err(|error| {
                (
                    error
                        .code
                        .unwrap_or_else(|| error.error.class.code(self.line)),
                    error.error.text,
                )
            }),
        }
    }

    async fn admitted(&self, session: i64, text: &[u8]) -> (Arc<str>, Result<Answer, Failed>) {
        let live = match self.session(session).await {
            Ok(live) => live,
            Err(error) => return ("".into(), Err(error.into())),
        };
        let result = match self.knobs.admit(&self.flags).await {
            Fate::Run => self.run(&live, text).await.map_err(Failed::from),
            Fate::LoseSession => Err(self.lose_session(session).await.into()),
            Fate::Fail(code, text) => Err(Failed {
                code: Some(code),
                error: QueryError::execution(text),
            }),
        };
        (live.space(), result)
    }

    async fn run(&self, live: &Live, text: &[u8]) -> Result<Answer, QueryError> {
        let limit = usize::try_from(self.flags.int("max_allowed_query_size")).unwrap_or(usize::MAX);
        if text.len() > limit {
            return Err(QueryError {
                class: Class::Syntax,
                text: format!("SyntaxError: Out of max allowed query size {limit}"),
            });
        }
        let statements = ngql::parse(text)?;
        if statements.is_empty() {
            return Err(QueryError {
                class: Class::StatementEmpty,
                text: String::new(),
            });
        }
        if statements.len() as u64 > self.flags.count("max_allowed_statements") {
            return Err(QueryError::semantic(
                "The maximum number of statements allowed has been exceeded",
            ));
        }
        self.stats.add(
            "num_sentences",
            i64::try_from(statements.len()).unwrap_or(0),
        );
        exec::run_all(self, live, statements).await
    }

    fn count(&self, micros: i64, error: Option<&Failed>) {
        let slow = micros > self.flags.int("slow_query_threshold_us");
        let leader = error.is_some_and(|failed| failed.error.text.contains("Not the leader"));
        let samples = [
            ("num_queries", 1),
            ("query_latency_us", micros),
            ("num_query_errors", i64::from(error.is_some())),
            ("num_query_errors_leader_changes", i64::from(leader)),
            ("num_slow_queries", i64::from(slow)),
            ("slow_query_latency_us", micros),
        ];
        self.stats
            .add_all(if slow { &samples } else { &samples[..5] });
    }
}

/// An error, with a code of its own where a knob asks for one.
#[derive(Debug)]
struct Failed {
    code: Option<i32>,
    error: QueryError,
}

impl From<QueryError> for Failed {
    fn from(error: QueryError) -> Self {
        Self { code: None, error }
    }
}
