//! nbctl.
