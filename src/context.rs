//! What a command works with, resolved once and handed down (design 4.1): no globals, no environment reads below.
//!
//! Purpose: inventory, assets, state folder, limits and reporter in one value.
//! Duties: find the inventory, read it, print its warnings, refuse what is wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Loaded, Severity, Source, Tls, Version};
use nbctl_core::units::{Sha256, counted};

use crate::assets::Assets;
use crate::cli::Global;
use crate::event::Sink;
use crate::reporter::Reporter;
use crate::runner::FileJournal;

/// File looked for in the current folder.
const DEFAULT_INVENTORY: &str = "inventory.yaml";

/// Everything a command needs that does not depend on the command.
#[derive(Debug)]
pub struct Context {
    /// The cluster of the inventory.
    pub cluster: Cluster,
    /// Embedded and overridden files.
    pub assets: Assets,
    /// Where this folder's runs, known hosts and journals are kept.
    pub state_dir: PathBuf,
    /// Global arguments.
    pub global: Global,
    /// Events.
    pub sink: Arc<dyn Sink>,
    /// Results.
    pub reporter: Reporter,
    /// What was said of the inventory already.
    warned: Vec<String>,
}

impl Context {
    /// Reads the inventory and prints its warnings.
    ///
    /// # Errors
    /// No inventory, or one with faults (all of them are in the failure).
    pub fn load(global: Global, reporter: &Reporter) -> Result<Self, Failure> {
        let source = read_inventory(&global)?;
        Self::of_source(&source, global, reporter)
    }

    /// The same with an inventory that says another version of `NebulaGraph`.
    ///
    /// # Errors
    /// As [`Context::load`]: flags that this version does not have are faults.
    pub fn at_version(&self, version: Version) -> Result<Self, Failure> {
        if version.line().is_none() {
            let what = format!("no release line is known for version {version}");
            return Err(Failure::usage(what).hint("2.0.x, 2.5.x, 2.6.x and 3.x are known"));
        }
        let source = Source {
            version: Some(version),
            ..read_inventory(&self.global)?
        };
        Self::said(&source, self.global.clone(), &self.reporter, &self.warned)
    }

    /// What an inventory says that was read already.
    ///
    /// # Errors
    /// One with every fault.
    pub fn of_source(
        source: &Source,
        global: Global,
        reporter: &Reporter,
    ) -> Result<Self, Failure> {
        Self::said(source, global, reporter, &[])
    }

    /// Warnings that were printed before are not printed again.
    fn said(
        source: &Source,
        global: Global,
        reporter: &Reporter,
        before: &[String],
    ) -> Result<Self, Failure> {
        let (cluster, warned) = examine(source);
        for warning in warned.iter().filter(|warning| !before.contains(warning)) {
            reporter.sink().warn(warning.clone());
        }
        let mut cluster = cluster?;
        cluster.tls.iter_mut().try_for_each(read_tls)?;
        let beside = source
            .path
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default();
        let folders = global.assets.iter().cloned().chain([beside]).collect();
        Ok(Self {
            cluster,
            assets: Assets::new(folders),
            state_dir: state_dir(&global),
            sink: reporter.sink(),
            reporter: reporter.clone(),
            warned,
            global,
        })
    }
}

/// Finds and reads the inventory: `-i`, `NBCTL_INVENTORY`, `./inventory.yaml`, the last deploy's (design 5).
///
/// # Errors
/// None of them is there, or it cannot be read.
pub fn read_inventory(global: &Global) -> Result<Source, Failure> {
    let path = inventory_path(global)?;
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::inventory(format!("cannot read the inventory: {error}"))
            .at(path.display().to_string())
            .hint("name it with -i FILE, or write one with `nbctl init`")
    })?;
    Ok(Source::new(path, text))
}

