//! Why bytes could not be decoded or encoded.

/// A defect of a message, or bytes that are still missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end before the message does. For a stream this means "read more".
    #[error("message is truncated")]
    Truncated,
    /// Structs nest deeper than [`crate::MAX_DEPTH`].
    #[error("message nests deeper than {} levels", crate::MAX_DEPTH)]
    TooDeep,
    /// A frame is longer than the receiver accepts.
    #[error("frame of {len} bytes is larger than the limit of {max}")]
    TooLarge {
        /// Length in bytes as announced, or as encoded.
        len: usize,
        /// Limit in bytes.
        max: usize,
    },
    /// Bytes that no peer of this protocol sends.
    #[error("malformed message: {0}")]
    Malformed(&'static str),
}
