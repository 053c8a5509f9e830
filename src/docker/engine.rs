//! Connections to engines.
//!
//! Duties: one client a host, made when first needed; the API version that both sides know; failures that name the host.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use bollard::{API_DEFAULT_VERSION, Docker};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use nbctl_core::container::{ImageSpec, RegistryImage};
use nbctl_core::failure::Failure;
use nbctl_core::plan::{Action, Step};
use nbctl_core::units::{HostName, RemotePath};
use tokio::sync::Mutex;

use crate::event::{Sink, StepOutcome};
use crate::remote::{Bridge, Link};
use crate::runner::Containers;

/// Seconds until an answer begins; loading a large image takes its time.
const PATIENCE_S: u64 = 600;

/// The engine of one host; cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) host: HostName,
    pub(super) docker: Docker,
    pub(super) version: String,
    /// What carries the connections, when the socket itself may not be opened.
    bridge: Option<Arc<Bridge>>,
}

impl Engine {
    /// Through the forwarded socket of `link`.
    ///
    /// # Errors
    /// The forward is refused, or no engine answers.
    pub async fn connect(link: &Link, socket: &RemotePath) -> Result<Self, Failure> {
        let local = link.forward_unix(socket.as_str()).await?;
        let made =
            Docker::connect_with_unix(&local.to_string_lossy(), PATIENCE_S, API_DEFAULT_VERSION);
        Self::negotiate(link.host().clone(), made, socket.as_str()).await
    }

    /// Through `docker system dial-stdio` under sudo, for a login user who may not open the socket; needs the
    /// docker command there, and some 100 ms a request.
    ///
    /// # Errors
    /// No bridge can be made, or no engine answers.
    pub async fn connect_under_sudo(link: &Link, socket: &RemotePath) -> Result<Self, Failure> {
        let host = format!("unix://{socket}");
        let bridge = link.bridge(&["docker", "-H", &host, "system", "dial-stdio"])?;
        let local = bridge.path().to_string_lossy().into_owned();
        let made = Docker::connect_with_unix(&local, PATIENCE_S, API_DEFAULT_VERSION);
        let mut engine = Self::negotiate(link.host().clone(), made, socket.as_str()).await?;
        engine.bridge = Some(Arc::new(bridge));
        Ok(engine)
    }

    /// At `address:port` without TLS; for tests.
    ///
    /// # Errors
    /// No engine answers.
    pub async fn connect_tcp(host: HostName, address: &str) -> Result<Self, Failure> {
        let made = Docker::connect_with_http(address, PATIENCE_S, API_DEFAULT_VERSION);
        Self::negotiate(host, made, address).await
    }

    async fn negotiate(
        host: HostName,
        made: Result<Docker, bollard::errors::Error>,
        place: &str,
    ) -> Result<Self, Failure> {
        let no_engine = |error: &bollard::errors::Error| {
            Failure::host(format!(
                "no Docker engine answers on {place}: {}",
                words(error)
            ))
            .at(host.to_string())
            .hint("start it on the host: systemctl start docker")
        };
        let docker = made.map_err(|error| no_engine(&error))?;
        let docker = docker
            .negotiate_version()
            .await
            .map_err(|error| no_engine(&error))?;
        let version = docker.version().await.map_err(|error| no_engine(&error))?;
        Ok(Self {
            host,
            docker,
            version: version.version.unwrap_or_default(),
            bridge: None,
        })
    }

    /// Where volumes, images and containers are on the host; `None` when the engine does not tell.
    pub async fn data_root(&self) -> Option<String> {
        self.docker.info().await.ok()?.docker_root_dir
    }

    /// A failure of this engine.
    pub(super) fn failed(&self, what: &str, error: &bollard::errors::Error) -> Failure {
        Failure::step(format!("{what}: {}", words(error)))
            .at(format!("{}, Docker engine", self.host))
    }
}

