//! One run's folder: created, filled phase by phase, opened again.
//!
//! Purpose: the only place that knows where in a run's folder something is.
//! Duties: `manifest.json` holds what is true of the whole run; each phase has a folder with `phase.json`,
//! `series.csv`, histograms and raw metrics. A writer holds the lock file; a reader needs nothing.

use std::fs::File;
use std::path::{Path, PathBuf};

use hdrhistogram::Histogram;
use nbctl_core::failure::Failure;
use nbctl_core::run::{
    ClusterInfo, FORMAT, HostInfo, Input, Limits, Manifest, Metrics, Outcome, PhaseRecord,
    PhaseResult, Second, Window,
};
use serde::Serialize;

use super::layout::{self, MANIFEST, METRICS, PHASE, slug};
use super::{EventLog, Redactor, disk, histogram, read, series};

/// What is known of a run before it starts.
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    /// Name given by the user, or the playbook's.
    pub name: String,
    /// Start, Unix ms.
    pub started_ms: i64,
    /// Version of nbctl.
    pub tool_version: String,
    /// The command line as typed.
    pub command_line: Vec<String>,
    /// Seed of every random draw.
    pub seed: u64,
    /// When a number counts as a result.
    pub limits: Limits,
}

/// A run's folder.
#[derive(Debug)]
pub struct RunStore {
    folder: PathBuf,
    manifest: Manifest,
    redactor: Redactor,
    /// Held while writing; `None` for readers.
    lock: Option<File>,
}

