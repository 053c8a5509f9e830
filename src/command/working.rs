//! What commands that work on a cluster share: login, rendered files, a runner with its journal.

use std::fmt;

use nbctl_core::deploy::{self, Rendered};
use nbctl_core::failure::Failure;
use nbctl_core::plan::Plan;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::graph::GraphService;
use crate::interrupt;
use crate::phase::lease::Scope;
use crate::remote::Fleet;
use crate::runner::{Nobody, Runner};

/// Template of the daemons' configuration files.
const CONF_TEMPLATE: &str = "templates/nebula/daemon.conf.tera";

/// Template of their units, where the inventory wants some.
const UNIT_TEMPLATE: &str = "templates/nebula/daemon.service.tera";

/// Shared by deploy, status, teardown.
pub(super) struct Working {
    /// Login to the graph service.
    pub(super) graph: GraphService,
    /// Ctrl-C.
    pub(super) cancel: CancellationToken,
}

impl fmt::Debug for Working {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Working").finish_non_exhaustive()
    }
}

impl Working {
    /// Reads the password by its handle, listens for Ctrl-C.
    pub(super) async fn new(ctx: &Context) -> Result<Self, Failure> {
        Ok(Self {
            graph: GraphService::new(&ctx.cluster).await?,
            cancel: interrupt::token(),
        })
    }

    /// Cancelled by Ctrl-C.
    pub(super) fn cancel(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// For [`lease::under`](crate::phase::lease::under).
    pub(super) fn scope<'a>(
        &'a self,
        ctx: &'a Context,
        fleet: &'a Fleet,
        command: &'a str,
    ) -> Scope<'a> {
        Scope {
            ctx,
            fleet,
            cancel: &self.cancel,
            command,
        }
    }

    /// Configuration files, and units of systemd, as the inventory wants them.
    pub(super) fn rendered(ctx: &Context) -> Result<Rendered, Failure> {
        let mut all = deploy::render(&ctx.cluster, &ctx.assets.text(CONF_TEMPLATE)?)?;
        let units = deploy::render_units(&ctx.cluster, &ctx.assets.text(UNIT_TEMPLATE)?)?;
        all.extend(units);
        Ok(all)
    }

    /// Does a plan of hosts and the graph service; what is about to be done is on disk before it is done.
    pub(super) async fn apply(
        &self,
        ctx: &Context,
        fleet: &Fleet,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let journal = ctx.journal()?;
        let runner = Runner {
            fleet,
            sink: &*ctx.sink,
            journal: &journal,
            containers: &Nobody,
            graph: &self.graph,
            cancel: self.cancel.clone(),
        };
        runner.apply(plan).await.map(drop)
    }
}
