//! From our specification to what the engine is asked for.

use std::collections::HashMap;

use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig, PortBinding, PortMap};
use bollard::models::{RestartPolicy, RestartPolicyNameEnum};
use nbctl_core::container::{
    ContainerSpec, LABEL_CLUSTER, LABEL_COMPONENT, LABEL_OWNER, LABEL_SPEC, OWNER,
};

/// The body of a create request.
pub(super) fn body(spec: &ContainerSpec) -> ContainerCreateBody {
    let some = |list: &Vec<String>| (!list.is_empty()).then(|| list.clone());
    let env: Vec<String> = spec
        .env
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    ContainerCreateBody {
        image: Some(spec.image.clone()),
        labels: Some(labels(spec)),
        entrypoint: some(&spec.entrypoint),
        cmd: some(&spec.args),
        env: some(&env),
        user: (!spec.user.is_empty()).then(|| spec.user.clone()),
        exposed_ports: (!spec.ports.is_empty()).then(|| port_map(spec).into_keys().collect()),
        host_config: Some(host_config(spec)),
        ..Default::default()
    }
}

/// The body of a create request for the specification's check: once, without ports.
pub(super) fn check_body(spec: &ContainerSpec) -> ContainerCreateBody {
    let (program, args) = spec.check.split_at(spec.check.len().min(1));
    let once = ContainerSpec {
        entrypoint: program.to_vec(),
        args: args.to_vec(),
        ports: Vec::new(),
        ..spec.clone()
    };
    let mut body = body(&once);
    if let Some(host) = &mut body.host_config {
        host.restart_policy = None;
    }
    body
}

/// Labels of everything that is ours.
pub(super) fn owner_labels(cluster_id: &str, component: &str) -> HashMap<String, String> {
    [
        (LABEL_OWNER, OWNER),
        (LABEL_CLUSTER, cluster_id),
        (LABEL_COMPONENT, component),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into()
}

/// Filter for what carries the labels of this cluster.
pub(super) fn ours(cluster_id: &str) -> HashMap<String, Vec<String>> {
    let labels = vec![
        format!("{LABEL_OWNER}={OWNER}"),
        format!("{LABEL_CLUSTER}={cluster_id}"),
    ];
    HashMap::from([("label".to_owned(), labels)])
}

fn labels(spec: &ContainerSpec) -> HashMap<String, String> {
    let mut labels = owner_labels(&spec.cluster_id, &spec.component);
    labels.insert(LABEL_SPEC.to_owned(), spec.hash().to_string());
    labels
}

fn host_config(spec: &ContainerSpec) -> HostConfig {
    let mode = |host: bool| host.then(|| "host".to_owned());
    HostConfig {
        binds: Some(spec.mounts.clone()),
        network_mode: mode(spec.host_network),
        pid_mode: mode(spec.host_pid),
        port_bindings: (!spec.ports.is_empty()).then(|| port_map(spec)),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: (!spec.cap_add.is_empty()).then(|| spec.cap_add.clone()),
        readonly_rootfs: Some(spec.read_only),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        memory: memory(spec.memory_mib),
        log_config: Some(small_logs()),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::UNLESS_STOPPED),
            maximum_retry_count: None,
        }),
        ..Default::default()
    }
}

fn memory(mib: u64) -> Option<i64> {
    i64::try_from(mib << 20).ok().filter(|bytes| *bytes > 0)
}

/// A stack that runs for months must not fill the disk with its own logs.
fn small_logs() -> HostConfigLogConfig {
    let options = [("max-size", "10m"), ("max-file", "3")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    HostConfigLogConfig {
        typ: Some("json-file".to_owned()),
        config: Some(options.into()),
    }
}

/// `address:port:inside` as the engine writes it.
fn port_map(spec: &ContainerSpec) -> PortMap {
    let mut map = PortMap::new();
    for port in &spec.ports {
        let mut parts = port.rsplitn(3, ':');
        let (inside, outside, address) = (parts.next(), parts.next(), parts.next());
        let binding = PortBinding {
            host_ip: address.map(str::to_owned),
            host_port: outside.map(str::to_owned),
        };
        let key = format!("{}/tcp", inside.unwrap_or_default());
        map.entry(key)
            .or_default()
            .get_or_insert_default()
            .push(binding);
    }
    map
}
