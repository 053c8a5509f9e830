//! Which run is meant.

use std::path::Path;

use nbctl_core::failure::Failure;

use crate::record::{RunStore, RunSummary, list};

/// Most candidates named in a failure.
const MOST_NAMED: usize = 8;

/// Opens the run meant by `name`: a folder, `latest`, a whole id, or a part of exactly one id.
///
/// # Errors
/// When no run or several runs are meant, or the run cannot be read.
pub fn resolve_run(root: &Path, name: &str) -> Result<RunStore, Failure> {
    let path = Path::new(name);
    if path.join("manifest.json").is_file() {
        return RunStore::open(path);
    }
    let runs = list(root)?;
    RunStore::open(&pick(&runs, root, name)?.folder)
}

fn pick<'a>(runs: &'a [RunSummary], root: &Path, name: &str) -> Result<&'a RunSummary, Failure> {
    let place = root.display().to_string();
    if name == "latest" {
        return runs.last().ok_or_else(|| {
            Failure::usage("there is no run yet")
                .at(place)
                .hint("make one with `nbctl bench full`")
        });
    }
    if let Some(run) = runs.iter().find(|run| run.id == name) {
        return Ok(run);
    }
    let meant: Vec<&RunSummary> = runs.iter().filter(|run| run.id.contains(name)).collect();
    match meant.as_slice() {
        [only] => Ok(only),
        [] => Err(Failure::usage(format!("there is no run `{name}`"))
            .at(place)
            .hint("list the runs with `nbctl runs list`")),
        several => Err(
            Failure::usage(format!("`{name}` may be {} runs", several.len()))
                .at(place)
                .lines(
                    several
                        .iter()
                        .rev()
                        .take(MOST_NAMED)
                        .map(|run| run.id.clone()),
                )
                .hint("give more of the name"),
        ),
    }
}
