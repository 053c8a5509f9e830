//! `nbctl upgrade VERSION`: the same data under another version.
//!
//! Duties: what was there before (version and counts) is on disk before anything stops, so that a run that was cut short
//! is finished by the next one and still compared with the beginning.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nbctl_core::deploy::{Facts, Given, split_claims};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Daemon, DaemonRole, Version};
use nbctl_core::plan::Plan;
use nbctl_core::upgrade::{self, Upgrade, believed};
use serde::{Deserialize, Serialize};

use crate::cli::UpgradeArgs;
use crate::command::{Working, confirm, deploy as deploying};
use crate::context::Context;
use crate::phase::counts::{Counting, Counts};
use crate::phase::{connect, facts, lease, observe, package};
use crate::remote::Fleet;

/// Of a graphd whose inventory says nothing, in seconds.
const HEARTBEAT: u64 = 10;

/// What was there before, kept beside the journal until the upgrade is done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Before {
    from: Version,
    to: Version,
    /// `None`: nobody could be asked.
    counts: Option<Counts>,
}

struct Upgrading<'a> {
    /// With the inventory as it would be with the new version.
    ctx: &'a Context,
    args: &'a UpgradeArgs,
    /// What the inventory says by itself.
    written: Version,
    working: Working,
}

pub(super) async fn run(given: &Context, args: &UpgradeArgs) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let ctx = given.at_version(args.version)?;
    let upgrading = Upgrading {
        ctx: &ctx,
        args,
        written: given.cluster.version,
        working: Working::new(&ctx).await?,
    };
    let fleet = connect::all(&ctx).await?;
    let result = Box::pin(upgrading.work(&fleet)).await;
    fleet.close().await;
    let (text, plan) = result?;
    if ctx.global.dry_run {
        ctx.reporter.result(&text, &plan)?;
        return Ok(ExitCode::Good);
    }
    let text = format!("{text} ({:.1} s)", begun.elapsed().as_secs_f64());
    let value = serde_json::json!({
        "cluster": ctx.cluster.name, "version": args.version.to_string(), "steps": plan.len(),
    });
    ctx.reporter.result(&text, &value)?;
    Ok(ExitCode::Good)
}

