//! One OpenSSH connection master per host, spoken to over its own socket.
//!
//! Purpose: the only modules that know the openssh crate (`ssh*.rs`).
//! Duties: connect with few starts at once and a retry exactly where sshd asks for one; at most eight channels
//! a host, because a stock sshd takes ten; a master that went away is replaced before anything is sent, never after.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use nbctl_core::failure::Failure;
use nbctl_core::inventory;
use openssh::{ControlPersist, Error, KnownHosts, Session, SessionBuilder, Stdio};
use tokio::sync::{Mutex, Semaphore};

use super::exec::{Input, Lost, Running, within};
use super::script::random;
use super::ssh_error;
use super::ssh_forward::Forwards;
use super::ssh_persist as persist;
use super::target::Target;

/// Channels used at once on one host; sshd's `MaxSessions` is 10 by default.
const CHANNELS: usize = 8;
/// Tries when sshd drops a connection at the door (`MaxStartups`).
const CONNECT_TRIES: u32 = 6;
/// Tries when sshd takes no further channel (`MaxSessions` below ours).
const CHANNEL_TRIES: u32 = 240;
/// A master nobody closed (kill -9) goes by itself after this long.
const ORPHAN: Duration = Duration::from_mins(10);

/// What a connection needs besides its target.
#[derive(Debug, Clone)]
pub struct SshPlace {
    /// Configuration file of the host, see `ssh_config`.
    pub config: PathBuf,
    /// Private folder for sockets.
    pub control: PathBuf,
    /// Connections being made at once, over all hosts.
    pub connects: Arc<Semaphore>,
    /// The same through one jump host.
    pub jump_connects: Arc<Semaphore>,
}

/// Connection to one host; cheap to clone.
#[derive(Debug, Clone)]
pub struct SshLink(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    target: Target,
    place: SshPlace,
    session: Mutex<Option<Arc<Session>>>,
    channels: Semaphore,
    /// Set once; nothing is connected any more.
    closed: AtomicBool,
    forwards: Mutex<Forwards>,
}

/// Why nothing was started.
#[derive(Debug)]
pub(super) enum Failed {
    /// There is no connection and none could be made.
    Connect(Failure),
    /// The connection would not take the command.
    Lost(Lost),
}

impl SshLink {
    /// Connects.
    ///
    /// # Errors
    /// One sentence with ssh's own words and the line to try by hand.
    pub async fn connect(target: Target, place: SshPlace) -> Result<Self, Failure> {
        let link = Self(Arc::new(Inner {
            target,
            place,
            session: Mutex::new(None),
            channels: Semaphore::new(CHANNELS),
            closed: AtomicBool::new(false),
            forwards: Mutex::new(Forwards::default()),
        }));
        link.session().await?;
        Ok(link)
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.0.target
    }

    /// The line a user can type to see what nbctl sees.
    pub fn by_hand(&self) -> String {
        ssh_error::by_hand(&self.0.target, &self.0.place.config)
    }

    pub(super) fn control(&self) -> &Path {
        &self.0.place.control
    }

    pub(super) fn forwards(&self) -> &Mutex<Forwards> {
        &self.0.forwards
    }

    /// The live session, made when there is none.
    pub(super) async fn session(&self) -> Result<Arc<Session>, Failure> {
        let mut slot = self.0.session.lock().await;
        if let Some(session) = slot.as_ref() {
            return Ok(Arc::clone(session));
        }
        if self.0.closed.load(Ordering::Relaxed) {
            let failure = Failure::host("the connection is closed");
            return Err(failure.at(self.0.target.name.to_string()));
        }
        let session = Arc::new(self.open().await?);
        *slot = Some(Arc::clone(&session));
        Ok(session)
    }

    async fn open(&self) -> Result<Session, Failure> {
        let Inner { target, place, .. } = &*self.0;
        if let Some(session) = persist::resume(target, place).await {
            return Ok(session);
        }
        let mut tries = 1;
        loop {
            let error = match self.open_once().await {
                Ok(session) => return Ok(session),
                Err(error) => error,
            };
            if tries == CONNECT_TRIES || !ssh_error::at_the_door(&error) {
                return Err(ssh_error::connect(target, &place.config, &error));
            }
            tracing::debug!(host = %target.name, tries, "sshd dropped the connection, trying again");
            tokio::time::sleep(jitter(Duration::from_millis(100) * 2_u32.pow(tries))).await;
            tries += 1;
        }
    }

    /// A host that accepts and then is silent must not hold the command, so there is a limit beyond ssh's own.
    async fn open_once(&self) -> Result<Session, Error> {
        let Inner { target, place, .. } = &*self.0;
        let closed = |_| Error::Disconnected;
        let _jump = place.jump_connects.acquire().await.map_err(closed)?;
        let _any = place.connects.acquire().await.map_err(closed)?;
        let limit = Duration::from_secs(2 * target.ssh.connect_timeout_s + 20);
        let builder = self.builder();
        let opened = within(limit, builder.connect_mux(&target.ssh.host)).await;
        opened.unwrap_or_else(|| Err(ssh_error::silent(limit)))
    }

