//! Reports of recorded runs.
//!
//! Purpose: `nbctl report` and `nbctl runs`: find a run, read it, render it, write the files.
//! Duties: read the store and hand texts to the pure report; a report is always made from the store, never
//! from what a command still has in memory, so what is on disk is enough for ever.

mod find;
mod show;

use std::path::{Path, PathBuf};

use nbctl_core::failure::Failure;
use nbctl_core::report::{Report, Spectra, Spectrum};
use nbctl_core::run::spectrum;

use crate::assets::Assets;
use crate::record::{RunStore, read_histogram};

pub use find::resolve_run;
pub use show::{runs_table, show};

/// A file format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Format {
    /// One self-contained file.
    Html,
    /// GitHub-flavoured Markdown.
    Md,
    /// The model.
    Json,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Html, Self::Md, Self::Json];

    fn file_name(self) -> &'static str {
        match self {
            Self::Html => "report.html",
            Self::Md => "report.md",
            Self::Json => "report.json",
        }
    }
}

/// The clocks of which a phase may keep a histogram.
const CLOCKS: [&str; 3] = ["server", "service", "response"];

/// The model of a recorded run.
///
/// # Errors
/// When a histogram is damaged.
pub fn load(store: &RunStore) -> Result<Report, Failure> {
    let mut spectra = Spectra::new();
    for phase in &store.manifest().phases {
        let folder = store.phase_folder(phase.index)?;
        spectra.insert(phase.index, curves(&folder)?);
    }
    Ok(Report::of(store.manifest(), spectra))
}

fn curves(folder: &Path) -> Result<Vec<Spectrum>, Failure> {
    let mut curves = Vec::new();
    for clock in CLOCKS {
        if let Some(histogram) = read_histogram(folder, clock)? {
            curves.push(Spectrum {
                clock: clock.to_owned(),
                points: spectrum(&histogram),
            });
        }
    }
    Ok(curves)
}

/// The report as text.
///
/// # Errors
/// When a template is missing or wrong.
pub fn render(report: &Report, format: Format, assets: &Assets) -> Result<String, Failure> {
    use nbctl_core::report;
    match format {
        Format::Html => report::html(report, &assets.text("templates/report/report.html.tera")?),
        Format::Md => report::markdown(report, &assets.text("templates/report/report.md.tera")?),
        Format::Json => report::json(report),
    }
}

/// Writes the report in each format, into the run's folder or into `out`; answers the paths.
///
/// # Errors
/// When the run cannot be read, a template is wrong, or a file cannot be written.
pub fn write_all(
    store: &RunStore,
    formats: &[Format],
    out: Option<&Path>,
    assets: &Assets,
) -> Result<Vec<PathBuf>, Failure> {
    let report = load(store)?;
    let mut paths = Vec::new();
    for format in formats {
        let text = render(&report, *format, assets)?;
        paths.push(write(store, out, format.file_name(), &text)?);
    }
    Ok(paths)
}

fn write(store: &RunStore, out: Option<&Path>, name: &str, text: &str) -> Result<PathBuf, Failure> {
    let Some(folder) = out else {
        store.put_text(name, text)?;
        return Ok(store.folder().join(name));
    };
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| {
            Failure::usage(format!("cannot write the report: {error}"))
                .at(path.display().to_string())
        })?;
    Ok(path)
}
