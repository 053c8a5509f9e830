//! The monitoring stack on the hosts of a cluster.
//!
//! Purpose: `monitor up|status|down`, without the command line: look, plan (`nbctl_core::monitor`), do, verify.
//! Duties: a host or engine that is lost is one failure beside the others' success; nothing here is planned.

mod apply;
mod look;
mod own_image;
mod restore;
mod scrape;
mod servers;
mod sources;
mod targets;

pub use self::apply::{Done, apply, settle};
pub use self::look::{Seen, look};
pub use self::restore::restore;
pub use self::scrape::{Scraped, scrape};
pub use self::servers::{Alert, alerts, disk_bytes, version};
pub use self::sources::{BUNDLED_IMAGES, Sources, read_index};
pub use self::targets::{Target, Wanted, prometheus, targets};
