//! Small types that keep hosts, remote paths and digests from being mixed up.
//!
//! Purpose: a path on a host is not a path here; a name is not an address.
//! Duties: parse with a reason, show as written, order and hash.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// `1 host`, `2 hosts`.
pub fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Name of a host in the inventory; unique within it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostName(String);

impl HostName {
    /// Takes a name as it is; the inventory checks names where they are written.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Absolute, normalised path on a host: no `.`/`..`, no doubled or trailing slash, no control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RemotePath(String);

impl RemotePath {
    /// Checks and normalises.
    ///
    /// # Errors
    /// A sentence saying what is wrong with the path.
    pub fn new(path: &str) -> Result<Self, String> {
        if !path.starts_with('/') {
            return Err(format!("path `{path}` is not absolute"));
        }
        if path.chars().any(char::is_control) {
            return Err(format!(
                "path `{}` has control characters",
                path.escape_debug()
            ));
        }
        let mut parts = Vec::new();
        for part in path
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
        {
            if part == ".." {
                return Err(format!("path `{path}` has `..` in it"));
            }
            parts.push(part);
        }
        Ok(Self(format!("/{}", parts.join("/"))))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A path below this one; `name` is relative and is trusted to be normal.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let base = self.0.trim_end_matches('/');
        Self(format!("{base}/{}", name.trim_matches('/')))
    }

    /// The folder it is in; `/` for `/`.
    #[must_use]
    pub fn parent(&self) -> Self {
        match self.0.rsplit_once('/') {
            Some(("", _)) | None => Self("/".to_owned()),
            Some((parent, _)) => Self(parent.to_owned()),
        }
    }

    /// Last component; empty for `/`.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// Same path or below it, by whole components.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0
            .strip_prefix(other.0.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl TryFrom<String> for RemotePath {
    type Error = String;

    fn try_from(path: String) -> Result<Self, String> {
        Self::new(&path)
    }
}

impl From<RemotePath> for String {
    fn from(path: RemotePath) -> Self {
        path.0
    }
}

impl fmt::Display for RemotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// SHA-256 digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// Digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// From a finished hasher's output.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Parses 64 hex digits, either case.
    ///
    /// # Errors
    /// A sentence when the text is no such digest.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{}` is not a sha256 digest (64 hex digits)",
                text.escape_debug()
            )
        };
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut bytes = [0u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }

    /// First 12 hex digits, used in folder names.
    pub fn short(self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

impl TryFrom<String> for Sha256 {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Sha256> for String {
    fn from(digest: Sha256) -> Self {
        digest.to_string()
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_or_refused() {
        let cases = [
            ("/data//nebula/./x/", Ok("/data/nebula/x")),
            ("/", Ok("/")),
            ("data", Err(())),
            ("/a/../b", Err(())),
            ("/a\nb", Err(())),
        ];
        for (given, expected) in cases {
            let got = RemotePath::new(given);
            assert_eq!(
                got.as_ref().map(RemotePath::as_str).map_err(|_| ()),
                expected,
                "{given}"
            );
        }
    }

    #[test]
    fn within_counts_whole_components() {
        let path = |text| RemotePath::new(text).unwrap();
        assert!(path("/data/nebula/x").is_within(&path("/data/nebula")));
        assert!(path("/data/nebula").is_within(&path("/data/nebula")));
        assert!(!path("/data/nebula2").is_within(&path("/data/nebula")));
        assert!(path("/data").is_within(&path("/")));
        assert_eq!(path("/data/nebula").parent(), path("/data"));
        assert_eq!(path("/data").parent(), path("/"));
    }

    #[test]
    fn digests_round_trip() {
        let digest = Sha256::of(b"");
        assert!(digest.to_string().starts_with("e3b0c44298fc"));
        assert_eq!(
            Sha256::parse(&digest.to_string().to_uppercase()),
            Ok(digest)
        );
        assert!(Sha256::parse("e3b0").is_err());
        assert!(Sha256::parse(&"é".repeat(32)).is_err());
    }
}
