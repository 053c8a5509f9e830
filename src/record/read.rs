//! Reading a run's folder.
//!
//! Purpose: every run that was ever written can be read, also one that was killed.
//! Duties: refuse a newer format by its number, put phases and their series together.

use std::path::Path;

use nbctl_core::failure::Failure;
use nbctl_core::run::{FORMAT, Manifest, Outcome, PhaseRecord, PhaseResult, Second};
use serde::Deserialize;

use super::layout::{MANIFEST, METRICS, PHASE, subfolders};
use super::{disk, series};

/// The format number alone, so that a newer shape is refused by its number and not by a strange field.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
    #[serde(default)]
    tool_version: String,
}

/// `manifest.json` without phases.
pub(super) fn manifest(folder: &Path) -> Result<Manifest, Failure> {
    let path = folder.join(MANIFEST);
    let place = path.display().to_string();
    let text = disk::read(&path).map_err(|failure| {
        failure.hint("a run is a folder with manifest.json in it; list them with `nbctl runs list`")
    })?;
    let head: FormatOnly = parse(&text, &place)?;
    if head.format > FORMAT {
        return Err(Failure::data(format!(
            "the run has format {}, this nbctl reads up to {FORMAT}",
            head.format
        ))
        .at(place)
        .hint(format!(
            "it was written by nbctl {}; use that version or a newer one",
            head.tool_version
        )));
    }
    parse(&text, &place)
}

fn parse<T: serde::de::DeserializeOwned>(text: &str, place: &str) -> Result<T, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::data(format!("damaged run record: {error}")).at(place))
}

/// Phases in the order of their folders; a folder whose first write never came is passed over.
pub(super) fn phases(folder: &Path) -> Result<Vec<PhaseRecord>, Failure> {
    let root = folder.join("phases");
    let mut phases = Vec::new();
    for folder in subfolders(&root)? {
        if let Some(mut phase) = optional::<PhaseRecord>(&folder.join(PHASE))? {
            phase.metrics = optional(&folder.join(METRICS))?;
            phases.push(with_series(phase, series::read(&folder)?));
        }
    }
    phases.sort_by_key(|phase| phase.index);
    Ok(phases)
}

fn optional<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    disk::read_if_there(path)?
        .map(|text| parse(&text, &path.display().to_string()))
        .transpose()
}

/// Puts the series back; a phase that was cut off ends with its last second.
fn with_series(mut phase: PhaseRecord, seconds: Vec<Second>) -> PhaseRecord {
    if phase.outcome == Outcome::Unfinished
        && let Some(last) = seconds.last()
    {
        phase.window.end_ms = phase.window.end_ms.max(last.start_ms + 1000);
    }
    match &mut phase.result {
        PhaseResult::Plain(_) => {}
        PhaseResult::Import(import) => import.series = seconds,
        PhaseResult::Stress(stress) => stress.series = seconds,
    }
    phase
}
