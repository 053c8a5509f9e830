//! Containers and images as values.
//!
//! Purpose: what the monitoring stack asks of a host's engine, comparable by hash (design 4, 7).
//! Duties: describe; [`ContainerSpec::hash`] decides "unchanged"; nothing here talks to an engine.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::units::Sha256;

/// Label on everything we create; its value is [`OWNER`].
pub const LABEL_OWNER: &str = "nbctl.owner";
/// Value of [`LABEL_OWNER`].
pub const OWNER: &str = "nbctl";
/// Label with the cluster's id.
pub const LABEL_CLUSTER: &str = "nbctl.cluster";
/// Label with the component's name.
pub const LABEL_COMPONENT: &str = "nbctl.component";
/// Label with [`ContainerSpec::hash`].
pub const LABEL_SPEC: &str = "nbctl.spec";

/// An image and where it can be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImageSpec {
    /// Reference on the engine, e.g. `prom/prometheus:v2.42.0`.
    pub reference: String,
    /// Tarball on the control machine; `None`: pull.
    pub tarball: Option<String>,
    /// Expected image id (`sha256:…`) when known.
    pub id: Option<String>,
    /// Digests of its layers when known: engines with the containerd store number images otherwise.
    pub layers: Vec<String>,
    /// Where it is pulled from; `None`: the registry that its reference names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<RegistryImage>,
}

/// An image as a registry of the user's own has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegistryImage {
    /// `host:port`.
    pub address: String,
    /// Reached from the control machine only; engines get it through ssh.
    pub forwarded: bool,
    /// Below the address, the best first: `prom/prometheus@sha256:…`, `prom/prometheus:v3.5.0`. A copy of an image for one
    /// architecture has another digest than the original for all of them.
    pub names: Vec<String>,
}

/// A container that must run exactly so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContainerSpec {
    /// Container name on the engine.
    pub name: String,
    /// Component: `prometheus`, `node-exporter`, …
    pub component: String,
    /// Id of our cluster.
    pub cluster_id: String,
    /// Image reference.
    pub image: String,
    /// Id of the image when it is known: another image under the same name makes another container.
    pub image_id: Option<String>,
    /// Replaces the image's entry point when not empty.
    pub entrypoint: Vec<String>,
    /// Arguments.
    pub args: Vec<String>,
    /// Environment (never a secret; secrets go by file).
    pub env: BTreeMap<String, String>,
    /// Bind mounts `host:container[:ro]` and named volumes `volume:container`.
    pub mounts: Vec<String>,
    /// `host` network when true, else published `ports`.
    pub host_network: bool,
    /// `host` process namespace.
    pub host_pid: bool,
    /// Published ports `address:port:container-port`.
    pub ports: Vec<String>,
    /// Capabilities added after all were dropped.
    pub cap_add: Vec<String>,
    /// Root file system read-only.
    pub read_only: bool,
    /// `user[:group]`; empty: the image's.
    pub user: String,
    /// Most memory, MiB; 0 sets no limit.
    pub memory_mib: u64,
    /// Command run with the same image and mounts before the container is made; it must exit with 0. Empty: none.
    pub check: Vec<String>,
    /// Digests of the files mounted in, so that a changed configuration replaces the container.
    pub files: BTreeMap<String, Sha256>,
}

impl ContainerSpec {
    /// Digest of everything that makes this container what it is.
    pub fn hash(&self) -> Sha256 {
        Sha256::of(serde_json::to_string(self).unwrap_or_default().as_bytes())
    }
}
