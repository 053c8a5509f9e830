//! Executes plans: stages as barriers, hosts side by side, the steps of a host in order.
//!
//! Duties: every step is journalled before it is done and told when it ended; checks travel with their action; a
//! failing host lets the others finish the step they are at, and the failure names all that failed; an
//! interrupt ends between steps, so that the same command can be run again.

mod delete;
mod flags;
mod history;
mod hooks;
mod journal;
mod step;
mod wait;

use std::collections::BTreeMap;
use std::time::Instant;

use futures_util::future::join_all;
use nbctl_core::failure::{Failure, FailureKind};
use nbctl_core::plan::{Plan, Stage, Step};
use nbctl_core::units::HostName;
use tokio_util::sync::CancellationToken;

pub use self::delete::{OWNER_MARKER, delete, marker_line};
pub use self::history::{Past, read as read_history};
pub use self::hooks::{Containers, Graph, Nobody};
pub use self::journal::{FileJournal, Journal, NoJournal, Who};

use crate::event::{Event, Sink, StepOutcome};
use crate::remote::{Fleet, join_failures};

/// All a plan is executed with.
#[derive(Debug)]
pub struct Runner<'a> {
    /// Hosts.
    pub fleet: &'a Fleet,
    /// Takes events.
    pub sink: &'a dyn Sink,
    /// Takes steps before they are done.
    pub journal: &'a dyn Journal,
    /// Engines.
    pub containers: &'a dyn Containers,
    /// Graph service.
    pub graph: &'a dyn Graph,
    /// Ctrl-C.
    pub cancel: CancellationToken,
}

/// What a plan came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applied {
    /// Steps that changed something.
    pub changed: usize,
    /// Steps that were so already.
    pub already: usize,
}

impl Runner<'_> {
    /// Executes `plan`.
    ///
    /// # Errors
    /// The failure of the host, or one line for each failed host; the interrupt.
    pub async fn apply(&self, plan: &Plan) -> Result<Applied, Failure> {
        let mut all = Applied::default();
        for stage in &plan.stages {
            let done = self.stage(stage).await?;
            all.changed += done.changed;
            all.already += done.already;
        }
        Ok(all)
    }

    /// Executes steps that do not wait for each other, whichever host they are of.
    ///
    /// # Errors
    /// Those of [`Runner::apply`].
    pub async fn at_once(&self, steps: &[Step]) -> Result<Applied, Failure> {
        let halt = CancellationToken::new();
        let halt = &halt;
        let work = steps.iter().map(|step| async move {
            let (host, only) = (lane_name(step), [step]);
            self.lane(&host, &only, halt).await
        });
        gather(join_all(work).await)
    }

    async fn stage(&self, stage: &Stage) -> Result<Applied, Failure> {
        let begun = Instant::now();
        self.sink.emit(Event::PhaseStarted {
            phase: stage.name.clone(),
            steps: Some(stage.steps.len()),
        });
        let halt = CancellationToken::new();
        let lanes = lanes(&stage.steps);
        let work = lanes
            .iter()
            .map(|(host, steps)| self.lane(host, steps, &halt));
        let applied = gather(join_all(work).await)?;
        self.sink.emit(Event::PhaseFinished {
            phase: stage.name.clone(),
            changed: applied.changed,
            millis: millis(begun),
        });
        Ok(applied)
    }

    /// The steps of one host; `halt` is raised by the first failure anywhere in the stage.
    async fn lane(&self, host: &HostName, steps: &[&Step], halt: &CancellationToken) -> Lane {
        let mut applied = Applied::default();
        for step in steps {
            if self.cancel.is_cancelled() {
                return (host.clone(), Err(interrupted()));
            }
            if halt.is_cancelled() {
                break;
            }
            match self.told(step).await {
                Ok(StepOutcome::AlreadySo) => applied.already += 1,
                Ok(_) => applied.changed += 1,
                Err(failure) => {
                    halt.cancel();
                    return (host.clone(), Err(failure));
                }
            }
        }
        (host.clone(), Ok(applied))
    }

    /// Journal, step, journal, event.
    async fn told(&self, step: &Step) -> Result<StepOutcome, Failure> {
        self.journal.begin(step)?;
        let begun = Instant::now();
        let result = self.step(step).await;
        let outcome = *result.as_ref().unwrap_or(&StepOutcome::Failed);
        self.journal.end(step, outcome);
        self.sink.emit(Event::StepFinished {
            host: lane_name(step).to_string(),
            title: step.title.clone(),
            outcome,
            millis: millis(begun),
        });
        result
    }
}

type Lane = (HostName, Result<Applied, Failure>);

fn lanes(steps: &[Step]) -> BTreeMap<HostName, Vec<&Step>> {
    let mut lanes: BTreeMap<HostName, Vec<&Step>> = BTreeMap::new();
    for step in steps {
        lanes.entry(lane_name(step)).or_default().push(step);
    }
    lanes
}

/// Steps of the cluster as a whole are a lane of their own.
fn lane_name(step: &Step) -> HostName {
    let host = step.host.clone();
    host.unwrap_or_else(|| HostName::new("cluster"))
}

fn gather(lanes: Vec<Lane>) -> Result<Applied, Failure> {
    let (mut all, mut good, mut bad) = (Applied::default(), 0, Vec::new());
    for (host, result) in lanes {
        match result {
            Ok(applied) => {
                good += 1;
                all.changed += applied.changed;
                all.already += applied.already;
            }
            Err(failure) => bad.push((host, failure)),
        }
    }
    if bad.is_empty() {
        return Ok(all);
    }
    // An interrupt is told once, and only when nothing worse happened.
    bad.retain(|(_, failure)| failure.kind != FailureKind::Interrupted);
    if bad.is_empty() {
        return Err(interrupted());
    }
    Err(join_failures("failed", good, bad))
}

fn interrupted() -> Failure {
    let what = "interrupted between two steps";
    Failure::new(FailureKind::Interrupted, what).hint("run the same command again to go on")
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
