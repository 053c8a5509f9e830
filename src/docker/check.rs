//! A look at a component's files by its own program, before a container reads them.
//!
//! Duties: the same image and mounts, once; gone afterwards whatever it said.

use bollard::errors::Error;
use bollard::query_parameters::{
    CreateContainerOptionsBuilder, RestartContainerOptions, StartContainerOptions,
    WaitContainerOptions,
};
use futures_util::StreamExt as _;
use nbctl_core::container::ContainerSpec;
use nbctl_core::failure::Failure;

use super::Engine;
use super::spec::check_body;

impl Engine {
    /// Runs the check of `spec`, if it has one.
    ///
    /// # Errors
    /// Those of [`Engine::once`].
    pub(super) async fn check(&self, spec: &ContainerSpec) -> Result<(), Failure> {
        if spec.check.is_empty() {
            return Ok(());
        }
        let what = format!("{} refuses its configuration", spec.component);
        self.once(spec, &what).await
    }

    /// Runs `spec.check` in a container as `spec` describes; `what` is what it means when that fails.
    ///
    /// # Errors
    /// The command's own last lines when it does not exit with 0, or the engine's words.
    pub async fn once(&self, spec: &ContainerSpec, what: &str) -> Result<(), Failure> {
        let name = format!("{}-check", spec.name);
        if let Some(left) = self.inspect(&name).await? {
            self.check_ours(&left, &name, &spec.cluster_id)?;
            self.remove_container(&name).await?;
        }
        let options = CreateContainerOptionsBuilder::new().name(&name).build();
        let made = self
            .docker
            .create_container(Some(options), check_body(spec))
            .await;
        made.map_err(|error| self.failed(&format!("cannot create container {name}"), &error))?;
        let checked = self.checked(spec, &name, what).await;
        self.remove_container(&name).await?;
        checked
    }

    /// Ends a container of ours and starts it again.
    ///
    /// # Errors
    /// It is not ours, or the engine's words.
    pub async fn restart(&self, spec: &ContainerSpec) -> Result<(), Failure> {
        if let Some(there) = self.inspect(&spec.name).await? {
            self.check_ours(&there, &spec.name, &spec.cluster_id)?;
        }
        let done = self
            .docker
            .restart_container(&spec.name, None::<RestartContainerOptions>)
            .await;
        done.map_err(|error| self.failed(&format!("cannot restart {}", spec.name), &error))
    }

    async fn checked(&self, spec: &ContainerSpec, name: &str, what: &str) -> Result<(), Failure> {
        let started = self
            .docker
            .start_container(name, None::<StartContainerOptions>)
            .await;
        started.map_err(|error| self.failed(&format!("cannot start container {name}"), &error))?;
        let mut ended = self
            .docker
            .wait_container(name, None::<WaitContainerOptions>);
        match ended.next().await {
            Some(Ok(_)) => Ok(()),
            Some(Err(Error::DockerContainerWaitError { .. })) => {
                Err(Failure::step(what.to_owned())
                    .at(format!("{}, {}", self.host, spec.check.join(" ")))
                    .lines(self.last_lines(name).await))
            }
            Some(Err(error)) => Err(self.failed(&format!("cannot wait for {name}"), &error)),
            None => {
                Err(Failure::step(format!("no word about the end of {name}"))
                    .at(self.host.to_string()))
            }
        }
    }
}
