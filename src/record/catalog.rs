//! All runs of a folder.
//!
//! Purpose: `runs list`, `runs delete`, and finding a run by part of its name.
//! Duties: newest last; a folder that cannot be read is listed with its reason, it does not hide the others.

use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;
use nbctl_core::run::{Manifest, Verdict};
use serde::Serialize;

use super::layout::{MANIFEST, is_locked, subfolders};
use super::{disk, read};

/// Whether a run is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// A process is writing it.
    Running,
    /// Nobody writes it.
    Ended,
}

/// One line of `runs list`.
#[derive(Debug, Clone, Serialize)]
pub struct RunSummary {
    /// Folder.
    pub folder: PathBuf,
    /// `<utc>-<name>-<id>`.
    pub id: String,
    /// Being written or not.
    pub state: RunState,
    /// Start, Unix ms; `None` when unreadable.
    pub started_ms: Option<i64>,
    /// Name of the cluster.
    pub cluster: String,
    /// Phases begun.
    pub phases: usize,
    /// The verdict line, or why the run cannot be read.
    pub verdict: String,
}

/// Every run below `root`, oldest first.
///
/// # Errors
/// When `root` exists and cannot be listed.
pub fn list(root: &Path) -> Result<Vec<RunSummary>, Failure> {
    let runs = subfolders(root)?
        .into_iter()
        .filter(|folder| folder.join(MANIFEST).exists())
        .map(summary)
        .collect();
    Ok(runs)
}

fn summary(folder: PathBuf) -> RunSummary {
    let state = if is_locked(&folder) {
        RunState::Running
    } else {
        RunState::Ended
    };
    let id = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    match whole(&folder) {
        Ok(manifest) => RunSummary {
            id,
            state,
            started_ms: Some(manifest.started_ms),
            phases: manifest.phases.len(),
            verdict: match state {
                RunState::Running => "running".to_owned(),
                RunState::Ended => Verdict::of(&manifest).line(),
            },
            cluster: manifest.cluster.name,
            folder,
        },
        Err(failure) => RunSummary {
            folder,
            id,
            state,
            started_ms: None,
            cluster: String::new(),
            phases: 0,
            verdict: format!("cannot be read: {}", failure.what),
        },
    }
}

fn whole(folder: &Path) -> Result<Manifest, Failure> {
    let mut manifest = read::manifest(folder)?;
    manifest.phases = read::phases(folder)?;
    Ok(manifest)
}

/// Deletes a run's folder; never one that is being written, never one without a manifest.
///
/// # Errors
/// When it is no run, is being written, or cannot be removed.
pub fn delete(folder: &Path) -> Result<(), Failure> {
    let place = folder.display().to_string();
    let is_link = folder
        .symlink_metadata()
        .is_ok_and(|data| data.file_type().is_symlink());
    if is_link || !folder.join(MANIFEST).is_file() {
        return Err(Failure::data("not the folder of a run")
            .at(place)
            .hint("list the runs with `nbctl runs list`"));
    }
    if is_locked(folder) {
        return Err(Failure::step("the run is being written").at(place));
    }
    std::fs::remove_dir_all(folder).map_err(|error| disk::write_failure(folder, &error))
}
