//! All hosts of a cluster, connected at once.
//!
//! Duties: one connection a host, few starts at once; a failure names every host that cannot be reached, not the
//! first; endpoints behind `reach: ssh` are dialled through forwards.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::failure::Failure;
use nbctl_core::inventory::Reach;
use nbctl_core::units::HostName;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::exec::within;
use super::target::Target;
use super::{Link, SshLink, SshPlace, control_dir, ssh_config};

/// Connections being made at once.
const CONNECTS: usize = 16;
/// The same through one jump host; its sshd drops the eleventh (`MaxStartups`).
const JUMP_CONNECTS: usize = 8;
/// Large files on the way at once; the control machine's line is shared by them.
const UPLOADS: usize = 6;

/// Where a fleet keeps its files on this machine.
#[derive(Debug, Clone)]
pub struct FleetDirs {
    /// ssh configuration and known hosts of the cluster.
    pub config: PathBuf,
    /// Private folder for sockets, see `default_control_dir`.
    pub control: PathBuf,
}

/// A host and its connection, or why there is none.
type Attempt = (HostName, Result<Link, Failure>);

/// Links by host.
#[derive(Debug)]
pub struct Fleet {
    links: BTreeMap<HostName, Link>,
    /// Hosts reached through ssh only, by the address the daemons know.
    tunnelled: BTreeMap<String, HostName>,
    uploads: Semaphore,
}

impl Fleet {
    /// Connects every target, side by side.
    ///
    /// # Errors
    /// One line for every host that cannot be reached, with the ssh line to try.
    pub async fn connect(targets: Vec<Target>, dirs: &FleetDirs) -> Result<Self, Failure> {
        let (ended, tunnelled) = Self::attempt(targets, dirs).await?;
        let links = collect(ended, "cannot be reached")?;
        Ok(Self::with(links, tunnelled))
    }

    /// Connects what can be reached; the failures of the other hosts are beside it.
    ///
    /// # Errors
    /// The folder for sockets cannot be used.
    pub async fn connect_reachable(
        targets: Vec<Target>,
        dirs: &FleetDirs,
    ) -> Result<(Self, Vec<(HostName, Failure)>), Failure> {
        let (ended, tunnelled) = Self::attempt(targets, dirs).await?;
        let (mut links, mut lost) = (BTreeMap::new(), Vec::new());
        for (host, result) in ended {
            match result {
                Ok(link) => drop(links.insert(host, link)),
                Err(failure) => lost.push((host, failure)),
            }
        }
        Ok((Self::with(links, tunnelled), lost))
    }

    async fn attempt(
        targets: Vec<Target>,
        dirs: &FleetDirs,
    ) -> Result<(Vec<Attempt>, BTreeMap<String, HostName>), Failure> {
        control_dir::prepare(&dirs.control)?;
        control_dir::sweep(&dirs.control);
        let connects = Arc::new(Semaphore::new(CONNECTS));
        let mut jumps: BTreeMap<String, Arc<Semaphore>> = BTreeMap::new();
        let tunnelled = targets
            .iter()
            .filter(|target| target.ssh.reach == Reach::Ssh);
        let tunnelled = tunnelled.map(|target| (target.address.clone(), target.name.clone()));
        let tunnelled = tunnelled.collect();
        let mut work = Vec::new();
        for target in targets {
            let gate = jumps.entry(target.ssh.jump.join(","));
            let limit = if target.ssh.jump.is_empty() {
                CONNECTS
            } else {
                JUMP_CONNECTS
            };
            let jump_connects = Arc::clone(gate.or_insert_with(|| Arc::new(Semaphore::new(limit))));
            let connects = Arc::clone(&connects);
            work.push(connect(target, dirs, connects, jump_connects));
        }
        Ok((join_all(work).await, tunnelled))
    }

    /// A fleet of ready links: this machine, or fakes.
    pub fn from_links(links: impl IntoIterator<Item = Link>) -> Self {
        let links = links.into_iter().map(|link| (link.host().clone(), link));
        Self::with(links.collect(), BTreeMap::new())
    }

    fn with(links: BTreeMap<HostName, Link>, tunnelled: BTreeMap<String, HostName>) -> Self {
        Self {
            links,
            tunnelled,
            uploads: Semaphore::new(UPLOADS),
        }
    }

    /// The link of a host.
    ///
    /// # Errors
    /// When the host is not part of this fleet.
    pub fn on(&self, host: &HostName) -> Result<&Link, Failure> {
        let missing = || Failure::usage(format!("host `{host}` is not connected"));
        self.links.get(host).ok_or_else(missing)
    }

