//! Lease: nobody else may change the hosts while this command does (design 7).
//!
//! Purpose: [`under`] takes the leases, renews them while the work goes on and removes them however it ended; a
//! killed command leaves them behind, and they are taken over: at once from the same machine, where it can be
//! seen that the process has ended, and after two minutes from any other.
//! Duties: all hosts or none; the journal says who did what; a lease that was taken away ends the command between two
//! steps.

mod identity;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::deploy::claimed;
use nbctl_core::failure::Failure;
use nbctl_core::lease::{self, Lease, RENEW, STALE, Seen, Word};
use nbctl_core::plan::Script;
use nbctl_core::units::{HostName, RemotePath};
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::event::Sink;
use crate::remote::{Fleet, Link};
use crate::runner::Who;

/// For the scripts, which look at a few files.
const LIMIT: Duration = Duration::from_secs(30);

/// Leases by host.
type ByHost = BTreeMap<HostName, Vec<Seen>>;

/// What is worked on, and how its end is asked for.
#[derive(Debug)]
pub struct Scope<'a> {
    /// The cluster, the state folder.
    pub ctx: &'a Context,
    /// The hosts to be changed.
    pub fleet: &'a Fleet,
    /// Cancelled when a lease is lost.
    pub cancel: &'a CancellationToken,
    /// Name of the command, for those who meet the lease, and for the journal.
    pub command: &'a str,
}

/// Does `work` while the leases of all connected hosts are held.
///
/// # Errors
/// Somebody else works on a host; a host does not answer; those of `work`.
pub async fn under<T, E>(
    scope: &Scope<'_>,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E>
where
    E: From<Failure> + std::fmt::Display,
{
    let lease = identity::lease(scope.command, &Context::control_name());
    let journal = scope.ctx.journal()?;
    journal.command(&who(&lease), None)?;
    let result = match take(scope, &lease).await {
        Ok(holder) => {
            let renewing = tokio::spawn(Arc::clone(&holder).renew_for_ever());
            let result = Box::pin(work).await;
            renewing.abort();
            holder.release().await;
            result
        }
        Err(failure) => Err(failure.into()),
    };
    let ended = result.as_ref().map_or_else(
        |error| first_line(&error.to_string()),
        |_| "done".to_owned(),
    );
    journal.command(&who(&lease), Some(&ended))?;
    result
}

fn first_line(text: &str) -> String {
    format!("failed: {}", text.lines().next().unwrap_or_default())
}

fn who(lease: &Lease) -> Who<'_> {
    Who {
        command: &lease.command,
        user: &lease.user,
        control: &lease.control,
    }
}

/// Holds the leases of some hosts.
#[derive(Debug)]
struct Holder {
    cluster_id: String,
    token: String,
    links: Vec<(Link, Vec<RemotePath>)>,
    sink: Arc<dyn Sink>,
    cancel: CancellationToken,
}

async fn take(scope: &Scope<'_>, lease: &Lease) -> Result<Arc<Holder>, Failure> {
    let cluster = &scope.ctx.cluster;
    let folders = |link: &Link| claimed(cluster, link.host());
    let links = scope
        .fleet
        .links()
        .map(|link| (link.clone(), folders(link)));
    let holder = Holder {
        cluster_id: cluster.id.clone(),
        token: lease.token.clone(),
        links: links.filter(|(_, folders)| !folders.is_empty()).collect(),
        sink: Arc::clone(&scope.ctx.sink),
        cancel: scope.cancel.clone(),
    };
    let mut seen = holder.ask(lease, &[]).await?;
    let ended = foreign(&seen).filter(|(_, seen)| identity::has_ended(&seen.lease));
    let ended: Vec<String> = ended.map(|(_, seen)| seen.lease.token.clone()).collect();
    if !ended.is_empty() {
        seen = holder.ask(lease, &ended).await?;
    }
    if let Some(failure) = refusal(&seen) {
        holder.release().await;
        return Err(failure);
    }
    tell(&seen, &*scope.ctx.sink);
    let holder = holder.only(&seen);
    holder.end_scripts(&seen).await;
    Ok(Arc::new(holder))
}

fn foreign(seen: &ByHost) -> impl Iterator<Item = (&HostName, &Seen)> {
    let all = seen
        .iter()
        .flat_map(|(host, seen)| seen.iter().map(move |seen| (host, seen)));
    all.filter(|(_, seen)| seen.word == Word::Foreign)
}

/// Somebody else works on a host.
fn refusal(seen: &ByHost) -> Option<Failure> {
    let mut lines: Vec<String> = foreign(seen)
        .map(|(host, seen)| format!("{host}: {}", described(seen)))
        .collect();
    lines.dedup();
    if lines.is_empty() {
        return None;
    }
    let failure = Failure::step("another command works on these hosts; nothing was changed");
    Some(failure.lines(lines).hint(format!(
        "wait until it has ended; when it was killed, its lease ends {} s after the last renewal, or at once with `nbctl unlock`",
        STALE.as_secs()
    )))
}

/// Whose lease it is and how old.
pub fn described(seen: &Seen) -> String {
    format!(
        "{}, renewed {} s ago ({})",
        seen.lease, seen.age_s, seen.folder
    )
}

