//! Hosts: run a script, put a file, forward a port.
//!
//! Purpose: everything that is done on a host goes through a [`Link`], whether it is reached by ssh, is this
//! machine, or is a fake of a test (`docs/design/remote.md`).
//! Duties: deadlines that end the remote process tree; bounded output; failures that name host, command and
//! last lines. Only `ssh*.rs` know the openssh crate, only `local.rs` starts processes.

mod bridge;
mod control_dir;
mod download;
mod ending;
mod exec;
mod fake;
mod files;
mod first;
mod fleet;
mod here;
mod local;
mod output;
mod script;
mod ssh;
mod ssh_config;
mod ssh_error;
mod ssh_forward;
mod ssh_persist;
mod stream;
mod target;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nbctl_core::plan::Script;
use nbctl_core::units::HostName;
use tokio_util::task::TaskTracker;

pub use self::bridge::Bridge;
pub use self::control_dir::default_dir as default_control_dir;
pub use self::exec::{KEPT_STDERR, MAX_STDOUT};
pub use self::fake::Fake;
pub use self::files::{Written, hash_file};
pub use self::first::{ASKPASS, First, Login, Root, answer as answer_askpass};
pub use self::fleet::{Fleet, FleetDirs, join_failures};
pub use self::here::Here;
pub use self::output::Output;
pub use self::script::{ALREADY_SO, of_process as scripts_of_process, unless};
pub use self::ssh::{SshLink, SshPlace};
pub use self::ssh_forward::Reverse;
pub use self::stream::Dialogue;
pub use self::target::Target;

use self::ending::KillOnDrop;
use self::exec::{Beyond, Input, Lost, Raw, Running, collect, within};
use self::ssh::Failed;

/// Beyond the script's own time: for `timeout(1)` on the host to act first, and for the way back.
const GRACE: Duration = Duration::from_secs(3);
/// For ending a process tree.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// One host; cheap to clone.
#[derive(Debug, Clone)]
pub struct Link {
    host: HostName,
    sudo: bool,
    way: Way,
    /// Trees that are being ended because their run was given up.
    endings: TaskTracker,
    /// Processes started on the host.
    trips: Arc<AtomicU64>,
}

#[derive(Debug, Clone)]
enum Way {
    Ssh(SshLink),
    Local,
    Fake(Fake),
}

/// One thing to execute, as the lower parts see it.
struct Job<'a> {
    title: &'a str,
    argv: Vec<String>,
    token: String,
    sudo: bool,
    timeout: Duration,
}

impl Link {
    /// A host behind an open connection.
    pub fn ssh(link: SshLink) -> Self {
        let target = link.target();
        let (host, sudo) = (target.name.clone(), target.ssh.sudo);
        Self::new(host, sudo, Way::Ssh(link))
    }

    /// This machine under a name.
    pub fn local(host: HostName) -> Self {
        Self::new(host, false, Way::Local)
    }

    /// A fake with prepared answers.
    pub fn fake(host: HostName, fake: Fake) -> Self {
        Self::new(host, false, Way::Fake(fake))
    }

    fn new(host: HostName, sudo: bool, way: Way) -> Self {
        Self {
            host,
            sudo,
            way,
            endings: TaskTracker::new(),
            trips: Arc::default(),
        }
    }

    /// How often something was asked of the host so far.
    pub fn round_trips(&self) -> u64 {
        self.trips.load(Ordering::Relaxed)
    }

    /// Its name.
    pub fn host(&self) -> &HostName {
        &self.host
    }

    /// Scripts of ours may use `sudo -n` there.
    pub fn may_sudo(&self) -> bool {
        self.sudo
    }

    /// The ssh line a user can type, when it is reached by ssh.
    pub fn by_hand(&self) -> Option<String> {
        match &self.way {
            Way::Ssh(link) => Some(link.by_hand()),
            Way::Local | Way::Fake(_) => None,
        }
    }

