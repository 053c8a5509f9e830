//! Spaces and their partitions.

use std::collections::BTreeMap;

use super::{
    message::{Failure, NewSpace, Reply},
    model::{HostPort, Part, Space, State},
    service::Rules,
};

impl State {
    pub(super) fn create_space(&mut self, new: &NewSpace, rules: &Rules) -> Result<Reply, Failure> {
        if self.catalog.spaces.contains_key(&new.name) {
            return if new.if_not_exists {
                Ok(Reply::Done)
            } else {
                Err(Failure::existed())
            };
        }
        let parts = new.parts.unwrap_or(rules.default_parts);
        let replica = new.replica.unwrap_or(rules.default_replica);
        let hosts = self.placement_hosts(rules);
        check_numbers(parts, replica, hosts.len())?;
        self.next_space += 1;
        let id = self.next_space;
        let space = Space {
            id,
            name: new.name.clone(),
            replica,
            vid: new.vid,
            comment: new.comment.clone(),
            parts: place(&hosts, id, parts, replica),
            tags: BTreeMap::new(),
            edges: BTreeMap::new(),
            indexes: BTreeMap::new(),
            stats: None,
        };
        self.catalog.spaces.insert(new.name.clone(), space);
        self.catalog.version += 1;
        Ok(Reply::Done)
    }

    /// 3.x places on everything that was added, alive or not; 2.x on what is alive.
    fn placement_hosts(&self, rules: &Rules) -> Vec<HostPort> {
        if rules.line.needs_add_hosts() {
            return self.machines.iter().cloned().collect();
        }
        self.online_storage(rules)
    }

    pub(super) fn drop_space(&mut self, name: &str, if_exists: bool) -> Result<Reply, Failure> {
        match self.catalog.spaces.remove(name) {
            Some(space) => {
                self.jobs.retain(|job| job.space != space.id);
                self.catalog.version += 1;
                Ok(Reply::Done)
            }
            None if if_exists => Ok(Reply::Done),
            None => Err(Failure::new(-5, "SpaceNotFound: ")),
        }
    }

    pub(super) fn space(&self, id: u32) -> Result<&Space, Failure> {
        let mut spaces = self.catalog.spaces.values();
        spaces
            .find(|space| space.id == id)
            .ok_or_else(|| Failure::new(-5, "SpaceNotFound: "))
    }

    pub(super) fn space_mut(&mut self, id: u32) -> Result<&mut Space, Failure> {
        let mut spaces = self.catalog.spaces.values_mut();
        spaces
            .find(|space| space.id == id)
            .ok_or_else(|| Failure::new(-5, "SpaceNotFound: "))
    }

    pub(super) fn parts(&self, id: u32, rules: &Rules) -> Result<Reply, Failure> {
        let space = self.space(id)?;
        let online = self.online_storage(rules);
        let mut offline: Vec<_> = space
            .parts
            .iter()
            .flat_map(|part| part.peers.clone())
            .collect();
        offline.retain(|host| !online.contains(host));
        offline.sort();
        offline.dedup();
        let mut parts = space.parts.clone();
        for part in &mut parts {
            part.leader = current_leader(part, &online);
        }
        Ok(Reply::Parts { parts, offline })
    }

    /// Spreads the leaders evenly over the living peers.
    pub(super) fn balance_leaders(&mut self, only: Option<u32>, rules: &Rules) {
        let online = self.online_storage(rules);
        for space in self.catalog.spaces.values_mut() {
            if only.is_some_and(|id| id != space.id) {
                continue;
            }
            let mut load: BTreeMap<HostPort, usize> = BTreeMap::new();
            for part in &mut space.parts {
                let alive = part.peers.iter().filter(|peer| online.contains(peer));
                let least = alive.min_by_key(|peer| load.get(*peer).copied().unwrap_or(0));
                if let Some(peer) = least {
                    *load.entry(peer.clone()).or_default() += 1;
                    part.leader = Some(peer.clone());
                }
            }
        }
        self.catalog.version += 1;
    }
}

/// The leader when it lives, else the first living peer if a majority of the peers lives.
pub(super) fn current_leader(part: &Part, online: &[HostPort]) -> Option<HostPort> {
    let alive: Vec<_> = part
        .peers
        .iter()
        .filter(|peer| online.contains(peer))
        .collect();
    if alive.len() * 2 <= part.peers.len() {
        return None;
    }
    let kept = part
        .leader
        .as_ref()
        .filter(|leader| online.contains(leader));
    kept.or(alive.first().copied()).cloned()
}

fn check_numbers(parts: u32, replica: u32, hosts: usize) -> Result<(), Failure> {
    if parts == 0 {
        return Err(Failure::new(-2031, "Invalid partition number!"));
    }
    if replica == 0 || replica.is_multiple_of(2) {
        return Err(Failure::new(-2032, "Invalid replica factor!"));
    }
    match hosts {
        0 => Err(Failure::new(-2001, "No hosts!")),
        n if n < replica as usize => Err(Failure::new(-2026, "Host not enough!")),
        _ => Ok(()),
    }
}

/// Round robin over the hosts; the first leaders are as uneven as elections make them.
fn place(hosts: &[HostPort], space: u32, parts: u32, replica: u32) -> Vec<Part> {
    let count = hosts.len();
    (0..parts as usize)
        .map(|part| {
            let peers: Vec<_> = (0..replica as usize)
                .map(|copy| hosts[(part + copy) % count].clone())
                .collect();
            let first = (part / 2 + space as usize) % peers.len();
            Part {
                home: peers[0].clone(),
                leader: peers.get(first).cloned(),
                moving_to: None,
                peers,
            }
        })
        .collect()
}
