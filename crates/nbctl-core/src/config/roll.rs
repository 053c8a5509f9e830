//! Bringing running daemons to the inventory's configuration, each by the cheapest means, one host at a time.
//!
//! Duty: nothing for a daemon that is as it should be; `PUT /flags` and a new file when every difference can be changed
//! while running; else stop, new file, start. The next host waits until this one serves again. Leaders go back to
//! where they were spread when all storageds are done.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::set::set_step;
use super::{Asked, change_of, of_daemon};
use crate::deploy::{self, Difference, Facts, Patience, Rendered, not_ours, wait_up};
use crate::failure::Failure;
use crate::flags::Change;
use crate::inventory::{Daemon, DaemonRole};
use crate::plan::{Action, Plan, Probe, Statement, Step, Wait};

/// How long a restarted daemon may take to serve, a storaged with many partitions to load.
const SERVES: Duration = Duration::from_mins(10);

/// Name of the stage that spreads leaders again.
pub const BALANCE: &str = "balance leaders";

/// What decides which data, peers and files a daemon has: one daemon alone cannot change it.
const REDEPLOY: [&str; 9] = [
    "data_path",
    "listener_path",
    "local_ip",
    "log_dir",
    "meta_server_addrs",
    "pid_file",
    "port",
    "rocksdb_wal_dir",
    "wal_path",
];

/// How far a roll may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// `PUT /flags` only; a daemon that needs a restart is a refusal.
    Set,
    /// Restarts where nothing less helps.
    #[default]
    Restart,
}

/// A space as far as a roll is concerned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Space {
    /// Name.
    pub name: String,
    /// Copies of each partition.
    pub replicas: u32,
}

/// What a roll is planned from.
#[derive(Debug, Clone, Copy)]
pub struct RollGiven<'a> {
    /// Cluster, answers, what is meant.
    pub asked: Asked<'a>,
    /// Facts of every host with daemons.
    pub facts: &'a Facts,
    /// Configuration files as the inventory wants them.
    pub rendered: &'a Rendered,
    /// Spaces; `None`: nobody could be asked.
    pub spaces: Option<&'a [Space]>,
    /// How far it may go.
    pub limit: Limit,
}

/// A planned roll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Roll {
    /// Steps.
    pub plan: Plan,
    /// What the user has to know before it is done.
    pub remarks: Vec<String>,
}

/// What a daemon needs.
enum Means {
    /// Nothing but the file, if that.
    File,
    Set(BTreeMap<String, String>),
    Restart(String),
}

/// The steps that bring running daemons to the inventory's configuration; none when they are there.
///
/// # Errors
/// A daemon that is meant does not answer.
pub fn roll(given: &RollGiven<'_>) -> Result<Roll, Failure> {
    let silent = given.asked.silent();
    if !silent.is_empty() {
        return Err(Failure::cluster(
            "a roll changes running daemons, and these do not answer; nothing was changed",
        )
        .lines(silent)
        .hint("`nbctl deploy` starts what is down"));
    }
    possible(given)?;
    let mut plan = Plan::default();
    let mut restarted: Vec<(&Daemon, String)> = Vec::new();
    for role in DaemonRole::START_ORDER {
        for daemon in given.asked.daemons().filter(|d| d.role == role) {
            let means = means(given, daemon);
            if let Some(Means::Restart(why)) = &means {
                restarted.push((daemon, format!("{}: {why}", daemon.id())));
            }
            if let Some(means) = means {
                stages(given, daemon, means, &mut plan);
            }
        }
    }
    let (restarted, reasons): (Vec<&Daemon>, Vec<String>) = restarted.into_iter().unzip();
    if given.limit == Limit::Set && !reasons.is_empty() {
        return Err(
            Failure::usage("only a restart brings these back; nothing was changed")
                .lines(reasons)
                .hint("`nbctl reset roll` restarts what needs it, one daemon at a time"),
        );
    }
    if restarted.iter().any(|d| d.role == DaemonRole::Storaged) {
        plan.stage(BALANCE, balance(given));
    }
    let remarks = remarks(given, &restarted);
    Ok(Roll { plan, remarks })
}

/// Whether daemons, one by one, may be changed at all.
fn possible(given: &RollGiven<'_>) -> Result<(), Failure> {
    let asked = &given.asked;
    let foreign: Vec<String> = asked
        .daemons()
        .filter_map(|daemon| not_ours(asked.cluster, daemon, given.facts))
        .collect();
    if !foreign.is_empty() {
        return Err(Failure::cluster(
            "these daemons were not deployed from this inventory; nothing was changed",
        )
        .lines(foreign)
        .hint("`nbctl deploy` installs a cluster, `nbctl adopt` takes over one that is there"));
    }
    let moved = |daemon: &Daemon| {
        let told = asked.told.get(&daemon.id());
        let all = told.map(|told| of_daemon(daemon, told)).unwrap_or_default();
        let mut moved = all
            .into_iter()
            .filter(|d| REDEPLOY.contains(&d.flag.as_str()));
        moved.next().map(|d| format!("{}: {d}", daemon.id()))
    };
    let moved: Vec<String> = asked.daemons().filter_map(moved).collect();
    if moved.is_empty() {
        return Ok(());
    }
    Err(
        Failure::usage("folders and addresses are not rolled out one by one; nothing was changed")
            .lines(moved)
            .hint("`nbctl deploy` checks and changes them for all daemons together"),
    )
}

