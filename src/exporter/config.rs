//! The exporter's configuration, written by `monitor up`.

use nbctl_core::failure::Failure;
use serde::Deserialize;

/// The whole file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Version of this file format: 1.
    pub format: u32,
    /// `address:port`.
    pub listen: String,
    /// For one daemon, milliseconds.
    pub timeout_ms: u64,
    /// Daemons.
    pub targets: Vec<Target>,
}

/// One daemon.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `metad`, `graphd`, `storaged`.
    pub role: String,
    /// Name of its host.
    pub host: String,
    /// `address:port` of RPC.
    pub instance: String,
    /// `address:port` of HTTP.
    pub http: String,
}

impl Config {
    /// Reads it.
    ///
    /// # Errors
    /// Wrong shape or another format.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let config: Self = serde_yaml::from_str(text).map_err(|error| {
            Failure::usage("cannot read the exporter's configuration").line(error.to_string())
        })?;
        if config.format != 1 {
            return Err(Failure::usage(format!(
                "format {} is not known",
                config.format
            )));
        }
        Ok(config)
    }
}
