//! `nbctl monitor up`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Cluster, Component};
use nbctl_core::monitor::{self, Up};
use nbctl_core::units::{HostName, counted};
use serde_json::json;

use crate::context::{Context, runs_dir};
use crate::interrupt;
use crate::phase::monitor::{Seen, Sources, Target, Wanted, apply, look, restore, settle};
use crate::report::resolve_run;

/// At the short interval that target files begin with.
const FIRST_SCRAPES: Duration = Duration::from_secs(15);
/// A few scrapes at the usual one, whose scrapes may also take longer.
const TARGETS_UP: Duration = Duration::from_secs(30);

pub(super) async fn run(ctx: &Context, from: Option<&str>) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let wanted = super::monitor(ctx)?;
    let old = from
        .map(|run| resolve_run(&runs_dir(&ctx.global), run))
        .transpose()?;
    let sources = Sources::new(ctx)?.with_images(ctx, wanted)?;
    let mut seen = look(ctx, wanted, &sources).await?;
    let mut failed = std::mem::take(&mut seen.lost);
    let up = plan(ctx, &sources, &seen, &mut failed);
    for notice in &up.notices {
        ctx.sink.note(notice.clone());
    }
    if ctx.global.dry_run {
        let whole = up.whole();
        ctx.reporter.result(&shown(&up), &titles(&whole))?;
    } else {
        let changed = work(ctx, &seen, &up, &mut failed).await?;
        if let Some(run) = &old {
            restore(ctx, wanted, &sources, &seen, run.manifest()).await?;
            ctx.sink
                .note(format!("{} can be looked at", run.manifest().id));
        }
        let own = begun.elapsed();
        let waiting = Instant::now();
        let targets = verify(ctx, &seen, &up, &mut failed).await;
        // Prometheus looks at its target files in its own time; that is told apart from ours.
        let scraping = waiting.elapsed();
        let text = summary(ctx, (changed, failed.is_empty()), &targets, own, scraping);
        ctx.reporter.result(
            &text,
            &json!({
                "cluster": ctx.cluster.name, "changed": changed, "targets": targets,
                "seconds": own.as_secs_f64(), "waited_s": scraping.as_secs_f64(),
            }),
        )?;
    }
    seen.fleet.close().await;
    super::ended(seen.hosts.len().saturating_sub(failed.len()), failed)?;
    Ok(ExitCode::Good)
}

fn plan(
    ctx: &Context,
    sources: &Sources,
    seen: &Seen,
    failed: &mut Vec<(HostName, Failure)>,
) -> Up {
    let desired = sources.desired(&ctx.cluster);
    let mut up = Up::default();
    for (name, (state, files)) in &seen.hosts {
        let Some(host) = ctx.cluster.host(name) else {
            continue;
        };
        if let Err(failure) = monitor::up(&desired, host, files, state, &mut up) {
            failed.push((name.clone(), failure));
        }
    }
    up
}

fn shown(up: &Up) -> String {
    let whole = up.whole();
    if whole.is_empty() {
        "nothing to do".to_owned()
    } else {
        whole.to_string()
    }
}

/// Without the texts of files.
fn titles(plan: &nbctl_core::plan::Plan) -> Vec<String> {
    plan.stages
        .iter()
        .flat_map(|stage| &stage.steps)
        .map(ToString::to_string)
        .collect()
}

async fn work(
    ctx: &Context,
    seen: &Seen,
    up: &Up,
    failed: &mut Vec<(HostName, Failure)>,
) -> Result<usize, Failure> {
    if up.hosts.is_empty() {
        return Ok(0);
    }
    let cancel = interrupt::token();
    let work = apply(ctx, seen, &up.hosts, &cancel);
    let done = super::leased(ctx, seen, ("monitor up", &cancel), work).await?;
    for notice in done.notices {
        ctx.sink.warn(notice);
    }
    failed.extend(done.failed);
    Ok(done.changed)
}

