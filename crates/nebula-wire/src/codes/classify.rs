//! What an error means to an importer or a load generator.
//!
//! graphd reports every storage and meta failure as "execution error"; which one it was stands only
//! in the text. Buckets are therefore keyed by the name found in the text, never by number alone:
//! `E_CONSENSUS_ERROR` is -16 inside a 2.0 text and -3001 inside a 2.6 one.

use std::borrow::Cow;

use super::{Release, known_name, name as name_of};

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// None: code 0.
    Success,
    /// Statement does not parse.
    Syntax,
    /// Statement parses but names things that do not fit the schema.
    Semantic,
    /// Session unknown or expired: authenticate again, `USE` again, then retry.
    Session,
    /// User, password or role.
    Permission,
    /// Too many connections, or sessions per user and address: nothing gets better by retrying.
    TooMany,
    /// Partition leader moved or is not elected yet.
    Leader,
    /// The partition's raft buffer is full: writes come faster than the disks take them.
    RaftBuffer,
    /// Raft could not agree.
    Consensus,
    /// Writes are blocked for a while (snapshot, write stall).
    WriteBlocked,
    /// A daemon could not reach another one in time.
    Rpc,
    /// A memory watermark was exceeded.
    Memory,
    /// Space, tag, part or the like is missing.
    NotFound,
    /// It exists already.
    Existed,
    /// The statement worked for some parts only.
    Partial,
    /// The server refuses this client's version.
    Version,
    /// Anything else that failed while executing.
    Execution,
}

impl ErrorKind {
    /// Whether the same statement may well succeed a little later on the same session. Inserts are
    /// idempotent; other writes may already have happened and must not be repeated blindly.
    pub const fn retryable(self) -> bool {
        matches!(
            self,
            Self::Leader
                | Self::RaftBuffer
                | Self::Consensus
                | Self::WriteBlocked
                | Self::Rpc
                | Self::Memory
                | Self::Partial
        )
    }
}

/// An error's bucket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ErrorClass {
    /// Name of the innermost error known: from the text if it has one, else of the code.
    pub name: Cow<'static, str>,
    /// What kind of failure it was.
    pub kind: ErrorKind,
    /// [`ErrorKind::retryable`] of it.
    pub retryable: bool,
}

impl ErrorClass {
    fn new(name: impl Into<Cow<'static, str>>, kind: ErrorKind) -> Self {
        Self {
            name: name.into(),
            kind,
            retryable: kind.retryable(),
        }
    }
}

/// Texts that carry no name: part of the text, the 3.x name of what it says, kind.
const TEXTS: &[(&str, &str, ErrorKind)] = &[
    (
        "raft buffer is full",
        "E_RAFT_BUFFER_OVERFLOW",
        ErrorKind::RaftBuffer,
    ),
    ("Not the leader", "E_LEADER_CHANGED", ErrorKind::Leader),
    (
        "rite is blocked",
        "E_RAFT_WRITE_BLOCKED",
        ErrorKind::WriteBlocked,
    ),
    ("RPC failure", "E_RPC_FAILURE", ErrorKind::Rpc),
    ("SpaceNotFound", "E_SPACE_NOT_FOUND", ErrorKind::NotFound),
    ("Existed!", "E_EXISTED", ErrorKind::Existed),
];

