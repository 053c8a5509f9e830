//! A lane: one connection with the session it works in, replaced when it breaks.
//!
//! Purpose: what importer and load generator share of the client: dialling, logging in, errors sorted by class.
//! Duties: a broken connection is never used again; a session that graphd lost is made anew once, whoever of its
//! lanes notices first; nothing is sent twice here, that decision needs to know the statement.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nebula_wire::Line;
use nebula_wire::client::{ClientError, ConnectOptions, Connection, Reply, Tls};
use nebula_wire::codes::{ErrorKind, classify};
use tokio::sync::Mutex;

use super::job::GraphTarget;

/// graphd from 3.1 takes 300 sessions of one user from one address.
const SESSIONS_A_GRAPHD: usize = 280;
/// Longest a request may take.
const REQUEST_LIMIT: Duration = Duration::from_mins(1);

/// A request that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Good {
    /// graphd's own time, µs.
    pub(super) latency_us: u64,
    /// Rows of the reply.
    pub(super) rows: u64,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Bucket for statistics.
    pub(super) class: String,
    /// Code of the reply, if one came.
    pub(super) code: Option<i32>,
    /// `None`: no answer came.
    pub(super) kind: Option<ErrorKind>,
    /// As received.
    pub(super) text: String,
}

/// An answer, or what came instead.
#[derive(Debug)]
pub(super) struct Answer {
    /// When its last byte was there.
    pub(super) at: Instant,
    /// What it said.
    pub(super) outcome: Result<Good, Wrong>,
}

/// What the lanes of a thread share.
#[derive(Debug)]
pub(super) struct Graph {
    target: GraphTarget,
    tls: Option<Tls>,
    line: Cell<Option<Line>>,
    slots: Vec<Rc<Slot>>,
}

/// A session that some lanes share; 0 before it is made.
#[derive(Debug, Default)]
struct Slot(Mutex<i64>);

/// One connection.
#[derive(Debug)]
pub(super) struct Lane {
    graph: Rc<Graph>,
    slot: Rc<Slot>,
    /// Position of its graphd.
    at: usize,
    /// Goes on to the next graphd when its own does not answer.
    roams: bool,
    connection: Option<Connection>,
    /// 0 when it must log in.
    session: i64,
    /// What graphd no longer knew.
    lost: i64,
}

impl Wrong {
    /// An error without a code.
    pub(super) fn other(class: &str, text: &str) -> Self {
        Self {
            class: class.to_owned(),
            code: None,
            kind: None,
            text: text.to_owned(),
        }
    }

    fn of_client(error: &ClientError, line: Option<Line>) -> Self {
        if let ClientError::Refused { code, message, .. } = error {
            let class = classify(line.unwrap_or(Line::V3), *code, message.as_bytes());
            return Self {
                class: class.name.into_owned(),
                code: Some(*code),
                kind: Some(class.kind),
                text: error.to_string(),
            };
        }
        let class = match error.kind() {
            "closed" => "connection closed",
            "connect" => "cannot connect",
            kind => kind,
        };
        Self::other(class, &error.to_string())
    }

    fn of_reply(reply: &Reply<'_>, line: Line) -> Self {
        let class = classify(line, reply.code(), reply.error_msg());
        Self {
            class: class.name.into_owned(),
            code: Some(reply.code()),
            kind: Some(class.kind),
            text: reply.error_text().into_owned(),
        }
    }
}

impl Graph {
    /// For a thread with `lanes` lanes out of `threads`.
    pub(super) fn new(target: GraphTarget, lanes: usize, threads: usize) -> Rc<Self> {
        let most = (SESSIONS_A_GRAPHD / threads.max(1)).max(1) * target.addresses.len();
        // A multiple of the graphds, so that the lanes of a session are all on one of them.
        let slots = if lanes > most { most } else { lanes };
        // Whoever wrote the job has made one of it before.
        let tls = target.tls.as_ref().and_then(|tls| tls.client().ok());
        Rc::new(Self {
            target,
            tls,
            line: Cell::new(None),
            slots: (0..slots.max(1)).map(|_| Rc::default()).collect(),
        })
    }

    /// Sessions of this thread.
    pub(super) fn sessions(&self) -> usize {
        self.slots.len()
    }
}

impl Lane {
    /// The `number`-th lane of the thread, not yet connected; `at` chooses its graphd.
    pub(super) fn new(graph: &Rc<Graph>, number: usize, at: usize, roams: bool) -> Self {
        let slot = number % graph.slots.len();
        Self {
            slot: graph.slots.get(slot).map_or_else(Rc::default, Rc::clone),
            graph: Rc::clone(graph),
            at: at % graph.target.addresses.len(),
            roams,
            connection: None,
            session: 0,
            lost: 0,
        }
    }

    /// Connected and logged in.
    pub(super) fn is_ready(&self) -> bool {
        self.session != 0 && self.is_connected()
    }

    /// Answers can still come.
    pub(super) fn is_connected(&self) -> bool {
        self.connection.as_ref().is_some_and(|c| !c.is_broken())
    }

