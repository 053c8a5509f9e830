//! `nbctl scale in --host HOST`: daemons leave, their data first.
//!
//! Duties: nothing is stopped before SHOW HOSTS says that its partitions are elsewhere; the graph service is asked at
//! those who stay. With `--lost` a host that does not answer is no obstacle and is left as it is.

use std::time::{Duration, Instant};

use nbctl_core::config::Space;
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Cluster, Host, Role, Selection};
use nbctl_core::scale::{Copies, Leaving, Lost, Shrink, shrink};
use nbctl_core::units::{HostName, counted};

use crate::command::{Working, confirm};
use crate::context::Context;
use crate::graph::GraphService;
use crate::phase::jobs::Jobs;
use crate::phase::{config as spaces_of, connect, facts, lease, observe, storage};
use crate::remote::Fleet;

/// SHOW HOSTS follows a move with a heartbeat.
const SHOWN: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_secs(1);

struct Fewer<'a> {
    ctx: &'a Context,
    selection: Selection,
    /// On the graphds that stay.
    working: Working,
    /// Hosts that leave and do not answer; `None`: all must.
    lost: Option<Vec<HostName>>,
}

pub(super) async fn run(
    ctx: &Context,
    hosts: &[String],
    roles: &[Role],
    lost: bool,
) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let selection = Selection::new(&ctx.cluster, hosts, roles)?;
    let mut working = Working::new(ctx).await?;
    working.graph = GraphService::new(&staying(&ctx.cluster, &selection)).await?;
    let leaves = |host: &Host| {
        let mut daemons = ctx.cluster.daemons_on(&host.name);
        daemons.any(|daemon| selection.has_daemon(daemon))
    };
    if !ctx.cluster.hosts.iter().any(leaves) {
        return Err(Failure::usage("no daemon is selected").into());
    }
    let fleet = connect::reachable(ctx, |host| !lost && leaves(host)).await;
    let fleet = fleet.map_err(given_up)?;
    let silent = |host: &&Host| leaves(host) && fleet.on(&host.name).is_err();
    let silent = ctx.cluster.hosts.iter().filter(silent);
    let silent = lost.then(|| silent.map(|host| host.name.clone()).collect());
    let fewer = Fewer {
        ctx,
        selection,
        working,
        lost: silent,
    };
    let result = Box::pin(fewer.work(&fleet)).await;
    fleet.close().await;
    let done = result?;
    if ctx.global.dry_run && !done.is_empty() {
        ctx.reporter.result(&shown(&done), &done)?;
        return Ok(ExitCode::Good);
    }
    let text = summary(ctx, &done, begun.elapsed().as_secs_f64());
    ctx.reporter.result(&text, &done)?;
    Ok(ExitCode::Good)
}

/// A host that does not answer may be gone for good.
fn given_up(mut failure: Failure) -> Failure {
    let lost = "when it is gone for good, give --lost: its copies are made again elsewhere, nothing is done on it";
    failure.hint = Some(match failure.hint {
        Some(hint) => format!("{hint}; {lost}"),
        None => lost.to_owned(),
    });
    failure
}

fn staying(cluster: &Cluster, selection: &Selection) -> Cluster {
    let mut staying = cluster.clone();
    staying.daemons.retain(|d| !selection.has_daemon(d));
    staying
}

fn shown(shrink: &Shrink) -> String {
    let drain = if shrink.spaces.is_empty() {
        String::new()
    } else {
        let (from, spaces) = (shrink.drain.join(", "), shrink.spaces.join(", "));
        format!("move data\n  cluster: move the partitions of {spaces} away from {from}\n")
    };
    format!("{drain}{}{}", shrink.after, behind(shrink))
}

/// What is not done.
fn behind(shrink: &Shrink) -> String {
    if shrink.behind.is_empty() {
        return String::new();
    }
    format!("left behind\n  {}\n", shrink.behind.join("\n  "))
}

