//! Images: from an archive of the control machine, or from a registry.
//!
//! Duties: nothing is sent when the image is there; what was brought gets a second tag, so that `--purge` knows it; the
//! id is checked where the index tells it; progress as it goes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bollard::models::CreateImageInfo;
use bollard::query_parameters::{
    CreateImageOptionsBuilder, ImportImageOptionsBuilder, ListImagesOptions,
    RemoveImageOptionsBuilder, TagImageOptionsBuilder,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use nbctl_core::container::{ImageSpec, RegistryImage};
use nbctl_core::failure::Failure;
use nbctl_core::monitor::image_mark;

use super::Engine;
use super::engine::{readable, status, words};
use crate::event::{Event, Sink, StepOutcome};

/// Bytes sent at once.
const CHUNK: usize = 256 << 10;
/// Between two progress events.
const TICK: Duration = Duration::from_millis(250);

/// What an image is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFacts {
    /// `sha256:…`: of its configuration, or with the containerd store of its manifest.
    pub id: String,
    /// `sha256:…` of each layer, lowest first.
    pub layers: Vec<String>,
}

impl ImageFacts {
    /// The id, or all layers, are those that are wanted; nothing said is nothing asked.
    fn is(&self, wanted: &ImageSpec) -> bool {
        wanted.id.as_ref().is_none_or(|id| *id == self.id)
            || (!wanted.layers.is_empty() && wanted.layers == self.layers)
    }
}

impl Engine {
    /// Makes sure that the engine has it.
    ///
    /// # Errors
    /// The archive cannot be read or holds something else, the registry cannot be reached, or the engine refuses.
    pub async fn ensure_image(
        &self,
        image: &ImageSpec,
        cluster_id: &str,
        sink: &dyn Sink,
    ) -> Result<StepOutcome, Failure> {
        if self.has(image).await? {
            return Ok(StepOutcome::AlreadySo);
        }
        let before = self.references().await?;
        match (&image.tarball, &image.registry) {
            (Some(tarball), _) => self.load(Path::new(tarball), sink).await?,
            (None, Some(registry)) => self.pull_from(registry, &image.reference, sink).await?,
            (None, None) => self.pull(&image.reference, sink).await?,
        }
        // An archive may hold images of other components, too.
        for (reference, _) in self.references().await?.difference(&before) {
            self.mark(reference, cluster_id).await?;
        }
        if !self.has(image).await? {
            let registry = image.registry.as_ref().map(|registry| &registry.address);
            let source = image
                .tarball
                .as_ref()
                .or(registry)
                .map_or("the registry", String::as_str);
            return Err(Failure::data(format!("{source} does not hold image {}", image.reference))
                .at(self.host.to_string())
                .hint("its index names another image or id than the archive holds; save both again"));
        }
        Ok(StepOutcome::Done)
    }

    /// Every name of every image; one that moved to another image counts as new.
    async fn references(&self) -> Result<BTreeSet<(String, String)>, Failure> {
        let images = self.docker.list_images(None::<ListImagesOptions>).await;
        let images = images.map_err(|error| self.failed("cannot list images", &error))?;
        let names = images.into_iter().flat_map(|image| {
            let id = image.id;
            let names = image.repo_tags.into_iter().chain(image.repo_digests);
            names.map(move |name| (name, id.clone()))
        });
        Ok(names.collect())
    }

    /// Whether the reference is there, with the right id when one is known.
    async fn has(&self, image: &ImageSpec) -> Result<bool, Failure> {
        let there = self.image(&image.reference).await?;
        Ok(there.is_some_and(|there| there.is(image)))
    }

    /// What `reference` is on this engine.
    ///
    /// # Errors
    /// The engine's own words.
    pub async fn image(&self, reference: &str) -> Result<Option<ImageFacts>, Failure> {
        match self.docker.inspect_image(reference).await {
            Ok(there) => Ok(Some(ImageFacts {
                id: there.id.unwrap_or_default(),
                layers: there.root_fs.and_then(|fs| fs.layers).unwrap_or_default(),
            })),
            Err(error) if status(&error) == Some(404) => Ok(None),
            Err(error) => Err(self.failed(&format!("cannot look at image {reference}"), &error)),
        }
    }

