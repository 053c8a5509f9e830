//! A container that must run exactly so.
//!
//! Duties: unchanged is untouched, stopped is started, changed is replaced, a name that somebody else's container has is a
//! failure that says so; its volumes are made with our labels first, or they could not be told from others'.

use bollard::models::{ContainerInspectResponse, VolumeCreateRequest};
use bollard::query_parameters::{
    CreateContainerOptionsBuilder, InspectContainerOptions, LogsOptionsBuilder,
    RemoveContainerOptionsBuilder, StartContainerOptions,
};
use futures_util::StreamExt as _;
use nbctl_core::container::{ContainerSpec, LABEL_CLUSTER, LABEL_OWNER, LABEL_SPEC, OWNER};
use nbctl_core::failure::Failure;

use super::Engine;
use super::engine::status;
use super::spec::{body, owner_labels};
use crate::event::StepOutcome;

impl Engine {
    /// Makes it so.
    ///
    /// # Errors
    /// The name is taken by a container that is not ours, or the engine refuses; the last lines of the container are
    /// shown when it does not start.
    pub async fn ensure_container(&self, spec: &ContainerSpec) -> Result<StepOutcome, Failure> {
        let there = self.inspect(&spec.name).await?;
        if let Some(there) = &there {
            self.check_ours(there, &spec.name, &spec.cluster_id)?;
            if label(there, LABEL_SPEC) == spec.hash().to_string() {
                return self.start_again(there, spec).await;
            }
        }
        self.make_volumes(spec).await?;
        if there.is_none() {
            return Box::pin(self.make_checked(spec)).await;
        }
        // What runs goes on until its successor's files are known to be good.
        self.check(spec).await?;
        self.remove_container(&spec.name).await?;
        self.make(spec).await?;
        Ok(StepOutcome::Done)
    }

    /// Nothing runs yet, so the check need not be waited for; what it refuses does not stay.
    async fn make_checked(&self, spec: &ContainerSpec) -> Result<StepOutcome, Failure> {
        let (good, made) = tokio::join!(self.check(spec), self.make(spec));
        if good.is_err() {
            self.remove_container(&spec.name).await?;
        }
        good?;
        made?;
        Ok(StepOutcome::Done)
    }

    async fn make(&self, spec: &ContainerSpec) -> Result<(), Failure> {
        let options = CreateContainerOptionsBuilder::new()
            .name(&spec.name)
            .build();
        let made = self
            .docker
            .create_container(Some(options), body(spec))
            .await;
        made.map_err(|error| {
            self.failed(&format!("cannot create container {}", spec.name), &error)
        })?;
        self.start(spec).await
    }

    /// The container of this name, if there is one.
    pub(super) async fn inspect(
        &self,
        name: &str,
    ) -> Result<Option<ContainerInspectResponse>, Failure> {
        match self
            .docker
            .inspect_container(name, None::<InspectContainerOptions>)
            .await
        {
            Ok(there) => Ok(Some(there)),
            Err(error) if status(&error) == Some(404) => Ok(None),
            Err(error) => Err(self.failed(&format!("cannot look at container {name}"), &error)),
        }
    }

    /// Nothing without our labels is touched, whatever its name.
    pub(super) fn check_ours(
        &self,
        there: &ContainerInspectResponse,
        name: &str,
        cluster_id: &str,
    ) -> Result<(), Failure> {
        if label(there, LABEL_OWNER) == OWNER && label(there, LABEL_CLUSTER) == cluster_id {
            return Ok(());
        }
        let what = if label(there, LABEL_OWNER) == OWNER {
            format!("container {name} belongs to another cluster of nbctl")
        } else {
            format!("a container {name} is there that nbctl did not make")
        };
        Err(Failure::step(what).at(self.host.to_string()).hint(format!(
            "look at it with `docker inspect {name}`; rename or remove it by hand"
        )))
    }

    pub(super) async fn remove_container(&self, name: &str) -> Result<(), Failure> {
        // `v` takes anonymous volumes along; named ones stay.
        let options = RemoveContainerOptionsBuilder::new()
            .force(true)
            .v(true)
            .build();
        match self.docker.remove_container(name, Some(options)).await {
            Err(error) if status(&error) != Some(404) => {
                Err(self.failed(&format!("cannot remove container {name}"), &error))
            }
            _ => Ok(()),
        }
    }

    async fn start_again(
        &self,
        there: &ContainerInspectResponse,
        spec: &ContainerSpec,
    ) -> Result<StepOutcome, Failure> {
        let state = there.state.as_ref();
        let runs = state.and_then(|state| state.running).unwrap_or(false);
        let restarts = state.and_then(|state| state.restarting).unwrap_or(false);
        if runs && !restarts {
            return Ok(StepOutcome::AlreadySo);
        }
        self.start(spec).await?;
        Ok(StepOutcome::Done)
    }

    async fn start(&self, spec: &ContainerSpec) -> Result<(), Failure> {
        let started = self
            .docker
            .start_container(&spec.name, None::<StartContainerOptions>)
            .await;
        match started {
            Ok(()) => Ok(()),
            Err(error) => {
                let failure = self.failed(&format!("cannot start container {}", spec.name), &error);
                Err(failure.lines(self.last_lines(&spec.name).await))
            }
        }
    }

    /// The end of what a container wrote.
    ///
    /// Empty when the engine cannot tell.
    pub async fn last_lines(&self, name: &str) -> Vec<String> {
        let options = LogsOptionsBuilder::new()
            .stdout(true)
            .stderr(true)
            .tail("8")
            .build();
        let mut logs = self.docker.logs(name, Some(options));
        let mut lines = Vec::new();
        while let Some(Ok(line)) = logs.next().await {
            lines.push(line.to_string().trim_end().to_owned());
        }
        lines
    }

    /// Named volumes are the mounts whose source is no path.
    async fn make_volumes(&self, spec: &ContainerSpec) -> Result<(), Failure> {
        let sources = spec
            .mounts
            .iter()
            .filter_map(|mount| mount.split(':').next());
        for name in sources.filter(|source| !source.starts_with('/')) {
            let request = VolumeCreateRequest {
                name: Some(name.to_owned()),
                labels: Some(owner_labels(&spec.cluster_id, &spec.component)),
                ..Default::default()
            };
            let made = self.docker.create_volume(request).await;
            let volume =
                made.map_err(|error| self.failed(&format!("cannot create volume {name}"), &error))?;
            if volume.labels.get(LABEL_CLUSTER) != Some(&spec.cluster_id) {
                return Err(Failure::step(format!(
                    "a volume {name} is there that nbctl did not make"
                ))
                .at(self.host.to_string())
                .hint("rename or remove it by hand"));
            }
        }
        Ok(())
    }
}

/// A label of a container; empty when it has none.
fn label(there: &ContainerInspectResponse, name: &str) -> String {
    let labels = there
        .config
        .as_ref()
        .and_then(|config| config.labels.as_ref());
    labels
        .and_then(|labels| labels.get(name))
        .cloned()
        .unwrap_or_default()
}
