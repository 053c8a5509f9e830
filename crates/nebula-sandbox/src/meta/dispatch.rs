//! Which request does what to the document, and how much of it must survive.

use super::{
    message::{Failure, Reply, Request},
    model::{JobStatus, State},
    service::{Change, Rules},
};
use crate::{clock, line::Line};

impl State {
    /// What a new leader does first.
    pub(super) fn begin(&mut self, rules: &Rules, addresses: &str) {
        if self.cluster_id == 0 {
            self.cluster_id = cluster_id(rules.line, addresses);
        }
        if self.catalog.users.is_empty() {
            self.catalog
                .users
                .insert("root".to_owned(), "nebula".to_owned());
        }
        for job in self
            .jobs
            .iter_mut()
            .filter(|job| job.status == JobStatus::Running)
        {
            job.status = JobStatus::Failed;
            job.stop = clock::micros();
        }
        let parts = self.catalog.spaces.values_mut();
        for part in parts.flat_map(|space| &mut space.parts) {
            part.moving_to = None;
        }
        self.catalog.version += 1;
    }

    pub(super) fn handle(
        &mut self,
        request: Request,
        rules: &Rules,
    ) -> (Change, Result<Reply, Failure>) {
        use Request as R;
        let durable = |result| (Change::Durable, result);
        match request {
            R::Heartbeat(beat) => (Change::Lazy, self.heartbeat(&beat, rules)),
            R::CreateSpace(new) => durable(self.create_space(&new, rules)),
            R::DropSpace { name, if_exists } => durable(self.drop_space(&name, if_exists)),
            R::CreateSchema(new) => durable(self.create_schema(&new)),
            R::AlterSchema {
                space,
                kind,
                name,
                items,
            } => durable(self.alter_schema(space, kind, &name, &items)),
            R::DropSchema {
                space,
                kind,
                name,
                if_exists,
            } => durable(self.drop_schema(space, kind, &name, if_exists)),
            R::CreateIndex {
                space,
                index,
                if_not_exists,
            } => durable(self.create_index(space, index, if_not_exists)),
            R::DropIndex {
                space,
                on,
                name,
                if_exists,
            } => durable(self.drop_index(space, on, &name, if_exists)),
            R::AddHosts(hosts) => durable(self.add_hosts(&hosts, rules)),
            R::DropHosts(hosts) => durable(self.drop_hosts(&hosts)),
            R::SubmitJob {
                space,
                kind,
                argument,
            } => durable(self.submit_job(space, kind, &argument)),
            R::StopJob { space, id } => durable(self.stop_job(space, id)),
            R::RecoverJobs { space } => durable(Ok(self.recover_jobs(space))),
            R::BalanceLeader => {
                self.balance_leaders(None, rules);
                durable(Ok(Reply::Done))
            }
            R::BalanceData(what) => durable(self.balance_data(what, rules)),
            R::SetConfig {
                module,
                name,
                value,
            } => durable(self.set_config(module.as_deref(), &name, &value)),
            R::RegisterConfigs { module, values } => {
                durable(Ok(self.register_configs(module, values)))
            }
            other => self.handle_soft(other, rules),
        }
    }

    /// Requests that change nothing, or nothing that must survive.
    fn handle_soft(&mut self, request: Request, rules: &Rules) -> (Change, Result<Reply, Failure>) {
        use Request as R;
        let none = |reply| (Change::None, Ok(reply));
        let lazy = |reply| (Change::Lazy, Ok(reply));
        match request {
            R::Catalog(since) => {
                let newer = self.catalog.version != since;
                none(Reply::Catalog(
                    newer.then(|| Box::new(self.catalog.clone())),
                ))
            }
            R::Hosts(role) => none(Reply::Hosts(self.host_rows(role, rules))),
            R::Parts(space) => (Change::None, self.parts(space, rules)),
            R::Jobs(space) => none(Reply::Jobs(self.listed_jobs(space))),
            R::NewSession {
                user,
                client,
                graph,
                limit,
            } => (Change::Lazy, self.new_session(&user, &client, graph, limit)),
            R::FindSession(id) => none(Reply::Session(self.sessions.get(&id).cloned())),
            R::TouchSession { id, space, used } => lazy(self.touch_session(id, &space, used)),
            R::EndSession(id) => {
                self.sessions.remove(&id);
                lazy(Reply::Done)
            }
            R::Sessions => none(Reply::Sessions(self.sessions.values().cloned().collect())),
            R::Configs(module) => none(Reply::Configs(self.listed_configs(module.as_deref()))),
            _ => none(Reply::Leader {
                leader: rules.me.clone(),
                heartbeat_age: 0,
            }),
        }
    }

    fn register_configs(&mut self, module: String, values: Vec<(String, String)>) -> Reply {
        let known = self.configs.entry(module).or_default();
        for (name, value) in values {
            known.entry(name).or_insert(value);
        }
        Reply::Done
    }

    fn set_config(
        &mut self,
        module: Option<&str>,
        name: &str,
        value: &str,
    ) -> Result<Reply, Failure> {
        let mut found = false;
        for (owner, values) in &mut self.configs {
            if module.is_some_and(|module| !module.eq_ignore_ascii_case(owner)) {
                continue;
            }
            if let Some(slot) = values.get_mut(name) {
                value.clone_into(slot);
                found = true;
            }
        }
        if found {
            Ok(Reply::Done)
        } else {
            Err(Failure::new(-12, "Conf not existed!"))
        }
    }

    fn listed_configs(&self, module: Option<&str>) -> Vec<(String, String, String)> {
        let mut rows = Vec::new();
        for (owner, values) in &self.configs {
            if module.is_none_or(|module| module.eq_ignore_ascii_case(owner)) {
                rows.extend(
                    values
                        .iter()
                        .map(|(k, v)| (owner.clone(), k.clone(), v.clone())),
                );
            }
        }
        rows
    }
}

/// Up to 3.4 the id follows from the addresses alone, so a stale file fits; later ones never do.
fn cluster_id(line: Line, addresses: &str) -> i64 {
    let mut text = addresses.to_owned();
    if line.salts_cluster_id() {
        text.push_str(&clock::micros().to_string());
    }
    let hash = crate::storage::murmur(text.as_bytes());
    (hash >> 1).cast_signed().max(1)
}