    fn builder(&self) -> SessionBuilder {
        let Inner { target, place, .. } = &*self.0;
        let minutes = u64::from(target.ssh.persist_minutes);
        let idle = Duration::from_mins(minutes).max(ORPHAN).as_secs();
        let idle = usize::try_from(idle).ok().and_then(NonZeroUsize::new);
        let mut builder = SessionBuilder::default();
        builder
            .config_file(&place.config)
            .control_directory(&place.control)
            .control_persist(idle.map_or(ControlPersist::Forever, ControlPersist::IdleFor))
            .known_hosts_check(match target.ssh.known_hosts {
                inventory::KnownHosts::Strict => KnownHosts::Strict,
                inventory::KnownHosts::AcceptNew => KnownHosts::Add,
            });
        builder
    }

    /// Starts `argv`, waiting for a free channel; on a dead master once more on a new one.
    pub(super) async fn spawn(&self, argv: &[String], input: &Input) -> Result<Running, Failed> {
        let permit = self.0.channels.acquire().await;
        let permit = permit.map_err(|_| Failed::Lost(Lost::Disconnected))?;
        let mut renewed = false;
        for _ in 0..CHANNEL_TRIES {
            let session = self.session().await.map_err(Failed::Connect)?;
            match start(&session, argv, input).await {
                Ok(running) => {
                    permit.forget();
                    return Ok(self.hold(running));
                }
                Err(Lost::Disconnected) if !renewed => {
                    renewed = true;
                    self.forget(&session).await;
                }
                Err(Lost::Refused(_)) => {
                    tokio::time::sleep(jitter(Duration::from_millis(250))).await;
                }
                Err(lost) => return Err(Failed::Lost(lost)),
            }
        }
        let text = "sshd opened no further channel".to_owned();
        Err(Failed::Lost(Lost::Refused(text)))
    }

    /// Gives the channel back when the process has ended or is given up, not before.
    fn hold(&self, mut running: Running) -> Running {
        let back = GiveBack(self.clone());
        running.wait = running.wait.inspect(move |_| drop(back)).boxed();
        running
    }

    /// Whether the connection still answers.
    pub async fn alive(&self) -> bool {
        let session = self.0.session.lock().await.clone();
        let Some(session) = session else { return false };
        let alive = within(Duration::from_secs(2), session.check()).await;
        if matches!(alive, Some(Ok(()))) {
            return true;
        }
        self.forget(&session).await;
        false
    }

    async fn forget(&self, dead: &Arc<Session>) {
        let mut slot = self.0.session.lock().await;
        if slot.as_ref().is_some_and(|now| Arc::ptr_eq(now, dead)) {
            *slot = None;
            self.0.forwards.lock().await.clear();
        }
    }

    /// Ends the connection. With `keep` the master is left to the next command, when the inventory asks for that.
    pub async fn close(&self, keep: bool) {
        self.0.closed.store(true, Ordering::Relaxed);
        let session = self.0.session.lock().await.take();
        self.0.forwards.lock().await.clear();
        let Some(session) = session.and_then(Arc::into_inner) else {
            return;
        };
        if keep && self.target().ssh.persist_minutes > 0 {
            persist::leave(&self.0.target, &self.0.place, session);
            return;
        }
        persist::forget(&self.0.target, &self.0.place);
        if let Err(error) = session.close().await {
            tracing::debug!(host = %self.0.target.name, %error, "closing the connection");
        }
    }
}

struct GiveBack(SshLink);

impl Drop for GiveBack {
    fn drop(&mut self) {
        self.0.0.channels.add_permits(1);
    }
}

async fn start(session: &Arc<Session>, argv: &[String], input: &Input) -> Result<Running, Lost> {
    let no_command = || Lost::Other("no command".to_owned());
    let (program, rest) = argv.split_first().ok_or_else(no_command)?;
    let stdin = match input {
        Input::Bytes(_) => Stdio::piped(),
        Input::File(file) => Stdio::from(
            file.try_clone()
                .map_err(|error| Lost::Other(format!("cannot read the file: {error}")))?,
        ),
    };
    let mut command = Arc::clone(session).arc_command(program.as_str());
    command.args(rest).stdin(stdin).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().await.map_err(ssh_error::lost)?;
    let missing = || Lost::Other("no pipe to the process".to_owned());
    Ok(Running {
        stdin: child.stdin().take().map(|pipe| Box::pin(pipe) as _),
        stdout: Box::pin(child.stdout().take().ok_or_else(missing)?),
        stderr: Box::pin(child.stderr().take().ok_or_else(missing)?),
        wait: child.wait().map(ended).boxed(),
    })
}

/// The crate takes 127 for "no such command"; for us it is an exit code like any other.
fn ended(result: Result<std::process::ExitStatus, Error>) -> Result<i32, Lost> {
    match result {
        Ok(status) => status.code().ok_or(Lost::Gone),
        Err(Error::Remote(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(127),
        Err(error) => Err(ssh_error::lost(error)),
    }
}

/// Between half of `base` and one and a half.
fn jitter(base: Duration) -> Duration {
    let per_mille = u32::try_from(random() % 1000).unwrap_or_default();
    base / 2 + base * per_mille / 1000
}
