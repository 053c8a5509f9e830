//! Releases between which error numbers changed; finer than [`Line`].

use crate::Line;

/// First release of a span with the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// 2.0.0 to 2.4.
    V2_0,
    /// 2.5.x.
    V2_5,
    /// 2.6.x.
    V2_6,
    /// 3.0.x.
    V3_0,
    /// 3.1.x and 3.2.x.
    V3_1,
    /// 3.3.x.
    V3_3,
    /// 3.4.0 and later.
    V3_4,
}

impl Release {
    /// Release of a version such as `3.3.0`.
    pub fn of_version(version: &str) -> Option<Self> {
        let line = Line::of_version(version)?;
        let minor: u32 = version.split('.').nth(1)?.parse().ok()?;
        Some(match (line, minor) {
            (Line::V3, 0) => Self::V3_0,
            (Line::V3, 1 | 2) => Self::V3_1,
            (Line::V3, 3) => Self::V3_3,
            (line, _) => line.into(),
        })
    }
}

/// The newest release of a line: what a connection that only knows the line assumes.
impl From<Line> for Release {
    fn from(line: Line) -> Self {
        match line {
            Line::V2_0 => Self::V2_0,
            Line::V2_5 => Self::V2_5,
            Line::V2_6 => Self::V2_6,
            Line::V3 => Self::V3_4,
        }
    }
}
