//! Writes small data sets in the shape of LDBC SNB Interactive v1: the 33 `CsvBasic` files that the Hadoop
//! generator v0.3.3 writes, with its names, headers, id rules and intact references.
//!
//! This is **not** the official generator and its output is **not** an LDBC data set: names, tags and texts come
//! from rule-made vocabularies, and the distributions are similar, not equal. It exists so that a data set is at
//! hand without a JVM, a network or a licence question. Results measured on it must say so.
//!
//! * The same [`Config`] gives the same bytes on every platform: all draws come from `ChaCha8` streams keyed by
//!   (seed, purpose, index), and floating point is limited to operations that IEEE 754 rounds exactly.
//! * Persons and friendships stay in memory (about 250 bytes a person and 32 a friendship); messages and likes
//!   are written as they are drawn and never kept.
//! * A generation that did not finish leaves no `manifest.json`; running it again starts over.
//!
//! One module per kind of thing that is generated: `statics`, `persons`, `knows`, `forums`, `messages` and
//! `likes`; the others serve them.

mod clock;
mod draw;
mod error;
mod files;
mod folder;
mod forums;
mod ids;
mod knows;
mod likes;
mod manifest;
mod messages;
mod persons;
mod run;
mod sink;
mod statics;
mod text;
mod words;

pub use error::Error;
pub use files::{FILES, FileSpec};
pub use manifest::{FileEntry, GENERATOR, MANIFEST, Manifest};
pub use run::{Config, Progress, Stage, generate};
