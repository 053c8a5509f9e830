//! The course of loads in `InfluxDB`, while they run.
//!
//! Purpose: dashboards show a load second by second, and trials side by side (`nbctl_core::monitor::course` has the points).
//! Duties: written from here, never from the load host; a server that is slow or gone costs points, told once, and never
//! a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nbctl_core::failure::Failure;
use nbctl_core::inventory::Component;
use nbctl_core::monitor::course::{self, Load, Times};
use nbctl_core::monitor::{self, Stack};
use nbctl_core::run::{Second, Window};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::context::Context;
use crate::event::Sink;
use crate::metrics::Influx;
use crate::remote::Fleet;

/// Batches that wait while the server is slow; more are lost.
const WAITING: usize = 64;
/// At the end, for what still waits.
const FAREWELL: Duration = Duration::from_secs(5);

/// Where the points of one trial go; nowhere when there is no server.
#[derive(Debug, Default)]
pub struct Course {
    trial: String,
    writer: Option<Writer>,
}

#[derive(Debug)]
struct Writer {
    batches: mpsc::Sender<String>,
    lost: Arc<AtomicU64>,
    task: JoinHandle<()>,
    sink: Arc<dyn Sink>,
}

impl Course {
    /// Points of `trial` into the inventory's `InfluxDB`; why there are none is told.
    pub async fn open(ctx: &Context, fleet: &Fleet, trial: &str) -> Self {
        let writer = match server(ctx, fleet).await {
            Ok(None) => None,
            Ok(Some(influx)) => Some(Writer::start(influx, Arc::clone(&ctx.sink))),
            Err(failure) => {
                ctx.sink.note(format!(
                    "the course of the load is not shown in Grafana: {}",
                    failure.what
                ));
                None
            }
        };
        Self {
            trial: trial.to_owned(),
            writer,
        }
    }

    /// One second of a load.
    pub fn second(&self, load: &Load, warmup: bool, second: &Second, times: Option<&Times>) {
        if let Some(writer) = &self.writer {
            writer.send(course::second(&self.trial, load, warmup, second, times));
        }
    }

    /// A phase that has ended.
    pub fn phase(&self, name: &str, window: Window) {
        if let Some(writer) = &self.writer {
            writer.send(course::phase(&self.trial, name, window));
        }
    }

    /// Waits until everything is written, not for long.
    pub async fn close(self) {
        let Some(writer) = self.writer else {
            return;
        };
        drop(writer.batches);
        let ended = tokio::time::timeout(FAREWELL, writer.task).await;
        let lost = writer.lost.load(Ordering::Relaxed);
        if lost > 0 || ended.is_err() {
            writer.sink.warn(format!(
                "the course in Grafana has gaps: {lost} batches were not written; the run's record is whole"
            ));
        }
    }
}

impl Writer {
    fn start(influx: Influx, sink: Arc<dyn Sink>) -> Self {
        let (batches, waiting) = mpsc::channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let task = write(influx, waiting, Arc::clone(&lost), Arc::clone(&sink));
        Self {
            batches,
            lost,
            task: tokio::spawn(task),
            sink,
        }
    }

    fn send(&self, batch: String) {
        if self.batches.try_send(batch).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Everything that waits goes in one request.
async fn write(
    influx: Influx,
    mut waiting: mpsc::Receiver<String>,
    lost: Arc<AtomicU64>,
    sink: Arc<dyn Sink>,
) {
    let mut told = false;
    while let Some(mut lines) = waiting.recv().await {
        let mut batches = 1;
        while let Ok(more) = waiting.try_recv() {
            lines.push_str(&more);
            batches += 1;
        }
        if let Err(failure) = influx.write(lines).await {
            lost.fetch_add(batches, Ordering::Relaxed);
            if !told {
                sink.note(format!(
                    "the course of the load is not written: {}",
                    failure.what
                ));
                told = true;
            }
        }
    }
}

/// The inventory's `InfluxDB`, when it has one.
///
/// # Errors
/// It does not answer, or makes no database.
pub(super) async fn server(ctx: &Context, fleet: &Fleet) -> Result<Option<Influx>, Failure> {
    let Some(wanted) = &ctx.cluster.monitor else {
        return Ok(None);
    };
    let Some(host) = ctx.cluster.host(&wanted.host) else {
        return Ok(None);
    };
    if !wanted.components.contains(&Component::Influxdb) {
        return Ok(None);
    }
    let stack = Stack::parse(&ctx.assets.text("monitoring/stack.yaml")?)?;
    let endpoint = monitor::endpoint(&ctx.cluster, host, Component::Influxdb);
    let address = fleet.dial(&endpoint).await?;
    let influx = Influx::new(format!("http://{address}"), stack.database);
    influx.create().await?;
    Ok(Some(influx))
}