fn tell(seen: &ByHost, sink: &dyn Sink) {
    for (host, all) in seen {
        // A host with several folders has several leases of the same command.
        if let Some(seen) = all.iter().find(|seen| seen.word == Word::TakenOver) {
            sink.note(format!("{host}: took over from {}", described(seen)));
        }
        if let Some(seen) = all.iter().find(|seen| seen.word == Word::Unwritten) {
            sink.warn(format!(
                "{host}: no lease could be written in {} (is the disk full?); others are not kept away",
                seen.folder
            ));
        }
    }
}

impl Holder {
    /// Of the folders that a lease was taken in: one that is marked later has none, and is not missing it.
    fn only(self, seen: &ByHost) -> Self {
        let taken = |host: &HostName, folder: &RemotePath| {
            let mut of_host = seen.get(host).into_iter().flatten();
            of_host.any(|seen| {
                seen.folder == *folder && matches!(seen.word, Word::Taken | Word::TakenOver)
            })
        };
        let links = self.links.into_iter().map(|(link, mut folders)| {
            folders.retain(|folder| taken(link.host(), folder));
            (link, folders)
        });
        let links = links.filter(|(_, folders)| !folders.is_empty()).collect();
        Self { links, ..self }
    }

    /// Takes all leases, or gives back those it got.
    async fn ask(&self, lease: &Lease, over: &[String]) -> Result<ByHost, Failure> {
        let work = self.links.iter().map(|(link, folders)| async move {
            let text = lease::take(&self.cluster_id, folders, lease, over);
            (link.host().clone(), run(link, "take the lease", text).await)
        });
        let (mut seen, mut failed) = (ByHost::new(), Vec::new());
        for (host, result) in join_all(work).await {
            match result {
                Ok(found) => drop(seen.insert(host, found)),
                Err(failure) => failed.push((host, failure)),
            }
        }
        if failed.is_empty() {
            return Ok(seen);
        }
        self.release().await;
        Err(crate::remote::join_failures("failed", seen.len(), failed))
    }

    /// What the command that was taken over from left running would work against this one.
    async fn end_scripts(&self, seen: &ByHost) {
        let work = self.links.iter().map(|(link, _)| async move {
            let of_host = seen.get(link.host()).into_iter().flatten();
            let left = of_host.filter(|seen| seen.word == Word::TakenOver);
            let names: BTreeSet<&str> = left.map(|seen| seen.lease.scripts.as_str()).collect();
            for name in names.into_iter().filter(|name| is_name(name)) {
                link.end_scripts(name).await;
            }
        });
        join_all(work).await;
    }

    async fn renew_for_ever(self: Arc<Self>) {
        loop {
            tokio::time::sleep(RENEW).await;
            self.renew().await;
        }
    }

    /// A host that does not answer is told by the step that works on it.
    async fn renew(&self) {
        let work = self.links.iter().map(|(link, folders)| async move {
            let text = lease::renew(&self.cluster_id, folders, &self.token);
            (link.host(), run(link, "renew the lease", text).await)
        });
        for (host, seen) in join_all(work).await {
            if seen.is_ok_and(|seen| seen.iter().any(|seen| seen.word == Word::Lost)) {
                self.sink.warn(format!(
                    "{host}: the lease of this command was taken away; it ends at the next step"
                ));
                self.cancel.cancel();
            }
        }
    }

    async fn release(&self) {
        let work = self.links.iter().map(|(link, folders)| async move {
            let text = lease::release(&self.cluster_id, folders, &self.token);
            (link.host(), run(link, "release the lease", text).await)
        });
        for (host, result) in join_all(work).await {
            if let Err(failure) = result {
                let what = failure.what;
                self.sink.warn(format!(
                    "{host}: the lease stays until it is {} s old: {what}",
                    STALE.as_secs()
                ));
            }
        }
    }
}

/// Only what names scripts of one process: a part of it would match those of others.
fn is_name(name: &str) -> bool {
    let digits = name.strip_prefix("nbctl-").unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

async fn run(link: &Link, title: &str, text: String) -> Result<Vec<Seen>, Failure> {
    let script = Script {
        text,
        sudo: false,
        timeout: LIMIT,
    };
    Ok(lease::parse(&link.must(title, &script).await?.stdout))
}

/// The leases on all connected hosts.
///
/// # Errors
/// One line for every host that did not answer.
pub async fn look(ctx: &Context, fleet: &Fleet) -> Result<BTreeMap<HostName, Vec<Seen>>, Failure> {
    let cluster = &ctx.cluster;
    let one = |host: &HostName, link: &Link| {
        let text = lease::look(&cluster.id, &claimed(cluster, host));
        let link = link.clone();
        async move { run(&link, "look for leases", text).await }
    };
    fleet.each(one).await
}

/// Removes leases that were seen; one that changed hands since stays.
///
/// # Errors
/// One line for every host that did not answer.
pub async fn remove(ctx: &Context, fleet: &Fleet, seen: &ByHost) -> Result<usize, Failure> {
    let cluster_id = &ctx.cluster.id;
    let one = |host: &HostName, link: &Link| {
        let scripts: Vec<String> = seen
            .get(host)
            .into_iter()
            .flatten()
            .map(|seen| {
                lease::release(
                    cluster_id,
                    std::slice::from_ref(&seen.folder),
                    &seen.lease.token,
                )
            })
            .collect();
        let link = link.clone();
        async move {
            if scripts.is_empty() {
                return Ok(0);
            }
            Ok(run(&link, "remove leases", scripts.join("\n")).await?.len())
        }
    };
    let removed = fleet.each(one).await?;
    Ok(removed.values().sum())
}
