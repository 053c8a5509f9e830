//! Waiting until the world is so.
//!
//! Duties: end early when what is waited for has ended; look often at first (50 ms) and twice a second later; end at the deadline and tell the last thing seen;
//! "up" is what the protocol says, never what a start script printed.

use std::collections::BTreeSet;
use std::future::Future;
use std::time::{Duration, Instant};

use nbctl_core::failure::{Failure, FailureKind};
use nbctl_core::plan::{Probe, Script, Step, Wait};
use nbctl_core::units::RemotePath;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::hooks::Graph;
use crate::http;
use crate::remote::{Fleet, Link};

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(500);
/// Between two looks at whether there is still something to wait for.
const HOPE: Duration = Duration::from_secs(1);
/// For one look.
const LOOK: Duration = Duration::from_secs(5);

/// What one look saw: so, or what is in the way.
type Seen = Result<(), String>;

/// Where to look from.
#[derive(Debug)]
pub(super) struct Eyes<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) graph: &'a dyn Graph,
    pub(super) cancel: &'a CancellationToken,
}

impl Eyes<'_> {
    /// Waits for the probe of `step`.
    pub(super) async fn wait(&self, step: &Step, wait: &Wait) -> Result<(), Failure> {
        let link = match &step.host {
            Some(host) => Some(self.fleet.on(host)?),
            None => None,
        };
        let look = || async {
            let look = tokio::time::timeout(LOOK, self.look(link, &wait.probe)).await;
            look.unwrap_or_else(|_| Err(format!("no answer within {} s", LOOK.as_secs())))
        };
        tokio::select! {
            seen = until(wait.timeout, self.cancel, look) => {
                seen?.map_err(|last| too_late(step, wait.timeout, &last))
            }
            failure = hopeless(link, step, wait) => Err(failure),
        }
    }

    async fn look(&self, link: Option<&Link>, probe: &Probe) -> Seen {
        match probe {
            Probe::DaemonUp { rpc, http } => self.daemon_up(rpc, http).await,
            Probe::ProcessUp { exe } => match pids(link, exe).await?.as_str() {
                "" => Err(format!("no process runs {exe}")),
                _ => Ok(()),
            },
            Probe::ProcessGone { exe } => match pids(link, exe).await?.as_str() {
                "" => Ok(()),
                pids => Err(format!("{exe} still runs, pid {pids}")),
            },
            Probe::GraphReady { rpc } => {
                let address = self.fleet.dial(rpc).await.map_err(short)?;
                self.graph.ready(address).await.map_err(short)
            }
            Probe::StoragesOnline { hosts } => {
                let online = self.graph.online(self.fleet).await.map_err(short)?;
                compare(hosts, &online)
            }
            Probe::HttpOk { url } => self.http_ok(url).await,
        }
    }

    /// The URL's host may be behind ssh, so its `address:port` is dialled like any other.
    async fn http_ok(&self, url: &str) -> Seen {
        let rest = url.strip_prefix("http://").unwrap_or(url);
        let (endpoint, path) = rest.split_once('/').unwrap_or((rest, ""));
        let address = self.fleet.dial(endpoint).await.map_err(short)?;
        let seen = http::get_text(&format!("http://{address}/{path}"), LOOK).await;
        seen.map(drop).map_err(short)
    }

    async fn daemon_up(&self, rpc: &str, http: &str) -> Seen {
        let address = self.fleet.dial(rpc).await.map_err(short)?;
        let open = TcpStream::connect(address).await;
        open.map_err(|error| format!("port of {rpc}: {error}"))?;
        let address = self.fleet.dial(http).await.map_err(short)?;
        let status = http::get_text(&format!("http://{address}/status"), LOOK).await;
        match status.map_err(short)? {
            text if text.contains("running") => Ok(()),
            text => Err(format!("http://{http}/status says {}", text.trim())),
        }
    }
}

/// Comes back only when waiting has no sense any more. Seen twice: a start may be under way, and a host may be lost,
/// which the wait itself will tell.
async fn hopeless(link: Option<&Link>, step: &Step, wait: &Wait) -> Failure {
    let (Some(link), Some(script)) = (link, &wait.hopeless) else {
        return std::future::pending().await;
    };
    let mut failed = 0;
    loop {
        tokio::time::sleep(HOPE).await;
        match link.run(&step.title, script).await {
            Ok(output) if output.code != 0 => failed += 1,
            _ => failed = 0,
        }
        if failed == 2
            && let Err(failure) = link.must(&step.title, script).await
        {
            return Failure {
                kind: FailureKind::Cluster,
                ..failure
            };
        }
    }
}

