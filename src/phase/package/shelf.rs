//! The cache of packages on the control machine: files by digest, `<sha12>-<name>`.
//!
//! Duties: a name appears only after the digest of its content was verified; the whole digest lies in a checksum file
//! beside it; parts of a download wait under the digest they will have, so that any mirror that agrees can go on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nbctl_core::failure::Failure;
use nbctl_core::package::{PackageName, checksum};
use nbctl_core::units::Sha256;

use super::{Digests, Offer, Offers, SUM};

/// A folder of packages.
#[derive(Debug)]
pub struct Shelf {
    folder: PathBuf,
    digests: Digests,
}

impl Shelf {
    /// The cache in `folder`, which is made when something is put there.
    pub fn open(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            digests: Digests::new(folder.join("digests.json")),
        }
    }

    /// Digests of files hashed before.
    pub fn digests(&self) -> &Digests {
        &self.digests
    }

    /// Where a file of this digest lies or will lie.
    pub fn path(&self, name: &str, sha256: Sha256) -> PathBuf {
        self.folder.join(format!("{}-{name}", sha256.short()))
    }

    /// Where it grows while it is fetched.
    pub(super) fn part(&self, name: &str, sha256: Sha256) -> PathBuf {
        self.folder.join(format!("{}-{name}.part", sha256.short()))
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// The disk says no.
    pub fn make(&self) -> Result<(), Failure> {
        fs::create_dir_all(&self.folder).map_err(|error| cannot(&self.folder, &error))
    }

    /// Whether it is there.
    pub fn has(&self, name: &str, sha256: Sha256) -> bool {
        self.path(name, sha256).is_file()
    }

    /// Takes a verified file over from where it lies in the same folder.
    ///
    /// # Errors
    /// The disk says no.
    pub fn take(&self, from: &Path, name: &str, sha256: Sha256) -> Result<PathBuf, Failure> {
        let path = self.path(name, sha256);
        let mut sum = path.clone().into_os_string();
        sum.push(SUM);
        fs::write(&sum, format!("{sha256}  {name}\n"))
            .and_then(|()| fs::rename(from, &path))
            .map_err(|error| cannot(&path, &error))?;
        Ok(path)
    }

    /// What is there, by published name; of two builds under one name the one that came last.
    pub(super) fn offers(&self) -> Offers {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut found: Vec<(SystemTime, String, Offer)> = entries
            .filter_map(|entry| {
                let path = entry.path();
                let name = entry.file_name().to_string_lossy().into_owned();
                let (short, name) = name.split_once('-')?;
                PackageName::parse(name).ok()?;
                let known = full_digest(&path).filter(|known| known.short() == short)?;
                let came = entry.metadata().and_then(|meta| meta.modified()).ok()?;
                let offer = Offer {
                    path,
                    known: Some(known),
                };
                Some((came, name.to_owned(), offer))
            })
            .collect();
        found.sort_by_key(|(came, _, _)| *came);
        found
            .into_iter()
            .map(|(_, name, offer)| (name, offer))
            .collect()
    }
}

fn full_digest(path: &Path) -> Option<Sha256> {
    let mut sum = path.as_os_str().to_owned();
    sum.push(SUM);
    checksum(&fs::read_to_string(sum).ok()?).ok()
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write the package cache: {error}"))
        .at(path.display().to_string())
        .hint("make room, or choose another folder with --state-dir")
}
