//! Deploy: from an inventory and the facts of its hosts to the steps that make it so.
//!
//! Purpose: `deploy` of design 4 as a pure function; order, readiness and idempotence are explained in
//! `docs/design/deploy.md`.
//! Duties: check everything before anything is changed; plan only what differs, so that a second plan
//! is empty and one made after an interruption finishes the work; change a configuration or a version
//! only while its daemon is down, so that what runs is always what the files say.

mod advice;
mod bootstrap;
mod check;
mod life;
mod repair;
mod request;
mod scripts;
mod start;
mod state;
mod steps;
mod tls;
mod unit;
mod verify;

use std::collections::BTreeMap;

use crate::conf;
use crate::failure::Failure;
use crate::inventory::Cluster;
use crate::owner::Claim;
use crate::package::PackageChoice;
use crate::plan::{Plan, RenderedFile};

pub use advice::{Advice, advice};
pub use bootstrap::{
    Account, Preparation, bootstrap_do, bootstrap_look, bootstrap_missing, preparations,
};
pub use check::{Check, Level, checks, preflight, settings};
pub use life::{Life, patience};
pub use repair::{EngineFile, EngineSources, Repair, repair};
pub use request::{RPM_NAME, facts_request, status_request};
pub use scripts::{
    OPEN_FILES, Patience, install, install_rpm, remove_rpm, run, start, still_runs, stop,
};
pub use state::{ADOPTED, Facts, claimed, not_ours, process, programs, roots, version_of};
pub use steps::{cache_path, split_claims};
pub use verify::{Difference, ReadFlags, differences, parse_flags};

pub use unit::key as unit_key;

pub(crate) use request::{is_ip, sudo};
pub(crate) use scripts::sudo as run_as_root;
pub(crate) use start::wait_up;
pub(crate) use steps::is_debian;
pub(crate) use unit::remove as remove_unit;
pub(crate) use verify::{same as same_flag, shown as shown_flag};

/// Configuration files by daemon (`metad@s1`), and units by [`unit_key`].
pub type Rendered = BTreeMap<String, RenderedFile>;

/// What the running cluster says about itself, where it could be asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// Storageds of SHOW HOSTS by `address:port`, with whether they are ONLINE; `None`: nobody answered.
    pub storageds: Option<BTreeMap<String, bool>>,
    /// Flags read back, by daemon (`metad@s1`).
    pub flags: BTreeMap<String, ReadFlags>,
}

/// All that a plan is made from.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// What is wanted.
    pub cluster: &'a Cluster,
    /// What is there; every host with daemons must have answered.
    pub facts: &'a Facts,
    /// The package of every host with daemons.
    pub packages: &'a PackageChoice,
    /// The configuration file of every daemon.
    pub rendered: &'a Rendered,
    /// What the running cluster says.
    pub observed: &'a Observed,
    /// Name of the control machine, for the owner markers.
    pub control: &'a str,
}

/// The configuration file of every daemon.
///
/// # Errors
/// When the template is wrong.
pub fn render(cluster: &Cluster, template: &str) -> Result<Rendered, Failure> {
    let one = |daemon: &crate::inventory::Daemon| {
        let text = conf::render(daemon, cluster, template)?;
        let file = RenderedFile {
            path: daemon.conf.clone(),
            mode: 0o644,
            text,
        };
        Ok((daemon.id(), file))
    };
    cluster.daemons.iter().map(one).collect()
}

/// The units of systemd, by [`unit_key`]; none when the inventory wants none.
///
/// # Errors
/// When the template is wrong.
pub fn render_units(cluster: &Cluster, template: &str) -> Result<Rendered, Failure> {
    let wanted = cluster
        .daemons
        .iter()
        .filter_map(|d| Some((d, d.unit_file()?)));
    let one = |(daemon, path): (&crate::inventory::Daemon, _)| {
        let text = conf::render_unit(daemon, cluster, template)?;
        let mode = 0o644;
        Ok((unit_key(daemon), RenderedFile { path, mode, text }))
    };
    wanted.map(one).collect()
}

/// The steps that make the hosts as the inventory wants them; empty when they are.
///
/// # Errors
/// Any check that failed, all of them in one failure; then nothing may be done.
pub fn plan(given: &Given<'_>) -> Result<Plan, Failure> {
    refuse(given, &checks(given))?;
    let claim = Claim {
        cluster: given.cluster,
        control: given.control,
    };
    Ok(steps::all(given, claim))
}

fn refuse(given: &Given<'_>, checks: &[Check]) -> Result<(), Failure> {
    let failed: Vec<&Check> = checks
        .iter()
        .filter(|check| check.level == Level::Fail)
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let number = failed.len();
    let checks = if number == 1 {
        "a check".into()
    } else {
        format!("{number} checks")
    };
    let file = given.cluster.source.file.display().to_string();
    Err(
        Failure::host(format!("{checks} failed; nothing was changed"))
            .at(file)
            .lines(failed.iter().map(ToString::to_string)),
    )
}
