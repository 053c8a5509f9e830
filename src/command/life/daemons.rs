//! `nbctl start|stop|restart`, and the resets that stop and start.

use std::time::Instant;

use nbctl_core::deploy::{self, Life, Patience};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{DaemonRole, Role, Selection};
use nbctl_core::plan::Plan;
use nbctl_core::units::counted;

use crate::cli::{Pick, Stopping};
use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::{connect, facts, lease, observe};
use crate::remote::Fleet;

/// What is done to the selected daemons.
#[derive(Debug, Clone, Copy)]
pub(super) enum Verb {
    Start,
    Stop(Patience),
    Restart(Patience),
    ResetData,
}

impl Verb {
    pub(super) fn stop(stopping: Stopping) -> Self {
        Self::Stop(deploy::patience(stopping.patience, stopping.force))
    }

    pub(super) fn restart(stopping: Stopping) -> Self {
        Self::Restart(deploy::patience(stopping.patience, stopping.force))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop(_) => "stop",
            Self::Restart(_) => "restart",
            Self::ResetData => "reset data",
        }
    }

    fn plan(self, life: &Life<'_>) -> Result<Plan, Failure> {
        match self {
            Self::Start => life.start(),
            Self::Stop(patience) => Ok(life.stop(patience)),
            Self::Restart(patience) => life.restart(patience),
            Self::ResetData => life.reset_data(),
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Start => "started and serving",
            Self::Stop(_) => "stopped, verified",
            Self::Restart(_) => "restarted and serving",
            Self::ResetData => "empty, started and serving",
        }
    }
}

pub(super) async fn run(ctx: &Context, pick: &Pick, verb: Verb) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let job = Job {
        ctx,
        selection: selection(ctx, pick)?,
        working: Working::new(ctx).await?,
        verb,
    };
    let needed = |host: &nbctl_core::inventory::Host| {
        let mut daemons = ctx.cluster.daemons_on(&host.name);
        daemons.any(|daemon| job.selection.has_daemon(daemon))
    };
    let fleet = connect::reachable(ctx, needed).await?;
    let result = job.run(&fleet).await;
    fleet.close().await;
    let plan = result?;
    let seconds = begun.elapsed().as_secs_f64();
    let name = &ctx.cluster.name;
    let text = match (ctx.global.dry_run, plan.is_empty()) {
        (true, false) => plan.to_string(),
        (_, true) => format!("{name}: nothing to do ({seconds:.1} s)"),
        (false, false) => format!(
            "{name}: {} ({}, {seconds:.1} s)",
            verb.done(),
            counted(plan.len(), "step")
        ),
    };
    if ctx.global.dry_run {
        ctx.reporter.result(&text, &plan)?;
    } else {
        let value = serde_json::json!({"cluster": name, "verb": verb.name(), "steps": plan.len()});
        ctx.reporter.result(&text, &value)?;
    }
    Ok(ExitCode::Good)
}

/// Roles without daemons are refused: nobody starts a load worker this way.
fn selection(ctx: &Context, pick: &Pick) -> Result<Selection, Failure> {
    if let Some(role) = pick.role.iter().find(|role| role.daemon().is_none()) {
        let all = DaemonRole::START_ORDER
            .map(Role::from)
            .map(|role| role.to_string());
        return Err(
            Failure::usage(format!("{role} has no daemon of the cluster"))
                .hint(format!("roles: {}", all.join(", "))),
        );
    }
    let selection = Selection::new(&ctx.cluster, &pick.host, &pick.role)?;
    let mut daemons = ctx.cluster.daemons.iter();
    if daemons.any(|daemon| selection.has_daemon(daemon)) {
        return Ok(selection);
    }
    Err(Failure::usage("no daemon is selected")
        .hint("`nbctl inventory show` lists roles and hosts"))
}

struct Job<'a> {
    ctx: &'a Context,
    selection: Selection,
    working: Working,
    verb: Verb,
}

impl Job<'_> {
    /// What was done.
    async fn run(&self, fleet: &Fleet) -> anyhow::Result<Plan> {
        let ctx = self.ctx;
        let plan = self.plan(fleet).await?;
        if ctx.global.dry_run || plan.is_empty() {
            return Ok(plan);
        }
        if matches!(self.verb, Verb::ResetData) {
            confirm::destroy(ctx, &plan.to_string())?;
        } else {
            confirm::apply(ctx, &plan.to_string())?;
        }
        let scope = self.working.scope(ctx, fleet, self.verb.name());
        lease::under(&scope, self.apply(fleet)).await
    }

    async fn plan(&self, fleet: &Fleet) -> Result<Plan, Failure> {
        let cluster = &self.ctx.cluster;
        let (facts, seen) = tokio::join!(
            facts::gather(cluster, fleet),
            observe::cluster(cluster, fleet, &self.working.graph)
        );
        self.verb.plan(&Life {
            cluster,
            facts: &facts?,
            observed: &seen.observed,
            selection: &self.selection,
        })
    }

    async fn apply(&self, fleet: &Fleet) -> anyhow::Result<Plan> {
        let plan = self.plan(fleet).await?;
        self.working.apply(self.ctx, fleet, &plan).await?;
        if matches!(self.verb, Verb::Stop(_)) {
            self.verify_stopped(fleet).await?;
        }
        Ok(plan)
    }

    /// Looks again by executable; a pid file proves nothing.
    async fn verify_stopped(&self, fleet: &Fleet) -> Result<(), Failure> {
        let cluster = &self.ctx.cluster;
        let facts = facts::gather(cluster, fleet).await?;
        let life = Life {
            cluster,
            facts: &facts,
            observed: &deploy::Observed::default(),
            selection: &self.selection,
        };
        let running = life.running();
        if running.is_empty() {
            return Ok(());
        }
        Err(Failure::cluster("still running after the stop")
            .lines(running)
            .hint("run it again; --force kills what does not end"))
    }
}
