//! What an engine has.

use std::collections::BTreeMap;

use bollard::models::{ContainerSummary, ContainerSummaryStateEnum};
use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListImagesOptionsBuilder, ListVolumesOptionsBuilder,
};
use nbctl_core::container::{LABEL_COMPONENT, LABEL_SPEC};
use nbctl_core::failure::Failure;
use nbctl_core::monitor::{EngineState, Found};

use super::Engine;
use super::spec::ours;

impl Engine {
    /// Containers and volumes of this cluster, and all images.
    ///
    /// # Errors
    /// The engine's own words.
    pub async fn state(&self, cluster_id: &str) -> Result<EngineState, Failure> {
        let filters = ours(cluster_id);
        let containers = ListContainersOptionsBuilder::new()
            .all(true)
            .filters(&filters)
            .build();
        let volumes = ListVolumesOptionsBuilder::new().filters(&filters).build();
        let images = ListImagesOptionsBuilder::new().build();
        let (containers, volumes, images) = tokio::join!(
            self.docker.list_containers(Some(containers)),
            self.docker.list_volumes(Some(volumes)),
            self.docker.list_images(Some(images)),
        );
        let containers =
            containers.map_err(|error| self.failed("cannot list containers", &error))?;
        let volumes = volumes.map_err(|error| self.failed("cannot list volumes", &error))?;
        let images = images.map_err(|error| self.failed("cannot list images", &error))?;
        let mut references = BTreeMap::new();
        for image in images {
            for reference in image.repo_tags.into_iter().chain(image.repo_digests) {
                references.insert(reference, image.id.clone());
            }
        }
        Ok(EngineState {
            version: self.version.clone(),
            containers: containers.iter().map(found).collect(),
            images: references,
            volumes: volumes
                .volumes
                .unwrap_or_default()
                .into_iter()
                .map(|volume| volume.name)
                .collect(),
        })
    }
}

/// Name and state of one container.
pub(super) fn found(container: &ContainerSummary) -> (String, Found) {
    let label = |name: &str| {
        let labels = container.labels.as_ref();
        labels
            .and_then(|labels| labels.get(name))
            .cloned()
            .unwrap_or_default()
    };
    let found = Found {
        component: label(LABEL_COMPONENT),
        spec: label(LABEL_SPEC),
        running: container.state == Some(ContainerSummaryStateEnum::RUNNING),
        status: container.status.clone().unwrap_or_default(),
        image: container.image.clone().unwrap_or_default(),
    };
    (name(container), found)
}

fn name(container: &ContainerSummary) -> String {
    let first = container.names.as_ref().and_then(|names| names.first());
    first
        .map(|name| name.trim_start_matches('/').to_owned())
        .unwrap_or_default()
}
