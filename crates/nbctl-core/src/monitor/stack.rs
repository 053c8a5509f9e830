//! `monitoring/stack.yaml`: images, rights and files of every component, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tera::{Context, Tera};

use crate::failure::Failure;
use crate::inventory::Component;

/// The whole file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Version of this file format: 1.
    pub format: u32,
    /// How often Prometheus asks.
    pub scrape: Scrape,
    /// Name of the load series' database, `[a-z0-9_]+`.
    pub database: String,
    /// What can run.
    pub components: BTreeMap<Component, Part>,
}

/// How often Prometheus asks.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scrape {
    /// Seconds from one scrape to the next.
    pub interval_s: u32,
    /// Seconds a target may take.
    pub timeout_s: u32,
}

/// One component.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Reference with a tag.
    pub image: String,
    /// `sha256:…` of the registry's manifest, when known.
    pub digest: Option<String>,
    /// Where it listens.
    pub network: Network,
    /// Port inside, for `bridge`.
    pub container_port: Option<u16>,
    /// Sees the host's processes.
    #[serde(default)]
    pub host_pid: bool,
    /// Replaces the image's entry point.
    #[serde(default)]
    pub entrypoint: Vec<String>,
    /// Arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Bind mounts and the named volume.
    #[serde(default)]
    pub mounts: Vec<String>,
    /// Capabilities added after all were dropped.
    #[serde(default)]
    pub cap_add: Vec<String>,
    /// Root file system read-only.
    #[serde(default)]
    pub read_only: bool,
    /// `user[:group]` when not the image's own.
    #[serde(default)]
    pub user: String,
    /// Most memory, MiB; 0 sets no limit.
    #[serde(default)]
    pub memory_mib: u64,
    /// Looks at the files before the container is made; must exit with 0.
    #[serde(default)]
    pub check: Vec<String>,
    /// Files it reads.
    #[serde(default)]
    pub files: Vec<FileSpec>,
    /// File with a password made on the host, never known here.
    pub secret: Option<String>,
    /// The stack is complete without it.
    #[serde(default)]
    pub optional: bool,
    /// Path that answers 2xx when it works.
    pub ready: String,
}

/// Where a component listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// On the host's own address.
    Host,
    /// Behind a published port of the host's address.
    Bridge,
}

/// One file of a component.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Name of the asset.
    pub template: String,
    /// Below the component's folder.
    pub path: String,
    /// Taken as it is.
    #[serde(default)]
    pub plain: bool,
    /// The program reads it again when it changes.
    #[serde(default)]
    pub live: bool,
}

impl Stack {
    /// Reads `stack.yaml`.
    ///
    /// # Errors
    /// Wrong shape, another format, or a component without its entry.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::inventory(what).at("monitoring/stack.yaml");
        let stack: Self = serde_yaml::from_str(text)
            .map_err(|error| wrong("cannot read the stack".into()).line(error.to_string()))?;
        if stack.format != 1 {
            return Err(wrong(format!("format {} is not known", stack.format))
                .hint("this nbctl reads format 1"));
        }
        match Component::ALL
            .iter()
            .find(|component| !stack.components.contains_key(component))
        {
            Some(missing) => Err(wrong(format!("no component `{}`", missing.as_str()))),
            None => Ok(stack),
        }
    }

    /// The entry of a component.
    ///
    /// # Errors
    /// Never for a stack that was parsed.
    pub fn part(&self, component: Component) -> Result<&Part, Failure> {
        let missing = || Failure::inventory(format!("no component `{}`", component.as_str()));
        self.components.get(&component).ok_or_else(missing)
    }
}

impl Part {
    /// What is pulled: by digest when it is known.
    pub fn pulled(&self) -> String {
        let name = self
            .image
            .rsplit_once(':')
            .map_or(self.image.as_str(), |(name, _)| name);
        match &self.digest {
            Some(digest) => format!("{name}@{digest}"),
            None => self.image.clone(),
        }
    }
}

/// Renders one text with the values of `context`.
///
/// # Errors
/// The template's own words.
pub(super) fn render(place: &str, template: &str, context: &Context) -> Result<String, Failure> {
    Tera::one_off(template, context, false).map_err(|error| {
        let words =
            std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string);
        Failure::inventory("cannot render")
            .at(place.to_owned())
            .line(words)
    })
}

/// A context from any map-like value.
pub(super) fn context(values: &impl Serialize) -> Result<Context, Failure> {
    Context::from_serialize(values)
        .map_err(|error| Failure::step(format!("cannot render: {error}")))
}
