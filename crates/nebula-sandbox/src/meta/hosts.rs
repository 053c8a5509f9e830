//! Hosts: heartbeats, `ADD HOSTS`, `DROP HOSTS`, and the rows of `SHOW HOSTS`.

use super::{
    message::{Failure, Heartbeat, HostRow, Reply},
    model::{Host, HostPort, Space, State},
    service::Rules,
    spaces::current_leader,
};
use crate::{clock, line::Role};

impl State {
    /// Takes a sign of life; the answer carries the cluster id to be kept by a storaged that has none.
    pub(super) fn heartbeat(&mut self, beat: &Heartbeat, rules: &Rules) -> Result<Reply, Failure> {
        if beat.role == Role::Storaged {
            self.check_storaged(beat, rules)?;
        }
        let host = Host {
            role: beat.role,
            http_port: beat.http_port,
            sha: beat.sha.clone(),
            version: beat.version.clone(),
            last_heartbeat: clock::millis(),
        };
        self.hosts.insert(beat.host.clone(), host);
        Ok(Reply::Heartbeat {
            cluster_id: self.cluster_id,
            catalog: self.catalog.version,
        })
    }

    fn check_storaged(&self, beat: &Heartbeat, rules: &Rules) -> Result<(), Failure> {
        if beat.cluster_id != 0 && beat.cluster_id != self.cluster_id {
            return Err(Failure::new(-2010, "Wrong cluster!"));
        }
        if rules.line.needs_add_hosts() && !self.machines.contains(&beat.host) {
            return Err(Failure::new(-13, "Machine not existed!"));
        }
        Ok(())
    }

    pub(super) fn add_hosts(
        &mut self,
        hosts: &[HostPort],
        rules: &Rules,
    ) -> Result<Reply, Failure> {
        if hosts.iter().any(|host| self.machines.contains(host)) {
            return Err(Failure::existed());
        }
        let taken = |host: &HostPort| {
            self.hosts.get(host).is_some_and(|known| {
                known.role != Role::Storaged && rules.is_online(known.last_heartbeat)
            })
        };
        if hosts.iter().any(taken) {
            let text = "Could not add a host, which is not a storage and not expired either";
            return Err(Failure::new(-2082, text));
        }
        self.machines.extend(hosts.iter().cloned());
        Ok(Reply::Done)
    }

    pub(super) fn drop_hosts(&mut self, hosts: &[HostPort]) -> Result<Reply, Failure> {
        if hosts.iter().any(|host| !self.machines.contains(host)) {
            return Err(Failure::new(-13, "Machine not existed!"));
        }
        let in_use = |host: &HostPort| {
            let mut parts = self.catalog.spaces.values().flat_map(|space| &space.parts);
            parts.any(|part| part.peers.contains(host))
        };
        if hosts.iter().any(in_use) {
            return Err(Failure::new(-2008, "There are still space on the host"));
        }
        for host in hosts {
            self.machines.remove(host);
            self.hosts.remove(host);
        }
        Ok(Reply::Done)
    }

    /// Storaged hosts that sent a heartbeat in time.
    pub(super) fn online_storage(&self, rules: &Rules) -> Vec<HostPort> {
        let mut found = Vec::new();
        for (address, host) in &self.hosts {
            if host.role == Role::Storaged && rules.is_online(host.last_heartbeat) {
                found.push(address.clone());
            }
        }
        found
    }

    /// Where the leader's host fell silent another living peer leads, and goes on leading when the first one is back:
    /// only `BALANCE LEADER` evens that out.
    pub(super) fn elect_part_leaders(&mut self, rules: &Rules) -> bool {
        let online = self.online_storage(rules);
        let mut changed = false;
        for part in self
            .catalog
            .spaces
            .values_mut()
            .flat_map(|space| &mut space.parts)
        {
            let leads = current_leader(part, &online);
            if leads.is_some() && leads != part.leader {
                part.leader = leads;
                changed = true;
            }
        }
        if changed {
            self.catalog.version += 1;
        }
        changed
    }

    /// Forgets hosts that have been silent for too long; in 3.x an added machine stays.
    pub(super) fn forget_hosts(&mut self, rules: &Rules) -> bool {
        let before = self.hosts.len();
        self.hosts
            .retain(|_, host| rules.is_remembered(host.last_heartbeat));
        self.hosts.len() != before
    }

    /// `None` = `SHOW HOSTS`, else one role.
    pub(super) fn host_rows(&self, role: Option<Role>, rules: &Rules) -> Vec<HostRow> {
        if role == Some(Role::Metad) {
            return rules
                .metas
                .iter()
                .map(|host| self.meta_row(host, rules))
                .collect();
        }
        let wanted = role.unwrap_or(Role::Storaged);
        let mut addresses: Vec<_> = self
            .hosts
            .iter()
            .filter(|(_, host)| host.role == wanted)
            .map(|(address, _)| address.clone())
            .collect();
        if wanted == Role::Storaged && rules.line.needs_add_hosts() {
            addresses.extend(self.machines.iter().cloned());
            addresses.retain(|address| self.machines.contains(address));
        }
        addresses.sort();
        addresses.dedup();
        let online = self.online_storage(rules);
        addresses
            .iter()
            .map(|address| self.row(address, wanted, &online, rules))
            .collect()
    }

    fn meta_row(&self, host: &HostPort, rules: &Rules) -> HostRow {
        let mut row = self.row(host, Role::Metad, &[], rules);
        row.online = rules.shows_metad_online(host);
        crate::line::SANDBOX_GIT_SHA.clone_into(&mut row.sha);
        rules.line.version().clone_into(&mut row.version);
        row
    }

    fn row(&self, address: &HostPort, role: Role, online: &[HostPort], rules: &Rules) -> HostRow {
        let host = self.hosts.get(address);
        let spaces = || self.catalog.spaces.values();
        HostRow {
            host: address.clone(),
            http_port: host.map_or(0, |host| host.http_port),
            online: host.is_some_and(|host| rules.is_online(host.last_heartbeat)),
            role,
            sha: host.map_or_else(String::new, |host| host.sha.clone()),
            version: host.map_or_else(String::new, |host| host.version.clone()),
            leaders: spaces()
                .filter_map(|space| leaders_of(space, address, online))
                .collect(),
            parts: spaces()
                .filter_map(|space| parts_of(space, address))
                .collect(),
        }
    }
}

fn leaders_of(space: &Space, address: &HostPort, online: &[HostPort]) -> Option<(String, usize)> {
    let mine = space
        .parts
        .iter()
        .filter(|part| current_leader(part, online).as_ref() == Some(address))
        .count();
    (mine > 0).then(|| (space.name.clone(), mine))
}

fn parts_of(space: &Space, address: &HostPort) -> Option<(String, usize)> {
    let mine = space
        .parts
        .iter()
        .filter(|part| part.peers.contains(address))
        .count();
    (mine > 0).then(|| (space.name.clone(), mine))
}