/// Part of a name, kind. The first that fits decides.
const NAMES: &[(&str, ErrorKind)] = &[
    ("E_PARTIAL_", ErrorKind::Partial),
    ("SUCCEEDED", ErrorKind::Success),
    ("E_SYNTAX_ERROR", ErrorKind::Syntax),
    ("E_STATEMENT_EMPTY", ErrorKind::Syntax),
    ("E_SEMANTIC_ERROR", ErrorKind::Semantic),
    ("E_SESSION_", ErrorKind::Session),
    ("E_BAD_USERNAME_PASSWORD", ErrorKind::Permission),
    ("E_INVALID_PASSWORD", ErrorKind::Permission),
    ("E_USER_NOT_FOUND", ErrorKind::Permission),
    ("E_BAD_PERMISSION", ErrorKind::Permission),
    ("E_IMPROPER_ROLE", ErrorKind::Permission),
    ("E_TOO_MANY_CONNECTIONS", ErrorKind::TooMany),
    ("E_RAFT_BUFFER_OVERFLOW", ErrorKind::RaftBuffer),
    ("E_LEADER_", ErrorKind::Leader),
    ("E_WRITE_STALLED", ErrorKind::WriteBlocked),
    ("E_RAFT_WRITE_BLOCKED", ErrorKind::WriteBlocked),
    ("E_CONSENSUS_ERROR", ErrorKind::Consensus),
    ("E_RAFT_RPC_EXCEPTION", ErrorKind::Rpc),
    ("E_RAFT_", ErrorKind::Consensus),
    ("E_RPC_FAILURE", ErrorKind::Rpc),
    ("E_DISCONNECTED", ErrorKind::Rpc),
    ("E_FAIL_TO_CONNECT", ErrorKind::Rpc),
    ("_MEMORY_EXCEEDED", ErrorKind::Memory),
    ("E_CLIENT_SERVER_INCOMPATIBLE", ErrorKind::Version),
    ("_NOT_FOUND", ErrorKind::NotFound),
    ("_EXISTED", ErrorKind::Existed),
    ("_EXISTS", ErrorKind::Existed),
];

/// Sorts an error into its bucket. A [`crate::Line`] will do for `release`.
pub fn classify(release: impl Into<Release>, code: i32, msg: &[u8]) -> ErrorClass {
    let outer = name_of(release, code);
    match outer {
        None | Some("E_EXECUTION_ERROR") => classify_text(outer, code, msg),
        // Syntax and semantic errors quote the statement: nothing in their text is to be trusted.
        Some("E_SESSION_INVALID") if contains(msg, "Too many sessions") => {
            ErrorClass::new("E_SESSION_INVALID", ErrorKind::TooMany)
        }
        Some(name) => ErrorClass::new(name, kind_of(name)),
    }
}

fn classify_text(outer: Option<&'static str>, code: i32, msg: &[u8]) -> ErrorClass {
    if let Some(name) = named_error(msg) {
        let kind = kind_of(name);
        return match known_name(name) {
            Some(known) => ErrorClass::new(known, kind),
            None => ErrorClass::new(name.to_owned(), kind),
        };
    }
    if let Some((_, name, kind)) = TEXTS.iter().find(|(text, ..)| contains(msg, text)) {
        return ErrorClass::new(*name, *kind);
    }
    let kind = ErrorKind::Execution;
    match outer {
        Some(name) => ErrorClass::new(name, kind),
        None => ErrorClass::new(format!("E_CODE_{}", code.unsigned_abs()), kind),
    }
}

fn kind_of(name: &str) -> ErrorKind {
    let found = NAMES.iter().find(|(part, _)| name.contains(part));
    found.map_or(ErrorKind::Execution, |(_, kind)| *kind)
}

/// `NAME` of the first `error: NAME(-123)` in a text.
fn named_error(msg: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(msg).ok()?;
    text.split("error: ").skip(1).find_map(name_before_number)
}

fn name_before_number(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once('(')?;
    let (number, _) = rest.split_once(')')?;
    let is_name =
        name.starts_with("E_") && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (is_name && number.parse::<i32>().is_ok()).then_some(name)
}

fn contains(msg: &[u8], text: &str) -> bool {
    msg.windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Line;

    const CASES: &str = include_str!("../../tests/fixtures/error-classes.tsv");

    #[test]
    fn errors_fall_into_their_buckets() {
        for case in CASES.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<_> = case.split('\t').collect();
            let [line, code, name, kind, retryable, msg] = fields[..] else {
                panic!("not six fields: {case}");
            };
            let line = Line::ALL.into_iter().find(|l| l.name() == line).unwrap();
            let got = classify(line, code.parse().unwrap(), msg.as_bytes());
            assert_eq!(got.name, name, "{case}");
            assert_eq!(format!("{:?}", got.kind), kind, "{case}");
            assert_eq!(got.retryable, retryable == "retry", "{case}");
        }
    }
}
