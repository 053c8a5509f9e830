//! `series.csv`: one line a second of a phase.
//!
//! Purpose: the course of a load, kept outside `phase.json` so that it can grow while the phase runs.
//! Duties: append, read; a torn last line (killed in mid-write) is dropped, any other bad line is a failure.

use std::path::Path;

use nbctl_core::failure::Failure;
use nbctl_core::run::Second;

use super::disk;

const NAME: &str = "series.csv";
const HEAD: &str = "start_ms,requests,failed,rows,p50_us,p99_us\n";

/// Adds seconds to the series of the phase in `folder`.
pub(super) fn append(folder: &Path, seconds: &[Second]) -> Result<(), Failure> {
    let path = folder.join(NAME);
    let mut text = if path.exists() { "" } else { HEAD }.to_owned();
    text.extend(seconds.iter().map(line));
    disk::append(&path, text.as_bytes())
}

/// Replaces the series.
pub(super) fn replace(folder: &Path, seconds: &[Second]) -> Result<(), Failure> {
    let text: String = std::iter::once(HEAD.to_owned())
        .chain(seconds.iter().map(line))
        .collect();
    disk::replace(&folder.join(NAME), text.as_bytes())
}

/// The series; empty when none was written.
pub(super) fn read(folder: &Path) -> Result<Vec<Second>, Failure> {
    let path = folder.join(NAME);
    let Some(text) = disk::read_if_there(&path)? else {
        return Ok(Vec::new());
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let text = text.get(..whole).unwrap_or_default();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error| {
            Failure::data(format!("cannot read the series: {error}")).at(path.display().to_string())
        })
}

fn line(second: &Second) -> String {
    let Second {
        start_ms,
        requests,
        failed,
        rows,
        p50_us,
        p99_us,
    } = second;
    format!("{start_ms},{requests},{failed},{rows},{p50_us},{p99_us}\n")
}
