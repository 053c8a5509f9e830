//! storaged: keeps the vertices and edges of its partitions in memory and every write in a log under `data_path`.
//!
//! It knows no schemas: rows are bytes that graphd makes and reads. An edge is stored at both its ends.

mod adjacency;
mod apply;
mod arena;
mod hash;
mod journal;
mod moving;
mod opening;
pub mod request;
mod service;
mod space;
mod vids;

pub use hash::{IdHash, murmur};
pub use request::{OP_COMPACT, OP_COUNT, OP_EXPORT, OP_FLUSH, OP_IMPORT, OP_PURGE, OP_SEAL};
pub use service::Storaged;
pub use vids::VidRef;
