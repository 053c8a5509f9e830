//! Does plans, host by host: one that fails does not hold up the others.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use nbctl_core::failure::Failure;
use nbctl_core::monitor::HostPlan;
use nbctl_core::plan::Plan;
use nbctl_core::units::HostName;
use tokio_util::sync::CancellationToken;

use super::Seen;
use crate::context::Context;
use crate::runner::{Applied, Nobody, Runner};

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
    let runner = Runner {
        fleet: &seen.fleet,
        sink: &*ctx.sink,
        journal: &journal,
        containers: &seen.engines,
        graph: &Nobody,
        cancel: cancel.clone(),
    };
    let work = plans.iter().map(|(host, plan)| one(&runner, host, plan));
    let mut done = Done::default();
    for (host, must, may) in join_all(work).await {
        match must {
            Ok(applied) => done.changed += applied.changed,
            Err(failure) => {
                done.failed.push((host, failure));
                continue;
            }
        }
        match may {
            Ok(applied) => done.changed += applied.changed,
            Err(failure) => done.notices.push(format!("{host}: {}", failure.what)),
        }
    }
    Ok(done)
}

type Ended = (HostName, Result<Applied, Failure>, Result<Applied, Failure>);

/// What must be, then what may be.
async fn one(runner: &Runner<'_>, host: &HostName, plan: &HostPlan) -> Ended {
    let must = stages(runner, &plan.plan).await;
    let may = match &must {
        Ok(_) => stages(runner, &plan.optional).await,
        Err(_) => Ok(Applied::default()),
    };
    (host.clone(), must, may)
}

async fn stages(runner: &Runner<'_>, plan: &Plan) -> Result<Applied, Failure> {
    runner.apply(plan).await
}
