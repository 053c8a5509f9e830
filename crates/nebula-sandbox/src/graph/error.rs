//! Errors as a client sees them: a class whose number depends on the line, and a text.

use crate::{line::Line, meta::message::Failure, ngql::ParseError};

/// What went wrong, by the graph service's own classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    BadUsernamePassword,
    SessionInvalid,
    Syntax,
    Execution,
    StatementEmpty,
    Semantic,
    TooManyConnections,
}

impl Class {
    /// The number this class has on `line`.
    pub(super) const fn code(self, line: Line) -> i32 {
        let (old, new) = match self {
            Self::BadUsernamePassword => (-4, -1001),
            Self::SessionInvalid => (-5, -1002),
            Self::Syntax => (-7, -1004),
            Self::Execution => (-8, -1005),
            Self::StatementEmpty => (-9, -1006),
            Self::Semantic => (-12, -1009),
            Self::TooManyConnections => (-13, -1010),
        };
        match line {
            Line::V2_0_1 => old,
            _ => new,
        }
    }
}

/// A failed statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub(super) struct QueryError {
    pub class: Class,
    pub text: String,
}

impl QueryError {
    /// Wrong by what the statement says (`SemanticError: …`).
    pub(super) fn semantic(text: impl AsRef<str>) -> Self {
        Self {
            class: Class::Semantic,
            text: format!("SemanticError: {}", text.as_ref()),
        }
    }

    /// Failed while running.
    pub(super) fn execution(text: impl Into<String>) -> Self {
        Self {
            class: Class::Execution,
            text: text.into(),
        }
    }

    /// Understood, but the sandbox does not play it.
    pub(super) fn not_supported(what: &str) -> Self {
        Self::semantic(format!("sandbox: not supported: {what}"))
    }
}

impl From<ParseError> for QueryError {
    fn from(error: ParseError) -> Self {
        let class = match error {
            ParseError::NotSupported(_) => Class::Semantic,
            _ => Class::Syntax,
        };
        Self {
            class,
            text: error.to_string(),
        }
    }
}

impl From<Failure> for QueryError {
    fn from(failure: Failure) -> Self {
        Self::execution(failure.text)
    }
}

impl From<crate::rpc::wire::Malformed> for QueryError {
    fn from(_: crate::rpc::wire::Malformed) -> Self {
        Self::execution("Storage Error: malformed answer of a storaged")
    }
}