    /// All links in the order of their names.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.values()
    }

    /// How often the host that was asked most was asked.
    pub fn round_trips(&self) -> u64 {
        let all = self.links.values().map(Link::round_trips);
        all.max().unwrap_or_default()
    }

    /// Does `work` on every host at once.
    ///
    /// # Errors
    /// All failures in one, a line for each host.
    pub async fn each<'a, T, F, Fut>(&'a self, work: F) -> Result<BTreeMap<HostName, T>, Failure>
    where
        F: Fn(&'a HostName, &'a Link) -> Fut,
        Fut: Future<Output = Result<T, Failure>>,
    {
        let all = self.links.iter().map(|(host, link)| {
            let done = work(host, link);
            async move { (host.clone(), done.await) }
        });
        collect(join_all(all).await, "failed")
    }

    /// An address for `endpoint` (`address:port`) that can be dialled from here, through ssh where needed.
    ///
    /// # Errors
    /// The name does not resolve, or the forward is refused.
    pub async fn dial(&self, endpoint: &str) -> Result<SocketAddr, Failure> {
        let address = endpoint
            .rsplit_once(':')
            .map_or(endpoint, |(address, _)| address);
        match self.tunnelled.get(address) {
            Some(host) => self.on(host)?.forward_tcp(endpoint).await,
            None => resolve(endpoint).await,
        }
    }

    /// Waits for leave to send a large file.
    pub async fn upload_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.uploads.acquire().await.ok()
    }

    /// Ends all connections but those that `ssh.persist` keeps for the next command.
    pub async fn close(&self) {
        join_all(self.links.values().map(|link| link.close(true))).await;
    }

    /// Ends all connections, kept ones too: after a teardown nothing stays.
    pub async fn end(&self) {
        join_all(self.links.values().map(|link| link.close(false))).await;
    }
}

async fn connect(
    target: Target,
    dirs: &FleetDirs,
    connects: Arc<Semaphore>,
    jump_connects: Arc<Semaphore>,
) -> (HostName, Result<Link, Failure>) {
    let name = target.name.clone();
    if target.ssh.reach == Reach::Local {
        return (name.clone(), Ok(Link::local(name)));
    }
    let link = async {
        let place = SshPlace {
            // ssh goes into the background and would look for relative names elsewhere.
            config: ssh_config::write(&absolute(&dirs.config), &target)?,
            control: dirs.control.clone(),
            connects,
            jump_connects,
        };
        SshLink::connect(target, place).await.map(Link::ssh)
    };
    (name, link.await)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// An address of this machine's resolver.
pub(super) async fn resolve(endpoint: &str) -> Result<SocketAddr, Failure> {
    let limit = Duration::from_secs(10);
    let cannot = |why: String| Failure::host(format!("cannot resolve {endpoint}: {why}"));
    let found = within(limit, tokio::net::lookup_host(endpoint)).await;
    let found = found.ok_or_else(|| cannot("no answer from the name service".to_owned()))?;
    let mut found = found.map_err(|error| cannot(error.to_string()))?;
    found.next().ok_or_else(|| cannot("no address".to_owned()))
}

fn collect<T>(
    ended: Vec<(HostName, Result<T, Failure>)>,
    what: &str,
) -> Result<BTreeMap<HostName, T>, Failure> {
    let (mut good, mut bad) = (BTreeMap::new(), Vec::new());
    for (host, result) in ended {
        match result {
            Ok(value) => drop(good.insert(host, value)),
            Err(failure) => bad.push((host, failure)),
        }
    }
    if bad.is_empty() {
        return Ok(good);
    }
    Err(join_failures(what, good.len(), bad))
}

/// Several hosts' failures as one: a line for each. A single one stays as it is.
pub fn join_failures(what: &str, good: usize, mut bad: Vec<(HostName, Failure)>) -> Failure {
    if bad.len() == 1
        && let Some((_, failure)) = bad.pop()
    {
        return failure;
    }
    let total = good + bad.len();
    let first = bad.first().map(|(_, failure)| failure);
    let kind = first.map_or(nbctl_core::failure::FailureKind::Step, |first| first.kind);
    let hint = first.and_then(|first| first.hint.clone());
    let mut all = Failure::new(kind, format!("{} of {total} hosts {what}", bad.len()));
    all.detail = bad
        .iter()
        .map(|(host, failure)| line(host, failure))
        .collect();
    all.hint = hint;
    all
}

fn line(host: &HostName, failure: &Failure) -> String {
    let evidence = failure.detail.last().map_or("", String::as_str);
    let colon = if evidence.is_empty() { "" } else { "; " };
    format!("{host}: {}{colon}{evidence}", failure.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_collects_all_failures() {
        let names = ["a", "b", "c"].map(HostName::new);
        let fleet = Fleet::from_links(names.map(Link::local));
        let failure = fleet
            .each(|host, _| async move {
                match host.as_str() {
                    "b" => Ok(()),
                    _ => Err(Failure::host("down").line("try: ssh x")),
                }
            })
            .await
            .unwrap_err();
        assert_eq!(failure.what, "2 of 3 hosts failed");
        assert_eq!(
            failure.detail,
            ["a: down; try: ssh x", "c: down; try: ssh x"]
        );
    }
}
