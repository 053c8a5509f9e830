//! What the phases of a benchmark share.

use hdrhistogram::Histogram;
use nbctl_core::failure::Failure;
use nbctl_core::inventory::Host;
use nbctl_core::run::{PhaseResult, Window};
use nbctl_core::units::RemotePath;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::graph::{GraphService, GraphSession};
use crate::phase::course::Course;
use crate::remote::{Fleet, Link};

/// Everything a phase of a benchmark works with.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The command's context.
    pub ctx: &'a Context,
    /// Every host of the cluster.
    pub fleet: &'a Fleet,
    /// Login.
    pub graph: &'a GraphService,
    /// The host that loads.
    pub load: &'a Host,
    /// Its folder.
    pub load_dir: RemotePath,
    /// Ctrl-C.
    pub cancel: CancellationToken,
    /// Where the course of loads is shown.
    pub course: Course,
}

/// What a phase came to.
#[derive(Debug)]
pub struct Done {
    /// For the record.
    pub result: PhaseResult,
    /// The measured window, when it is not simply the phase's begin and end.
    pub window: Option<Window>,
    /// Distributions by clock (`server`, `service`, `response`), microseconds.
    pub histograms: Vec<(String, Histogram<u64>)>,
    /// Remarks a reader must see.
    pub notes: Vec<String>,
}

impl Done {
    /// A phase that measured nothing but facts worth a table row.
    pub fn plain(rows: Vec<(String, String)>) -> Self {
        Self {
            result: PhaseResult::Plain(rows),
            window: None,
            histograms: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl<'a> Bench<'a> {
    /// Picks the first load host.
    ///
    /// # Errors
    /// The inventory has none.
    pub fn new(
        ctx: &'a Context,
        fleet: &'a Fleet,
        graph: &'a GraphService,
        cancel: CancellationToken,
    ) -> Result<Self, Failure> {
        let host = ctx
            .cluster
            .load_hosts()
            .find_map(|host| Some((host, host.load_dir.clone()?)));
        let (load, load_dir) = host.ok_or_else(|| {
            Failure::inventory("no host has the role load")
                .at(ctx.cluster.source.file.display().to_string())
                .hint("give one host `roles: [load]`; best one that runs no daemon")
        })?;
        Ok(Self {
            ctx,
            fleet,
            graph,
            load,
            load_dir,
            cancel,
            course: Course::default(),
        })
    }

    /// The connection to the load host.
    ///
    /// # Errors
    /// It is not connected.
    pub fn link(&self) -> Result<&Link, Failure> {
        self.fleet.on(&self.load.name)
    }

    /// A session that uses `space`.
    ///
    /// # Errors
    /// Nobody lets us in, or the space is not there.
    pub async fn session(&self, space: &str) -> Result<GraphSession, Failure> {
        let mut session = self.graph.session(self.fleet).await?;
        session.rows(&format!("USE `{space}`")).await?;
        Ok(session)
    }
}
