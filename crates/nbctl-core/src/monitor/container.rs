//! A component of the stack as a container of one host.

use std::collections::BTreeMap;

use serde_json::json;

use super::files::StackFile;
use super::host::HostState;
use super::stack::{Network, Part, Stack, context, render};
use super::up::Desired;
use super::{endpoint, object_name};
use crate::container::{ContainerSpec, ImageSpec};
use crate::failure::Failure;
use crate::inventory::{Cluster, Component, Host};

/// The container of `component`; `image` is what the engine has it from.
///
/// # Errors
/// A text of the stack that cannot be rendered.
pub fn spec(
    want: &Desired<'_>,
    host: &Host,
    component: Component,
    image: &ImageSpec,
    state: &HostState,
    files: &[StackFile],
) -> Result<ContainerSpec, Failure> {
    let (cluster, stack) = (want.cluster, want.stack);
    let part = stack.part(component)?;
    let values = values(cluster, host, stack, component, state)?;
    let text = |template: &String| render("monitoring/stack.yaml", template, &values);
    let texts = |all: &[String]| all.iter().map(text).collect::<Result<Vec<_>, _>>();
    let env = part
        .env
        .iter()
        .map(|(key, value)| Ok((key.clone(), text(value)?)));
    Ok(ContainerSpec {
        name: object_name(cluster, component),
        component: component.as_str().to_owned(),
        cluster_id: cluster.id.clone(),
        image: image.reference.clone(),
        image_id: image.id.clone(),
        entrypoint: texts(&part.entrypoint)?,
        args: texts(&part.args)?,
        env: env.collect::<Result<BTreeMap<_, _>, Failure>>()?,
        mounts: texts(&part.mounts)?,
        host_network: part.network == Network::Host,
        host_pid: part.host_pid,
        ports: ports(&endpoint(cluster, host, component), part),
        cap_add: part.cap_add.clone(),
        read_only: part.read_only,
        user: text(&part.user)?,
        memory_mib: part.memory_mib,
        check: texts(&part.check)?,
        files: digests(component, files),
    })
}

fn values(
    cluster: &Cluster,
    host: &Host,
    stack: &Stack,
    component: Component,
    state: &HostState,
) -> Result<tera::Context, Failure> {
    let own = endpoint(cluster, host, component);
    let (address, port) = own.rsplit_once(':').unwrap_or((&own, ""));
    let dir = host
        .monitor_dir
        .as_ref()
        .map(|dir| dir.join(component.as_str()).to_string());
    context(&json!({
        "address": address,
        "port": port,
        "dir": dir,
        "volume": object_name(cluster, component),
        "retention_s": cluster.monitor.as_ref().map(|m| m.retention_s),
        "rootfs": if state.root_shared { "ro,rslave" } else { "ro" },
        "database": stack.database,
        "uid": state.uid,
    }))
}

fn ports(endpoint: &str, part: &Part) -> Vec<String> {
    match (part.network, part.container_port) {
        (Network::Bridge, Some(inside)) => vec![format!("{endpoint}:{inside}")],
        _ => Vec::new(),
    }
}

/// Files whose change needs a new container.
fn digests(component: Component, files: &[StackFile]) -> BTreeMap<String, crate::units::Sha256> {
    let fixed = files
        .iter()
        .filter(|file| file.component == component && !file.live);
    fixed
        .map(|file| (file.file.path.to_string(), file.file.sha256()))
        .collect()
}