    /// Runs `script` and returns whatever it ended with; `title` names it in failures.
    ///
    /// # Errors
    /// No connection, deadline passed, killed, too much output, or sudo that refuses.
    pub async fn run(&self, title: &str, script: &Script) -> Result<Output, Failure> {
        if let Way::Fake(fake) = &self.way {
            return fake.answer(&self.host, title, script);
        }
        let token = script::token();
        let job = Job {
            title,
            argv: script::argv(&token, script.sudo, script.timeout),
            token,
            sudo: script.sudo,
            timeout: script.timeout,
        };
        let input = Input::Bytes(script::framed(&script.text).into_bytes());
        let output = Output::from(self.execute(&job, &input).await?);
        if script.sudo {
            output.check_sudo(&self.host)?;
        }
        Ok(output)
    }

    /// As [`Link::run`], and a code other than 0 is a failure with the last lines.
    ///
    /// # Errors
    /// Those of [`Link::run`], and a non-zero exit code.
    pub async fn must(&self, title: &str, script: &Script) -> Result<Output, Failure> {
        self.run(title, script).await?.success(&self.host, title)
    }

    /// Whether the host still answers on its connection.
    pub async fn alive(&self) -> bool {
        match &self.way {
            Way::Ssh(link) => link.alive().await,
            Way::Local | Way::Fake(_) => true,
        }
    }

    /// A local socket that reaches the Unix socket `remote` of the host; the same one when asked again.
    ///
    /// # Errors
    /// No connection, or the forward is refused.
    pub async fn forward_unix(&self, remote: &str) -> Result<PathBuf, Failure> {
        match &self.way {
            Way::Ssh(link) => ssh_forward::unix(link, remote).await,
            Way::Local => Ok(PathBuf::from(remote)),
            Way::Fake(_) => Err(self.no_forward()),
        }
    }

    /// A local address that reaches `endpoint` (`host:port`) as seen from the host.
    ///
    /// # Errors
    /// No connection, the forward is refused, or (on this machine) the name does not resolve.
    pub async fn forward_tcp(&self, endpoint: &str) -> Result<SocketAddr, Failure> {
        match &self.way {
            Way::Ssh(link) => ssh_forward::tcp(link, endpoint).await,
            Way::Local => fleet::resolve(endpoint).await,
            Way::Fake(_) => Err(self.no_forward()),
        }
    }

