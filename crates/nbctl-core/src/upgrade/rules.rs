//! Which version leads to which, as data (`data/upgrades.yaml`, facts of `reference/deploy.md` 9.2).

use std::sync::LazyLock;

use serde::Deserialize;

use crate::failure::Failure;
use crate::inventory::Version;

/// What an upgrade takes beside new programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Nothing: the daemons read what is there.
    Plain,
    /// `db_upgrader` on every storaged's data, between the start of the metads and that of the storageds.
    DbUpgrader,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    from: Span,
    to: Span,
    #[serde(default)]
    way: Option<Way>,
    #[serde(default)]
    refuse: Option<String>,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    remark: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    #[serde(default)]
    since: Option<Version>,
    #[serde(default)]
    until: Option<Version>,
}

impl Span {
    fn has(&self, version: Version) -> bool {
        self.since.is_none_or(|since| version >= since)
            && self.until.is_none_or(|until| version < until)
    }
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    // The text is part of the program; a test holds that it parses.
    serde_yaml::from_str(include_str!("../../data/upgrades.yaml")).unwrap_or_default()
});

/// The way from one version to another, and what has to be known about it.
///
/// # Errors
/// Of kind usage: there is none.
pub fn way(from: Version, to: Version) -> Result<(Way, Option<String>), Failure> {
    let refuse = |why: &str| {
        Failure::usage(format!(
            "{from} cannot become {to}: {why}; nothing was changed"
        ))
    };
    if to < from {
        return Err(refuse("data that a newer version has written is not read by an older one")
            .hint("`nbctl reset data` or `teardown` starts afresh; the backup of metad's data is from before the upgrade"));
    }
    let rule = RULES
        .iter()
        .find(|rule| rule.from.has(from) && rule.to.has(to));
    let Some(rule) = rule else {
        return Err(refuse("nobody has described this step"));
    };
    if let Some(way) = rule.way {
        return Ok((way, rule.remark.clone()));
    }
    let failure = refuse(rule.refuse.as_deref().unwrap_or("there is no way"));
    Err(rule.hint.iter().fold(failure, Failure::hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From, to, the way or a part of the refusal.
    const CASES: [(&str, &str, &str); 14] = [
        ("1.2.0", "3.8.0", "data of 1.x"),
        ("1.2.0", "2.6.2", "data of 1.x"),
        ("3.8.0", "2.6.2", "an older one"),
        ("3.8.0", "3.6.0", "an older one"),
        ("2.0.1", "2.6.2", "Plain"),
        ("2.5.1", "2.6.2", "Plain"),
        ("2.0.1", "3.5.0", "Plain"),
        ("2.0.1", "3.8.0", "3.6 and later read data of 2.5"),
        ("2.6.2", "3.0.2", "DbUpgrader"),
        ("2.0.1", "3.2.0", "DbUpgrader"),
        ("2.6.2", "3.3.0", "Plain"),
        ("2.6.2", "3.8.0", "Plain"),
        ("3.0.2", "3.8.0", "Plain"),
        ("3.8.0", "4.0.0", "nobody has described"),
    ];

    #[test]
    fn versions_lead_to_versions() {
        assert_eq!(RULES.len(), 6, "the table does not parse");
        let version = |text| Version::parse(text).unwrap();
        for (from, to, expected) in CASES {
            let told = match way(version(from), version(to)) {
                Ok((way, _)) => format!("{way:?}"),
                Err(failure) => failure.to_string(),
            };
            assert!(told.contains(expected), "{from} -> {to}: {told}");
        }
    }
}
