//! `monitoring/queries.yaml`: what is asked for, as data.
//!
//! Purpose: one table for reports and dashboards, so that both show the same thing.
//! Duties: parse and check it, write the PromQL of a query.

use nbctl_core::failure::Failure;
use serde::Deserialize;

/// The table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryTable {
    /// 1.
    pub format: u32,
    /// How often Prometheus asks each target.
    pub scrape_seconds: u32,
    /// One entry a value.
    pub queries: Vec<Query>,
}

/// One value of the digest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// Field of the digest.
    pub field: String,
    /// What has this value.
    pub of: Of,
    /// How values are read.
    pub kind: Kind,
    /// For people.
    pub title: String,
    /// Unit after scaling.
    pub unit: String,
    /// Factor to the unit.
    pub scale: f64,
    /// PromQL without `rate()`.
    pub select: String,
}

/// What has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// A host.
    Host,
    /// A process name on a host.
    Daemon,
}

/// How values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Grows; differences over time are of interest.
    Counter,
    /// As it is.
    Gauge,
    /// A start time; changes are of interest.
    Start,
}

impl QueryTable {
    /// Reads the table.
    ///
    /// # Errors
    /// When it has another shape or format, or names a field the digest does not have.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let table: Self = serde_yaml::from_str(text).map_err(|error| {
            Failure::inventory("cannot read the table of queries")
                .at(super::TABLE)
                .line(error.to_string())
        })?;
        if table.format != 1 {
            let what = format!("table of queries has format {}, not 1", table.format);
            return Err(Failure::inventory(what).at(super::TABLE));
        }
        let unknown = table.queries.iter().find(|query| !query.is_known());
        match unknown {
            None => Ok(table),
            Some(query) => Err(Failure::inventory(format!(
                "the digest of a {:?} has no field `{}`",
                query.of, query.field
            ))
            .at(super::TABLE)),
        }
    }
}

impl Query {
    /// What Prometheus is asked.
    pub fn promql(&self) -> String {
        let by = match self.of {
            Of::Host => "host",
            Of::Daemon => "host, groupname",
        };
        // Start times must not be added up; of several the latest shows a restart.
        let sum = match self.kind {
            Kind::Counter | Kind::Gauge => "sum",
            Kind::Start => "max",
        };
        format!("{sum} by ({by}) ({})", self.select)
    }

    fn is_known(&self) -> bool {
        let known: &[&str] = match self.of {
            Of::Host => &[
                "cpu_percent",
                "memory_bytes",
                "disk_read",
                "disk_write",
                "net_receive",
                "net_send",
            ],
            Of::Daemon => &[
                "cpu_percent",
                "rss_bytes",
                "disk_read",
                "disk_write",
                "queries",
                "restarts",
            ],
        };
        known.contains(&self.field.as_str())
    }
}
