//! Import: a folder of CSV files into a space, statement by statement (`docs/design/import.md`).
//!
//! Duties: bounded memory whatever the size of the data; vertices before edges; every row ends acknowledged, or
//! counted as failed with its reason; what the cluster should hold afterwards is counted on the way.

mod counts;
mod lanes;
mod progress;
mod source;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nbctl_core::dataset::Dates;
use nbctl_core::failure::Failure;
use nbctl_core::run::{CountCheck, ImportResult, Window};
use tokio::sync::Mutex;
use tokio::sync::mpsc::channel;
use tokio_util::sync::CancellationToken;

use self::counts::Counts;
use self::lanes::Lanes;
use self::progress::Progress;
use self::source::Source;
use super::cpu;
use super::job::{ImportJob, Job};
use super::message::{EncodedClock, ImportDone, Message, Out};
use super::tally::{Reader, Share, total};
use super::threads::{Spread, Team};
use crate::dataset::{Folder, vid_type};

type Reading = std::thread::JoinHandle<Result<Option<Vec<CountCheck>>, Failure>>;

/// An import under way.
struct Underway {
    team: Team,
    shares: Vec<Arc<Share>>,
    progress: Arc<Progress>,
    reading: Reading,
    bytes: u64,
}

/// Runs the job and tells its result.
pub(super) async fn run(
    job: &Job,
    import: &ImportJob,
    stop: &CancellationToken,
    out: &Out,
) -> Result<(), Failure> {
    let mut underway = Underway::start(job, import, stop)?;
    let connected = underway.team.ready().await;
    if let Ok(sessions) = connected {
        out.emit(&Message::Ready {
            connections: import.connections,
            sessions: u32::try_from(sessions).unwrap_or(u32::MAX),
            threads: u32::try_from(underway.shares.len()).unwrap_or(u32::MAX),
        });
        let window = underway.watch(out).await;
        return underway.end(import, window, out).await;
    }
    underway.team.finish().await;
    connected.map(drop)
}

impl Underway {
    fn start(job: &Job, import: &ImportJob, stop: &CancellationToken) -> Result<Self, Failure> {
        let dates = if import.datetimes {
            Dates::Datetime
        } else {
            Dates::String
        };
        let mut folder = Folder::open(&import.dir, dates)?;
        source::order(&mut folder);
        let lanes = import.connections.max(1) as usize;
        let spread = Spread {
            threads: (cpu::cores() as usize).clamp(1, lanes),
            lanes,
            roams: true,
        };
        let (bytes, progress) = (folder.bytes(), Arc::new(Progress::new(&folder.files)));
        let shares: Vec<Arc<Share>> = (0..spread.threads)
            .map(|_| Arc::new(Share::new()))
            .collect();
        let (queue, batches) = channel(lanes * 2);
        let temp = import.temp.clone().unwrap_or_else(std::env::temp_dir);
        let source = Source {
            folder,
            vid: vid_type(&import.vid)?,
            batch: u64::from(import.batch.max(1)),
            progress: Arc::clone(&progress),
            queue,
            counts: import.count.then(|| Counts::new(&temp)),
        };
        let team = Team::start(job, spread, stop, |common| Lanes {
            common: Arc::clone(common),
            progress: Arc::clone(&progress),
            queue: Mutex::new(batches),
            shares: shares.clone(),
            in_flight: import.in_flight.max(1) as usize,
            retries: import.retries,
        })?;
        let common = Arc::clone(&team.common);
        let reading = std::thread::spawn(move || {
            let read = source.run();
            if let Err(failure) = &read {
                common.fail(failure.clone());
            }
            read
        });
        Ok(Self {
            team,
            shares,
            progress,
            reading,
            bytes,
        })
    }

    /// A line a second until all lanes are done.
    async fn watch(&mut self, out: &Out) -> Window {
        let (start, start_ms) = (Instant::now(), Timestamp::now().as_millisecond());
        self.team.go(start);
        let (mut reader, mut number) = (Reader::new(), 0u32);
        while !self.team.is_done() && !self.team.common.soft.is_cancelled() {
            self.team
                .wait_until(start + Duration::from_secs(1) * (number + 1))
                .await;
            let begun_ms = start_ms + i64::from(number) * 1000;
            let (second, times) = reader.second(&self.shares, begun_ms);
            out.emit(&Message::Second {
                warmup: false,
                second,
                times,
                done: self.progress.bytes(),
                total: Some(self.bytes),
            });
            number += 1;
        }
        Window {
            start_ms,
            end_ms: Timestamp::now().as_millisecond(),
        }
    }

    async fn end(mut self, import: &ImportJob, window: Window, out: &Out) -> Result<(), Failure> {
        let early = self.team.common.soft.is_cancelled();
        self.team.finish().await;
        if early {
            return Err(self.with_errors(self.team.end()));
        }
        let read = self.reading.join();
        let read = read.map_err(|_| Failure::step("the reading thread broke down"))?;
        let counts = read?.unwrap_or_default();
        let sum = total(&self.shares);
        let files = self.progress.files();
        let result = ImportResult {
            rows: files.iter().map(|file| file.rows).sum(),
            bytes: files.iter().map(|file| file.bytes).sum(),
            files,
            retries: self.progress.retries(),
            errors: sum.errors.list(),
            clocks: sum.clocks(),
            counts,
            concurrency: import.connections * import.in_flight,
            batch: import.batch,
            series: Vec::new(),
        };
        let histograms = vec![
            EncodedClock::new("service", &sum.sums.service)?,
            EncodedClock::new("server", &sum.sums.server)?,
        ];
        out.emit(&Message::Import(Box::new(ImportDone {
            result,
            window,
            histograms,
        })));
        Ok(())
    }

    /// What went wrong before the end says why it ended.
    fn with_errors(&self, failure: Failure) -> Failure {
        let errors = total(&self.shares).errors.list();
        let rows: u64 = self.progress.files().iter().map(|file| file.rows).sum();
        let line = |error: &nbctl_core::run::ErrorCount| {
            format!("{} × {}: {}", error.count, error.class, error.sample)
        };
        failure
            .line(format!("{rows} rows were in by then"))
            .lines(errors.iter().take(5).map(line))
    }
}
