//! Many: one thing on many hosts, each for itself.
//!
//! Purpose: what `exec`, `logs`, `push` and `pull` share.
//! Duties: a host that fails does not hold up the others; every failed host is named at the end; a deadline ends what is
//! started on a host, also when the connection is gone.

use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::failure::{Failure, FailureKind};
use nbctl_core::inventory::{Host, Selection};
use nbctl_core::units::HostName;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::interrupt;
use crate::remote::{
    Dialogue, Fleet, FleetDirs, Link, Output, Target, default_control_dir, join_failures,
};

/// Between two signs of life; the programs started here do not read them.
const BEAT: Duration = Duration::from_mins(1);
/// Beyond the deadline that `timeout(1)` keeps on the host.
const GRACE: Duration = Duration::from_secs(10);
/// Exit code of `timeout(1)`.
const TIMED_OUT: i32 = 124;

/// Selected hosts, connected or not.
#[derive(Debug)]
pub struct Many {
    /// Those that answered.
    pub fleet: Fleet,
    lost: Vec<(HostName, Failure)>,
}

impl Many {
    /// Connects the selected hosts.
    ///
    /// # Errors
    /// None is selected; the folder for sockets cannot be used.
    pub async fn connect(ctx: &Context, selection: &Selection) -> Result<Self, Failure> {
        let hosts: Vec<&Host> = ctx
            .cluster
            .hosts
            .iter()
            .filter(|host| selection.has_host(host))
            .collect();
        if hosts.is_empty() {
            return Err(Failure::usage("no host is selected")
                .hint("`nbctl inventory show` lists roles and hosts"));
        }
        let targets = hosts.into_iter().map(Target::from).collect();
        let dirs = FleetDirs {
            config: ctx.cluster_dir(),
            control: default_control_dir()?,
        };
        let (fleet, lost) = Fleet::connect_reachable(targets, &dirs).await?;
        Ok(Self { fleet, lost })
    }

    /// Does `work` on every connected host at once, and tells of each host how it went; an interrupt gives up what is
    /// left. Hosts in the order of their names.
    pub async fn try_each<'a, T, F, Fut>(
        &'a self,
        cancel: &CancellationToken,
        work: F,
    ) -> Vec<(HostName, Result<T, Failure>)>
    where
        F: Fn(&'a Link) -> Fut,
        Fut: Future<Output = Result<T, Failure>>,
    {
        let all = self.fleet.links().map(|link| {
            let done = work(link);
            async move {
                let result = tokio::select! {
                    result = done => result,
                    () = cancel.cancelled() => Err(interrupt::failure()),
                };
                (link.host().clone(), result)
            }
        });
        let mut ended = join_all(all).await;
        let lost = self.lost.iter().cloned();
        ended.extend(lost.map(|(host, failure)| (host, Err(failure))));
        ended.sort_by(|(one, _), (other, _)| one.cmp(other));
        ended
    }

    /// As [`Many::try_each`], when every host must do it.
    ///
    /// # Errors
    /// One line for every host that failed or was not reached.
    pub async fn each<'a, T, F, Fut>(
        &'a self,
        cancel: &CancellationToken,
        work: F,
    ) -> Result<Vec<(HostName, T)>, Failure>
    where
        F: Fn(&'a Link) -> Fut,
        Fut: Future<Output = Result<T, Failure>>,
    {
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for (host, result) in self.try_each(cancel, work).await {
            match result {
                Ok(value) => good.push((host, value)),
                Err(failure) => bad.push((host, failure)),
            }
        }
        if bad.is_empty() {
            return Ok(good);
        }
        if bad
            .iter()
            .any(|(_, failure)| failure.kind == FailureKind::Interrupted)
        {
            return Err(interrupt::failure());
        }
        Err(join_failures("failed", good.len(), bad))
    }
}

/// A program whose lines are shown as they come.
#[derive(Debug, Clone)]
pub struct Told {
    /// Names it in failures.
    pub title: String,
    /// One line of POSIX sh.
    pub text: String,
    /// Under `sudo -n`.
    pub sudo: bool,
    /// Ends it; `None`: it runs until the command is interrupted.
    pub limit: Option<Duration>,
}

impl Told {
    /// Runs it; `show` gets the lines of standard output and standard error together.
    ///
    /// # Errors
    /// No connection, the deadline, another exit code than 0.
    pub async fn run(
        &self,
        link: &Link,
        show: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(), Failure> {
        let seconds = self
            .limit
            .map_or(0, |limit| limit.as_secs().max(1))
            .to_string();
        // 0 is no limit for timeout(1).
        let text = format!("exec </dev/null 2>&1; {}", self.text);
        let mut argv = vec!["timeout", "-k", "2", &seconds, "sh", "-c", &text];
        if self.sudo {
            argv.splice(0..0, ["sudo", "-n"]);
        }
        let never = CancellationToken::new();
        let dialogue = Dialogue {
            title: &self.title,
            argv: &argv,
            first: b"",
            beat: BEAT,
            sudo: self.sudo.then(|| self.limit.unwrap_or(Duration::MAX)),
            cancel: &never,
        };
        let mut last = String::new();
        let mut noting = |text: &str| {
            text.clone_into(&mut last);
            show(text);
        };
        let talk = link.converse(&dialogue, &mut noting);
        let output = match self.limit {
            None => talk.await?,
            Some(limit) => match tokio::time::timeout(limit + GRACE, talk).await {
                Ok(output) => output?,
                Err(_) => return Err(self.too_late(link)),
            },
        };
        self.ended(link, &output, &last)
    }

    fn ended(&self, link: &Link, output: &Output, last: &str) -> Result<(), Failure> {
        if self.sudo {
            output.check_sudo(link.host())?;
        }
        match output.code {
            0 => Ok(()),
            TIMED_OUT if self.limit.is_some() => Err(self.too_late(link)),
            code => {
                let what = format!("{}: exit code {code}", self.title);
                let failure = Failure::step(what).at(link.host().to_string());
                Err(if last.is_empty() {
                    failure.lines(output.last_lines())
                } else {
                    failure.line(last)
                })
            }
        }
    }

    fn too_late(&self, link: &Link) -> Failure {
        let seconds = self.limit.unwrap_or_default().as_secs();
        Failure::step(format!("{}: not done after {seconds} s, ended", self.title))
            .at(link.host().to_string())
            .hint("give it more time with --timeout")
    }
}
