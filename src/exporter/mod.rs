//! `nbctl exporter`: the daemons' own statistics as a Prometheus target.
//!
//! Purpose: no daemon speaks Prometheus text; this process asks their `/stats` when it is asked itself, and keeps
//! nothing. It runs in an image that holds only the static binary.
//! Duties: every daemon at once, each with a deadline shorter than Prometheus' own; a daemon that does not answer is
//! `nebula_up 0`, never a missing page.

mod config;
mod scrape;
mod serve;

use std::path::Path;

use nbctl_core::failure::Failure;

pub use self::config::{Config, Target};
pub use self::serve::serve;

/// Serves until it is interrupted.
///
/// # Errors
/// The configuration cannot be read, or the address cannot be listened on.
pub async fn run(path: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("cannot read the exporter's configuration: {error}"))
            .at(path.display().to_string())
    })?;
    let config = Config::parse(&text).map_err(|failure| failure.at(path.display().to_string()))?;
    let listener = tokio::net::TcpListener::bind(&config.listen)
        .await
        .map_err(|error| Failure::usage(format!("cannot listen on {}: {error}", config.listen)))?;
    serve(listener, config, crate::interrupt::token()).await;
    Ok(())
}
