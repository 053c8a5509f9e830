//! The manifest: what was made from what. It is written last, so a folder without one is not a data set.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;

/// Name of the manifest inside a data set's folder.
pub const MANIFEST: &str = "manifest.json";
/// How this generator names itself in manifests.
pub const GENERATOR: &str = "nbctl snb-datagen";

/// Describes a complete data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always 1.
    pub format: u32,
    /// [`GENERATOR`].
    pub generator: String,
    /// Version of the generator; another one may write other bytes for the same seed.
    pub version: String,
    /// Says in words what this data set is not.
    pub note: String,
    /// Seed of all draws.
    pub seed: u64,
    /// Persons asked for; the file holds those created in the first 90 % of the simulated time.
    pub persons: u64,
    /// Every file, in a fixed order.
    pub files: Vec<FileEntry>,
}

/// One file of a data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Path below the manifest's folder, `/` separated.
    pub path: String,
    /// Data rows; the header line is not counted.
    pub rows: u64,
    /// Size in bytes, header line included.
    pub bytes: u64,
    /// Of the whole file, lower-case hexadecimal.
    pub sha256: String,
}

impl Manifest {
    pub(crate) fn new(persons: u64, seed: u64) -> Self {
        Self {
            format: 1,
            generator: GENERATOR.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            note:
                "in the shape of LDBC SNB; not made by the official generator, not an LDBC data set"
                    .to_owned(),
            seed,
            persons,
            files: Vec::new(),
        }
    }

    /// Reads the manifest of the data set in `dir`; `None` when there is none, that is, when the generation did
    /// not finish or none took place.
    pub fn load(dir: &Path) -> Result<Option<Self>, Error> {
        Self::read(&dir.join(MANIFEST))
    }

    /// Reads a manifest of this generator from `path`, complete or not.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Error> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path, "read")(error)),
        };
        let fail = |reason: String| Error::Manifest {
            path: path.to_path_buf(),
            reason,
        };
        let manifest: Self = serde_json::from_slice(&text).map_err(|e| fail(e.to_string()))?;
        if manifest.generator != GENERATOR || manifest.format != 1 {
            return Err(fail(format!(
                "{} format {}",
                manifest.generator, manifest.format
            )));
        }
        Ok(Some(manifest))
    }

    /// Data rows of all files together.
    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// Bytes of all files together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}
