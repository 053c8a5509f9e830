//! What the stack is made from: `stack.yaml`, templates, image archives, the exporter's own image.

use std::path::Path;

use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Component, Host, Monitor};
use nbctl_core::monitor::{self, Desired, ImageIndex, OwnImage, Stack, StackFile, Templates};

use super::own_image;
use crate::context::Context;

/// Folder in the state folder with the images of the bundle that was loaded last.
pub const BUNDLED_IMAGES: &str = "bundled-images";

/// Read once a command.
#[derive(Debug)]
pub struct Sources {
    /// Images, rights, files.
    pub stack: Stack,
    templates: Templates,
    index: Option<ImageIndex>,
    own: Option<OwnImage>,
    marker: String,
    offline: bool,
}

impl Sources {
    /// Reads the assets; what images need is read by [`Sources::with_images`].
    ///
    /// # Errors
    /// An asset is missing or wrong.
    pub fn new(ctx: &Context) -> Result<Self, Failure> {
        let stack = Stack::parse(&ctx.assets.text("monitoring/stack.yaml")?)?;
        let mut templates = Templates::new();
        for file in stack.components.values().flat_map(|part| &part.files) {
            templates.insert(file.template.clone(), ctx.assets.text(&file.template)?);
        }
        Ok(Self {
            stack,
            templates,
            index: None,
            own: None,
            marker: marker(&ctx.cluster),
            offline: ctx.global.offline,
        })
    }

    /// Reads the image index and makes the exporter's image when it is wanted.
    ///
    /// # Errors
    /// The folder has no index, or this nbctl cannot run in an image.
    pub fn with_images(mut self, ctx: &Context, monitor: &Monitor) -> Result<Self, Failure> {
        let loaded = ctx.state_dir.join(BUNDLED_IMAGES);
        if let Some(folder) = &monitor.images {
            self.index = Some(read_index(folder)?);
        } else if loaded.is_dir() {
            self.index = Some(read_index(&loaded)?);
        }
        if monitor.components.contains(&Component::Exporter) {
            let name = &self.stack.part(Component::Exporter)?.image;
            self.own = Some(own_image::make(&ctx.state_dir.join("images"), name)?);
        }
        Ok(self)
    }

    /// What is wanted.
    pub fn desired<'a>(&'a self, cluster: &'a Cluster) -> Desired<'a> {
        Desired {
            cluster,
            stack: &self.stack,
            index: self.index.as_ref(),
            own: self.own.as_ref(),
            offline: self.offline,
            marker: &self.marker,
        }
    }

    /// Files of one host.
    ///
    /// # Errors
    /// A template is wrong.
    pub fn files(&self, cluster: &Cluster, host: &Host) -> Result<Vec<StackFile>, Failure> {
        monitor::files(cluster, host, &self.stack, &self.templates)
    }
}

/// The index of a folder with image archives.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn read_index(folder: &Path) -> Result<ImageIndex, Failure> {
    let path = folder.join("index.yaml");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::inventory(format!("cannot read the image index: {error}"))
            .at(path.display().to_string())
            .hint("`monitor.images` names a folder with image archives and their index.yaml")
    })?;
    ImageIndex::parse(&text, &folder.to_string_lossy())
}

fn marker(cluster: &Cluster) -> String {
    format!(
        "nbctl-owner 1\ncluster_id={}\ncluster={}\ncontrol={}\ntime={}\n",
        cluster.id,
        cluster.name,
        Context::control_name(),
        jiff::Timestamp::now()
    )
}
