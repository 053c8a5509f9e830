//! How far an import is: by file, and in all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use nbctl_core::run::FileResult;

use super::source::Batch;
use crate::dataset::Part;

/// Counters that all threads share.
#[derive(Debug)]
pub(super) struct Progress {
    start: Instant,
    files: Vec<OneFile>,
    /// Statements read and neither acknowledged nor given up.
    outstanding: AtomicU64,
    /// Bytes acknowledged or given up.
    bytes: AtomicU64,
    retries: AtomicU64,
    given_up: AtomicU64,
}

#[derive(Debug)]
struct OneFile {
    path: String,
    target: String,
    rows: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
    /// First sending and last answer, ms since the start.
    first: AtomicU64,
    last: AtomicU64,
}

impl Progress {
    pub(super) fn new(parts: &[Part]) -> Self {
        let file = |part: &Part| OneFile {
            path: part.found.path.clone(),
            target: part.data.kind.type_name().unwrap_or_default().to_owned(),
            rows: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            first: AtomicU64::new(u64::MAX),
            last: AtomicU64::new(0),
        };
        Self {
            start: Instant::now(),
            files: parts.iter().map(file).collect(),
            outstanding: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            given_up: AtomicU64::new(0),
        }
    }

    /// A statement was read.
    pub(super) fn begun(&self) {
        self.outstanding.fetch_add(1, Ordering::AcqRel);
    }

    /// It was sent.
    pub(super) fn sent(&self, batch: &Batch) {
        if let Some(file) = self.files.get(batch.file) {
            file.first.fetch_min(self.now(), Ordering::Relaxed);
        }
    }

    /// It is in, or given up.
    pub(super) fn settled(&self, batch: &Batch, good: bool) {
        if let Some(file) = self.files.get(batch.file) {
            let rows = if good { &file.rows } else { &file.failed };
            rows.fetch_add(batch.rows, Ordering::Relaxed);
            file.bytes.fetch_add(batch.bytes, Ordering::Relaxed);
            file.last.fetch_max(self.now(), Ordering::Relaxed);
        }
        self.bytes.fetch_add(batch.bytes, Ordering::Relaxed);
        self.given_up.fetch_add(u64::from(!good), Ordering::Relaxed);
        self.outstanding.fetch_sub(1, Ordering::AcqRel);
    }

    /// It will be sent again.
    pub(super) fn again(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a row of this file is in.
    pub(super) fn has_rows(&self, file: usize) -> bool {
        let file = self.files.get(file);
        file.is_some_and(|file| file.rows.load(Ordering::Relaxed) > 0)
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding.load(Ordering::Acquire)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Statements given up.
    pub(super) fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    /// By file, in the order of the import.
    pub(super) fn files(&self) -> Vec<FileResult> {
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let result = |file: &OneFile| FileResult {
            path: file.path.clone(),
            target: file.target.clone(),
            rows: load(&file.rows),
            failed_rows: load(&file.failed),
            bytes: load(&file.bytes),
            millis: load(&file.last).saturating_sub(load(&file.first)),
        };
        self.files.iter().map(result).collect()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
