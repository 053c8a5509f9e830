//! Numbers of 2.0.x, where each service has its own list. graphd reports those of the graph
//! service; the storage numbers occur inside its texts and are listed as far as they are known.

use super::Row;

/// Numbers of the graph service.
pub(super) const GRAPH: &[Row] = &[
    Row::always(0, "SUCCEEDED"),
    Row::always(-1, "E_DISCONNECTED"),
    Row::always(-2, "E_FAIL_TO_CONNECT"),
    Row::always(-3, "E_RPC_FAILURE"),
    Row::always(-4, "E_BAD_USERNAME_PASSWORD"),
    Row::always(-5, "E_SESSION_INVALID"),
    Row::always(-6, "E_SESSION_TIMEOUT"),
    Row::always(-7, "E_SYNTAX_ERROR"),
    Row::always(-8, "E_EXECUTION_ERROR"),
    Row::always(-9, "E_STATEMENT_EMPTY"),
    Row::always(-10, "E_USER_NOT_FOUND"),
    Row::always(-11, "E_BAD_PERMISSION"),
    Row::always(-12, "E_SEMANTIC_ERROR"),
    Row::always(-13, "E_TOO_MANY_CONNECTIONS"),
    Row::always(-14, "E_PARTIAL_SUCCEEDED"),
];