    /// Connects and logs in as far as needed.
    pub(super) async fn ready(&mut self) -> Result<(), Wrong> {
        if self.connection.as_ref().is_none_or(Connection::is_broken) {
            self.connection = None;
            self.connect().await?;
        }
        if self.session == 0 {
            self.log_in().await?;
        }
        Ok(())
    }

    async fn connect(&mut self) -> Result<(), Wrong> {
        let options = ConnectOptions {
            request_timeout: REQUEST_LIMIT,
            line: self.graph.line.get(),
            tls: self.graph.tls.clone(),
            ..ConnectOptions::default()
        };
        let addresses = &self.graph.target.addresses;
        let address = addresses.get(self.at).map_or("", String::as_str);
        match Connection::connect(address, &options).await {
            Ok(connection) => {
                self.connection = Some(connection);
                Ok(())
            }
            Err(error) => {
                if self.roams {
                    self.at = (self.at + 1) % addresses.len();
                }
                Err(Wrong::of_client(&error, options.line))
            }
        }
    }

    /// Takes the session of the slot, or makes it.
    async fn log_in(&mut self) -> Result<(), Wrong> {
        let slot = Rc::clone(&self.slot);
        let mut session = slot.0.lock().await;
        if *session == 0 || *session == self.lost {
            *session = 0;
            *session = self.make_session().await?;
        }
        self.session = *session;
        Ok(())
    }

    async fn make_session(&mut self) -> Result<i64, Wrong> {
        let graph = Rc::clone(&self.graph);
        let GraphTarget {
            user,
            password,
            space,
            ..
        } = &graph.target;
        let Some(connection) = &mut self.connection else {
            return Err(Wrong::other("connection closed", "not connected"));
        };
        let made = connection.authenticate(user, password.reveal()).await;
        let made = made.map_err(|error| Wrong::of_client(&error, connection.line()))?;
        graph.line.set(connection.line());
        let answer = self
            .execute(made.id, format!("USE `{space}`").as_bytes())
            .await;
        match answer.outcome {
            Ok(_) => Ok(made.id),
            Err(wrong) => {
                if let Some(connection) = &mut self.connection {
                    drop(connection.signout(made.id).await);
                }
                Err(wrong)
            }
        }
    }

    /// Sends a statement without waiting; the lane must be ready.
    pub(super) async fn send(&mut self, statement: &[u8]) -> Result<(), Wrong> {
        let line = self.graph.line.get();
        match &mut self.connection {
            Some(connection) => {
                let sent = connection.send_execute(self.session, statement).await;
                sent.map_err(|error| Wrong::of_client(&error, line))
            }
            None => Err(Wrong::other("connection closed", "not connected")),
        }
    }

    /// The oldest answer.
    pub(super) async fn receive(&mut self) -> Answer {
        let line = self.graph.line.get();
        let Some(connection) = &mut self.connection else {
            return Answer::lost(Wrong::other("connection closed", "not connected"));
        };
        let answer = match connection.receive().await {
            Ok(reply) => Answer::of(&reply, line.unwrap_or(Line::V3)),
            Err(error) => Answer::lost(Wrong::of_client(&error, line)),
        };
        let lost = matches!(&answer.outcome, Err(wrong) if wrong.kind == Some(ErrorKind::Session));
        if lost && self.session != 0 {
            self.lost = self.session;
            self.session = 0;
        }
        answer
    }

    /// Sends a statement in the lane's session and waits for its answer.
    pub(super) async fn ask(&mut self, statement: &[u8]) -> Answer {
        match self.send(statement).await {
            Ok(()) => self.receive().await,
            Err(wrong) => Answer::lost(wrong),
        }
    }

    async fn execute(&mut self, session: i64, statement: &[u8]) -> Answer {
        let before = std::mem::replace(&mut self.session, session);
        let answer = self.ask(statement).await;
        self.session = before;
        answer
    }

    /// Signs out of the slot's session unless another lane did.
    pub(super) async fn leave(&mut self) {
        let slot = Rc::clone(&self.slot);
        let mut session = slot.0.lock().await;
        if *session == 0 {
            return;
        }
        if self.connection.as_ref().is_none_or(Connection::is_broken)
            && self.connect().await.is_err()
        {
            return;
        }
        if let Some(connection) = &mut self.connection
            && connection.signout(*session).await.is_ok()
        {
            *session = 0;
        }
    }
}

impl Answer {
    fn of(reply: &Reply<'_>, line: Line) -> Self {
        let outcome = if reply.is_ok() {
            Ok(Good {
                latency_us: u64::try_from(reply.latency_us()).unwrap_or_default(),
                rows: reply.row_count() as u64,
            })
        } else {
            Err(Wrong::of_reply(reply, line))
        };
        Self {
            at: reply.received_at(),
            outcome,
        }
    }

    fn lost(wrong: Wrong) -> Self {
        Self {
            at: Instant::now(),
            outcome: Err(wrong),
        }
    }
}

/// Pauses that double up to a ceiling.
#[derive(Debug)]
pub(super) struct Backoff(Duration);

impl Backoff {
    const FIRST: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(2);

    pub(super) fn new() -> Self {
        Self(Self::FIRST)
    }

    /// The next pause.
    pub(super) fn next(&mut self) -> Duration {
        let now = self.0;
        self.0 = (now * 2).min(Self::LONGEST);
        now
    }
}
