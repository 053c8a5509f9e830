//! Vertex ids owned by a query.

use nebula_wire::Value;

use super::error::QueryError;
use crate::{meta::model::VidType, storage::VidRef};

/// A vertex id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Vid {
    Int(i64),
    Text(Box<[u8]>),
}

impl Vid {
    pub(super) fn as_ref(&self) -> VidRef<'_> {
        match self {
            Self::Int(id) => VidRef::Int(*id),
            Self::Text(text) => VidRef::Text(text),
        }
    }

    pub(super) fn of(vid: VidRef<'_>) -> Self {
        match vid {
            VidRef::Int(id) => Self::Int(id),
            VidRef::Text(text) => Self::Text(text.into()),
        }
    }

    /// The id a value stands for in a space of this kind.
    pub(super) fn from_value(value: &Value, kind: VidType) -> Result<Self, QueryError> {
        vid_ref(value, kind).map(Self::of)
    }
}

/// Like [`Vid::from_value`], borrowing.
pub(super) fn vid_ref(value: &Value, kind: VidType) -> Result<VidRef<'_>, QueryError> {
    match (kind, value) {
        (VidType::Int, Value::Int(id)) => Ok(VidRef::Int(*id)),
        (VidType::Text(size), Value::String(text)) if text.len() <= usize::from(size) => Ok(VidRef::Text(text)),
        (VidType::Text(_), Value::String(_)) => Err(QueryError::execution(
            "Storage Error: The VID must be a 64-bit integer or a string fitting space vertex id length limit.",
        )),
        _ => Err(QueryError {
            class: super::error::Class::Semantic,
            text: "SemanticError: The VID must be a 64-bit integer or a string fitting space vertex id length limit."
                .to_owned(),
        }),
    }
}

/// The value of an id.
pub(super) fn vid_value(vid: VidRef<'_>) -> Value {
    match vid {
        VidRef::Int(id) => Value::Int(id),
        VidRef::Text(text) => Value::String(text.to_vec()),
    }
}
