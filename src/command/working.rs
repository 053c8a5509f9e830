//! What commands that work on a cluster share: login, rendered files, a runner with its journal.

use std::fmt;

use nbctl_core::deploy::{self, Rendered};
use nbctl_core::failure::Failure;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::graph::GraphService;
use crate::interrupt;
use crate::remote::Fleet;
use crate::runner::{FileJournal, Nobody, Runner};

/// Template of the daemons' configuration files.
const CONF_TEMPLATE: &str = "templates/nebula/daemon.conf.tera";

/// Shared by deploy, status, teardown.
pub(super) struct Working {
    /// Login to the graph service.
    pub(super) graph: GraphService,
    journal: FileJournal,
    cancel: CancellationToken,
}

impl fmt::Debug for Working {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Working").finish_non_exhaustive()
    }
}

impl Working {
    /// Opens the journal, reads the password by its handle, listens for Ctrl-C.
    pub(super) async fn new(ctx: &Context) -> Result<Self, Failure> {
        Ok(Self {
            graph: GraphService::new(&ctx.cluster).await?,
            journal: FileJournal::open(&ctx.cluster_dir().join("journal.jsonl"))?,
            cancel: interrupt::token(),
        })
    }

    /// Configuration files as the inventory wants them.
    pub(super) fn rendered(&self, ctx: &Context) -> Result<Rendered, Failure> {
        deploy::render(&ctx.cluster, &ctx.assets.text(CONF_TEMPLATE)?)
    }

    /// A runner for plans of hosts and the graph service.
    pub(super) fn runner<'a>(&'a self, ctx: &'a Context, fleet: &'a Fleet) -> Runner<'a> {
        Runner {
            fleet,
            sink: &*ctx.sink,
            journal: &self.journal,
            containers: &Nobody,
            graph: &self.graph,
            cancel: self.cancel.clone(),
        }
    }
}
