//! `BALANCE DATA`: which partitions move where, and the plans that 2.x makes of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    message::{Balance, Failure, Reply},
    model::{HostPort, Space, State},
    service::Rules,
    spaces::current_leader,
};
use crate::clock;

/// State of one partition's move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MoveStatus {
    InProgress,
    Succeeded,
    Failed,
    /// Not begun when the balance was stopped.
    Invalid,
}

impl MoveStatus {
    /// The word shown to users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InProgress => "IN_PROGRESS",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Invalid => "INVALID",
        }
    }
}

/// One partition on its way to another host. Times are microseconds since the epoch, 0 = not yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    pub space: u32,
    /// From 1.
    pub part: usize,
    pub src: HostPort,
    pub dst: HostPort,
    pub status: MoveStatus,
    pub start: i64,
    pub stop: i64,
}

/// What `BALANCE DATA` made in 2.x.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Seconds since the epoch when it was made.
    pub id: i64,
    pub moves: Vec<Move>,
    pub running: bool,
}

impl Plan {
    fn has_failed(&self) -> bool {
        self.moves
            .iter()
            .any(|step| step.status == MoveStatus::Failed)
    }
}

impl State {
    /// Requests of 2.x; one plan may run at a time.
    pub(super) fn balance_data(&mut self, what: Balance, rules: &Rules) -> Result<Reply, Failure> {
        let running = self.plans.iter().position(|plan| plan.running);
        match what {
            Balance::Start(_) if running.is_some() => {
                Err(Failure::new(-2006, "The balancer is running!"))
            }
            Balance::Start(removed) => self.start_plan(&removed, rules),
            Balance::Stop => {
                let none = || Failure::new(-2025, "No running balance plan!");
                let plan = running.and_then(|at| self.plans.get_mut(at));
                let plan = plan.ok_or_else(none)?;
                plan.running = false;
                Ok(Reply::Job(plan.id))
            }
            Balance::Reset => {
                let failed = self.plans.pop_if(|plan| !plan.running && plan.has_failed());
                let none = || Failure::new(-2028, "No invalid balance plan!");
                Ok(Reply::Job(failed.ok_or_else(none)?.id))
            }
            Balance::Show(id) => {
                let plan = self.plans.iter().find(|plan| plan.id == id);
                let none = || Failure::new(-2023, "Bad balance plan!");
                Ok(Reply::Plan(plan.ok_or_else(none)?.clone()))
            }
        }
    }

    /// A plan that failed is taken up again before a new one is made.
    fn start_plan(&mut self, removed: &[HostPort], rules: &Rules) -> Result<Reply, Failure> {
        if let Some(last) = self.plans.last_mut().filter(|plan| plan.has_failed()) {
            for step in &mut last.moves {
                if step.status == MoveStatus::Failed {
                    step.status = MoveStatus::InProgress;
                }
            }
            last.running = true;
            return Ok(Reply::Job(last.id));
        }
        let hosts = self.balance_hosts(removed, rules);
        let mut moves = Vec::new();
        for space in self.catalog.spaces.values() {
            moves.extend(plan_space(space, &hosts, &self.online_storage(rules))?);
        }
        if moves.is_empty() {
            return Err(Failure::new(-2024, "The cluster is balanced!"));
        }
        let newest = self.plans.last().map_or(0, |plan| plan.id);
        let id = clock::micros() / 1_000_000;
        self.plans.push(Plan {
            id: id.max(newest + 1),
            moves,
            running: true,
        });
        Ok(Reply::Job(id.max(newest + 1)))
    }

    /// Hosts that may hold partitions: alive, added where the line asks for it, not to be emptied.
    fn balance_hosts(&self, removed: &[HostPort], rules: &Rules) -> Vec<HostPort> {
        let mut hosts = self.online_storage(rules);
        hosts.retain(|host| !removed.contains(host));
        if rules.line.needs_add_hosts() {
            hosts.retain(|host| self.machines.contains(host));
        }
        hosts
    }

    /// The moves of a balance job.
    pub(super) fn plan_job(
        &self,
        space: u32,
        removed: &str,
        rules: &Rules,
    ) -> Result<Vec<Move>, Failure> {
        let hosts = self.balance_hosts(&HostPort::list(removed), rules);
        plan_space(self.space(space)?, &hosts, &self.online_storage(rules))
    }
}

/// Partitions of hosts that are not among `hosts` go to the emptiest; then the fullest give to the emptiest until no
/// two differ by more than one. Nothing is planned while a partition has no majority among those `online`.
fn plan_space(
    space: &Space,
    hosts: &[HostPort],
    online: &[HostPort],
) -> Result<Vec<Move>, Failure> {
    let lost = |part| current_leader(part, online).is_none();
    if hosts.len() < space.replica as usize || space.parts.iter().any(lost) {
        return Err(Failure::new(-2026, "No valid host hold the partition!"));
    }
    let mut table = Table::new(space, hosts);
    for part in 0..space.parts.len() {
        for src in space.parts[part].peers.clone() {
            if !hosts.contains(&src) {
                table.shift(part, &src);
            }
        }
    }
    while let Some((part, src)) = table.next_of_fullest() {
        if !table.shift(part, &src) {
            break;
        }
    }
    Ok(table.moves)
}

