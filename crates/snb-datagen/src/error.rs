//! What can go wrong while a data set is written.

use std::io;
use std::path::{Path, PathBuf};

/// Why a data set was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The number of persons is outside of what the id rules and the memory model carry.
    #[error("persons: {0} is outside 1..={max}; hint: LDBC SF1 has 11000, SF100 499000", max = crate::run::MAX_PERSONS)]
    Persons(u64),
    /// The folder holds something that this generator did not write.
    #[error("{}: not written by {}; hint: choose an empty folder", .0.display(), crate::GENERATOR)]
    Foreign(PathBuf),
    /// A manifest that cannot be understood.
    #[error("{}: not a manifest of {}: {reason}; hint: choose an empty folder", path.display(), crate::GENERATOR)]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file system call failed.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The attempted action, as a verb.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: adds path and action to an I/O error.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            path: path.to_path_buf(),
            action,
            source,
        }
    }
}
