//! Files of the stack on one host.
//!
//! Duty: render every file that a component reads; who is scraped is written as target files, so that a change of the
//! cluster does not restart Prometheus.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use super::stack::{Stack, context, render};
use super::{components_on, endpoint};
use crate::failure::Failure;
use crate::inventory::{Cluster, Component, Daemon, Host, Role};
use crate::plan::RenderedFile;
use crate::units::RemotePath;

/// Texts of the templates that the stack names, by asset name.
pub type Templates = BTreeMap<String, String>;

/// Jobs of Prometheus and the component that answers for each.
const JOBS: [(&str, Component); 4] = [
    ("prometheus", Component::Prometheus),
    ("node", Component::NodeExporter),
    ("process", Component::ProcessExporter),
    ("nebula", Component::Exporter),
];

/// One file with whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackFile {
    /// Read by this component.
    pub component: Component,
    /// Does not replace the container when it changes.
    pub live: bool,
    /// Where and what.
    pub file: RenderedFile,
    /// What is written first when it differs, until all is up.
    pub first: Option<RenderedFile>,
}

/// Who is scraped together, in the form of Prometheus' `file_sd_configs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TargetGroup {
    /// `address:port`.
    pub targets: Vec<String>,
    /// `cluster`, `host`, `role` and those the inventory gives the host.
    pub labels: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct DaemonLine {
    role: &'static str,
    host: String,
    rpc: String,
    http: String,
}

/// All files of `host`.
///
/// # Errors
/// A template that is missing or wrong.
pub fn files(
    cluster: &Cluster,
    host: &Host,
    stack: &Stack,
    templates: &Templates,
) -> Result<Vec<StackFile>, Failure> {
    let Some(dir) = &host.monitor_dir else {
        return Ok(Vec::new());
    };
    let mut all = Vec::new();
    for component in components_on(cluster, host) {
        let folder = dir.join(component.as_str());
        for spec in &stack.part(component)?.files {
            let template = templates
                .get(&spec.template)
                .ok_or_else(|| Failure::usage(format!("no template `{}`", spec.template)))?;
            let text = if spec.plain {
                template.clone()
            } else {
                let values = values(cluster, host, stack, component)?;
                render(&spec.template, template, &values)?
            };
            all.push(file(component, spec.live, folder.join(&spec.path), text));
        }
        if component == Component::Prometheus {
            all.extend(targets(cluster, &folder)?);
        }
    }
    Ok(all)
}

/// What is looked for on the host: the files, and the secrets that are made there.
///
/// # Errors
/// Never for a stack that was parsed.
pub fn watched(
    cluster: &Cluster,
    host: &Host,
    stack: &Stack,
    files: &[StackFile],
) -> Result<Vec<RemotePath>, Failure> {
    let mut paths: Vec<RemotePath> = files.iter().map(|file| file.file.path.clone()).collect();
    for component in components_on(cluster, host) {
        if let (Some(dir), Some(name)) = (&host.monitor_dir, &stack.part(component)?.secret) {
            paths.push(secret(dir, component, name));
        }
    }
    Ok(paths)
}

/// Where the password of a component lies.
pub(super) fn secret(dir: &RemotePath, component: Component, name: &str) -> RemotePath {
    dir.join(&format!("{}-secret/{name}", component.as_str()))
}

fn file(component: Component, live: bool, path: RemotePath, text: String) -> StackFile {
    // Read by the users of the images; secrets are not among these files.
    StackFile {
        component,
        live,
        file: RenderedFile {
            path,
            mode: 0o644,
            text,
        },
        first: None,
    }
}

fn values(
    cluster: &Cluster,
    host: &Host,
    stack: &Stack,
    component: Component,
) -> Result<tera::Context, Failure> {
    let daemons: Vec<DaemonLine> = cluster.daemons.iter().map(line).collect();
    let own = endpoint(cluster, host, component);
    let (address, port) = own.rsplit_once(':').unwrap_or((&own, ""));
    context(&json!({
        "cluster": cluster.name,
        "address": address,
        "port": port,
        "interval_s": stack.scrape.interval_s,
        "timeout_s": stack.scrape.timeout_s,
        "database": stack.database,
        "daemons": daemons,
        "jobs": jobs(cluster).map(|(job, _)| job).collect::<Vec<_>>(),
        "prometheus": endpoint(cluster, host, Component::Prometheus),
        "influxdb": endpoint(cluster, host, Component::Influxdb),
    }))
}

fn line(daemon: &Daemon) -> DaemonLine {
    DaemonLine {
        role: daemon.role.as_str(),
        host: daemon.host.to_string(),
        rpc: daemon.endpoint(),
        http: daemon.http_endpoint(),
    }
}

fn jobs(cluster: &Cluster) -> impl Iterator<Item = (&'static str, Component)> {
    let wanted = cluster
        .monitor
        .as_ref()
        .map(|m| m.components.clone())
        .unwrap_or_default();
    JOBS.into_iter()
        .filter(move |(_, component)| wanted.contains(component))
}

/// Prometheus begins to scrape a target at some moment of its interval, so the first interval is a short one.
const FIRST_INTERVAL: [(&str, &str); 2] =
    [("__scrape_interval__", "1s"), ("__scrape_timeout__", "1s")];

fn targets(cluster: &Cluster, folder: &RemotePath) -> Result<Vec<StackFile>, Failure> {
    jobs(cluster)
        .map(|(job, component)| {
            let mut groups = groups(cluster, component);
            let path = folder.join(&format!("targets/{job}.json"));
            let mut target = file(Component::Prometheus, true, path, text(&groups)?);
            for group in &mut groups {
                let first = FIRST_INTERVAL.map(|(name, value)| (name.into(), value.into()));
                group.labels.extend(first);
            }
            target.first = Some(RenderedFile {
                text: text(&groups)?,
                ..target.file.clone()
            });
            Ok(target)
        })
        .collect()
}

fn text(groups: &[TargetGroup]) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(groups);
    let text = text.map_err(|error| Failure::step(format!("cannot write targets: {error}")))?;
    Ok(text + "\n")
}

/// One group for each host that runs `component`.
fn groups(cluster: &Cluster, component: Component) -> Vec<TargetGroup> {
    let runs = |host: &&Host| components_on(cluster, host).contains(&component);
    let group = |host: &Host| TargetGroup {
        targets: vec![endpoint(cluster, host, component)],
        labels: labels(cluster, host),
    };
    cluster.hosts.iter().filter(runs).map(group).collect()
}

fn labels(cluster: &Cluster, host: &Host) -> BTreeMap<String, String> {
    let roles: Vec<String> = host.roles.iter().map(Role::to_string).collect();
    let mut labels = host.labels.clone();
    labels.insert("cluster".into(), cluster.name.clone());
    labels.insert("host".into(), host.name.to_string());
    labels.insert("role".into(), roles.join(","));
    labels
}
