//! Sessions as this graphd sees them: a cache of metad's, or the only copy where the line keeps them in memory.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use super::{
    engine::Engine,
    error::{Class, QueryError},
    knobs::session_gone,
};
use crate::{
    clock,
    meta::{
        message::{Reply, Request},
        model::Session,
    },
};

/// A session in use.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) id: i64,
    space: Mutex<Arc<str>>,
    /// Microseconds since the epoch.
    used: AtomicI64,
    /// What metad was told last.
    told: AtomicI64,
}

impl Live {
    fn new(session: &Session) -> Self {
        Self {
            id: session.id,
            space: Mutex::new(session.space.as_str().into()),
            used: AtomicI64::new(clock::micros()),
            told: AtomicI64::new(session.updated),
        }
    }

    pub(super) fn space(&self) -> Arc<str> {
        Arc::clone(&self.space.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_space(&self, name: &str) {
        *self.space.lock().unwrap_or_else(PoisonError::into_inner) = name.into();
    }

    pub(super) fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed)
    }
}

/// Sessions by id.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    live: Mutex<HashMap<i64, Arc<Live>>>,
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        self.lock().values().cloned().collect()
    }
}

impl Engine {
    /// Makes a session; the reply to `authenticate`.
    pub(super) async fn authenticate(
        &self,
        user: &str,
        password: &str,
        client: &str,
    ) -> Result<i64, QueryError> {
        self.check_user(user, password)?;
        let allowed = self.flags.count("max_allowed_connections");
        if allowed > 0 && self.sessions.lock().len() as u64 >= allowed {
            self.stats
                .add("num_auth_failed_sessions_out_of_max_allowed", 1);
            return Err(QueryError {
                class: Class::TooManyConnections,
                text: "Too many connections in the cluster".to_owned(),
            });
        }
        let session = if self.line.sessions_in_metad() {
            self.session_of_metad(user, client).await?
        } else {
            self.own_session(user, client)
        };
        let live = Arc::new(Live::new(&session));
        self.sessions.lock().insert(session.id, live);
        self.stats
            .add_all(&[("num_opened_sessions", 1), ("num_active_sessions", 1)]);
        Ok(session.id)
    }

    fn check_user(&self, user: &str, password: &str) -> Result<(), QueryError> {
        let catalog = self.catalog();
        let known = catalog.users.get(user);
        let old = !self.line.sessions_in_metad();
        let text = match (self.flags.on("enable_authorize"), known) {
            (true, Some(right)) if right != password => {
                if self.line.is_3x() {
                    "Invalid password"
                } else {
                    "Bad username/password"
                }
            }
            (true | false, None) if !old && !catalog.users.is_empty() => {
                if self.line.is_3x() {
                    "User not exist"
                } else {
                    "Bad username/password"
                }
            }
            (true, None) => "Bad username/password",
            _ => return Ok(()),
        };
        self.stats.add_all(&[
            ("num_auth_failed_sessions", 1),
            ("num_auth_failed_sessions_bad_username_password", 1),
        ]);
        Err(QueryError {
            class: Class::BadUsernamePassword,
            text: text.to_owned(),
        })
    }

    async fn session_of_metad(&self, user: &str, client: &str) -> Result<Session, QueryError> {
        let request = Request::NewSession {
            user: user.to_owned(),
            client: client.to_owned(),
            graph: self.me.clone(),
            limit: self.flags.count("max_sessions_per_ip_per_user"),
        };
        match self.ask(&request).await {
            Ok(Reply::Session(Some(session))) => Ok(session),
            Ok(_) => Err(QueryError::execution("Create Session failed")),
            Err(failure) => Err(QueryError {
                class: Class::SessionInvalid,
                text: failure.text,
            }),
        }
    }

    fn own_session(&self, user: &str, client: &str) -> Session {
        let now = clock::micros();
        let newest = self.sessions.lock().keys().copied().max().unwrap_or(0);
        Session {
            id: now.max(newest + 1),
            user: user.to_owned(),
            space: String::new(),
            created: now,
            updated: now,
            graph: self.me.clone(),
            client: client.to_owned(),
        }
    }

    /// The session a statement runs in. Id 0 is a ping and never one.
    pub(super) async fn session(&self, id: i64) -> Result<Arc<Live>, QueryError> {
        if id == 0 {
            return Err(QueryError {
                class: Class::SessionInvalid,
                text: "Invalid session id".to_owned(),
            });
        }
        let known = self.sessions.lock().get(&id).cloned();
        let live = match known {
            Some(live) => live,
            None if self.line.sessions_in_metad() => self.adopt(id).await?,
            None => return Err(session_gone(id)),
        };
        live.used.store(clock::micros(), Ordering::Relaxed);
        Ok(live)
    }

    /// Takes over a session another graphd made, with its space.
    async fn adopt(&self, id: i64) -> Result<Arc<Live>, QueryError> {
        let Reply::Session(Some(session)) = self.ask(&Request::FindSession(id)).await? else {
            return Err(session_gone(id));
        };
        let live = Arc::new(Live::new(&session));
        self.sessions.lock().insert(id, Arc::clone(&live));
        Ok(live)
    }

    /// `USE`: the space belongs to the session, so metad learns it at once.
    pub(super) async fn use_space(&self, live: &Live, space: &str) {
        live.set_space(space);
        self.tell(live).await;
    }

    /// False when metad does not know the session any more.
    async fn tell(&self, live: &Live) -> bool {
        if !self.line.sessions_in_metad() {
            return true;
        }
        let used = live.used();
        let request = Request::TouchSession {
            id: live.id,
            space: live.space().to_string(),
            used,
        };
        live.told.store(used, Ordering::Relaxed);
        !matches!(self.ask(&request).await, Ok(Reply::Session(None)))
    }

    pub(super) async fn sign_out(&self, id: i64) {
        if self.sessions.lock().remove(&id).is_some() {
            self.stats.add("num_active_sessions", -1);
        }
        if self.line.sessions_in_metad() {
            self.ask(&Request::EndSession(id)).await.ok();
        }
    }

    /// Ends idle sessions and tells metad which were used. Called every `session_reclaim_interval_secs`.
    pub(super) async fn reclaim(&self) {
        let idle = self
            .flags
            .int("session_idle_timeout_secs")
            .saturating_mul(1_000_000);
        let now = clock::micros();
        for live in self.sessions.all() {
            if idle > 0 && now - live.used() > idle {
                self.stats.add("num_reclaimed_expired_sessions", 1);
                self.sign_out(live.id).await;
            } else if live.told.load(Ordering::Relaxed) != live.used() && !self.tell(&live).await {
                self.sessions.lock().remove(&live.id);
            }
        }
    }

    /// Forgets a session here and in metad: the knob `sandbox_session_loss_rate`.
    pub(super) async fn lose_session(&self, id: i64) -> QueryError {
        self.sign_out(id).await;
        session_gone(id)
    }
}
