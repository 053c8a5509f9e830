//! An old run's data back into the servers, for looking at it.
//!
//! Duties: the course of its loads into `InfluxDB`; the curves of its report into Prometheus, by promtool in the image, under
//! the names that dashboards draw; what is there already stays as it is.

use std::time::Duration;

use nbctl_core::container::ContainerSpec;
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Component, Monitor};
use nbctl_core::monitor::{self, restore};
use nbctl_core::plan::Script;
use nbctl_core::run::Manifest;

use super::{Seen, Sources, prometheus};
use crate::context::Context;
use crate::http;
use crate::phase::course;

/// Its name in the folder of Prometheus, while it is read.
const FILE: &str = "restore.om";
/// For one question.
const ASK: Duration = Duration::from_secs(5);

/// Brings back what `manifest` holds.
///
/// # Errors
/// The run is older than what the servers keep, or one of them refuses.
pub async fn restore(
    ctx: &Context,
    wanted: &Monitor,
    sources: &Sources,
    seen: &Seen,
    manifest: &Manifest,
) -> Result<(), Failure> {
    check_age(wanted, manifest)?;
    if let Some(influx) = course::server(ctx, &seen.fleet).await? {
        for lines in restore::points(manifest) {
            influx.write(lines).await?;
        }
    }
    if wanted.components.contains(&Component::Prometheus)
        && let Some(text) = restore::curves(manifest, &ctx.cluster.name)
        && !observed(&prometheus(&ctx.cluster, &seen.fleet).await?, manifest).await?
    {
        curves(ctx, wanted, sources, seen, &text).await?;
    }
    Ok(())
}

/// Prometheus has samples of its own of the end of the run. Blocks beside them would hide younger ones that are in no
/// block yet.
async fn observed(base: &str, manifest: &Manifest) -> Result<bool, Failure> {
    let ends = manifest.phases.iter().map(|phase| phase.window.end_ms);
    let end = ends.max().unwrap_or(manifest.started_ms) / 1000;
    let fields = [("query", "up"), ("time", &end.to_string())];
    let url = format!("{base}/api/v1/query");
    let text = http::post_form(&url, &fields, ASK).await?;
    let answer: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| Failure::step(format!("unexpected answer: {error}")).at(url))?;
    Ok(answer["data"]["result"]
        .as_array()
        .is_some_and(|found| !found.is_empty()))
}

/// Servers drop what is older than they keep.
fn check_age(wanted: &Monitor, manifest: &Manifest) -> Result<(), Failure> {
    let age = jiff::Timestamp::now().as_millisecond() - manifest.started_ms;
    let age_s = u64::try_from(age / 1000).unwrap_or(0);
    if age_s < wanted.retention_s {
        return Ok(());
    }
    let days = age_s / 86_400;
    Err(Failure::inventory(format!(
        "run {} is {days} days old, and the servers keep {} days",
        manifest.id,
        wanted.retention_s / 86_400
    ))
    .hint(format!(
        "set `monitor.retention: {}d`, then `nbctl monitor down --data` and again",
        days + 1
    )))
}

/// promtool makes blocks of them; Prometheus reads blocks that appear when it starts.
async fn curves(
    ctx: &Context,
    wanted: &Monitor,
    sources: &Sources,
    seen: &Seen,
    text: &str,
) -> Result<(), Failure> {
    let lost = || Failure::host("cannot be worked on").at(wanted.host.to_string());
    let host = ctx.cluster.host(&wanted.host).ok_or_else(lost)?;
    let dir = host.monitor_dir.as_ref().ok_or_else(lost)?;
    let spec = importer(ctx, wanted, sources, seen)?;
    let link = seen.fleet.on(&wanted.host)?;
    let engine = seen.engines.on(link).await?;
    let path = dir.join(&format!("{}/{FILE}", Component::Prometheus.as_str()));
    link.put(&path, 0o644, text.as_bytes(), false).await?;
    let done = engine
        .once(&spec, "Prometheus does not take the run's curves")
        .await;
    let remove = Script {
        text: format!("rm -f '{path}'"),
        sudo: false,
        timeout: Duration::from_secs(20),
    };
    link.must("remove the run's curves", &remove).await?;
    done?;
    engine.restart(&spec).await
}

/// Prometheus' own container with promtool in its place.
fn importer(
    ctx: &Context,
    wanted: &Monitor,
    sources: &Sources,
    seen: &Seen,
) -> Result<ContainerSpec, Failure> {
    let lost = || Failure::host("cannot be worked on").at(wanted.host.to_string());
    let host = ctx.cluster.host(&wanted.host).ok_or_else(lost)?;
    let (state, files) = seen.hosts.get(&wanted.host).ok_or_else(lost)?;
    let there = state.engine.clone().unwrap_or_default().images;
    let want = sources.desired(&ctx.cluster);
    let image = monitor::image_of(&want, Component::Prometheus, &there)?;
    let mut spec = monitor::container_of(&want, host, Component::Prometheus, &image, state, files)?;
    let from = format!("/etc/prometheus/{FILE}");
    spec.check = [
        "/bin/promtool",
        "tsdb",
        "create-blocks-from",
        "openmetrics",
        &from,
        "/prometheus",
    ]
    .map(str::to_owned)
    .to_vec();
    // The image's root is read-only there.
    spec.env
        .insert("TMPDIR".to_owned(), "/prometheus".to_owned());
    Ok(spec)
}
