//! `nbctl monitor status`.

use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Component, Host};
use nbctl_core::monitor::{self, HostState};
use serde::Serialize;

use crate::context::Context;
use crate::http;
use crate::phase::monitor::{Scraped, Seen, Sources, Target, look, scrape, targets};

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
    optional: bool,
}

/// One target of Prometheus, and what its page holds.
#[derive(Debug, Serialize)]
struct Scrape {
    target: Target,
    page: Option<Scraped>,
}

#[derive(Debug, Serialize)]
struct Status {
    parts: Vec<Part>,
    targets: Vec<Scrape>,
    failed: Vec<String>,
}

pub(super) async fn run(ctx: &Context) -> anyhow::Result<ExitCode> {
    let wanted = super::monitor(ctx)?;
    let sources = Sources::new(ctx)?;
    let mut seen = look(ctx, wanted, &sources).await?;
    let lost = std::mem::take(&mut seen.lost);
    let parts = parts(ctx, &sources, &seen).await;
    let targets = pages(ctx, &seen).await;
    let failed = lost
        .iter()
        .map(|(host, failure)| format!("{host}: {}", failure.what));
    let (targets, unknown) = match targets {
        Ok(targets) => (targets, None),
        Err(failure) => (
            Vec::new(),
            Some(format!("targets are not known: {}", failure.what)),
        ),
    };
    let status = Status {
        parts,
        targets,
        failed: failed.chain(unknown).collect(),
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
    Part {
        host: host.name.to_string(),
        component: component.as_str(),
        image: found.map(|found| found.image.clone()).unwrap_or_default(),
        container: found.map_or("missing".to_owned(), |found| found.status.clone()),
        ready: found.is_some() && answers(seen, &address, path).await,
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

/// Every target with its own page, read from here.
async fn pages(ctx: &Context, seen: &Seen) -> Result<Vec<Scrape>, Failure> {
    let targets = targets(&ctx.cluster, &seen.fleet).await?;
    let work = targets.into_iter().map(|target| async move {
        let page = page(seen, &target.url).await.ok();
        Scrape { target, page }
    });
    Ok(join_all(work).await)
}

async fn page(seen: &Seen, url: &str) -> Result<Scraped, Failure> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (endpoint, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address = seen.fleet.dial(endpoint).await?;
    scrape(&format!("http://{address}/{path}")).await
}

fn text(status: &Status) -> String {
    let mut parts = table(&[
        "host",
        "component",
        "ready",
        "address",
        "container",
        "image",
    ]);
    for part in &status.parts {
        let ready = if part.ready { "yes" } else { "no" };
        parts.add_row([
            &part.host,
            part.component,
            ready,
            &part.address,
            &part.container,
            &part.image,
        ]);
    }
    let mut targets = table(&[
        "job",
        "host",
        "health",
        "scrape",
        "series",
        "size",
        "last error",
    ]);
    for Scrape { target, page } in &status.targets {
        let told = |told: Option<String>| told.unwrap_or_else(|| "-".to_owned());
        targets.add_row([
            target.job.clone(),
            target.host.clone(),
            target.health.clone(),
            format!("{:.0} ms", target.seconds * 1e3),
            told(page.as_ref().map(|page| page.series.to_string())),
            told(
                page.as_ref()
                    .map(|page| format!("{} kB", page.bytes / 1000)),
            ),
            target.error.clone(),
        ]);
    }
    let failed = status.failed.join("\n");
    format!("{parts}\n\n{targets}\n{failed}")
}

fn table(head: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_header(head);
    table
}