/// What is to be done with a daemon, if anything.
fn means(given: &RollGiven<'_>, daemon: &Daemon) -> Option<Means> {
    let told = given.asked.told.get(&daemon.id())?;
    let differences = of_daemon(daemon, told);
    let file = given.facts.get(&daemon.host)?.sha256(&daemon.conf);
    let same_file = file.is_some()
        && file
            == given
                .rendered
                .get(&daemon.id())
                .map(crate::plan::RenderedFile::sha256);
    let dynamic = |d: &Difference| change_of(&d.flag) == Some(Change::Dynamic) && d.found.is_some();
    match differences.iter().find(|d| !dynamic(d)) {
        Some(first) => Some(Means::Restart(first.to_string())),
        None if differences.is_empty() && same_file => None,
        // A flag that nobody knows may have left the file: only a restart takes it away.
        None if differences.is_empty() && file.is_some() => {
            Some(Means::Restart("its configuration file changed".into()))
        }
        None if differences.is_empty() => Some(Means::File),
        None => {
            let set = differences
                .into_iter()
                .filter_map(|d| Some((d.flag, d.wanted?)));
            Some(Means::Set(set.collect()))
        }
    }
}

fn stages(given: &RollGiven<'_>, daemon: &Daemon, means: Means, plan: &mut Plan) {
    let put = || {
        let file = given.rendered.get(&daemon.id())?;
        let title = format!("write {}", file.path);
        Some(Step::on(&daemon.host, title, Action::Put(file.clone())))
    };
    let mut steps = Vec::new();
    match means {
        Means::File => steps.extend(put()),
        Means::Set(flags) => {
            steps.extend(put());
            steps.push(set_step(daemon, flags));
        }
        Means::Restart(why) => {
            let title = format!("stop {}: {why}", daemon.id());
            steps.push(Step::on(
                &daemon.host,
                title,
                deploy::stop(daemon, Patience::KEEP_DATA),
            ));
            steps.extend(put());
            steps.push(Step::on(
                &daemon.host,
                format!("start {}", daemon.id()),
                deploy::start(daemon),
            ));
            steps.push(match daemon.role {
                DaemonRole::Graphd => wait_graphd(daemon),
                DaemonRole::Metad | DaemonRole::Storaged => wait_up(daemon, SERVES),
            });
            plan.stage(format!("roll {}", daemon.id()), steps);
            if daemon.role == DaemonRole::Storaged {
                let all: Vec<&Daemon> = given
                    .asked
                    .cluster
                    .daemons_of(DaemonRole::Storaged)
                    .collect();
                plan.stage(
                    format!("health after {}", daemon.id()),
                    vec![wait_online(&all)],
                );
            }
            return;
        }
    }
    plan.stage(format!("roll {}", daemon.id()), steps);
}

fn wait_graphd(daemon: &Daemon) -> Step {
    let title = format!("wait until {} serves", daemon.id());
    let probe = Probe::GraphReady {
        rpc: daemon.endpoint(),
    };
    let wait = Wait {
        probe,
        timeout: SERVES,
        hopeless: Some(deploy::still_runs(daemon)),
    };
    Step::on(&daemon.host, title, Action::Wait(wait))
}

fn wait_online(storageds: &[&Daemon]) -> Step {
    let title = format!("wait until {} storaged are ONLINE", storageds.len());
    let hosts = storageds.iter().map(|d| d.endpoint()).collect();
    let probe = Probe::StoragesOnline { hosts };
    Step::cluster(
        title,
        Action::Wait(Wait {
            probe,
            timeout: SERVES,
            hopeless: None,
        }),
    )
}

/// A restarted storaged gives its leaders away and does not get them back by itself.
fn balance(given: &RollGiven<'_>) -> Vec<Step> {
    let statement = |text: String| {
        Action::Query(Statement {
            text,
            tolerate: None,
        })
    };
    let whole = !given.asked.cluster.version.since(3, 0);
    let spaces = given.spaces.unwrap_or_default();
    if spaces.is_empty() {
        return Vec::new();
    }
    if whole {
        return vec![Step::cluster(
            "balance leaders",
            statement("BALANCE LEADER".to_owned()),
        )];
    }
    let one = |space: &Space| {
        let text = format!("USE `{}`; SUBMIT JOB BALANCE LEADER", space.name);
        Step::cluster(
            format!("balance leaders of {}", space.name),
            statement(text),
        )
    };
    spaces.iter().map(one).collect()
}

/// Who will notice.
fn remarks(given: &RollGiven<'_>, restarted: &[&Daemon]) -> Vec<String> {
    let of = |role| restarted.iter().filter(move |d| d.role == role).count();
    let mut all = Vec::new();
    let storageds = of(DaemonRole::Storaged);
    for space in given
        .spaces
        .unwrap_or_default()
        .iter()
        .filter(|s| storageds > 0 && s.replicas < 2)
    {
        all.push(format!(
            "space {} has replica factor 1: the partitions of each of {storageds} storaged are out of service while it restarts",
            space.name
        ));
    }
    if storageds > 0 && given.spaces.is_none() {
        all.push(
            "no graphd answers, so it is not known whether a space has replica factor 1".to_owned(),
        );
    }
    for role in [DaemonRole::Metad, DaemonRole::Graphd] {
        if of(role) > 0 && given.asked.cluster.daemons_of(role).count() == 1 {
            all.push(format!("the only {role} restarts"));
        }
    }
    all
}
