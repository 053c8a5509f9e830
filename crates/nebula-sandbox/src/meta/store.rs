//! The document on disk, written atomically.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::model::State;

/// `meta.json` under metad's data path (space 0, as in the original).
#[derive(Debug, Clone)]
pub(super) struct Store {
    path: PathBuf,
}

impl Store {
    /// Opens the store under `data_path`, making its folders.
    pub(super) fn open(data_path: &Path) -> io::Result<Self> {
        let dir = data_path.join("nebula/0/data");
        fs::create_dir_all(&dir)?;
        Ok(Self {
            path: dir.join("meta.json"),
        })
    }

    /// What was saved last; a fresh state when nothing was.
    pub(super) fn load(&self) -> io::Result<State> {
        match fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::default()),
            Err(error) => Err(error),
        }
    }

    /// Replaces the document.
    pub(super) fn save(&self, document: &[u8]) -> io::Result<()> {
        let fresh = self.path.with_extension("new");
        fs::write(&fresh, document)?;
        fs::rename(&fresh, &self.path)
    }
}