impl Upgrading<'_> {
    async fn work(&self, fleet: &Fleet) -> Result<(String, Plan), Failure> {
        let (name, to) = (&self.ctx.cluster.name, self.args.version);
        let facts = facts::gather(&self.ctx.cluster, fleet).await?;
        let before = self.before(&facts)?;
        let upgrade = Box::pin(self.plan(fleet, before.from)).await?;
        for remark in &upgrade.remarks {
            self.ctx.sink.warn(remark.clone());
        }
        let mut plan = upgrade.plan.clone();
        let begun = self.begun().is_some();
        if self.ctx.global.dry_run {
            plan.extend(self.purged(&facts, &plan)?);
            let text = if plan.is_empty() {
                "nothing to do".to_owned()
            } else {
                plan.to_string()
            };
            return Ok((text, plan));
        }
        let mut text = format!("{name}: every daemon is {to}");
        if !plan.is_empty() || begun {
            confirm::apply(self.ctx, &plan.to_string())?;
            let before = Box::pin(self.upgrade(fleet, before, &plan)).await?;
            text = self.done(&before, &upgrade);
        }
        if self.args.purge {
            let facts = facts::gather(&self.ctx.cluster, fleet).await?;
            let purge = self.purged(&facts, &Plan::default())?;
            confirm::apply(self.ctx, &purge.to_string())?;
            let scope = self.working.scope(self.ctx, fleet, "upgrade");
            lease::under(&scope, self.working.apply(self.ctx, fleet, &purge)).await?;
            text = format!(
                "{text}; {} old versions, packages and backups are purged",
                purge.len()
            );
            plan.extend(purge);
        }
        Ok((text, plan))
    }

    /// Only a finished upgrade is purged.
    fn purged(&self, facts: &Facts, plan: &Plan) -> Result<Plan, Failure> {
        if !self.args.purge || !plan.is_empty() {
            return Ok(Plan::default());
        }
        if self.begun().is_some() {
            return Err(Failure::usage(
                "the upgrade is not finished; nothing was purged",
            ));
        }
        Ok(upgrade::purge(&self.ctx.cluster, facts))
    }

    fn done(&self, before: &Before, upgrade: &Upgrade) -> String {
        let (name, from, to) = (&self.ctx.cluster.name, before.from, before.to);
        let counted = match &before.counts {
            Some(_) => ", counts as before",
            None => "; the old cluster could not be counted",
        };
        let mut lines = vec![format!(
            "{name}: upgraded from {from} to {to} and verified{counted}"
        )];
        let backups = upgrade.backups.iter();
        lines.extend(backups.map(|backup| format!("metad's data as it was: {backup}")));
        lines.push(format!(
            "the old version stays until `nbctl upgrade {to} --purge`"
        ));
        if self.written != to {
            let file = self.ctx.cluster.source.file.display();
            let written = self.written;
            lines.push(format!(
                "set `version: {to}` in {file}: it still says {written}"
            ));
        }
        lines.join("\n")
    }

    fn path(&self) -> PathBuf {
        self.ctx.cluster_dir().join("upgrade.json")
    }

    /// An upgrade to this version that was cut short.
    fn begun(&self) -> Option<Before> {
        let text = fs::read_to_string(self.path()).ok()?;
        let before: Before = serde_json::from_str(&text).ok()?;
        (before.to == self.args.version).then_some(before)
    }

    /// Of an upgrade that was begun; else of what is there now.
    fn before(&self, facts: &Facts) -> Result<Before, Failure> {
        let to = self.args.version;
        if let Some(begun) = self.begun() {
            return Ok(begun);
        }
        let from = self
            .args
            .from
            .or_else(|| upgrade::deployed(&self.ctx.cluster, facts));
        let from = from.or((self.written != to).then_some(self.written));
        let from = from.ok_or_else(|| {
            Failure::usage(
                "it is not known which version is there: its package is not in the hosts' cache",
            )
            .hint("say so with --from VERSION")
        })?;
        Ok(Before {
            from,
            to,
            counts: None,
        })
    }

    async fn plan(&self, fleet: &Fleet, from: Version) -> Result<Upgrade, Failure> {
        let ctx = self.ctx;
        let (facts, seen) = tokio::join!(
            facts::gather(&ctx.cluster, fleet),
            observe::cluster(&ctx.cluster, fleet, &self.working.graph)
        );
        let facts = facts?;
        // What cannot be is said before packages are looked for.
        upgrade::way(from, self.args.version)?;
        let packages = package::obtain(ctx, &ctx.cluster, &facts).await?;
        let given = Given {
            cluster: &ctx.cluster,
            facts: &facts,
            packages: &packages,
            rendered: &Working::rendered(ctx)?,
            observed: &believed(&seen.observed, from, self.args.version),
            control: &Context::control_name(),
        };
        upgrade::plan(&given, from)
    }

    async fn upgrade(
        &self,
        fleet: &Fleet,
        mut before: Before,
        plan: &Plan,
    ) -> Result<Before, Failure> {
        let (claims, _) = split_claims(plan);
        self.working.apply(self.ctx, fleet, &claims).await?;
        let scope = self.working.scope(self.ctx, fleet, "upgrade");
        lease::under(&scope, async {
            if self.begun().is_none() {
                before.counts = match self.counting(fleet, &scope).all().await {
                    Ok(counts) => Some(counts),
                    Err(failure) => {
                        let why = failure.what;
                        let text = format!("the cluster is not counted before the upgrade: {why}");
                        self.ctx.sink.warn(text);
                        None
                    }
                };
                self.remember(&before)?;
            }
            let now = Box::pin(self.plan(fleet, before.from)).await?.plan;
            self.working.apply(self.ctx, fleet, &now).await?;
            deploying::verify(self.ctx, &self.working, fleet).await?;
            if let Some(counts) = &before.counts {
                self.counting(fleet, &scope).same_as(counts).await?;
            }
            fs::remove_file(self.path()).map_err(|error| {
                Failure::usage(format!("cannot forget what was there before: {error}"))
                    .at(self.path().display().to_string())
            })?;
            Ok(before)
        })
        .await
    }

    fn counting<'a>(&'a self, fleet: &'a Fleet, scope: &lease::Scope<'a>) -> Counting<'a> {
        Counting {
            fleet,
            graph: &self.working.graph,
            sink: &*self.ctx.sink,
            cancel: scope.cancel,
            heartbeat: self.heartbeat(),
        }
    }

    /// The longest of a graphd, and a little more.
    fn heartbeat(&self) -> Duration {
        let graphds = self.ctx.cluster.daemons_of(DaemonRole::Graphd);
        let flag = |daemon: &Daemon| daemon.flags.get("heartbeat_interval_secs")?.parse().ok();
        let seconds: Option<u64> = graphds.filter_map(flag).max();
        Duration::from_secs(seconds.unwrap_or(HEARTBEAT) + 1)
    }

    fn remember(&self, before: &Before) -> Result<(), Failure> {
        let text = serde_json::to_string(before).unwrap_or_default();
        crate::record::replace(&self.path(), text.as_bytes())
    }
}
