//! Images into archives.
//!
//! Duties: tagged before they are saved, since an archive keeps no digest's name; compressed on the way; whole or not there.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use bollard::query_parameters::{RemoveImageOptionsBuilder, TagImageOptionsBuilder};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::StreamExt as _;
use nbctl_core::failure::Failure;

use super::Engine;
use crate::event::{Event, Sink};

/// Bytes between two signs of progress.
const STRIDE: u64 = 8 << 20;

impl Engine {
    /// Gives `reference` a second name `repository:tag`.
    ///
    /// # Errors
    /// The engine's own words.
    pub async fn tag(&self, reference: &str, name: &str) -> Result<(), Failure> {
        let (repo, tag) = name.rsplit_once(':').unwrap_or((name, "latest"));
        let options = TagImageOptionsBuilder::new().repo(repo).tag(tag).build();
        let done = self.docker.tag_image(reference, Some(options)).await;
        done.map_err(|error| self.failed(&format!("cannot tag image {reference}"), &error))
    }

    /// Takes a name away again.
    ///
    /// # Errors
    /// The engine's own words.
    pub async fn untag(&self, name: &str) -> Result<(), Failure> {
        let options = RemoveImageOptionsBuilder::new().noprune(true).build();
        let done = self.docker.remove_image(name, Some(options), None).await;
        done.map(drop)
            .map_err(|error| self.failed(&format!("cannot remove the name {name}"), &error))
    }

    /// Images of these names as one gzipped archive at `path`.
    ///
    /// # Errors
    /// The archive cannot be written, or the engine breaks off.
    pub async fn save(&self, names: &[&str], path: &Path, sink: &dyn Sink) -> Result<(), Failure> {
        let cannot = |error: std::io::Error| {
            Failure::usage(format!("cannot write the archive: {error}"))
                .at(path.display().to_string())
        };
        let fresh = path.with_extension("new");
        let file = File::create(&fresh).map_err(cannot)?;
        let mut archive = GzEncoder::new(file, Compression::fast());
        let mut chunks = self.docker.export_images(names);
        let (mut done, mut told) = (0, 0);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| self.failed("cannot save images", &error))?;
            archive.write_all(&chunk).map_err(cannot)?;
            done += chunk.len() as u64;
            if done - told >= STRIDE {
                told = done;
                sink.emit(Event::Progress {
                    phase: "images".to_owned(),
                    done,
                    total: None,
                    unit: "bytes",
                    text: format!("{}: {}", self.host, path.display()),
                });
            }
        }
        let file = archive.finish().map_err(cannot)?;
        file.sync_all().map_err(cannot)?;
        std::fs::rename(&fresh, path).map_err(cannot)
    }
}
