//! `NebulaGraph` versions and release lines.
//!
//! Duty: tell which release line a version belongs to, since ports, flags and start order depend on
//! it, and refuse versions whose behaviour nobody has described.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A released version, `major.minor.patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

/// Release lines that nbctl knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Line {
    /// 2.0.x
    #[serde(rename = "2.0")]
    V2_0,
    /// 2.5.x
    #[serde(rename = "2.5")]
    V2_5,
    /// 2.6.x
    #[serde(rename = "2.6")]
    V2_6,
    /// 3.x
    #[serde(rename = "3")]
    V3,
}

impl Version {
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Reads `3.8.0` (a leading `v` is taken); all three numbers are needed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a version such as 3.8.0");
        let digits = text.strip_prefix('v').unwrap_or(text);
        let numbers: Result<Vec<u16>, _> = digits.split('.').map(str::parse).collect();
        match numbers.map_err(|_| wrong())?.as_slice() {
            &[major, minor, patch] => Ok(Self::new(major, minor, patch)),
            _ => Err(wrong()),
        }
    }

    /// The line of this version, `None` when it is not one of those nbctl knows.
    pub const fn line(self) -> Option<Line> {
        match (self.major, self.minor) {
            (2, 0) => Some(Line::V2_0),
            (2, 5) => Some(Line::V2_5),
            (2, 6) => Some(Line::V2_6),
            (3, _) => Some(Line::V3),
            _ => None,
        }
    }

    /// Whether this is `major.minor` or newer.
    pub const fn since(self, major: u16, minor: u16) -> bool {
        self.major > major || (self.major == major && self.minor >= minor)
    }

    /// HTTP/2 port of the admin service: gone after 3.0.
    pub const fn has_http2_port(self) -> bool {
        !self.since(3, 1)
    }

    /// A storaged serves only after `ADD HOSTS` named it.
    pub const fn needs_add_hosts(self) -> bool {
        self.since(3, 0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}.{}", self.major, self.minor, self.patch))
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V2_0 => "2.0",
            Self::V2_5 => "2.5",
            Self::V2_6 => "2.6",
            Self::V3 => "3",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Version};

    #[test]
    fn versions_and_lines() {
        let cases = [
            ("2.0.1", Some(Line::V2_0)),
            ("2.5.1", Some(Line::V2_5)),
            ("2.6.2", Some(Line::V2_6)),
            ("v3.8.0", Some(Line::V3)),
            ("1.2.0", None),
            ("2.1.0", None),
            ("4.0.0", None),
        ];
        for (text, line) in cases {
            assert_eq!(Version::parse(text).unwrap().line(), line, "{text}");
        }
        for text in ["3.8", "3", "", "3.8.0.1", "2023.09.01-nightly", "3.x.0"] {
            assert!(Version::parse(text).is_err(), "{text}");
        }
        assert!(Version::new(3, 0, 2).has_http2_port());
        assert!(!Version::new(3, 1, 0).has_http2_port());
    }
}