fn summary(ctx: &Context, done: &Shrink, seconds: f64) -> String {
    let name = &ctx.cluster.name;
    let what = if done.is_empty() {
        "nothing to do".to_owned()
    } else {
        format!("taken out, verified, {}", counted(done.after.len(), "step"))
    };
    let file = ctx.cluster.source.file.display();
    let rest = done.to_remove.join("\n  ");
    let exporters = match ctx.cluster.monitor {
        Some(_) => {
            "\nits exporters stay until `nbctl monitor down`; `nbctl monitor up` after the change looks at those that are left"
        }
        None => "",
    };
    let behind = behind(done);
    format!(
        "{name}: {what} ({seconds:.1} s)\n{behind}remove from {file}, or the next deploy brings it back:\n  {rest}{exporters}"
    )
}

impl Fewer<'_> {
    async fn work(&self, fleet: &Fleet) -> Result<Shrink, Failure> {
        let ctx = self.ctx;
        let first = Box::pin(self.plan(fleet)).await?;
        if ctx.global.dry_run || first.is_empty() {
            return Ok(first);
        }
        confirm::apply(ctx, &shown(&first))?;
        let scope = self.working.scope(ctx, fleet, "scale in");
        lease::under(&scope, Box::pin(self.apply(fleet))).await
    }

    async fn plan(&self, fleet: &Fleet) -> Result<Shrink, Failure> {
        let (cluster, graph) = (&self.ctx.cluster, &self.working.graph);
        let (facts, seen, hosts, spaces) = tokio::join!(
            facts::gather(cluster, fleet),
            observe::cluster(cluster, fleet, graph),
            storage::hosts(graph, fleet),
            spaces_of::spaces(graph, fleet)
        );
        let copies = self.copies(fleet, spaces.as_deref()).await;
        let lost = self.lost.as_deref().map(|hosts| Lost {
            hosts,
            copies: copies.as_deref(),
        });
        shrink(&Leaving {
            cluster,
            selection: &self.selection,
            facts: &facts?,
            observed: &seen.observed,
            hosts: hosts.ok().as_deref(),
            spaces: spaces.as_deref(),
            lost,
        })
    }

    /// Asked for only when a host is lost.
    async fn copies(&self, fleet: &Fleet, spaces: Option<&[Space]>) -> Option<Vec<Copies>> {
        self.lost.as_ref().filter(|hosts| !hosts.is_empty())?;
        let copies = storage::copies(&self.working.graph, fleet, spaces?).await;
        copies.ok()
    }

    async fn apply(&self, fleet: &Fleet) -> Result<Shrink, Failure> {
        let plan = Box::pin(self.plan(fleet)).await?;
        if !plan.spaces.is_empty() {
            self.drain(fleet, &plan).await?;
        }
        self.working.apply(self.ctx, fleet, &plan.after).await?;
        let left = Box::pin(self.plan(fleet)).await?;
        if left.is_empty() {
            return Ok(plan);
        }
        Err(Failure::step("not everything is taken out")
            .line(shown(&left))
            .hint("run it again"))
    }

    async fn drain(&self, fleet: &Fleet, plan: &Shrink) -> Result<(), Failure> {
        let cancel = self.working.cancel();
        let jobs = Jobs {
            fleet,
            graph: &self.working.graph,
            version: self.ctx.cluster.version,
            sink: &*self.ctx.sink,
            cancel: &cancel,
        };
        jobs.move_data(&plan.spaces, &plan.drain).await?;
        let end = Instant::now() + SHOWN;
        loop {
            let full = self.full(fleet, plan).await?;
            if full.is_empty() {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(Failure::cluster(
                    "partitions are still there after the balance; nothing was stopped",
                )
                .lines(full));
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = cancel.cancelled() => return Err(crate::interrupt::failure()),
            }
        }
    }

    /// Which of the leaving storageds still hold something.
    async fn full(&self, fleet: &Fleet, plan: &Shrink) -> Result<Vec<String>, Failure> {
        let rows = storage::hosts(&self.working.graph, fleet).await?;
        let full = rows
            .iter()
            .filter(|row| plan.endpoints.contains(&row.endpoint) && !row.partitions.is_empty());
        Ok(full
            .map(|row| format!("{}: {:?}", row.endpoint, row.partitions))
            .collect())
    }
}
