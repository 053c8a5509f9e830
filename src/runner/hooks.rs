//! What the runner leaves to others: engines and the graph service.
//!
//! Duty: say what is expected of them, so that the runner needs neither Docker nor a database.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use nbctl_core::failure::Failure;
use nbctl_core::plan::{Statement, Step};

use crate::event::{Sink, StepOutcome};
use crate::remote::{Fleet, Link};

/// Does the steps `Image`, `Container` and `Remove`.
pub trait Containers: Send + Sync + fmt::Debug {
    /// One step on the engine of one host.
    fn apply<'a>(
        &'a self,
        link: &'a Link,
        step: &'a Step,
        sink: &'a dyn Sink,
    ) -> BoxFuture<'a, Result<StepOutcome, Failure>>;
}

/// Speaks to graphd.
pub trait Graph: Send + Sync + fmt::Debug {
    /// Executes a statement on any graphd.
    fn execute<'a>(
        &'a self,
        fleet: &'a Fleet,
        statement: &'a Statement,
    ) -> BoxFuture<'a, Result<StepOutcome, Failure>>;

    /// Authenticates and does `SHOW HOSTS` on this one.
    fn ready(&self, address: SocketAddr) -> BoxFuture<'_, Result<(), Failure>>;

    /// `address:port` of every storaged that SHOW HOSTS calls ONLINE.
    fn online<'a>(&'a self, fleet: &'a Fleet) -> BoxFuture<'a, Result<BTreeSet<String>, Failure>>;
}

/// For commands whose plans have no such steps.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Containers for Nobody {
    fn apply<'a>(
        &'a self,
        _link: &'a Link,
        step: &'a Step,
        _sink: &'a dyn Sink,
    ) -> BoxFuture<'a, Result<StepOutcome, Failure>> {
        let failure = Failure::step(format!("{}: this command drives no engine", step.title));
        std::future::ready(Err(failure)).boxed()
    }
}

impl Graph for Nobody {
    fn execute<'a>(
        &'a self,
        _fleet: &'a Fleet,
        _statement: &'a Statement,
    ) -> BoxFuture<'a, Result<StepOutcome, Failure>> {
        std::future::ready(Err(no_login())).boxed()
    }

    fn ready(&self, _address: SocketAddr) -> BoxFuture<'_, Result<(), Failure>> {
        std::future::ready(Err(no_login())).boxed()
    }

    fn online<'a>(&'a self, _fleet: &'a Fleet) -> BoxFuture<'a, Result<BTreeSet<String>, Failure>> {
        std::future::ready(Err(no_login())).boxed()
    }
}

fn no_login() -> Failure {
    Failure::step("this command has no login to the graph service")
}