    /// A port of the host's loopback that reaches `endpoint` (`host:port`) as seen from this machine; until it is closed.
    ///
    /// # Errors
    /// No connection, or the forward is refused.
    pub async fn reverse_tcp(&self, endpoint: &str) -> Result<Reverse<'_>, Failure> {
        match &self.way {
            Way::Ssh(link) => Reverse::open(link, endpoint).await,
            Way::Local => Ok(Reverse::direct(fleet::resolve(endpoint).await?)),
            Way::Fake(_) => Err(self.no_forward()),
        }
    }

    /// Ends the connection. With `keep` it is left to the next command, when the inventory says so.
    pub async fn close(&self, keep: bool) {
        self.endings.close();
        if within(KILL_LIMIT, self.endings.wait()).await.is_none() {
            tracing::warn!(host = %self.host, "a script that was given up may still run");
        }
        if let Way::Ssh(link) = &self.way {
            link.close(keep).await;
        }
    }

    fn no_forward(&self) -> Failure {
        Failure::host("a fake host forwards nothing").at(self.host.to_string())
    }

    async fn spawn(&self, argv: &[String], input: &Input) -> Result<Running, Failed> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        match &self.way {
            Way::Ssh(link) => link.spawn(argv, input).await,
            Way::Local => local::spawn(argv, input).map_err(Failed::Lost),
            Way::Fake(_) => Err(Failed::Lost(Lost::Other("a fake runs nothing".to_owned()))),
        }
    }

    /// [`Link::execute_into`] memory.
    async fn execute(&self, job: &Job<'_>, input: &Input) -> Result<Raw, Failure> {
        let beyond = &mut Beyond::Refused(MAX_STDOUT);
        self.execute_into(job, input, beyond).await
    }

    /// Runs to the end, the deadline, or the loss of the host. Dropped half-way, it ends the remote tree.
    async fn execute_into(
        &self,
        job: &Job<'_>,
        input: &Input,
        beyond: &mut Beyond<'_>,
    ) -> Result<Raw, Failure> {
        let running = match self.spawn(&job.argv, input).await {
            Ok(running) => running,
            Err(Failed::Connect(failure)) => return Err(failure),
            Err(Failed::Lost(lost)) => return Err(self.lost(job, &lost, &Raw::default())),
        };
        let begun = Instant::now();
        let mut guard = KillOnDrop::new(self, job);
        let mut raw = Raw::default();
        let mark = script::end_mark(&job.token);
        let work = within(
            job.timeout + GRACE,
            collect(running, input, &mark, beyond, &mut raw),
        );
        let ended = tokio::select! {
            ended = work => ended,
            failure = self.stuck(job, self.patience(job)) => {
                // Not under sudo, which would wait, too.
                guard.sudo = false;
                return Err(failure);
            }
        };
        let late = begun.elapsed() >= job.timeout;
        let failure = match ended {
            Some(Ok(())) if !(late && timed_out(raw.code)) => {
                guard.armed = false;
                return Ok(raw);
            }
            Some(Err(Lost::Gone)) if !late && !self.alive().await => {
                guard.armed = false;
                return Err(self.connection_lost(job.title));
            }
            Some(Err(Lost::Gone)) if !late => self.killed(job, &raw),
            Some(Err(lost)) if lost != Lost::Gone => self.lost(job, &lost, &raw),
            _ => self.too_late(job, &raw),
        };
        self.kill(&job.token, job.sudo).await;
        guard.armed = false;
        Err(failure)
    }

    fn too_late(&self, job: &Job<'_>, raw: &Raw) -> Failure {
        let seconds = job.timeout.as_secs_f64();
        Failure::step(format!("{}: not done after {seconds} s, ended", job.title))
            .at(self.host.to_string())
            .lines(output::last_lines(raw))
    }

    fn killed(&self, job: &Job<'_>, raw: &Raw) -> Failure {
        Failure::step(format!("{}: killed by a signal", job.title))
            .at(self.host.to_string())
            .lines(output::last_lines(raw))
            .hint("see whether the host is out of memory: dmesg | tail")
    }

    fn connection_lost(&self, title: &str) -> Failure {
        let failure = Failure::host(format!("{title}: the connection was lost"));
        let failure = failure.at(self.host.to_string());
        match self.by_hand() {
            Some(line) => failure.hint(format!(
                "when the host is back, run the same command again; try: {line}"
            )),
            None => failure,
        }
    }

    fn lost(&self, job: &Job<'_>, lost: &Lost, raw: &Raw) -> Failure {
        let title = job.title;
        let what = match lost {
            Lost::Gone | Lost::Disconnected => return self.connection_lost(title),
            Lost::Refused(text) => {
                return Failure::host(format!("{title}: {text}"))
                    .at(self.host.to_string())
                    .hint("raise MaxSessions in sshd_config of the host");
            }
            Lost::TooMuch(max) => format!("{title}: more than {} MiB of output", max >> 20),
            Lost::Cut => format!("{title}: the end of its answer did not arrive"),
            Lost::Other(text) => format!("{title}: {text}"),
        };
        Failure::step(what)
            .at(self.host.to_string())
            .lines(output::last_lines(raw))
    }
}

/// For what a fake is asked without a script of its own.
fn fake_script(title: &str) -> Script {
    Script {
        text: title.to_owned(),
        sudo: false,
        timeout: KILL_LIMIT,
    }
}

/// 137 and 143 are what `timeout(1)` or a shell make of the signals it sends.
fn timed_out(code: i32) -> bool {
    [script::TIMED_OUT, 137, 143].contains(&code)
}
