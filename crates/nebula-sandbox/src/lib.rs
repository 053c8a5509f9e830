//! A stand-in for NebulaGraph's three daemons and the package they come in.
//!
//! One binary plays metad, graphd or storaged by the name it is called, with the ports, files, scripts, statements
//! and traps of a release line. It exists so that deployer, importer, load engine and reports can be tested and shown
//! where the real packages cannot be had; it is not a database (`docs/design/sandbox.md` says what it is not).

pub mod clock;
pub mod daemon;
pub mod flags;
pub mod graph;
pub mod http;
pub mod line;
pub mod meta;
pub mod ngql;
pub mod package;
pub mod rpc;
pub mod stats;
pub mod storage;

pub use line::{Line, Role, SANDBOX_GIT_SHA};
