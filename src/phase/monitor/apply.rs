//! Does plans, host by host: one that fails does not hold up the others.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use nbctl_core::failure::Failure;
use nbctl_core::monitor::{Group, HostPlan, Needed};
use nbctl_core::plan::Plan;
use nbctl_core::units::HostName;
use tokio_util::sync::CancellationToken;

use super::Seen;
use crate::context::Context;
use crate::runner::{Applied, FileJournal, Nobody, Runner};

/// What came of it.
#[derive(Debug, Default)]
pub struct Done {
    /// Steps that changed something.
    pub changed: usize,
    /// Hosts that failed.
    pub failed: Vec<(HostName, Failure)>,
    /// Optional parts that failed.
    pub notices: Vec<String>,
}

/// Does the plans of all hosts side by side.
///
/// # Errors
/// The journal cannot be written; failures of hosts are in [`Done`].
pub async fn apply(
    ctx: &Context,
    seen: &Seen,
    plans: &BTreeMap<HostName, HostPlan>,
    cancel: &CancellationToken,
) -> Result<Done, Failure> {
    let journal = ctx.journal()?;
    let runner = runner(ctx, seen, &journal, cancel);
    let work = plans.iter().map(|(host, plan)| one(&runner, host, plan));
    let mut done = Done::default();
    for (host, ended) in join_all(work).await {
        done.changed += ended.changed;
        done.failed
            .extend(one_failure(ended.failed).map(|failure| (host.clone(), failure)));
        done.notices.extend(
            ended
                .missing
                .iter()
                .map(|failure| format!("{host}: {}", failure.what)),
        );
    }
    Ok(done)
}

/// What is left when the targets were looked at.
///
/// # Errors
/// The journal, the hosts, or an interrupt.
pub async fn settle(
    ctx: &Context,
    seen: &Seen,
    plans: &BTreeMap<HostName, HostPlan>,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let journal = ctx.journal()?;
    let runner = runner(ctx, seen, &journal, cancel);
    for plan in plans.values() {
        runner.at_once(&plan.settle).await?;
    }
    Ok(())
}

fn runner<'a>(
    ctx: &'a Context,
    seen: &'a Seen,
    journal: &'a FileJournal,
    cancel: &CancellationToken,
) -> Runner<'a> {
    Runner {
        fleet: &seen.fleet,
        sink: &*ctx.sink,
        journal,
        containers: &seen.engines,
        graph: &Nobody,
        cancel: cancel.clone(),
    }
}

/// What came of one host's plan.
#[derive(Default)]
struct Ended {
    changed: usize,
    failed: Vec<Failure>,
    /// Of optional parts.
    missing: Vec<Failure>,
}

/// What comes first, then all parts side by side.
async fn one(runner: &Runner<'_>, host: &HostName, plan: &HostPlan) -> (HostName, Ended) {
    let mut ended = Ended::default();
    ended.take(runner.apply(&plan.first).await, false);
    if ended.failed.is_empty() {
        if let Some(lead) = &plan.lead {
            ended.take(component(runner, lead).await, false);
        }
        let groups = join_all(plan.groups.iter().map(|group| side_by_side(runner, group)));
        let optional = join_all(plan.optional.iter().map(|part| component(runner, part)));
        let (groups, optional) = tokio::join!(groups, optional);
        for part in groups.into_iter().flatten() {
            ended.take(part, false);
        }
        for part in optional {
            ended.take(part, true);
        }
    }
    (host.clone(), ended)
}

/// Images, then every component.
async fn side_by_side(runner: &Runner<'_>, group: &Group) -> Vec<Result<Applied, Failure>> {
    let images = runner.apply(&group.images).await;
    if images.is_err() {
        return vec![images];
    }
    let parts = join_all(group.parts.iter().map(|part| component(runner, part)));
    std::iter::once(images).chain(parts.await).collect()
}

/// Its files, then the rest.
async fn component(runner: &Runner<'_>, part: &Needed) -> Result<Applied, Failure> {
    let files = runner.at_once(&part.files).await?;
    let mut plan = Plan::default();
    plan.stage(part.name.clone(), part.steps.clone());
    let rest = runner.apply(&plan).await?;
    Ok(Applied {
        changed: files.changed + rest.changed,
        already: files.already + rest.already,
    })
}

impl Ended {
    fn take(&mut self, part: Result<Applied, Failure>, optional: bool) {
        match part {
            Ok(applied) => self.changed += applied.changed,
            Err(failure) if optional => self.missing.push(failure),
            Err(failure) => self.failed.push(failure),
        }
    }
}

/// The first failure with a line for each of the others.
fn one_failure(failed: Vec<Failure>) -> Option<Failure> {
    let mut failed = failed.into_iter();
    let first = failed.next()?;
    Some(failed.fold(first, |first, other| {
        first.line(format!("and: {}", other.what))
    }))
}
