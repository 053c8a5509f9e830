//! Starting, waiting, adding, in NebulaGraph's order; the second half of a deploy, and `start` by itself.
//!
//! Duty: what waits for what; see `docs/design/deploy.md`.

use std::time::Duration;

use super::Observed;
use super::is_ip;
use super::scripts;
use crate::inventory::{Cluster, Daemon, DaemonRole};
use crate::plan::{Action, Plan, Probe, Statement, Step, Wait};

/// Election and the first heartbeat of a metad group.
const METAD_READY: Duration = Duration::from_mins(2);
/// graphd tries three times, 10 s apart, to reach metad.
const GRAPHD_READY: Duration = Duration::from_mins(2);
/// One heartbeat until a storaged notices that it was added, then it opens its partitions.
const ONLINE: Duration = Duration::from_mins(5);

/// What is to be started.
pub(super) struct Starting<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) observed: &'a Observed,
    /// These are started.
    pub(super) daemons: Vec<&'a Daemon>,
    /// These run afterwards: they are waited for where others need them.
    pub(super) up: Vec<&'a Daemon>,
}

impl<'a> Starting<'a> {
    /// All metads first and at once, since they need a majority; see `docs/design/deploy.md`.
    pub(super) fn plan(&self, plan: &mut Plan) {
        plan.stage("start metad", self.start_role(DaemonRole::Metad));
        plan.stage("wait for metad", self.wait_metads());
        plan.stage("start storaged", self.start_role(DaemonRole::Storaged));
        plan.stage("start graphd", self.start_role(DaemonRole::Graphd));
        plan.stage("wait for graphd", self.wait_graphds());
        // Without a graphd nobody can be asked; each storaged still tells of itself.
        if self.up_of(DaemonRole::Graphd).next().is_some() {
            plan.stage("add storaged", self.add_hosts());
        }
        plan.stage("wait for storaged", self.wait_storageds());
    }

    fn starting(&self, role: DaemonRole) -> impl Iterator<Item = &'a Daemon> {
        let all = self.daemons.iter().copied();
        all.filter(move |daemon| daemon.role == role)
    }

    fn up_of(&self, role: DaemonRole) -> impl Iterator<Item = &'a Daemon> {
        let all = self.up.iter().copied();
        all.filter(move |daemon| daemon.role == role)
    }

    fn start_role(&self, role: DaemonRole) -> Vec<Step> {
        let step = |d: &Daemon| Step::on(&d.host, format!("start {}", d.id()), scripts::start(d));
        self.starting(role).map(step).collect()
    }

    /// Waits for all metads even when only others are started: some lines end at once without them.
    fn wait_metads(&self) -> Vec<Step> {
        let step = |daemon: &Daemon| wait_up(daemon, METAD_READY);
        let metads = self
            .up_of(DaemonRole::Metad)
            .filter(|_| !self.daemons.is_empty());
        metads.map(step).collect()
    }

    /// Those that were started; all when statements follow and none answered before.
    fn wait_graphds(&self) -> Vec<Step> {
        let unsure = self.observed.storageds.is_none() && !self.add_hosts().is_empty();
        let started: Vec<&Daemon> = self.starting(DaemonRole::Graphd).collect();
        let step = |daemon: &Daemon| {
            let probe = Probe::GraphReady {
                rpc: daemon.endpoint(),
            };
            let wait = Wait {
                probe,
                timeout: GRAPHD_READY,
                hopeless: Some(scripts::still_runs(daemon)),
            };
            Step::on(&daemon.host, waiting(daemon), Action::Wait(wait))
        };
        self.up_of(DaemonRole::Graphd)
            .filter(|daemon| unsure || started.contains(daemon))
            .map(step)
            .collect()
    }

    /// One statement per storaged: a single one that is known already would fail a common statement.
    fn add_hosts(&self) -> Vec<Step> {
        if !self.cluster.version.needs_add_hosts() {
            return Vec::new();
        }
        let known = self.observed.storageds.as_ref();
        let missing = self
            .up_of(DaemonRole::Storaged)
            .filter(|d| known.is_none_or(|known| !known.contains_key(&d.endpoint())));
        let step = |daemon: &Daemon| {
            let statement = Statement {
                text: add_hosts(daemon),
                tolerate: Some("Existed".into()),
            };
            Step::cluster(
                format!("add {} ({})", daemon.id(), daemon.endpoint()),
                Action::Query(statement),
            )
        };
        missing.map(step).collect()
    }

    /// SHOW HOSTS alone may still tell of the time before a restart, so those that were started or
    /// added are asked themselves as well.
    fn wait_storageds(&self) -> Vec<Step> {
        let known = self.observed.storageds.as_ref();
        let is_online =
            |d: &&Daemon| known.is_some_and(|known| known.get(&d.endpoint()) == Some(&true));
        let started: Vec<&Daemon> = self.starting(DaemonRole::Storaged).collect();
        let fresh = |d: &&Daemon| started.contains(d) || !is_online(d);
        let fresh: Vec<&Daemon> = self.up_of(DaemonRole::Storaged).filter(fresh).collect();
        if fresh.is_empty() {
            return Vec::new();
        }
        let mut steps: Vec<Step> = fresh.iter().map(|daemon| wait_up(daemon, ONLINE)).collect();
        if self.up_of(DaemonRole::Graphd).next().is_some() {
            steps.push(self.wait_online());
        }
        steps
    }

    fn wait_online(&self) -> Step {
        let storageds = self.up_of(DaemonRole::Storaged);
        let hosts: Vec<String> = storageds.map(Daemon::endpoint).collect();
        let title = format!("wait until {} storaged are ONLINE", hosts.len());
        let probe = Probe::StoragesOnline { hosts };
        let wait = Wait {
            probe,
            timeout: ONLINE,
            hopeless: None,
        };
        Step::cluster(title, Action::Wait(wait))
    }
}

/// Ports and `/status` of a metad or storaged.
pub(crate) fn wait_up(daemon: &Daemon, timeout: Duration) -> Step {
    let (rpc, http) = (daemon.endpoint(), daemon.http_endpoint());
    let wait = Wait {
        probe: Probe::DaemonUp { rpc, http },
        timeout,
        hopeless: Some(scripts::still_runs(daemon)),
    };
    Step::on(&daemon.host, waiting(daemon), Action::Wait(wait))
}

fn waiting(daemon: &Daemon) -> String {
    format!("wait until {} serves", daemon.id())
}

/// Names are quoted, addresses are not.
fn add_hosts(daemon: &Daemon) -> String {
    if is_ip(&daemon.address) {
        return format!("ADD HOSTS {}", daemon.endpoint());
    }
    format!("ADD HOSTS \"{}\":{}", daemon.address, daemon.port)
}
