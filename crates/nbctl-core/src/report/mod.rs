//! From what a run recorded to what a stranger reads.
//!
//! Purpose: `Manifest` → [`Report`] (the model, `report.json`) → HTML and Markdown.
//! Duties: pure; templates and times are handed in. [`Report::of`] derives every number, the view puts
//! them into words, tables and charts, templates lay these out. Text of users and databases is escaped
//! where it is rendered, by format.

mod build;
mod model;
mod number;
mod render;
mod svg;
mod view;

pub use build::Spectra;
pub use model::{
    ClocksReport, FileReport, ImportReport, Percentiles, PhaseReport, REPORT_FORMAT, Report,
    RunReport, Spectrum, StressReport, VerdictReport,
};
pub use render::{html, json, markdown};
