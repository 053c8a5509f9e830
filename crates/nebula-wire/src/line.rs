//! Release lines of NebulaGraph, as far as the protocol differs between them.

/// A release line. What it changes on the wire: the latency's width, error numbers, the fields of
/// the authentication reply and the methods that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    /// 2.0.x: small error numbers, no `verifyClientVersion`, no time zone in the session.
    V2_0,
    /// 2.5.x: unified error numbers, sessions in metad.
    V2_5,
    /// 2.6.x: `verifyClientVersion`, TLS.
    V2_6,
    /// 3.x: 64-bit latency, `executeWithParameter`.
    V3,
}

impl Line {
    /// Every line, oldest first.
    pub const ALL: [Self; 4] = [Self::V2_0, Self::V2_5, Self::V2_6, Self::V3];

    /// Line of a version such as `3.8.0`, `v2.6.2` or `2.0.1`; `None` when nothing fits.
    pub fn of_version(version: &str) -> Option<Self> {
        let mut parts = version.trim_start_matches('v').split('.');
        let major: u32 = parts.next()?.parse().ok()?;
        let minor: u32 = parts.next()?.parse().ok()?;
        match (major, minor) {
            (2, 0..=4) => Some(Self::V2_0),
            (2, 5) => Some(Self::V2_5),
            (2, _) => Some(Self::V2_6),
            (3, _) => Some(Self::V3),
            _ => None,
        }
    }

    /// Whether `latency_in_us` is 64 bits wide.
    pub const fn wide_latency(self) -> bool {
        matches!(self, Self::V3)
    }

    /// Whether the authentication reply carries a time zone.
    pub const fn has_time_zone(self) -> bool {
        !matches!(self, Self::V2_0)
    }

    /// Whether `verifyClientVersion` exists.
    pub const fn verifies_clients(self) -> bool {
        matches!(self, Self::V2_6 | Self::V3)
    }

    /// Whether `executeJson` is more than a name in the interface.
    pub const fn has_json(self) -> bool {
        matches!(self, Self::V2_6 | Self::V3)
    }

    /// Whether `executeWithParameter` exists.
    pub const fn has_parameters(self) -> bool {
        matches!(self, Self::V3)
    }

    /// Short name: `2.0`, `2.5`, `2.6` or `3.x`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2_0 => "2.0",
            Self::V2_5 => "2.5",
            Self::V2_6 => "2.6",
            Self::V3 => "3.x",
        }
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_map_to_lines() {
        for (version, line) in [
            ("2.0.1", Some(Line::V2_0)),
            ("v2.5.0", Some(Line::V2_5)),
            ("2.6.2", Some(Line::V2_6)),
            ("3.0.0", Some(Line::V3)),
            ("3.8.0-ent", Some(Line::V3)),
            ("1.2.0", None),
            ("nightly", None),
        ] {
            assert_eq!(Line::of_version(version), line, "{version}");
        }
    }
}
