//! The end of what runs on a host: trees that are given up, and a sudo that never begins.
//!
//! Duties: a run that is dropped takes its remote tree with it; a sudo that waits for PAM, a directory service or a device
//! is told apart from work that takes long, without asking sudo for it.

use std::time::Duration;

use nbctl_core::failure::Failure;

use super::exec::{Beyond, Input, MAX_STDOUT, Raw, collect, within};
use super::{Job, KILL_LIMIT, Link, script};

/// A sudo that has not begun after this time waits for something.
const SUDO_PATIENCE: Duration = Duration::from_secs(30);

impl Link {
    /// Ends the scripts that a process which was killed left behind on the host, by what their tokens begin with
    /// ([`scripts_of_process`](super::scripts_of_process) of that process).
    pub async fn end_scripts(&self, token: &str) {
        self.kill(token, self.sudo).await;
    }

    pub(super) async fn kill(&self, token: &str, sudo: bool) {
        self.aside(&script::kill_text(token), sudo).await;
    }

    /// A small script beside one that runs; what it printed, as far as it ended well.
    async fn aside(&self, text: &str, sudo: bool) -> Option<Vec<u8>> {
        let own = script::token();
        let argv = script::argv(&own, sudo, KILL_LIMIT);
        let input = Input::Bytes(script::framed(text).into_bytes());
        let running = self.spawn(&argv, &input).await.ok()?;
        let (mut raw, mark) = (Raw::default(), script::end_mark(&own));
        let mut beyond = Beyond::Refused(MAX_STDOUT);
        let work = collect(running, &input, &mark, &mut beyond, &mut raw);
        within(KILL_LIMIT, work).await?.ok()?;
        Some(raw.stdout)
    }

    /// How long a sudo of `job` may take to begin, if it may have one.
    pub(super) fn patience(&self, job: &Job<'_>) -> Option<Duration> {
        (job.sudo || self.sudo).then(|| SUDO_PATIENCE.min(job.timeout))
    }

    /// Ends once it is clear that `job` waits for a sudo that does not begin within `patience`; never otherwise.
    pub(super) async fn stuck(&self, job: &Job<'_>, patience: Option<Duration>) -> Failure {
        let Some(patience) = patience.map(|patience| patience.min(SUDO_PATIENCE)) else {
            return std::future::pending().await;
        };
        tokio::time::sleep(patience).await;
        if !self.waits_in_sudo(&job.token).await {
            return std::future::pending().await;
        }
        let seconds = patience.as_secs_f64();
        Failure::host(format!("{}: sudo has not begun after {seconds} s", job.title))
            .at(self.host.to_string())
            .hint("log in there and try `sudo -n true`: it waits for PAM, a directory service or a device")
    }

    async fn waits_in_sudo(&self, token: &str) -> bool {
        let said = self.aside(&script::waiting_text(token), false).await;
        said.is_some_and(|said| said.starts_with(b"waits"))
    }
}

/// Ends the remote tree of a run that is given up from outside; ssh alone would leave it running.
pub(super) struct KillOnDrop {
    link: Link,
    token: String,
    pub(super) sudo: bool,
    pub(super) armed: bool,
}

impl KillOnDrop {
    pub(super) fn new(link: &Link, job: &Job<'_>) -> Self {
        Self {
            link: link.clone(),
            token: job.token.clone(),
            sudo: job.sudo,
            armed: true,
        }
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (link, token, sudo) = (self.link.clone(), self.token.clone(), self.sudo);
            let end = async move { link.kill(&token, sudo).await };
            drop(self.link.endings.spawn_on(end, &runtime));
        }
    }
}
