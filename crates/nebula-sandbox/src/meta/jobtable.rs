//! The table of jobs: submitting, listing, stopping.

use super::{
    message::{Failure, Reply},
    model::{Job, JobKind, JobStatus, State},
};
use crate::clock;

/// Microseconds a job is remembered (seven days).
const KEEP: i64 = 7 * 24 * 3600 * 1_000_000;

impl State {
    pub(super) fn submit_job(
        &mut self,
        space: u32,
        kind: JobKind,
        argument: &str,
    ) -> Result<Reply, Failure> {
        if space != 0 {
            self.space(space)?;
        }
        self.next_job += 1;
        self.jobs.push(Job {
            id: self.next_job,
            space,
            kind,
            argument: argument.to_owned(),
            status: JobStatus::Queue,
            start: 0,
            stop: 0,
            tasks: Vec::new(),
            moves: Vec::new(),
        });
        Ok(Reply::Job(self.next_job))
    }

    pub(super) fn stop_job(&mut self, space: u32, id: i64) -> Result<Reply, Failure> {
        let job = self
            .jobs
            .iter_mut()
            .find(|job| job.id == id && job.space == space);
        let job = job.ok_or_else(|| Failure::new(-2050, "Job not existed in chosen space!"))?;
        if job.status.is_over() {
            return Err(Failure::new(-2052, "Job already finished!"));
        }
        job.status = JobStatus::Stopped;
        job.stop = clock::micros();
        Ok(Reply::Done)
    }

    pub(super) fn recover_jobs(&mut self, space: u32) -> Reply {
        let mut recovered = 0;
        for job in self.jobs.iter_mut().filter(|job| job.space == space) {
            if matches!(job.status, JobStatus::Failed | JobStatus::Stopped) {
                job.status = JobStatus::Queue;
                job.tasks.clear();
                job.moves.clear();
                recovered += 1;
            }
        }
        Reply::Job(recovered)
    }

    pub(super) fn listed_jobs(&mut self, space: Option<u32>) -> Vec<Job> {
        let oldest = clock::micros() - KEEP;
        self.jobs
            .retain(|job| !job.status.is_over() || job.stop > oldest);
        let wanted = |job: &&Job| space.is_none_or(|space| job.space == space);
        self.jobs.iter().rev().filter(wanted).cloned().collect()
    }
}
