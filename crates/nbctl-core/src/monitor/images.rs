//! Which image a component gets and where it comes from.
//!
//! Duty: the image folder's index wins; then what the engine has; then the inventory's registry; then the public one, unless
//! the inventory names a folder. Neither when the network must not be touched.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::stack::Part;
use super::up::Desired;
use crate::container::{ImageSpec, OWNER, RegistryImage};
use crate::failure::Failure;
use crate::inventory::{Component, Registry, RegistryReach};

/// `index.yaml` of a folder with image archives.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageIndex {
    /// Version of this file format: 1.
    pub format: u32,
    /// One entry for each component.
    pub images: Vec<ImageEntry>,
    /// The folder; filled in by the reader.
    #[serde(skip)]
    pub folder: String,
}

/// Image of one component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageEntry {
    /// Which component.
    pub component: Component,
    /// Reference inside the archive.
    pub image: String,
    /// `sha256:…` of the image's configuration.
    pub id: Option<String>,
    /// Archive, relative to the folder.
    pub file: String,
    /// `sha256:…` of its layers, lowest first; they stay the same on engines that give other ids.
    #[serde(default)]
    pub layers: Vec<String>,
}

/// The image made from the running nbctl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnImage {
    /// Reference inside the archive.
    pub reference: String,
    /// `sha256:…` of its configuration.
    pub id: String,
    /// Archive on the control machine.
    pub tarball: String,
    /// `sha256:…` of its layer.
    pub layers: Vec<String>,
}

impl ImageIndex {
    /// Reads an index; `folder` is where it lies.
    ///
    /// # Errors
    /// Wrong shape or another format.
    pub fn parse(text: &str, folder: &str) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::inventory(what).at(format!("{folder}/index.yaml"));
        let mut index: Self = serde_yaml::from_str(text)
            .map_err(|error| wrong("cannot read the image index".into()).line(error.to_string()))?;
        if index.format != 1 {
            return Err(wrong(format!("format {} is not known", index.format)));
        }
        folder.clone_into(&mut index.folder);
        Ok(index)
    }

    /// The image of a component, if the folder has one.
    pub fn of(&self, component: Component) -> Option<ImageSpec> {
        let entry = self
            .images
            .iter()
            .find(|entry| entry.component == component)?;
        Some(ImageSpec {
            reference: entry.image.clone(),
            tarball: Some(format!("{}/{}", self.folder, entry.file)),
            id: entry.id.clone(),
            layers: entry.layers.clone(),
            registry: None,
        })
    }
}

/// Where images may come from.
#[derive(Debug, Clone, Copy)]
struct Sources<'a> {
    index: Option<&'a ImageIndex>,
    own: Option<&'a OwnImage>,
    registry: Option<&'a Registry>,
    offline: bool,
}

impl Sources<'_> {
    /// The image of `component` for an engine that has `there` (reference to id).
    ///
    /// # Errors
    /// When it cannot be had.
    fn pick(
        self,
        component: Component,
        part: &Part,
        there: &BTreeMap<String, String>,
    ) -> Result<ImageSpec, Failure> {
        if let (Component::Exporter, Some(own)) = (component, self.own) {
            return Ok(ImageSpec {
                reference: own.reference.clone(),
                tarball: Some(own.tarball.clone()),
                id: Some(own.id.clone()),
                layers: own.layers.clone(),
                registry: None,
            });
        }
        if let Some(listed) = self.index.and_then(|index| index.of(component)) {
            return Ok(listed);
        }
        let pulled = part.pulled();
        let on_engine = [&pulled, &part.image]
            .into_iter()
            .find(|reference| there.contains_key(*reference));
        if let Some(reference) = on_engine {
            return Ok(pull(reference));
        }
        match (self.registry, self.index) {
            (Some(registry), _) if !self.offline => Ok(pull_from(registry, part)),
            (_, Some(index)) => Err(missing(component)
                .at(format!("{}/index.yaml", index.folder))
                .hint(format!(
                    "add an archive of {} to the folder of images, or do without that folder so that it is pulled",
                    part.image
                ))),
            _ if self.offline => Err(missing(component).hint(format!(
                "load {} into the engine, or name a folder of archives in `monitor.images`",
                part.image
            ))),
            _ => Ok(pull(&pulled)),
        }
    }
}

/// The image of `component` for an engine that has `there` (reference to id).
///
/// # Errors
/// When it cannot be had.
pub fn image_of(
    want: &Desired<'_>,
    component: Component,
    there: &BTreeMap<String, String>,
) -> Result<ImageSpec, Failure> {
    let sources = Sources {
        index: want.index,
        own: want.own,
        registry: want
            .cluster
            .monitor
            .as_ref()
            .and_then(|m| m.registry.as_ref()),
        offline: want.offline,
    };
    sources.pick(component, want.stack.part(component)?, there)
}

/// What an image is called in a bundle: its own name may be a digest, which archives do not keep.
pub fn bundle_name(component: Component, image: &str) -> String {
    let tag = image
        .rsplit('/')
        .next()
        .and_then(|last| last.split_once(':'));
    let tag = tag.map_or("latest", |(_, tag)| tag);
    format!("{OWNER}/{}:{tag}", component.as_str())
}

fn missing(component: Component) -> Failure {
    Failure::usage(format!("no image for {}", component.as_str()))
}

fn pull(reference: &str) -> ImageSpec {
    ImageSpec {
        reference: reference.to_owned(),
        tarball: None,
        id: None,
        layers: Vec::new(),
        registry: None,
    }
}

/// Known by its tag afterwards, as an engine gives no digest to what comes under another name.
fn pull_from(registry: &Registry, part: &Part) -> ImageSpec {
    let mut names = vec![below(&part.pulled())];
    let tagged = below(&part.image);
    if !names.contains(&tagged) {
        names.push(tagged);
    }
    // Mirrors keep the public registry's own images there.
    let own = names.iter().filter(|name| !name.contains('/'));
    let mirrored: Vec<String> = own.map(|name| format!("library/{name}")).collect();
    names.extend(mirrored);
    ImageSpec {
        registry: Some(RegistryImage {
            address: registry.address.clone(),
            forwarded: registry.reach == RegistryReach::Control,
            names,
        }),
        ..pull(&part.image)
    }
}

/// A name without the registry it begins with.
fn below(name: &str) -> String {
    match name.split_once('/') {
        Some((host, rest)) if host.contains(['.', ':']) => rest.to_owned(),
        _ => name.to_owned(),
    }
}
