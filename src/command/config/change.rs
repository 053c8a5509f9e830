//! `nbctl config set|roll`, `nbctl reset set|roll`: new values for running daemons, under the hosts' leases.

use std::collections::BTreeMap;
use std::time::Instant;

use nbctl_core::config::{self, Limit, Roll, RollGiven};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Host;
use nbctl_core::plan::Plan;
use nbctl_core::units::counted;

use super::Answers;
use crate::cli::Pick;
use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::{config as phase, connect, facts, lease};
use crate::remote::Fleet;

/// What is to be changed.
#[derive(Debug)]
pub(super) enum What {
    /// These flags, until the next restart.
    Set(BTreeMap<String, String>),
    /// Back to the inventory.
    Roll(Limit),
}

struct Change<'a> {
    ctx: &'a Context,
    pick: &'a Pick,
    what: What,
    working: Working,
    /// For leases, journal and results.
    name: &'static str,
}

pub(super) async fn run(
    ctx: &Context,
    pick: &Pick,
    what: What,
    name: &'static str,
) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let working = Working::new(ctx).await?;
    let change = Change {
        ctx,
        pick,
        what,
        working,
        name,
    };
    let selection = nbctl_core::inventory::Selection::new(&ctx.cluster, &pick.host, &pick.role)?;
    let needed = |host: &Host| {
        let mut daemons = ctx.cluster.daemons_on(&host.name);
        daemons.any(|daemon| selection.has_daemon(daemon))
    };
    let fleet = connect::reachable(ctx, needed).await?;
    let result = Box::pin(change.on(&fleet)).await;
    fleet.close().await;
    let Roll { plan, remarks } = result?;
    if ctx.global.dry_run && !plan.is_empty() {
        ctx.reporter.result(&plan.to_string(), &plan)?;
        return Ok(ExitCode::Good);
    }
    let text = change.summary(&plan, begun);
    let value = serde_json::json!({
        "cluster": ctx.cluster.name, "verb": name, "steps": plan.len(), "remarks": remarks,
    });
    ctx.reporter.result(&text, &value)?;
    Ok(ExitCode::Good)
}

impl Change<'_> {
    /// What was done, or would be.
    async fn on(&self, fleet: &Fleet) -> Result<Roll, Failure> {
        let ctx = self.ctx;
        let first = self.plan(fleet).await?;
        for remark in &first.remarks {
            ctx.sink.warn(remark.clone());
        }
        if ctx.global.dry_run || first.plan.is_empty() {
            return Ok(first);
        }
        confirm::apply(ctx, &first.plan.to_string())?;
        let scope = self.working.scope(ctx, fleet, self.name);
        lease::under(&scope, self.apply(fleet, &first)).await
    }

    /// Plans again: somebody else may have worked there between the first look and the lease.
    async fn apply(&self, fleet: &Fleet, first: &Roll) -> Result<Roll, Failure> {
        let now = self.plan(fleet).await?;
        if now != *first && !now.plan.is_empty() {
            let text = format!("the hosts have changed meanwhile\n{}", now.plan);
            confirm::apply(self.ctx, &text)?;
        }
        self.working.apply(self.ctx, fleet, &now.plan).await?;
        if matches!(self.what, What::Roll(_)) {
            self.verify(fleet).await?;
            self.leaders(fleet, &now.plan).await?;
        }
        Ok(now)
    }

    async fn plan(&self, fleet: &Fleet) -> Result<Roll, Failure> {
        let ctx = self.ctx;
        let answers = Answers::ask(ctx, fleet, self.pick).await?;
        let limit = match &self.what {
            What::Roll(limit) => *limit,
            What::Set(wanted) => {
                let plan = config::set(&answers.of(ctx), wanted)?;
                let remarks = Vec::new();
                return Ok(Roll { plan, remarks });
            }
        };
        let facts = facts::gather(&ctx.cluster, fleet).await?;
        let rendered = Working::rendered(ctx)?;
        let spaces = phase::spaces(&self.working.graph, fleet).await;
        config::roll(&RollGiven {
            asked: answers.of(ctx),
            facts: &facts,
            rendered: &rendered,
            spaces: spaces.as_deref(),
            limit,
        })
    }

    /// Asks again: what was rolled out must be what the daemons work with.
    async fn verify(&self, fleet: &Fleet) -> Result<(), Failure> {
        let answers = Answers::ask(self.ctx, fleet, self.pick).await?;
        let wrong = answers.of(self.ctx).diff();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(
            Failure::cluster("daemons still work with other flags than the inventory asks for")
                .lines(wrong.iter().map(ToString::to_string))
                .hint("a flag the release line does not know is ignored by it without a word"),
        )
    }

    /// A balance is asked for at the end of a plan with restarts of storageds.
    async fn leaders(&self, fleet: &Fleet, plan: &Plan) -> Result<(), Failure> {
        let (ctx, working) = (self.ctx, &self.working);
        let balances = |stage: &nbctl_core::plan::Stage| stage.name == config::BALANCE;
        if !plan.stages.iter().any(balances) {
            return Ok(());
        }
        phase::leaders_even(&working.graph, fleet, &*ctx.sink, &working.cancel()).await
    }

    fn summary(&self, plan: &Plan, begun: Instant) -> String {
        let name = &self.ctx.cluster.name;
        let (steps, seconds) = (plan.len(), begun.elapsed().as_secs_f64());
        match self.what {
            _ if plan.is_empty() => format!("{name}: nothing to do ({seconds:.1} s)"),
            What::Set(_) => format!(
                "{name}: {} set and read back ({seconds:.1} s); a restart brings back what the inventory says",
                counted(steps, "daemon")
            ),
            What::Roll(_) => {
                let steps = counted(steps, "step");
                format!("{name}: rolled and verified, {steps} ({seconds:.1} s)")
            }
        }
    }
}
