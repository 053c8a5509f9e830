//! Digests of files that were hashed before.
//!
//! Purpose: a deploy with nothing to do should not read a package of hundreds of megabytes.
//! Duties: a digest is believed while device, inode, size and both times of the file are those it was hashed with; a
//! file that was changed within the last seconds is hashed again the next time; what arrives on a host is hashed there
//! in any case.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;
use nbctl_core::units::Sha256;
use serde::{Deserialize, Serialize};

use crate::remote::hash_file;

/// Clocks of file systems are coarse: a file younger than this may change again without its times showing it.
const SETTLED_S: i64 = 3;
/// Files that are remembered.
const MOST: usize = 200;

/// A file with digests.
#[derive(Debug)]
pub struct Digests {
    file: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    mark: Mark,
    sha256: Sha256,
}

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i64,
    changed_s: i64,
    changed_ns: i64,
}

impl Digests {
    /// Kept in `file`.
    pub fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// SHA-256 of a local file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn of(&self, path: &Path) -> Result<Sha256, Failure> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let key = path.display().to_string();
        let before = Mark::of(&path);
        let mut all = self.read();
        if let (Some(mark), Some(known)) = (before, all.get(&key))
            && known.mark == mark
        {
            return Ok(known.sha256);
        }
        let sha256 = hash_file(&path).await?;
        let settled = |mark: &Mark| now_s().saturating_sub(mark.changed_s) > SETTLED_S;
        if let Some(mark) = before.filter(|mark| settled(mark) && Mark::of(&path) == Some(*mark)) {
            all.retain(|path, _| Path::new(path).exists());
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(key, Known { mark, sha256 });
            self.write(&all);
        }
        Ok(sha256)
    }

    fn read(&self) -> BTreeMap<String, Known> {
        let text = std::fs::read(&self.file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Losing it costs time only.
    fn write(&self, all: &BTreeMap<String, Known>) {
        let fresh = self
            .file
            .with_extension(format!("new-{}", std::process::id()));
        let done = serde_json::to_vec(all).map_err(std::io::Error::other);
        let done = done.and_then(|text| {
            std::fs::create_dir_all(self.file.parent().unwrap_or(Path::new(".")))?;
            std::fs::write(&fresh, text)?;
            std::fs::rename(&fresh, &self.file)
        });
        if let Err(error) = done {
            tracing::debug!(%error, "digests are not remembered");
        }
    }
}

impl Mark {
    fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        Some(Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified_ns: meta
                .mtime()
                .wrapping_mul(1_000_000_000)
                .wrapping_add(meta.mtime_nsec()),
            changed_s: meta.ctime(),
            changed_ns: meta.ctime_nsec(),
        })
    }
}

fn now_s() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_changed_file_is_hashed_again() {
        let dir = tempfile::tempdir().unwrap();
        let (file, digests) = (
            dir.path().join("a"),
            Digests::new(dir.path().join("digests.json")),
        );
        std::fs::write(&file, "one").unwrap();
        assert_eq!(digests.of(&file).await.unwrap(), Sha256::of(b"one"));
        assert!(digests.read().is_empty(), "too young to be remembered");

        let mark = Mark::of(&file).unwrap();
        let known = Known {
            mark,
            sha256: Sha256::of(b"remembered"),
        };
        digests.write(&BTreeMap::from([(file.display().to_string(), known)]));
        assert_eq!(digests.of(&file).await.unwrap(), Sha256::of(b"remembered"));
        std::fs::write(&file, "two").unwrap();
        assert_eq!(digests.of(&file).await.unwrap(), Sha256::of(b"two"));
    }
}