/// Who holds what while a plan is made.
struct Table {
    space: u32,
    peers: Vec<Vec<HostPort>>,
    load: BTreeMap<HostPort, usize>,
    moves: Vec<Move>,
}

impl Table {
    fn new(space: &Space, hosts: &[HostPort]) -> Self {
        let peers: Vec<_> = space.parts.iter().map(|part| part.peers.clone()).collect();
        let held = |host: &HostPort| peers.iter().filter(|peers| peers.contains(host)).count();
        Self {
            space: space.id,
            load: hosts
                .iter()
                .map(|host| (host.clone(), held(host)))
                .collect(),
            peers,
            moves: Vec::new(),
        }
    }

    /// Moves a partition from `src` to the emptiest host that has none of its replicas.
    fn shift(&mut self, part: usize, src: &HostPort) -> bool {
        let free = self
            .load
            .iter()
            .filter(|(host, _)| !self.peers[part].contains(host));
        let Some(dst) = free
            .min_by_key(|(_, load)| **load)
            .map(|(host, _)| host.clone())
        else {
            return false;
        };
        for peer in &mut self.peers[part] {
            if peer == src {
                *peer = dst.clone();
            }
        }
        if let Some(load) = self.load.get_mut(src) {
            *load -= 1;
        }
        *self.load.entry(dst.clone()).or_default() += 1;
        self.moves.push(Move {
            space: self.space,
            part: part + 1,
            src: src.clone(),
            dst,
            status: MoveStatus::InProgress,
            start: 0,
            stop: 0,
        });
        true
    }

    /// A partition that the fullest host can give to the emptiest; `None` when all hold about the same.
    fn next_of_fullest(&self) -> Option<(usize, HostPort)> {
        let (fullest, most) = self.load.iter().max_by_key(|(_, load)| **load)?;
        let (emptiest, least) = self.load.iter().min_by_key(|(_, load)| **load)?;
        if most - least < 2 {
            return None;
        }
        let gives = |peers: &Vec<HostPort>| peers.contains(fullest) && !peers.contains(emptiest);
        let part = self.peers.iter().position(gives)?;
        Some((part, fullest.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::model::{Part, VidType};

    fn host(n: u16) -> HostPort {
        HostPort::new("h", n)
    }

    fn space(parts: u16, replica: u16, hosts: u16) -> Space {
        let part = |n: u16| {
            let peers: Vec<_> = (0..replica).map(|r| host((n + r) % hosts)).collect();
            Part {
                home: peers[0].clone(),
                leader: None,
                moving_to: None,
                peers,
            }
        };
        Space {
            id: 1,
            name: "s".to_owned(),
            replica: replica.into(),
            vid: VidType::Int,
            comment: None,
            parts: (0..parts).map(part).collect(),
            tags: BTreeMap::new(),
            edges: BTreeMap::new(),
            indexes: BTreeMap::new(),
            stats: None,
        }
    }

    /// Partitions, replicas, hosts that hold them, hosts afterwards, partitions of each afterwards.
    type Case = (u16, u16, u16, &'static [u16], &'static [usize]);

    #[test]
    fn plans_even_out() {
        let cases: &[Case] = &[
            (10, 1, 2, &[0, 1], &[5, 5]),
            (10, 1, 1, &[0, 1], &[5, 5]),
            (15, 3, 3, &[0, 1, 2, 3, 4], &[9, 9, 9, 9, 9]),
            (10, 1, 3, &[0, 2], &[5, 5]),
            (9, 3, 4, &[0, 1, 2], &[9, 9, 9]),
        ];
        for (parts, replica, before, after, wanted) in cases {
            let mut space = space(*parts, *replica, *before);
            let online: Vec<_> = (0..5).map(host).collect();
            let hosts: Vec<_> = after.iter().map(|n| host(*n)).collect();
            for step in plan_space(&space, &hosts, &online).expect("plan") {
                let peers = &mut space.parts[step.part - 1].peers;
                assert!(!peers.contains(&step.dst), "{step:?}");
                let at = peers
                    .iter()
                    .position(|peer| *peer == step.src)
                    .expect("source");
                peers[at] = step.dst;
            }
            let held = |host: &HostPort| {
                space
                    .parts
                    .iter()
                    .filter(|p| p.peers.contains(host))
                    .count()
            };
            let held: Vec<_> = hosts.iter().map(held).collect();
            assert_eq!(&held, wanted, "{parts} {replica} {before} {after:?}");
        }
        let (three, two) = ([host(0), host(1), host(2)], [host(0), host(1)]);
        for (hosts, online) in [(&two[..], &three[..]), (&two, &two), (&three, &two[..1])] {
            assert_eq!(
                plan_space(&space(9, 3, 3), hosts, online)
                    .expect_err("refused")
                    .code,
                -2026
            );
        }
    }
}
