//! Removal of what is ours.

use bollard::query_parameters::{
    ListVolumesOptionsBuilder, RemoveImageOptionsBuilder, RemoveVolumeOptions,
};
use nbctl_core::failure::Failure;
use nbctl_core::plan::Removal;

use super::Engine;
use super::engine::status;
use super::spec::ours;
use crate::event::{Sink, StepOutcome};

impl Engine {
    /// Removes a container, a volume or an image; gone already is fine.
    ///
    /// # Errors
    /// It is not ours, or the engine refuses.
    pub async fn remove(
        &self,
        removal: &Removal,
        cluster_id: &str,
        sink: &dyn Sink,
    ) -> Result<StepOutcome, Failure> {
        match removal {
            Removal::Container(name) => self.drop_container(name, cluster_id).await,
            Removal::Volume(name) => self.drop_volume(name, cluster_id).await,
            Removal::Image(mark) => self.drop_image(mark, sink).await,
        }
    }

    async fn drop_container(&self, name: &str, cluster_id: &str) -> Result<StepOutcome, Failure> {
        let Some(there) = self.inspect(name).await? else {
            return Ok(StepOutcome::AlreadySo);
        };
        self.check_ours(&there, name, cluster_id)?;
        self.remove_container(name).await?;
        Ok(StepOutcome::Done)
    }

    async fn drop_volume(&self, name: &str, cluster_id: &str) -> Result<StepOutcome, Failure> {
        let options = ListVolumesOptionsBuilder::new()
            .filters(&ours(cluster_id))
            .build();
        let listed = self.docker.list_volumes(Some(options)).await;
        let listed = listed.map_err(|error| self.failed("cannot list volumes", &error))?;
        if !listed
            .volumes
            .unwrap_or_default()
            .iter()
            .any(|volume| volume.name == name)
        {
            return Ok(StepOutcome::AlreadySo);
        }
        let removed = self
            .docker
            .remove_volume(name, None::<RemoveVolumeOptions>)
            .await;
        removed.map_err(|error| self.failed(&format!("cannot remove volume {name}"), &error))?;
        Ok(StepOutcome::Done)
    }

    /// The image behind our mark, under all its names; one that others use stays, and that is said.
    async fn drop_image(&self, mark: &str, sink: &dyn Sink) -> Result<StepOutcome, Failure> {
        let there = match self.docker.inspect_image(mark).await {
            Ok(there) => there,
            Err(error) if status(&error) == Some(404) => return Ok(StepOutcome::AlreadySo),
            Err(error) => return Err(self.failed(&format!("cannot look at image {mark}"), &error)),
        };
        let mut names = there.repo_tags.unwrap_or_default();
        names.extend(there.repo_digests.unwrap_or_default());
        // The mark goes last: as long as it is there, the next purge knows what to do.
        names.sort_by_key(|name| name == mark);
        for name in names {
            let options = RemoveImageOptionsBuilder::new().build();
            match self.docker.remove_image(&name, Some(options), None).await {
                Ok(_) => {}
                Err(error) if status(&error) == Some(404) => {}
                Err(error) if status(&error) == Some(409) => {
                    sink.note(format!(
                        "{}: image {name} stays, a container uses it",
                        self.host
                    ));
                    return Ok(StepOutcome::Done);
                }
                Err(error) => {
                    return Err(self.failed(&format!("cannot remove image {name}"), &error));
                }
            }
        }
        Ok(StepOutcome::Done)
    }
}
