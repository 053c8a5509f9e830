//! Carries out balance plans: one partition after the other changes its host.

use std::time::{Duration, Instant};

use super::{
    balance::{Move, MoveStatus},
    model::{Job, JobStatus, State},
    service::Metad,
    transfer::carry_out,
};
use crate::{clock, daemon::log::log};

/// Who owns the moves: a job, or a plan of 2.x.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owner {
    Job(i64),
    Plan(i64),
}

/// The plan that runs.
pub(super) fn running_plan(state: &State) -> Option<i64> {
    let plan = state.plans.iter().find(|plan| plan.running);
    plan.map(|plan| plan.id)
}

/// Plans the moves of a balance job and makes them; false when one failed.
pub(super) async fn run_job(metad: &Metad, job: &Job) -> bool {
    let rules = metad.rules();
    let planned = metad.read(|state| state.plan_job(job.space, &job.argument, &rules));
    let moves = match planned {
        Ok(moves) => moves,
        Err(failure) => {
            log!(Error, "Job {}: {failure}", job.id);
            return false;
        }
    };
    let owner = Owner::Job(job.id);
    metad
        .change(|state| {
            if let Some(slot) = owner.moves(state) {
                *slot = moves;
            }
        })
        .await;
    run_moves(metad, owner).await
}

/// Makes the moves of a plan.
pub(super) async fn run_plan(metad: &Metad, id: i64) {
    run_moves(metad, Owner::Plan(id)).await;
    metad
        .change(|state| {
            for plan in state.plans.iter_mut().filter(|plan| plan.id == id) {
                plan.running = false;
            }
        })
        .await;
}

impl Owner {
    fn moves(self, state: &mut State) -> Option<&mut Vec<Move>> {
        match self {
            Self::Job(id) => {
                let job = state.jobs.iter_mut().find(|job| job.id == id);
                job.map(|job| &mut job.moves)
            }
            Self::Plan(id) => {
                let plan = state.plans.iter_mut().find(|plan| plan.id == id);
                plan.map(|plan| &mut plan.moves)
            }
        }
    }

    fn is_stopped(self, state: &State) -> bool {
        match self {
            Self::Job(id) => {
                let job = state.jobs.iter().find(|job| job.id == id);
                job.is_none_or(|job| job.status == JobStatus::Stopped)
            }
            Self::Plan(id) => {
                let plan = state.plans.iter().find(|plan| plan.id == id);
                plan.is_none_or(|plan| !plan.running)
            }
        }
    }
}

/// The running time of a job is shared by its moves. A stop lets the move at hand end and leaves out the others.
async fn run_moves(metad: &Metad, owner: Owner) -> bool {
    let count = metad.look(|state| owner.moves(state).map_or(0, |moves| moves.len()));
    let mut good = true;
    for at in 0..count {
        let Some(step) = begin(metad, owner, at).await else {
            continue;
        };
        pause(metad, count).await;
        let moved = carry_out(metad, &step).await;
        if let Err(failure) = &moved {
            log!(
                Error,
                "{}:{} {}->{}: {failure}",
                step.space,
                step.part,
                step.src,
                step.dst
            );
            good = false;
        }
        let status = if moved.is_ok() {
            MoveStatus::Succeeded
        } else {
            MoveStatus::Failed
        };
        finish(metad, owner, at, status).await;
    }
    good
}

/// Waits for a job's running time, or for one of so many parts of it. The flag may change meanwhile.
pub(super) async fn pause(metad: &Metad, parts: usize) {
    let began = Instant::now();
    loop {
        let whole = Duration::from_millis(metad.rules().job_millis);
        let share = whole / u32::try_from(parts.max(1)).unwrap_or(1);
        let left = share.saturating_sub(began.elapsed());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(Duration::from_millis(50))).await;
    }
}

/// Starts the move at `at` unless it was made before or the owner was stopped.
async fn begin(metad: &Metad, owner: Owner, at: usize) -> Option<Move> {
    let stopped = metad.read(|state| owner.is_stopped(state));
    let step = metad
        .change(|state| {
            let step = owner.moves(state)?.get_mut(at)?;
            step.start = clock::micros();
            Some(step.clone())
        })
        .await?;
    if step.status != MoveStatus::InProgress {
        return None;
    }
    if stopped {
        finish(metad, owner, at, MoveStatus::Invalid).await;
        return None;
    }
    Some(step)
}

async fn finish(metad: &Metad, owner: Owner, at: usize, status: MoveStatus) {
    metad
        .change(|state| {
            if let Some(step) = owner.moves(state).and_then(|moves| moves.get_mut(at)) {
                step.status = status;
                step.stop = clock::micros();
            }
        })
        .await;
}
