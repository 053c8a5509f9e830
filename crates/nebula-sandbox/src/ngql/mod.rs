//! nGQL: text to statements. What is understood is listed in `docs/design/sandbox.md`.

pub mod ast;
pub mod cypher;
mod lexer;
mod parser;
mod print;
mod visit;

pub use parser::parse;
pub use print::value_text;

/// Why a text is no nGQL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("SyntaxError: syntax error near `{0}'")]
    Near(String),
    /// Words that NebulaGraph knows and the sandbox does not.
    #[error("SemanticError: sandbox: not supported: {0}")]
    NotSupported(String),
    #[error("SyntaxError: {0}")]
    Other(String),
}
