//! nbctl: from bare Linux hosts to a trustworthy benchmark report of a NebulaGraph cluster.

pub mod event;
