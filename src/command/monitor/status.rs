//! `nbctl monitor status`.

use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::facts::df_row;
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Component, Host};
use nbctl_core::monitor::{self, HostState};
use nbctl_core::plan::Script;
use nbctl_core::units::HostName;
use serde::Serialize;

use crate::context::Context;
use crate::http;
use crate::phase::monitor::{
    Alert, Scraped, Seen, Sources, Target, alerts, disk_bytes, look, prometheus, scrape, targets,
    version,
};

/// For one look at a component.
const LOOK: Duration = Duration::from_secs(5);

/// One component of one host.
#[derive(Debug, Serialize)]
struct Part {
    host: String,
    component: &'static str,
    address: String,
    image: String,
    /// As the engine words it, or `missing`.
    container: String,
    /// Its ready path answers.
    ready: bool,
    /// As it says itself.
    version: Option<String>,
    /// Bytes of its data.
    disk_bytes: Option<u64>,
    optional: bool,
}

/// One target of Prometheus, and what its page holds.
#[derive(Debug, Serialize)]
struct Scrape {
    target: Target,
    page: Option<Scraped>,
}

/// What is left where the servers' data is.
#[derive(Debug, Serialize)]
struct Space {
    host: String,
    /// Folder of the engine.
    path: String,
    mount: String,
    free_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Status {
    parts: Vec<Part>,
    /// `None` when the engine of the monitor host cannot be asked.
    space: Option<Space>,
    targets: Vec<Scrape>,
    alerts: Vec<Alert>,
    failed: Vec<String>,
}

pub(super) async fn run(ctx: &Context) -> anyhow::Result<ExitCode> {
    let wanted = super::monitor(ctx)?;
    let sources = Sources::new(ctx)?;
    let mut seen = look(ctx, wanted, &sources).await?;
    let lost = std::mem::take(&mut seen.lost);
    let (mut parts, targets, space) = tokio::join!(
        parts(ctx, &sources, &seen),
        pages(ctx, &seen),
        space(&seen, &wanted.host)
    );
    let mut failed: Vec<String> = lost
        .iter()
        .map(|(host, failure)| line(host, failure))
        .collect();
    let (targets, alerts) = targets.unwrap_or_else(|failure| {
        failed.push(format!("targets are not known: {}", failure.what));
        Default::default()
    });
    for part in &mut parts {
        let page = targets
            .iter()
            .find(|scrape| scrape.target.url.contains(&part.address));
        let told = page.and_then(|scrape| scrape.page.as_ref()?.version.clone());
        part.version = part.version.take().or(told);
    }
    let status = Status {
        parts,
        space,
        targets,
        alerts,
        failed,
    };
    ctx.reporter.result(&text(&status), &status)?;
    seen.fleet.close().await;
    super::ended(seen.hosts.len(), lost)?;
    Ok(if well(&status) {
        ExitCode::Good
    } else {
        ExitCode::Unhealthy
    })
}

/// A lost host with what brings it back.
fn line(host: &HostName, failure: &Failure) -> String {
    let hint = failure
        .hint
        .as_ref()
        .map(|hint| format!("; {hint}"))
        .unwrap_or_default();
    format!("{host}: {}{hint}", failure.what)
}

fn well(status: &Status) -> bool {
    status.failed.is_empty()
        && status
            .parts
            .iter()
            .all(|part| part.ready || (part.optional && part.container == "missing"))
        && status
            .targets
            .iter()
            .all(|scrape| scrape.target.health == "up")
}

async fn parts(ctx: &Context, sources: &Sources, seen: &Seen) -> Vec<Part> {
    let mut work = Vec::new();
    for (name, (state, _)) in &seen.hosts {
        if let Some(host) = ctx.cluster.host(name) {
            let components = monitor::components_on(&ctx.cluster, host);
            work.extend(
                components
                    .into_iter()
                    .map(|component| part(ctx, sources, seen, host, state, component)),
            );
        }
    }
    join_all(work).await
}

async fn space(seen: &Seen, host: &HostName) -> Option<Space> {
    let link = seen.fleet.on(host).ok()?;
    let path = seen.engines.on(link).await.ok()?.data_root().await?;
    let script = Script {
        text: format!("df -Pk -- {} | tail -n 1", shlex::try_quote(&path).ok()?),
        sudo: false,
        timeout: LOOK,
    };
    let told = link.must("look at the free space", &script).await.ok()?;
    let (free_bytes, mount) = df_row(told.stdout.trim_end())?;
    Some(Space {
        host: host.to_string(),
        path,
        mount,
        free_bytes,
    })
}

async fn part(
    ctx: &Context,
    sources: &Sources,
    seen: &Seen,
    host: &Host,
    state: &HostState,
    component: Component,
) -> Part {
    let address = monitor::endpoint(&ctx.cluster, host, component);
    let containers = state.engine.as_ref().map(|engine| &engine.containers);
    let name = monitor::object_name(&ctx.cluster, component);
    let found = containers.and_then(|containers| containers.get(&name));
    let entry = sources.stack.part(component).ok();
    let path = entry.map_or("/", |part| part.ready.as_str());
    let ready = found.is_some() && answers(seen, &address, path).await;
    let (version, disk_bytes) = match seen.fleet.dial(&address).await {
        Ok(dialled) if ready => {
            let base = format!("http://{dialled}");
            tokio::join!(version(component, &base), disk_bytes(component, &base))
        }
        _ => (None, None),
    };
    Part {
        host: host.name.to_string(),
        component: component.as_str(),
        image: found.map(|found| found.image.clone()).unwrap_or_default(),
        container: found.map_or("missing".to_owned(), |found| found.status.clone()),
        ready,
        version,
        disk_bytes,
        optional: entry.is_some_and(|part| part.optional),
        address,
    }
}

async fn answers(seen: &Seen, endpoint: &str, path: &str) -> bool {
    match seen.fleet.dial(endpoint).await {
        Ok(address) => http::get_text(&format!("http://{address}{path}"), LOOK)
            .await
            .is_ok(),
        Err(_) => false,
    }
}

/// Every target with its own page, read from here, and what fires.
async fn pages(ctx: &Context, seen: &Seen) -> Result<(Vec<Scrape>, Vec<Alert>), Failure> {
    let base = prometheus(&ctx.cluster, &seen.fleet).await?;
    let (targets, alerts) = tokio::join!(targets(&base), alerts(&base));
    let work = targets?.into_iter().map(|target| async move {
        let page = page(seen, &target.url).await.ok();
        Scrape { target, page }
    });
    Ok((join_all(work).await, alerts?))
}

async fn page(seen: &Seen, url: &str) -> Result<Scraped, Failure> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (endpoint, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address = seen.fleet.dial(endpoint).await?;
    scrape(&format!("http://{address}/{path}")).await
}

fn text(status: &Status) -> String {
    let told = |told: Option<String>| told.unwrap_or_else(|| "-".to_owned());
    let mut parts = super::table(&[
        "host",
        "component",
        "ready",
        "version",
        "address",
        "container",
        "disk",
    ]);
    for part in &status.parts {
        let ready = if part.ready { "yes" } else { "no" };
        parts.add_row([
            part.host.clone(),
            part.component.to_owned(),
            ready.to_owned(),
            told(part.version.clone()),
            part.address.clone(),
            part.container.clone(),
            told(part.disk_bytes.map(megabytes)),
        ]);
    }
    let mut targets = super::table(&[
        "job",
        "host",
        "health",
        "scrape",
        "series",
        "size",
        "clock",
        "last error",
    ]);
    for Scrape { target, page } in &status.targets {
        let page = page.as_ref();
        targets.add_row([
            target.job.clone(),
            target.host.clone(),
            target.health.clone(),
            format!("{:.0} ms", target.seconds * 1e3),
            told(page.map(|page| page.series.to_string())),
            told(page.map(|page| format!("{} kB", page.bytes / 1000))),
            told(
                page.and_then(|page| page.clock)
                    .map(|clock| format!("{clock:+.2} s")),
            ),
            target.error.clone(),
        ]);
    }
    format!("{parts}\n\n{targets}\n{}", rest(status).join("\n"))
}

/// Below the tables: free space, what fires, what is lost.
fn rest(status: &Status) -> Vec<String> {
    let alerts = status.alerts.iter();
    let alerts =
        alerts.map(|alert| format!("{}: {}: {}", alert.severity, alert.name, alert.summary));
    let space = status.space.iter().map(|space| {
        let free = megabytes(space.free_bytes);
        format!(
            "{}: {free} free for {} on {}",
            space.host, space.path, space.mount
        )
    });
    space
        .chain(alerts)
        .chain(status.failed.iter().cloned())
        .collect()
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}
