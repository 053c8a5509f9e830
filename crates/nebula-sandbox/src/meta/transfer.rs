//! One partition changes its host: its data is copied when it is at home there, then the books are changed.

use std::time::Duration;

use bytes::Bytes;

use super::{
    balance::Move,
    message::Failure,
    model::{HostPort, Part, State, VidType},
    service::{Metad, Rules},
    spaces::current_leader,
};
use crate::{
    rpc::{CallError, wire::put_varint},
    storage::{self, request},
};

/// Vertices copied at a time.
const PIECE: u64 = 2000;
/// `E_SPACE_NOT_FOUND`.
const SPACE_NOT_FOUND: i32 = -5;
/// Tenths of a second a home may take to open a new space: two heartbeats and a little.
const OPENING_TRIES: u32 = 250;

/// Makes a move from beginning to end. A failed one leaves the partition where it was.
pub(super) async fn carry_out(metad: &Metad, step: &Move) -> Result<(), Failure> {
    let rules = metad.rules();
    let online = metad.read(|state| state.online_storage(&rules));
    let data = metad.read(|state| {
        let space = state.space(step.space)?;
        let part = state.checked_part(step, &online)?;
        let at_home = part.home == step.src;
        Ok(at_home.then_some((space.vid, space.parts.len())))
    })?;
    if let Some((vid, parts)) = data {
        let version = mark(metad, step, Some(step.dst.clone())).await?;
        if let Err(failure) = copy(metad, step, vid, parts, version).await {
            mark(metad, step, None).await?;
            return Err(failure);
        }
    }
    metad.change(|state| state.move_part(step, &rules)).await?;
    if let Some((_, parts)) = data {
        forget(metad, step, parts).await;
    }
    Ok(())
}

/// Writes down where a partition goes; answers the version of the catalog that says so.
async fn mark(metad: &Metad, step: &Move, goal: Option<HostPort>) -> Result<u64, Failure> {
    metad
        .change(|state| {
            state.part_mut(step)?.moving_to = goal;
            state.catalog.version += 1;
            Ok(state.catalog.version)
        })
        .await
}

async fn call(metad: &Metad, host: &HostPort, op: u8, body: &[u8]) -> Result<Bytes, Failure> {
    let client = metad.storages.get(&host.shifted(-1).to_string());
    let answer = client.call(op, body).await;
    answer.map_err(|error| match error {
        CallError::Remote { code, text } => Failure::new(code, text),
        other => Failure::new(-3, other.to_string()),
    })
}

/// Has the home serve the partition no more; answers how many vertices are in it. A space that is new is not open there
/// before the next heartbeats.
async fn seal(metad: &Metad, step: &Move, body: &[u8]) -> Result<u64, Failure> {
    let mut tries = 0;
    loop {
        match call(metad, &step.src, storage::OP_SEAL, body).await {
            Ok(count) => {
                return Ok(count
                    .first_chunk::<8>()
                    .map_or(0, |n| u64::from_le_bytes(*n)));
            }
            Err(failure) if failure.code == SPACE_NOT_FOUND && tries < OPENING_TRIES => tries += 1,
            Err(failure) => return Err(failure),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Seals the partition at its home and hands it over in pieces.
async fn copy(
    metad: &Metad,
    step: &Move,
    vid: VidType,
    parts: usize,
    version: u64,
) -> Result<(), Failure> {
    let part = step.part as u64 - 1;
    let body = numbers(step.space, &[part, version]);
    let pieces = seal(metad, step, &body).await? / PIECE + 1;
    let length = match vid {
        VidType::Int => 0,
        VidType::Text(length) => length.into(),
    };
    for piece in 0..pieces {
        let body = numbers(step.space, &[part, piece, pieces]);
        let rows = call(metad, &step.src, storage::OP_EXPORT, &body).await?;
        let mut body = numbers(step.space, &[length, parts as u64, part, version]);
        body.push(u8::from(piece == 0));
        body.extend_from_slice(&rows);
        call(metad, &step.dst, storage::OP_IMPORT, &body).await?;
    }
    Ok(())
}

/// The old home forgets at once what it would with its next heartbeat.
async fn forget(metad: &Metad, step: &Move, parts: usize) {
    let body = numbers(step.space, &[parts as u64, step.part as u64 - 1]);
    call(metad, &step.src, storage::OP_PURGE, &body).await.ok();
}

fn numbers(space: u32, numbers: &[u64]) -> Vec<u8> {
    let mut body = request::start(space);
    for number in numbers {
        put_varint(&mut body, *number);
    }
    body
}

impl State {
    fn part_mut(&mut self, step: &Move) -> Result<&mut Part, Failure> {
        let part = self.space_mut(step.space)?.parts.get_mut(step.part - 1);
        part.ok_or_else(|| Failure::new(-16, "Part not existed!"))
    }

    /// The partition, when it can move.
    fn checked_part(&self, step: &Move, online: &[HostPort]) -> Result<&Part, Failure> {
        let part = self.space(step.space)?.parts.get(step.part - 1);
        let part = part.ok_or_else(|| Failure::new(-16, "Part not existed!"))?;
        if !online.contains(&step.dst) {
            let text = format!("{} is offline", step.dst);
            return Err(Failure::new(-2026, text));
        }
        match current_leader(part, online) {
            Some(_) => Ok(part),
            None => Err(Failure::new(-2026, "the partition has no leader")),
        }
    }

    /// The bookkeeping of a move: `dst` takes the place of `src`.
    fn move_part(&mut self, step: &Move, rules: &Rules) -> Result<(), Failure> {
        let online = self.online_storage(rules);
        let part = self.part_mut(step)?;
        let leader = current_leader(part, &online);
        for peer in &mut part.peers {
            if *peer == step.src {
                peer.clone_from(&step.dst);
            }
        }
        if part.home == step.src {
            part.home.clone_from(&step.dst);
        }
        part.moving_to = None;
        let heir = part.peers.iter().find(|peer| online.contains(peer));
        let kept = leader.filter(|leader| *leader != step.src);
        part.leader = kept.or(heir.cloned());
        self.catalog.version += 1;
        Ok(())
    }
}