/// Looks again and again; the outer failure is the interrupt, the inner text what was seen last.
pub(super) async fn until<F, Fut>(
    limit: Duration,
    cancel: &CancellationToken,
    look: F,
) -> Result<Seen, Failure>
where
    F: Fn() -> Fut,
    Fut: Future<Output = Seen>,
{
    let end = Instant::now() + limit;
    let mut pause = FIRST;
    loop {
        let Err(last) = look().await else {
            return Ok(Ok(()));
        };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Err(last));
        }
        tokio::select! {
            () = cancel.cancelled() => return Err(super::interrupted()),
            () = tokio::time::sleep(pause.min(left)) => pause = (pause * 3 / 2).min(LONGEST),
        }
    }
}

fn too_late(step: &Step, limit: Duration, last: &str) -> Failure {
    let what = format!("{}: not so after {} s", step.title, limit.as_secs_f64());
    let failure = Failure::cluster(what).line(format!("last seen: {last}"));
    match &step.host {
        Some(host) => failure.at(host.to_string()),
        None => failure,
    }
}

/// Process ids whose executable is `exe`, through links, also when the file was replaced since.
async fn pids(link: Option<&Link>, exe: &RemotePath) -> Result<String, String> {
    let link = link.ok_or("a process is looked for on no host")?;
    let script = pids_script(exe, link.may_sudo()).map_err(short)?;
    let output = link.must("look for the process", &script).await;
    let output = output.map_err(short)?;
    let pids: Vec<&str> = output.stdout.split_whitespace().collect();
    Ok(pids.join(" "))
}

fn pids_script(exe: &RemotePath, sudo: bool) -> Result<Script, Failure> {
    let quoted = shlex::try_quote(exe.as_str());
    let quoted = quoted.map_err(|error| Failure::step(format!("cannot quote {exe}: {error}")))?;
    let text = format!(
        "e={quoted}\nr=$(readlink -f -- \"$e\" 2>/dev/null || echo \"$e\")\n\
         ls -l /proc/[0-9]*/exe 2>/dev/null | while read -r line; do\n\
         t=${{line#* -> }}; f=${{line%% -> *}}; f=${{f##* /proc/}}\n\
         case \"$t\" in \"$e\" | \"$r\" | \"$e (deleted)\" | \"$r (deleted)\") echo \"${{f%/exe}}\" ;; esac\n\
         done"
    );
    Ok(Script {
        text,
        sudo,
        timeout: LOOK,
    })
}

fn compare(expected: &[String], online: &BTreeSet<String>) -> Seen {
    let expected: BTreeSet<String> = expected.iter().cloned().collect();
    if expected == *online {
        return Ok(());
    }
    let list = |set: Vec<&String>| set.into_iter().cloned().collect::<Vec<_>>().join(", ");
    let missing = list(expected.difference(online).collect());
    let more = list(online.difference(&expected).collect());
    Err(match (missing.is_empty(), more.is_empty()) {
        (false, true) => format!("not online: {missing}"),
        (true, false) => format!("online but not expected: {more}"),
        _ => format!("not online: {missing}; online but not expected: {more}"),
    })
}

/// A failure as one line.
fn short(failure: Failure) -> String {
    match failure.detail.last() {
        Some(line) => format!("{}; {line}", failure.what),
        None => failure.what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storages_are_compared_both_ways() {
        let online = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let expected = ["a:1".to_owned(), "b:1".to_owned()];
        assert_eq!(compare(&expected, &online(&["b:1", "a:1"])), Ok(()));
        assert_eq!(
            compare(&expected, &online(&["a:1", "c:1"])),
            Err("not online: b:1; online but not expected: c:1".to_owned())
        );
    }

    #[tokio::test]
    async fn a_deadline_tells_the_last_look() {
        let cancel = CancellationToken::new();
        let look = || async { Err("still starting".to_owned()) };
        let seen = until(Duration::from_millis(120), &cancel, look)
            .await
            .unwrap();
        assert_eq!(seen, Err("still starting".to_owned()));
        cancel.cancel();
        assert!(until(Duration::from_secs(9), &cancel, look).await.is_err());
    }
}
