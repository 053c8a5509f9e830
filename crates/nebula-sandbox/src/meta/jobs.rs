//! Runs jobs one after the other: each takes its time, and STATS really counts.

use std::{sync::Arc, time::Duration};

use super::{
    model::{Counts, HostPort, Job, JobKind, JobStatus, State, Task},
    moving,
    service::Metad,
};
use crate::{clock, daemon::log::log, storage};

/// Looks for queued jobs for ever.
pub(super) async fn run(metad: Arc<Metad>) {
    loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if !metad.is_leader() {
            continue;
        }
        if let Some(job) = metad.read(next_queued) {
            run_job(&metad, job).await;
        }
        if let Some(plan) = metad.read(moving::running_plan) {
            moving::run_plan(&metad, plan).await;
        }
    }
}

fn next_queued(state: &State) -> Option<Job> {
    state
        .jobs
        .iter()
        .find(|job| job.status == JobStatus::Queue)
        .cloned()
}

async fn run_job(metad: &Metad, job: Job) {
    log!(Info, "Job {} {} is running", job.id, job.kind.name());
    let hosts = metad.read(|state| job_hosts(state, job.space));
    let started = clock::micros();
    let tasks: Vec<_> = hosts
        .iter()
        .map(|host| task(host, JobStatus::Running, started))
        .collect();
    update(metad, job.id, |job| {
        job.status = JobStatus::Running;
        job.start = started;
        job.tasks = tasks;
    })
    .await;
    if job.kind != JobKind::DataBalance {
        moving::pause(metad, 1).await;
    }
    let done = work(metad, &job, &hosts).await;
    let stopped = clock::micros();
    let failed = done.contains(&false);
    update(metad, job.id, |job| {
        job.status = if failed {
            JobStatus::Failed
        } else {
            JobStatus::Finished
        };
        job.stop = stopped;
        for (task, done) in job.tasks.iter_mut().zip(&done) {
            task.status = if *done {
                JobStatus::Finished
            } else {
                JobStatus::Failed
            };
            task.stop = stopped;
        }
    })
    .await;
}

fn task(host: &HostPort, status: JobStatus, start: i64) -> Task {
    Task {
        host: host.host.clone(),
        status,
        start,
        stop: 0,
    }
}

/// Who has something to do in a space: the homes of its data, not every peer.
fn job_hosts(state: &State, space: u32) -> Vec<HostPort> {
    let parts = state
        .space(space)
        .map(|space| space.parts.clone())
        .unwrap_or_default();
    let mut hosts: Vec<_> = parts.into_iter().map(|part| part.home).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

async fn update(metad: &Metad, id: i64, change: impl FnOnce(&mut Job)) {
    metad
        .change(|state| {
            let job = state.jobs.iter_mut().find(|job| job.id == id);
            if let Some(job) = job.filter(|job| job.status != JobStatus::Stopped) {
                change(job);
            }
        })
        .await;
}

/// Does the work on every host; true where it succeeded.
async fn work(metad: &Metad, job: &Job, hosts: &[HostPort]) -> Vec<bool> {
    match job.kind {
        JobKind::Stats => count(metad, job.space, hosts).await,
        JobKind::Compact => all(metad, storage::OP_COMPACT, job.space, hosts).await,
        JobKind::Flush => all(metad, storage::OP_FLUSH, job.space, hosts).await,
        JobKind::LeaderBalance => {
            let rules = metad.rules();
            metad
                .change(|state| state.balance_leaders(Some(job.space), &rules))
                .await;
            vec![true; hosts.len()]
        }
        JobKind::RebuildTagIndex | JobKind::RebuildEdgeIndex => {
            metad.change(|state| mark_built(state, job)).await;
            vec![true; hosts.len()]
        }
        JobKind::DataBalance => vec![moving::run_job(metad, job).await; hosts.len()],
    }
}

fn mark_built(state: &mut State, job: &Job) {
    if let Ok(space) = state.space_mut(job.space) {
        for index in space.indexes.values_mut() {
            if job.argument.is_empty() || job.argument == index.name {
                index.built = true;
            }
        }
        state.catalog.version += 1;
    }
}

async fn all(metad: &Metad, op: u8, space: u32, hosts: &[HostPort]) -> Vec<bool> {
    let mut done = Vec::new();
    for host in hosts {
        let client = metad.storages.get(&host.shifted(-1).to_string());
        done.push(client.call(op, &space.to_le_bytes()).await.is_ok());
    }
    done
}

async fn count(metad: &Metad, space: u32, hosts: &[HostPort]) -> Vec<bool> {
    let mut total = Counts::default();
    let mut done = Vec::new();
    for host in hosts {
        let client = metad.storages.get(&host.shifted(-1).to_string());
        let answer = client
            .call(storage::OP_COUNT, &space.to_le_bytes())
            .await
            .ok();
        let counts = answer.and_then(|body| serde_json::from_slice::<Counts>(&body).ok());
        done.push(counts.is_some());
        total.merge(&counts.unwrap_or_default());
    }
    if !done.contains(&false) {
        metad
            .change(|state| {
                if let Ok(space) = state.space_mut(space) {
                    space.stats = Some(total);
                    state.catalog.version += 1;
                }
            })
            .await;
    }
    done
}
