//! Placeholder, filled in by the first slice.
