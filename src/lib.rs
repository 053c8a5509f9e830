//! nbctl: from bare Linux hosts to a trustworthy benchmark report of a NebulaGraph cluster.

pub mod assets;
pub mod event;
pub mod record;
pub mod reporter;
