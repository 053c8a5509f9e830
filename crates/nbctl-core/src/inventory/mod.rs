//! The inventory: from a YAML text to a checked [`Cluster`].
//!
//! Duty: `parse` (shape) → `resolve` (references, defaults) → `check` (what values mean together).
//! All problems are collected, each with its line; a cluster exists only when none is an error.

mod at;
mod check;
mod cluster;
mod flags;
mod ini;
mod layer;
mod layout;
mod names;
mod parse;
mod path;
mod ports;
mod problem;
mod range;
mod resolve;
mod select;
mod spec;
mod version;

pub use at::{At, Place};
pub use cluster::{
    Cluster, Daemon, GraphLogin, Host, LocalFile, Monitor, PackageSource, Pin, Registry, Secret,
    SourceMark, SshTarget, Tls,
};
pub use flags::{FlagLine, FlagValue, Flags, Scalar};
pub use ini::{Converted, convert, is_ini};
pub use layout::Layout;
pub use names::{DaemonRole, Role};
pub use path::{owned as owned_path, protected as protected_path};
pub use ports::Port;
pub use problem::{Problem, Severity, Source};
pub use range::{contract as contract_ranges, expand as expand_range};
pub use resolve::{Loaded, load};
pub use select::{Selection, is_like};
pub use spec::{Component, Install, Inventory, KnownHosts, Reach, RegistryReach, TlsScope};
pub use version::{Line, Version};
