//! Names within a run store: folders of runs and phases, the lock.
//!
//! Purpose: names that are unique, sort by time and are safe in any shell.
//! Duties: claim a new folder, turn text into a name, take and test the writer's lock.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;
use nbctl_core::units::Sha256;

use super::{NewRun, disk};

/// Holds what is true of the whole run.
pub(super) const MANIFEST: &str = "manifest.json";
/// Holds a phase without its series and metrics.
pub(super) const PHASE: &str = "phase.json";
/// Holds what hosts and daemons did during a phase.
pub(super) const METRICS: &str = "metrics.json";
const LOCK: &str = "run.lock";
/// Longest part of a folder name made from a user's text.
const NAME_LENGTH: usize = 48;

/// The folder's name is new even when two runs start in the same second.
pub(super) fn claim_folder(root: &Path, new: &NewRun) -> Result<(String, PathBuf), Failure> {
    let utc = jiff::Timestamp::from_millisecond(new.started_ms)
        .map_err(|error| Failure::step(format!("start time out of range: {error}")))?
        .strftime("%Y%m%d-%H%M%S");
    for attempt in 0u32..1000 {
        let seed = format!("{}{}{attempt}", new.started_ms, new.seed);
        let digest = Sha256::of(seed.as_bytes()).short();
        let id = format!(
            "{utc}-{}-{}",
            slug(&new.name),
            digest.get(..4).unwrap_or("")
        );
        let folder = root.join(&id);
        match fs::create_dir(&folder) {
            Ok(()) => return Ok((id, folder)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(disk::write_failure(&folder, &error)),
        }
    }
    Err(Failure::step("no free name for a run's folder").at(root.display().to_string()))
}

/// Text made fit for a file name.
pub(super) fn slug(text: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            c
        } else {
            '-'
        }
    };
    let name: String = text.chars().map(safe).take(NAME_LENGTH).collect();
    let name = name.trim_matches(|c| c == '-' || c == '.');
    if name.is_empty() { "run" } else { name }.to_owned()
}

/// Takes the writer's lock; it goes with the file handle, so also when the process is killed.
pub(super) fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join(LOCK);
    let file = disk::appender(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            Err(Failure::step("another nbctl is writing this run")
                .at(path.display().to_string())
                .hint("wait until it ends, or look at it with `nbctl runs show`"))
        }
        Err(fs::TryLockError::Error(error)) => Err(disk::write_failure(&path, &error)),
    }
}

/// Whether a process is writing the run in `folder`.
pub(super) fn is_locked(folder: &Path) -> bool {
    File::open(folder.join(LOCK))
        .is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

/// Folders in `root`, sorted by name; none when it does not exist.
pub(super) fn subfolders(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(disk::read_failure(root, &error)),
    };
    let mut folders: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    Ok(folders)
}