/// Every target of the hosts that did not fail must be up, as Prometheus sees it.
async fn verify(
    ctx: &Context,
    seen: &Seen,
    up: &Up,
    failed: &mut Vec<(HostName, Failure)>,
) -> Vec<Target> {
    let Some(wanted) = &ctx.cluster.monitor else {
        return Vec::new();
    };
    let lost: Vec<String> = failed.iter().map(|(host, _)| host.to_string()).collect();
    if !wanted.components.contains(&Component::Prometheus)
        || lost.contains(&wanted.host.to_string())
    {
        return Vec::new();
    }
    match looked(ctx, seen, up, &lost).await {
        Err(failure) => {
            failed.push((wanted.host.clone(), failure));
            Vec::new()
        }
        Ok(targets) => {
            if let Some(failure) = down(&targets, &lost) {
                failed.push((wanted.host.clone(), failure));
            }
            targets
        }
    }
}

/// At the short interval first; then target files become what they stay.
async fn looked(
    ctx: &Context,
    seen: &Seen,
    up: &Up,
    lost: &[String],
) -> Result<Vec<Target>, Failure> {
    let cancel = interrupt::token();
    let wanted = Wanted {
        cluster: &ctx.cluster,
        fleet: &seen.fleet,
        lost,
        anew: !up.hosts.is_empty(),
    };
    let first = wanted.wait(FIRST_SCRAPES, &cancel).await;
    settle(ctx, seen, &up.hosts, &cancel).await?;
    match first {
        Ok(targets) if wanted.all_up(&targets) => Ok(targets),
        _ => wanted.wait(TARGETS_UP, &cancel).await,
    }
}

fn down(targets: &[Target], lost: &[String]) -> Option<Failure> {
    let bad = |target: &&Target| target.health != "up" && !lost.contains(&target.host);
    let bad: Vec<&Target> = targets.iter().filter(bad).collect();
    let line = |target: &&Target| {
        format!(
            "{} of {}: {} {}",
            target.job, target.host, target.health, target.error
        )
    };
    (!bad.is_empty()).then(|| {
        Failure::cluster(format!(
            "{} of {} targets are not up",
            bad.len(),
            targets.len()
        ))
        .lines(bad.iter().map(line))
        .hint("the monitor host must reach these ports; see also `nbctl monitor status`")
    })
}

fn summary(
    ctx: &Context,
    (changed, whole): (usize, bool),
    targets: &[Target],
    own: Duration,
    scraping: Duration,
) -> String {
    let name = &ctx.cluster.name;
    let (own, scraping) = (own.as_secs_f64(), scraping.as_secs_f64());
    let up = targets
        .iter()
        .filter(|target| target.health == "up")
        .count();
    let what = match changed {
        0 if whole => "nothing to do".to_owned(),
        steps if !whole => format!("monitoring is not whole, {}", counted(steps, "step")),
        steps => format!("monitoring is up, {}", counted(steps, "step")),
    };
    let mut text = format!("{name}: {what} ({own:.1} s)");
    if let Some(address) = prometheus(&ctx.cluster) {
        let total = targets.len();
        let _ = write!(
            text,
            "; {up} of {total} targets up (after another {scraping:.1} s)\nPrometheus: http://{address}"
        );
    }
    text
}

/// Where it listens, when it is wanted.
fn prometheus(cluster: &Cluster) -> Option<String> {
    let wanted = cluster.monitor.as_ref()?;
    let host = cluster.host(&wanted.host)?;
    let is_wanted = wanted.components.contains(&Component::Prometheus);
    is_wanted.then(|| monitor::endpoint(cluster, host, Component::Prometheus))
}

#[cfg(test)]
mod tests {
    use nbctl_core::inventory::{Source, load};

    #[test]
    fn an_address_is_told_of_what_is_wanted() {
        let cases = [
            ("", Some("10.0.0.1:9090")),
            (
                "components: [prometheus, node-exporter], ",
                Some("10.0.0.1:9090"),
            ),
            ("components: [node-exporter], ", None),
        ];
        for (components, expected) in cases {
            let text = format!(
                "format: 1\ncluster: c\nnebula: {{version: 3.8.0, deploy_dir: /d}}\nmonitor: {{{components}dir: /m}}\nhosts:\n  - {{address: 10.0.0.1, roles: [metad, graphd, storaged, monitor]}}\n"
            );
            let (cluster, _) = load(&Source::new("i.yaml", text)).into_result().unwrap();
            assert_eq!(
                super::prometheus(&cluster).as_deref(),
                expected,
                "{components}"
            );
        }
    }
}
