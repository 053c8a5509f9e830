//! Docker engines of hosts.
//!
//! Purpose: the only place that names bollard. An engine is reached through its socket, forwarded over the host's one
//! connection; nothing is installed for it.
//! Duties: containers exactly as specified (label and digest of the specification decide), images from archives or a
//! registry, removal of what carries our labels and of nothing else.

mod bundle;
mod check;
mod container;
mod engine;
mod image;
mod remove;
mod spec;
mod state;

pub use self::engine::{Engine, Engines};
pub use self::image::ImageFacts;