impl RunStore {
    /// Makes `<root>/<utc>-<name>-<id>/` and writes the first manifest.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn create(root: &Path, new: NewRun, redactor: Redactor) -> Result<Self, Failure> {
        disk::make_folder(root)?;
        let (id, folder) = layout::claim_folder(root, &new)?;
        let lock = layout::lock(&folder)?;
        let manifest = Manifest {
            format: FORMAT,
            id,
            name: new.name,
            started_ms: new.started_ms,
            finished_ms: None,
            tool_version: new.tool_version,
            command_line: new.command_line,
            seed: new.seed,
            limits: new.limits,
            cluster: ClusterInfo::default(),
            hosts: Vec::new(),
            inputs: Vec::new(),
            phases: Vec::new(),
        };
        let store = Self {
            folder,
            manifest,
            redactor,
            lock: Some(lock),
        };
        store.save()?;
        Ok(store)
    }

    /// Reads a run; one that was killed reads as far as it got.
    ///
    /// # Errors
    /// When the folder holds no run, a file is damaged, or the format is newer than this program.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let mut manifest = read::manifest(folder)?;
        manifest.phases = read::phases(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            manifest,
            redactor: Redactor::default(),
            lock: None,
        })
    }

    /// Opens a run to go on writing it.
    ///
    /// # Errors
    /// As [`RunStore::open`], and when another process is writing it.
    pub fn resume(folder: &Path, redactor: Redactor) -> Result<Self, Failure> {
        let lock = layout::lock(folder)?;
        let mut store = Self::open(folder)?;
        store.lock = Some(lock);
        store.redactor = redactor;
        store.manifest.finished_ms = None;
        store.save()?;
        Ok(store)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is recorded so far.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// This store writes it (as opposed to only reading it).
    pub fn is_writer(&self) -> bool {
        self.lock.is_some()
    }

    /// Records the cluster as it was read.
    pub fn set_cluster(&mut self, cluster: ClusterInfo) -> Result<(), Failure> {
        self.manifest.cluster = cluster;
        self.save()
    }

    /// Records the hosts with their facts.
    pub fn set_hosts(&mut self, hosts: Vec<HostInfo>) -> Result<(), Failure> {
        self.manifest.hosts = hosts;
        self.save()
    }

    /// Records files that go in; a path named before is replaced.
    pub fn add_inputs(&mut self, inputs: Vec<Input>) -> Result<(), Failure> {
        let known = &mut self.manifest.inputs;
        known.retain(|old| inputs.iter().all(|new| new.path != old.path));
        known.extend(inputs);
        self.save()
    }

    /// Starts a phase; answers its index, the handle of the other calls.
    pub fn begin_phase(&mut self, name: &str, now_ms: i64) -> Result<u32, Failure> {
        let index = self.manifest.phases.last().map_or(1, |last| last.index + 1);
        let phase = PhaseRecord {
            index,
            name: name.to_owned(),
            window: Window {
                start_ms: now_ms,
                end_ms: now_ms,
            },
            outcome: Outcome::Unfinished,
            result: PhaseResult::Plain(Vec::new()),
            metrics: None,
            notes: Vec::new(),
        };
        disk::make_folder(&self.phase_folder_of(&phase))?;
        self.manifest.phases.push(phase);
        self.save_phase(index)?;
        Ok(index)
    }

    /// Adds seconds of a running phase, so that they outlive a kill.
    pub fn append_seconds(&mut self, index: u32, seconds: &[Second]) -> Result<(), Failure> {
        series::append(&self.phase_folder(index)?, seconds)
    }

    /// Ends a phase. The window is the measured one: a warm-up lies before it.
    pub fn end_phase(
        &mut self,
        index: u32,
        window: Window,
        outcome: Outcome,
        result: PhaseResult,
    ) -> Result<(), Failure> {
        let phase = self.phase_mut(index)?;
        phase.window = window;
        phase.outcome = outcome;
        phase.result = result;
        self.save_phase(index)
    }

    /// Records what hosts and daemons did during a phase.
    pub fn set_metrics(&mut self, index: u32, metrics: Metrics) -> Result<(), Failure> {
        self.phase_mut(index)?.metrics = Some(metrics);
        self.save_phase(index)
    }

    /// Adds a remark a reader must see.
    pub fn note(&mut self, index: u32, text: impl Into<String>) -> Result<(), Failure> {
        self.phase_mut(index)?.notes.push(text.into());
        self.save_phase(index)
    }

    /// Keeps the whole distribution of `clock`: `server`, `service` or `response`; microseconds.
    pub fn put_histogram(
        &self,
        index: u32,
        clock: &str,
        histogram: &Histogram<u64>,
    ) -> Result<(), Failure> {
        let window = self.phase(index)?.window;
        histogram::write(&self.phase_folder(index)?, clock, window, histogram)
    }

    /// Keeps raw answers beside the digest, compressed, as `phases/<nn>-<name>/<name>.json.zst`.
    pub fn put_raw(&self, index: u32, name: &str, json: &[u8]) -> Result<(), Failure> {
        let path = self
            .phase_folder(index)?
            .join(format!("{}.json.zst", slug(name)));
        let packed = zstd::encode_all(json, 0).map_err(|e| disk::write_failure(&path, &e))?;
        disk::replace(&path, &packed)
    }

    /// Keeps the resolved inventory (secrets as handles).
    pub fn put_inventory(&self, yaml: &str) -> Result<(), Failure> {
        self.put_text("inventory.resolved.yaml", yaml)
    }

    /// Keeps a rendered file as `rendered/<host>/<path>`.
    pub fn put_rendered(&self, host: &str, path: &str, text: &str) -> Result<(), Failure> {
        let below = path.trim_start_matches('/');
        self.put_text(&format!("rendered/{}/{below}", slug(host)), text)
    }

    /// Adds a line to `plan.jsonl`; on disk when this returns.
    pub fn append_plan(&self, plan: &impl Serialize) -> Result<(), Failure> {
        let path = self.folder.join("plan.jsonl");
        let line = format!("{}\n", self.clean(&path, plan)?);
        disk::append(&path, line.as_bytes())?;
        disk::sync(&path)
    }

    /// The recorder of events; `now_ms` is the clock of the command.
    pub fn event_log(&self, now_ms: fn() -> i64) -> Result<EventLog, Failure> {
        let file = disk::appender(&self.folder.join("events.jsonl"))?;
        Ok(EventLog::new(file, self.redactor.clone(), now_ms))
    }

    /// The run is over; the lock is given back.
    pub fn finish(&mut self, now_ms: i64) -> Result<(), Failure> {
        self.manifest.finished_ms = Some(now_ms);
        self.save()?;
        self.lock = None;
        Ok(())
    }

    /// Writes a file of the run's folder, e.g. a report; names are relative.
    pub fn put_text(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.inside(name)?;
        if let Some(folder) = path.parent() {
            disk::make_folder(folder)?;
        }
        disk::replace(&path, self.redactor.text(text).as_bytes())
    }

    /// Folder of a phase.
    ///
    /// # Errors
    /// When the run has no such phase.
    pub fn phase_folder(&self, index: u32) -> Result<PathBuf, Failure> {
        Ok(self.phase_folder_of(self.phase(index)?))
    }

    fn phase_folder_of(&self, phase: &PhaseRecord) -> PathBuf {
        let name = format!("{:02}-{}", phase.index, slug(&phase.name));
        self.folder.join("phases").join(name)
    }

    fn phase(&self, index: u32) -> Result<&PhaseRecord, Failure> {
        let found = self.manifest.phases.iter().find(|p| p.index == index);
        found.ok_or_else(|| no_phase(index))
    }

    fn phase_mut(&mut self, index: u32) -> Result<&mut PhaseRecord, Failure> {
        let mut phases = self.manifest.phases.iter_mut();
        phases
            .find(|phase| phase.index == index)
            .ok_or_else(|| no_phase(index))
    }

    /// A path below the run's folder; nothing that climbs out of it.
    fn inside(&self, name: &str) -> Result<PathBuf, Failure> {
        let relative = Path::new(name);
        let normal = |part| matches!(part, std::path::Component::Normal(_));
        if relative.components().all(normal) {
            return Ok(self.folder.join(relative));
        }
        Err(Failure::step(format!(
            "`{name}` is not a plain path below the run's folder"
        )))
    }

    fn save(&self) -> Result<(), Failure> {
        let mut manifest = self.manifest.clone();
        manifest.phases.clear();
        self.put_json(&self.folder.join(MANIFEST), &manifest)
    }

    fn save_phase(&self, index: u32) -> Result<(), Failure> {
        let folder = self.phase_folder(index)?;
        let mut phase = self.phase(index)?.clone();
        let seconds = take_series(&mut phase.result);
        if !seconds.is_empty() {
            series::replace(&folder, &seconds)?;
        }
        if let Some(metrics) = phase.metrics.take() {
            // Thousands of points: one line, not one line each.
            let path = folder.join(METRICS);
            let text = format!("{}\n", self.clean(&path, &metrics)?);
            disk::replace(&path, text.as_bytes())?;
        }
        self.put_json(&folder.join(PHASE), &phase)
    }

    fn put_json(&self, path: &Path, value: &impl Serialize) -> Result<(), Failure> {
        let text = format!("{:#}\n", self.clean(path, value)?);
        disk::replace(path, text.as_bytes())
    }

    fn clean(&self, path: &Path, value: &impl Serialize) -> Result<serde_json::Value, Failure> {
        let value = serde_json::to_value(value).map_err(|error| encode_failure(path, &error))?;
        Ok(self.redactor.value(value))
    }
}

fn no_phase(index: u32) -> Failure {
    Failure::new(
        nbctl_core::failure::FailureKind::Data,
        format!("the run has no phase {index}"),
    )
}

fn encode_failure(path: &Path, error: &serde_json::Error) -> Failure {
    Failure::step(format!("cannot encode the run record: {error}")).at(path.display().to_string())
}

fn take_series(result: &mut PhaseResult) -> Vec<Second> {
    match result {
        PhaseResult::Plain(_) => Vec::new(),
        PhaseResult::Import(import) => std::mem::take(&mut import.series),
        PhaseResult::Stress(stress) => std::mem::take(&mut stress.series),
    }
}
