//! What ssh says, in words a user can act on.
//!
//! Duty: texts of OpenSSH and of the openssh crate to [`Lost`] and [`Failure`]; which of them deserve another try.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use nbctl_core::failure::Failure;
use openssh::Error;

use super::exec::Lost;
use super::target::Target;

/// What `sshd` makes of connections beyond `MaxStartups`, as OpenSSH 7.4 to 9.x word it.
const AT_THE_DOOR: [&str; 4] = [
    "kex_exchange_identification: read: Connection reset by peer",
    "kex_exchange_identification: Connection closed by remote host",
    "ssh_exchange_identification: read: Connection reset by peer",
    "ssh_exchange_identification: Connection closed by remote host",
];

/// The master ended while it was asked, so that what was asked may have begun: its host is gone.
const MASTER_GONE: &[&str] = &["unexpected end of file", "Broken pipe", "broken pipe"];

const UNKNOWN_KEY: &str = "the host's key is not known; check it and add it with ssh-keyscan, \
                           or set known_hosts: accept-new";

/// A part of an ssh text, and what helps; the first that fits counts.
const HINTS: [(&str, &str); 11] = [
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "the host's key changed; if that is right, remove the old one with ssh-keygen -R",
    ),
    ("Host key verification failed", UNKNOWN_KEY),
    ("host key is known for", UNKNOWN_KEY),
    (
        "Too many authentication failures",
        "the agent offered too many keys; set identity_file",
    ),
    (
        "Permission denied",
        "no key was accepted; set user and identity_file, or install the key with: nbctl hosts bootstrap",
    ),
    (
        "Could not resolve hostname",
        "correct ssh.host or the address, or add the name to /etc/hosts",
    ),
    (
        "Connection refused",
        "no sshd listens there; check ssh.port",
    ),
    (
        "timed out",
        "the host is down, or a firewall drops the connection",
    ),
    (
        "No route to host",
        "the host is down, or the network between is",
    ),
    (
        "Bad SSH2 KexAlgorithms",
        "nbctl needs the OpenSSH client 8.0 or later on this machine",
    ),
    (
        "exchange_identification",
        "sshd drops new connections; raise MaxStartups there",
    ),
];

/// The line that shows by hand what nbctl sees.
pub(super) fn by_hand(target: &Target, config: &Path) -> String {
    format!("ssh -F {} {}", config.display(), target.destination())
}

/// A connection that could not be made.
pub(super) fn connect(target: &Target, config: &Path, error: &Error) -> Failure {
    if let Error::Connect(cause) = error
        && cause.kind() == io::ErrorKind::NotFound
    {
        return Failure::host("cannot run ssh on this machine")
            .hint("install the OpenSSH client (openssh-client, openssh-clients)");
    }
    let text = words(error);
    let hint = HINTS.iter().find(|(part, _)| text.contains(part));
    let hint = hint.map_or("see what ssh says by hand, with -v", |(_, hint)| hint);
    Failure::host(format!("cannot connect: {}", last_line(&text)))
        .at(target.name.to_string())
        .line(format!("try: {}", by_hand(target, config)))
        .hint(hint)
}

/// Dropped before anything was exchanged, because too many connections were starting.
pub(super) fn at_the_door(error: &Error) -> bool {
    let text = words(error);
    AT_THE_DOOR.iter().any(|part| text.contains(part))
}

/// Connected, but no answer.
pub(super) fn silent(limit: Duration) -> Error {
    let text = format!("the handshake timed out after {} s", limit.as_secs());
    Error::Connect(io::Error::new(io::ErrorKind::TimedOut, text))
}

/// An error of a session to what it means for the command.
pub(super) fn lost(error: Error) -> Lost {
    match error {
        Error::RemoteProcessTerminated => Lost::Gone,
        Error::Disconnected | Error::Master(_) => Lost::Disconnected,
        error => {
            let text = words(&error);
            let says = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
            if says(&["open refused", "refused the request"]) {
                return Lost::Refused(text);
            }
            if says(MASTER_GONE) {
                return Lost::Gone;
            }
            Lost::Other(text)
        }
    }
}

/// The whole chain of causes in one line.
pub(super) fn words(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let _ = write!(text, ": {inner}");
        cause = inner.source();
    }
    text
}

/// Of several lines of a log, the one that says why.
fn last_line(text: &str) -> &str {
    let telling = |line: &&str| !line.trim().is_empty();
    let line = text.lines().rev().find(telling).unwrap_or(text).trim();
    line.strip_prefix("failed to connect to the remote host: ")
        .unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Error {
        let kind = io::ErrorKind::ConnectionAborted;
        Error::Connect(io::Error::new(kind, text.to_owned()))
    }

    #[test]
    fn only_the_texts_of_max_startups_are_tried_again() {
        for text in AT_THE_DOOR {
            assert!(at_the_door(&said(text)), "{text}");
        }
        for text in [
            "connect to host h port 22: Connection refused",
            "root@h: Permission denied (publickey).",
        ] {
            assert!(!at_the_door(&said(text)), "{text}");
        }
    }

    #[test]
    fn a_master_that_ends_while_it_is_asked_is_a_lost_connection() {
        let cut = |kind: io::ErrorKind| Error::ChildIo(io::Error::from(kind));
        for kind in [io::ErrorKind::UnexpectedEof, io::ErrorKind::BrokenPipe] {
            assert_eq!(lost(cut(kind)), Lost::Gone, "{kind}");
        }
        let other = lost(cut(io::ErrorKind::PermissionDenied));
        assert!(matches!(other, Lost::Other(_)), "{other:?}");
    }

    #[test]
    fn every_refusal_has_its_hint_and_the_line_to_try() {
        let target = Target::bare("s1", "10.0.0.1");
        for (part, hint) in HINTS {
            let error = said(&format!("x {part} y"));
            let failure = connect(&target, Path::new("/c/s1.conf"), &error);
            assert_eq!(failure.hint.as_deref(), Some(hint), "{part}");
            assert_eq!(failure.detail, ["try: ssh -F /c/s1.conf 10.0.0.1"]);
        }
    }
}
