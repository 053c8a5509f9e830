//! The run store: one folder a run, written step by step, readable at any moment.
//!
//! Purpose: reports, comparisons and resumed runs all start from here and from nothing else (design 7).
//! Duties: every file that must be whole is written beside its place, synced and renamed; logs are
//! appended unbuffered, so a killed run keeps every line it wrote; everything passes the [`Redactor`].
//! Calls block for the time of a small file's sync; use them between pieces of work, not within.

mod catalog;
mod disk;
mod events;
mod histogram;
mod layout;
mod read;
mod redact;
mod series;
mod store;

pub use catalog::{RunState, RunSummary, delete, list};
pub use disk::replace;
pub use events::EventLog;
pub use histogram::read_histogram;
pub use redact::Redactor;
pub use store::{NewRun, RunStore};

#[cfg(test)]
mod tests;