    async fn load(&self, tarball: &Path, sink: &dyn Sink) -> Result<(), Failure> {
        let total = readable(tarball)?;
        let sent = Arc::new(AtomicU64::new(0));
        let options = ImportImageOptionsBuilder::new().build();
        let mut answers =
            self.docker
                .import_image_stream(options, chunks(tarball, Arc::clone(&sent))?, None);
        let mut shown = Shown::new(sink, format!("{}: {}", self.host, file_name(tarball)));
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                answer = answers.next() => match answer {
                    None => return Ok(()),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => {
                        return Err(self.failed(&format!("cannot load {}", tarball.display()), &error));
                    }
                },
                _ = tick.tick() => shown.tell(sent.load(Ordering::Relaxed), Some(total), "bytes"),
            }
        }
    }

    async fn pull(&self, reference: &str, sink: &dyn Sink) -> Result<(), Failure> {
        let options = CreateImageOptionsBuilder::new()
            .from_image(reference)
            .build();
        let mut answers = self.docker.create_image(Some(options), None, None);
        let mut shown = Shown::new(sink, format!("{}: pull {reference}", self.host));
        let mut layers = BTreeMap::new();
        while let Some(answer) = answers.next().await {
            let CreateImageInfo {
                id,
                progress_detail,
                ..
            } = answer.map_err(|error| self.no_registry(reference, &error))?;
            if let (Some(layer), Some(done)) =
                (id, progress_detail.and_then(|detail| detail.current))
            {
                layers.insert(layer, u64::try_from(done).unwrap_or(0));
                shown.tell(layers.values().sum(), None, "bytes");
            }
        }
        Ok(())
    }

    /// Under the registry's name first, then under its own alone: the former may be that of a forward.
    async fn pull_from(
        &self,
        registry: &RegistryImage,
        reference: &str,
        sink: &dyn Sink,
    ) -> Result<(), Failure> {
        let source = self.found_in(registry, sink).await?;
        let (repo, tag) = reference.rsplit_once(':').unwrap_or((reference, "latest"));
        let options = TagImageOptionsBuilder::new().repo(repo).tag(tag).build();
        let done = self.docker.tag_image(&source, Some(options)).await;
        done.map_err(|error| self.failed(&format!("cannot tag image {source}"), &error))?;
        let options = RemoveImageOptionsBuilder::new().noprune(true).build();
        let done = self.docker.remove_image(&source, Some(options), None).await;
        done.map_err(|error| self.failed(&format!("cannot untag image {source}"), &error))?;
        Ok(())
    }

    /// The first name that the registry knows.
    async fn found_in(&self, registry: &RegistryImage, sink: &dyn Sink) -> Result<String, Failure> {
        let mut missing = None;
        for name in &registry.names {
            let source = format!("{}/{name}", registry.address);
            match self.pull(&source, sink).await {
                Ok(()) => {
                    if !name.contains('@') && registry.names.iter().any(|name| name.contains('@')) {
                        sink.note(format!("{}: {name} is taken by its tag, its digest is another one than expected", self.host));
                    }
                    return Ok(source);
                }
                Err(failure) if is_unknown(&failure.what) => {
                    missing.get_or_insert(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(missing.unwrap_or_else(|| Failure::step("an image without a name")))
    }

    fn no_registry(&self, reference: &str, error: &bollard::errors::Error) -> Failure {
        let words = words(error);
        let failure =
            Failure::step(format!("cannot pull {reference}: {words}")).at(self.host.to_string());
        if is_unknown(&words) {
            return failure
                .hint("the registry must have it under this name, or name what it has in monitoring/stack.yaml");
        }
        if [
            "no such host",
            "dial tcp",
            "timeout",
            "connection refused",
            "i/o",
        ]
        .iter()
        .any(|part| words.contains(part))
        {
            return failure.hint(
                "the host reaches no registry: name a folder of image archives in `monitor.images`",
            );
        }
        failure
    }

    /// `nbctl-<cluster id>/<name>:<tag>` beside its own name.
    async fn mark(&self, reference: &str, cluster_id: &str) -> Result<(), Failure> {
        // How the engine writes that an image has no name.
        if reference.contains("<none>") {
            return Ok(());
        }
        let (repo, tag) = mark_of(reference, cluster_id);
        let options = TagImageOptionsBuilder::new().repo(&repo).tag(&tag).build();
        match self.docker.tag_image(reference, Some(options)).await {
            // Somebody else's name for it, gone again since it was listed.
            Err(error) if status(&error) == Some(404) => Ok(()),
            done => {
                done.map_err(|error| self.failed(&format!("cannot tag image {reference}"), &error))
            }
        }
    }
}

/// The registry answers, and has no such image.
fn is_unknown(words: &str) -> bool {
    words.contains("manifest unknown") || words.contains("not found")
}

/// Repository and tag of the mark; of a digest its first digits.
fn mark_of(reference: &str, cluster_id: &str) -> (String, String) {
    let last = reference.rsplit('/').next().unwrap_or(reference);
    let (name, tag) = match last.split_once('@') {
        Some((name, digest)) => (
            name,
            digest
                .rsplit(':')
                .next()
                .unwrap_or(digest)
                .chars()
                .take(12)
                .collect(),
        ),
        None => last
            .split_once(':')
            .map_or((last, "latest".to_owned()), |(name, tag)| {
                (name, tag.to_owned())
            }),
    };
    (format!("{}/{name}", image_mark(cluster_id)), tag)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The file in pieces; how far it has been read is in `sent`.
fn chunks(
    path: &Path,
    sent: Arc<AtomicU64>,
) -> Result<impl Stream<Item = std::io::Result<Bytes>> + Send + 'static, Failure> {
    let file = std::fs::File::open(path).map_err(|error| {
        Failure::data(format!("cannot read the image archive: {error}"))
            .at(path.display().to_string())
    })?;
    Ok(stream::unfold(file, move |mut file| {
        let sent = Arc::clone(&sent);
        async move {
            let mut chunk = vec![0; CHUNK];
            match file.read(&mut chunk) {
                Ok(0) => None,
                Ok(length) => {
                    chunk.truncate(length);
                    sent.fetch_add(length as u64, Ordering::Relaxed);
                    Some((Ok(Bytes::from(chunk)), file))
                }
                Err(error) => Some((Err(error), file)),
            }
        }
    }))
}

/// Tells progress, not too often.
struct Shown<'a> {
    sink: &'a dyn Sink,
    text: String,
    last: Option<Instant>,
}

impl<'a> Shown<'a> {
    fn new(sink: &'a dyn Sink, text: String) -> Self {
        Self {
            sink,
            text,
            last: None,
        }
    }

    fn tell(&mut self, done: u64, total: Option<u64>, unit: &'static str) {
        if self.last.is_some_and(|last| last.elapsed() < TICK) {
            return;
        }
        self.last = Some(Instant::now());
        let (phase, text) = ("images".to_owned(), self.text.clone());
        self.sink.emit(Event::Progress {
            phase,
            done,
            total,
            unit,
            text,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_keeps_name_and_version() {
        let cases = [
            ("prom/prometheus:v3.5.0", "nbctl-abc/prometheus", "v3.5.0"),
            ("reg:5000/x/influxdb:1.8", "nbctl-abc/influxdb", "1.8"),
            (
                "grafana/grafana@sha256:0123456789abcdef",
                "nbctl-abc/grafana",
                "0123456789ab",
            ),
            ("busybox", "nbctl-abc/busybox", "latest"),
        ];
        for (reference, repo, tag) in cases {
            assert_eq!(
                mark_of(reference, "abc"),
                (repo.to_owned(), tag.to_owned()),
                "{reference}"
            );
        }
    }
}
