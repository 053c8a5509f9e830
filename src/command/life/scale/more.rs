//! `nbctl scale out`: what the inventory names and the cluster has not.
//!
//! Duties: deploy the new daemons and nothing else, then move data and leaders; each stretch looks at the cluster and
//! not at the one before, so running it again finishes what was cut short.

use std::time::Instant;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::DaemonRole;
use nbctl_core::plan::Plan;
use nbctl_core::scale::{self, Moving};
use nbctl_core::units::counted;
use serde::Serialize;

use crate::command::{Working, confirm, deploy};
use crate::context::Context;
use crate::phase::jobs::{Finished, Jobs, Kind};
use crate::phase::{connect, lease, observe, storage};
use crate::remote::Fleet;

struct More<'a> {
    ctx: &'a Context,
    working: &'a Working,
    fleet: &'a Fleet,
}

/// What was done.
#[derive(Debug, Default, Serialize)]
struct Done {
    cluster: String,
    steps: usize,
    balanced: Vec<Finished>,
    /// Why data stayed where it was.
    left: Option<String>,
}

pub(super) async fn run(ctx: &Context, no_balance: bool) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let more = More {
        ctx,
        working: &working,
        fleet: &fleet,
    };
    let result = Box::pin(more.work(no_balance)).await;
    fleet.close().await;
    let (plan, done) = result?;
    if ctx.global.dry_run {
        let text = if plan.is_empty() {
            "nothing to deploy".to_owned()
        } else {
            format!("{plan}then: data and leaders are balanced")
        };
        ctx.reporter.result(&text, &plan)?;
        return Ok(ExitCode::Good);
    }
    let text = summary(&done, begun.elapsed().as_secs_f64());
    ctx.reporter.result(&text, &done)?;
    Ok(ExitCode::Good)
}

fn summary(done: &Done, seconds: f64) -> String {
    let name = &done.cluster;
    let deployed = match done.steps {
        0 => "nothing to deploy".to_owned(),
        steps => format!("deployed and added, {}", counted(steps, "step")),
    };
    let moved = match (&done.left, done.balanced.len()) {
        (Some(why), _) => format!("data stays where it is: {why}"),
        (None, 0) => "data lies evenly".to_owned(),
        (None, _) => "data and leaders balanced".to_owned(),
    };
    format!("{name}: {deployed}; {moved} ({seconds:.1} s)")
}

impl More<'_> {
    async fn work(&self, no_balance: bool) -> Result<(Plan, Done), Failure> {
        let ctx = self.ctx;
        let mut done = Done {
            cluster: ctx.cluster.name.clone(),
            ..Done::default()
        };
        let plan = deploy::wanted(ctx, self.working, self.fleet).await?;
        scale::only_adds(&plan)?;
        if ctx.global.dry_run {
            return Ok((plan, done));
        }
        if !plan.is_empty() {
            confirm::apply(ctx, &format!("{plan}then: data and leaders are balanced"))?;
            let first = (&plan, "scale out");
            done.steps = deploy::apply(ctx, self.working, self.fleet, first)
                .await?
                .len();
        }
        if no_balance {
            done.left = Some("--no-balance".to_owned());
            return Ok((plan, done));
        }
        let spaces = scale::uneven(&storage::hosts(&self.working.graph, self.fleet).await?);
        if spaces.is_empty() {
            return Ok((plan, done));
        }
        done.left = self.in_the_way().await;
        if let Some(why) = &done.left {
            ctx.sink.warn(format!("data stays where it is: {why}"));
            return Ok((plan, done));
        }
        let scope = self.working.scope(ctx, self.fleet, "scale out");
        done.balanced = lease::under(&scope, self.balance(&spaces)).await?;
        Ok((plan, done))
    }

    /// Why this cluster moves no data.
    async fn in_the_way(&self) -> Option<String> {
        let cluster = &self.ctx.cluster;
        if Moving::of(cluster.version) == Moving::Zones {
            return Some(format!("{} moves it between zones only", cluster.version));
        }
        let seen = observe::cluster(cluster, self.fleet, &self.working.graph).await;
        let flags = &seen.observed.flags;
        let on = |name: &str| {
            let mut graphds = cluster.daemons_of(DaemonRole::Graphd);
            let is_on = |read: &nbctl_core::deploy::ReadFlags| {
                read.get(name) == Some(&serde_json::Value::Bool(true))
            };
            Some(graphds.all(|daemon| flags.get(&daemon.id()).is_none_or(is_on)))
        };
        let closed = scale::gates(cluster.version, on);
        (!closed.is_empty()).then(|| {
            format!(
                "graphd moves none without {}; put it into the inventory, `nbctl config roll`, then `nbctl scale out` again",
                closed.join(" and ")
            )
        })
    }

    async fn balance(&self, spaces: &[String]) -> Result<Vec<Finished>, Failure> {
        let cancel = self.working.cancel();
        let jobs = Jobs {
            fleet: self.fleet,
            graph: &self.working.graph,
            version: self.ctx.cluster.version,
            sink: &*self.ctx.sink,
            cancel: &cancel,
        };
        let mut all = jobs.move_data(spaces, &[]).await?;
        all.extend(jobs.run(Kind::Leaders, None).await?);
        Ok(all)
    }
}