fn inventory_path(global: &Global) -> Result<PathBuf, Failure> {
    if let Some(path) = &global.inventory {
        return Ok(path.clone());
    }
    if let Some(path) = std::env::var_os("NBCTL_INVENTORY").filter(|value| !value.is_empty()) {
        return Ok(path.into());
    }
    let here = PathBuf::from(DEFAULT_INVENTORY);
    if here.exists() {
        return Ok(here);
    }
    let last = state_dir(global).join(LAST_DEPLOY);
    std::fs::read_to_string(&last)
        .map(|text| PathBuf::from(text.trim_end()))
        .map_err(|_| {
            Failure::usage(
                "no inventory: none given, no ./inventory.yaml, nothing deployed from this folder",
            )
            .hint("name it with -i FILE, or write one with `nbctl init`")
        })
}

/// File in the state folder that holds the path of the inventory of the last deploy.
pub const LAST_DEPLOY: &str = "last-inventory";

/// Parses and resolves; warnings go to `sink`.
///
/// # Errors
/// One failure with every fault in it.
pub fn check(source: &Source, sink: &dyn Sink) -> Result<Cluster, Failure> {
    let (cluster, warnings) = examine(source);
    for warning in warnings {
        sink.warn(warning);
    }
    cluster
}

/// The cluster, or every fault; and the warnings.
fn examine(source: &Source) -> (Result<Cluster, Failure>, Vec<String>) {
    let Loaded { cluster, problems } = nbctl_core::inventory::load(source);
    let (errors, warnings): (Vec<_>, Vec<_>) = problems
        .iter()
        .partition(|problem| problem.severity == Severity::Error);
    let cluster = match cluster {
        Some(cluster) if errors.is_empty() => Ok(cluster),
        _ => {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Err(faults(source, &texts))
        }
    };
    let warnings = warnings.iter().map(|warning| format!("{warning:#}"));
    (cluster, warnings.collect())
}

/// Sizes and digests of the certificates, so that plans can tell what is on the hosts already.
fn read_tls(tls: &mut Tls) -> Result<(), Failure> {
    for file in tls.files_mut() {
        let bytes = std::fs::read(&file.path).map_err(|error| {
            Failure::inventory(format!("cannot read a file of `nebula.tls`: {error}"))
                .at(file.path.display().to_string())
        })?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        file.seen = Some((size, Sha256::of(&bytes)));
    }
    Ok(())
}

/// One failure for all faults of an inventory.
pub fn faults(source: &Source, errors: &[String]) -> Failure {
    let count = counted(errors.len(), "fault");
    Failure::inventory(format!("the inventory has {count}"))
        .at(source.path.display().to_string())
        .lines(errors.iter().cloned())
}

impl Context {
    /// Folder in the state folder for what belongs to this cluster: ssh configuration, known hosts, journals.
    pub fn cluster_dir(&self) -> PathBuf {
        self.state_dir
            .join("clusters")
            .join(format!("{}-{}", self.cluster.name, self.cluster.id))
    }

    /// The journal of what is done to the hosts of this cluster.
    ///
    /// # Errors
    /// The state folder cannot be written.
    pub fn journal(&self) -> Result<FileJournal, Failure> {
        let folder = self.cluster_dir();
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::usage(format!("cannot make the state folder: {error}"))
                .at(folder.display().to_string())
                .hint("choose another one with --state-dir")
        })?;
        FileJournal::open(&self.journal_path())
    }

    /// Where it lies.
    pub fn journal_path(&self) -> PathBuf {
        self.cluster_dir().join("journal.jsonl")
    }

    /// Name of this machine, for owner markers.
    pub fn control_name() -> String {
        std::fs::read_to_string("/proc/sys/kernel/hostname")
            .map_or_else(|_| "unknown".to_owned(), |name| name.trim_end().to_owned())
    }
}

/// Where this folder's known hosts and journals are kept.
pub fn state_dir(global: &Global) -> PathBuf {
    global.state_dir.join(".nbctl")
}

/// Where this folder's runs are kept.
pub fn runs_dir(global: &Global) -> PathBuf {
    global.state_dir.join("runs")
}
