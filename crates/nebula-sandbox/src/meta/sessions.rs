//! Client sessions as metad keeps them (2.5 and later).

use super::{
    message::{Failure, Reply},
    model::{HostPort, Session, State},
};
use crate::clock;

impl State {
    pub(super) fn new_session(
        &mut self,
        user: &str,
        client: &str,
        graph: HostPort,
        limit: u64,
    ) -> Result<Reply, Failure> {
        let mine = self
            .sessions
            .values()
            .filter(|s| s.user == user && s.client == client)
            .count();
        if limit > 0 && mine as u64 >= limit {
            let text = format!(
                "Create Session failed: Too many sessions created from {client} by user {user}. \
                 the threshold is {limit}. You can change it by modifying 'max_sessions_per_ip_per_user' \
                 in nebula-graphd.conf"
            );
            return Err(Failure::new(-1002, text));
        }
        let now = clock::micros();
        let newest = self.sessions.last_key_value().map_or(0, |(id, _)| *id);
        let session = Session {
            id: now.max(newest + 1),
            user: user.to_owned(),
            space: String::new(),
            created: now,
            updated: now,
            graph,
            client: client.to_owned(),
        };
        self.sessions.insert(session.id, session.clone());
        Ok(Reply::Session(Some(session)))
    }

    pub(super) fn touch_session(&mut self, id: i64, space: &str, used: i64) -> Reply {
        let Some(session) = self.sessions.get_mut(&id) else {
            return Reply::Session(None);
        };
        space.clone_into(&mut session.space);
        session.updated = session.updated.max(used);
        Reply::Session(Some(session.clone()))
    }
}
