//! Writing files so that a crash leaves the old one or the new one, never half of one.
//!
//! Purpose: the few file operations of the run store, each with the path in its failure.
//! Duties: temporary file in the same folder, sync, rename, sync of the folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use nbctl_core::failure::Failure;

/// Replaces `path` with `bytes`, whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    try_replace(path, bytes).map_err(|error| write_failure(path, &error))
}

fn try_replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(default_permissions())
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// What a plain `File::create` would give, before the umask; records hold no secrets.
fn default_permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(0o666)
}

/// Opens `path` for lines to be added at its end.
pub(super) fn appender(path: &Path) -> Result<File, Failure> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(|error| write_failure(path, &error))
}

/// Adds `bytes` to the end of `path`.
pub(super) fn append(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    appender(path)?
        .write_all(bytes)
        .map_err(|error| write_failure(path, &error))
}

/// Puts what was appended to `path` on the disk.
pub(super) fn sync(path: &Path) -> Result<(), Failure> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|error| write_failure(path, &error))
}

/// Makes a folder and those above it.
pub(super) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| write_failure(path, &error))
}

/// Text of a file.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| read_failure(path, &error))
}

/// Text of a file; `None` when there is none.
pub(super) fn read_if_there(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(read_failure(path, &error)),
    }
}

/// The failure of a write.
pub(super) fn write_failure(path: &Path, error: &io::Error) -> Failure {
    Failure::step(format!("cannot write the run record: {error}")).at(path.display().to_string())
}

/// The failure of a read.
pub(super) fn read_failure(path: &Path, error: &io::Error) -> Failure {
    Failure::data(format!("cannot read the run record: {error}")).at(path.display().to_string())
}