/// What the engine says, without bollard's own framing.
pub(super) fn words(error: &bollard::errors::Error) -> String {
    match error {
        bollard::errors::Error::DockerResponseServerError { message, .. } => message.clone(),
        bollard::errors::Error::DockerStreamError { error } => error.clone(),
        other => {
            let mut cause: &dyn std::error::Error = other;
            while let Some(inner) = cause.source() {
                cause = inner;
            }
            cause.to_string()
        }
    }
}

/// Status of an answer that is an error.
pub(super) fn status(error: &bollard::errors::Error) -> Option<u16> {
    match error {
        bollard::errors::Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

/// Engines by host.
#[derive(Debug)]
pub struct Engines {
    socket: RemotePath,
    cluster_id: String,
    open: Mutex<BTreeMap<HostName, Engine>>,
    sudo: Mutex<BTreeSet<HostName>>,
}

impl Engines {
    /// All reached by the same path; `cluster_id` is whose containers are ours.
    pub fn new(socket: RemotePath, cluster_id: String) -> Self {
        Self {
            socket,
            cluster_id,
            open: Mutex::new(BTreeMap::new()),
            sudo: Mutex::new(BTreeSet::new()),
        }
    }

    /// The engine of `host` is spoken to under sudo.
    pub async fn under_sudo(&self, host: &HostName) {
        self.sudo.lock().await.insert(host.clone());
    }

    /// The engine of a host.
    ///
    /// # Errors
    /// Those of [`Engine::connect`].
    pub async fn on(&self, link: &Link) -> Result<Engine, Failure> {
        if let Some(engine) = self.open.lock().await.get(link.host()) {
            return Ok(engine.clone());
        }
        let engine = if self.sudo.lock().await.contains(link.host()) {
            Engine::connect_under_sudo(link, &self.socket).await?
        } else {
            Engine::connect(link, &self.socket).await?
        };
        self.open
            .lock()
            .await
            .insert(link.host().clone(), engine.clone());
        Ok(engine)
    }
}

impl Engines {
    /// A registry that only this machine reaches is, for as long as it takes, a port of the host's loopback: engines speak
    /// to those without TLS and without being told to.
    async fn image(
        &self,
        engine: &Engine,
        link: &Link,
        image: &ImageSpec,
        sink: &dyn Sink,
    ) -> Result<StepOutcome, Failure> {
        let forwarded = image
            .registry
            .as_ref()
            .filter(|registry| registry.forwarded);
        let Some(registry) = forwarded else {
            return engine.ensure_image(image, &self.cluster_id, sink).await;
        };
        let near = link.reverse_tcp(&registry.address).await?;
        let address = near.address().to_string();
        let image = ImageSpec {
            registry: Some(RegistryImage {
                address: address.clone(),
                ..registry.clone()
            }),
            ..image.clone()
        };
        let ended = engine.ensure_image(&image, &self.cluster_id, sink).await;
        near.close().await;
        let what = format!(
            "{address} is {} as this machine reaches it",
            registry.address
        );
        ended.map_err(|failure| failure.line(what))
    }
}

impl Containers for Engines {
    fn apply<'a>(
        &'a self,
        link: &'a Link,
        step: &'a Step,
        sink: &'a dyn Sink,
    ) -> BoxFuture<'a, Result<StepOutcome, Failure>> {
        async move {
            let engine = self.on(link).await?;
            match &step.action {
                Action::Image(image) => self.image(&engine, link, image, sink).await,
                Action::Container(spec) => engine.ensure_container(spec).await,
                Action::Remove(removal) => engine.remove(removal, &self.cluster_id, sink).await,
                _ => Err(Failure::step(format!(
                    "{}: nothing for an engine",
                    step.title
                ))),
            }
        }
        .boxed()
    }
}

/// Whether `path` can be read here; told before anything is sent.
pub(super) fn readable(path: &Path) -> Result<u64, Failure> {
    let length = std::fs::metadata(path).map(|meta| meta.len());
    length.map_err(|error| {
        Failure::data(format!("cannot read the image archive: {error}"))
            .at(path.display().to_string())
    })
}
