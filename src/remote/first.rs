//! First contact: an ssh login that may ask for a password, before the host knows nbctl's key.
//!
//! Duties: host keys are checked as ever; the password goes to ssh through a socket of ours and to sudo through standard
//! input, never through an argument, the environment or a file.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nbctl_core::failure::Failure;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixListener;

use super::script::random;
use super::target::Target;
use super::{Output, control_dir, ssh_config};

/// Names the socket to the askpass program, which is this one.
pub const ASKPASS: &str = "NBCTL_ASKPASS";
/// Standard input of a program that reads none.
const NOTHING: &str = "";

/// Who logs in.
#[derive(Debug, Clone, Copy)]
pub struct Login<'a> {
    /// User of the host.
    pub user: &'a str,
    /// Key, beside those that the user's own configuration names.
    pub key: Option<&'a Path>,
    /// Password of that user, for ssh and sudo.
    pub password: Option<&'a str>,
}

/// How the login becomes root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// It is.
    Already,
    /// `sudo -n`.
    Sudo,
    /// `sudo -S`, with its password.
    SudoPassword,
}

/// A host before it is known.
#[derive(Debug)]
pub struct First<'a> {
    target: &'a Target,
    login: Login<'a>,
    config: PathBuf,
    /// Where the socket lies.
    control: &'a Path,
}

impl<'a> First<'a> {
    /// Writes the host's ssh configuration into `dir`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(
        target: &'a Target,
        login: Login<'a>,
        dir: &Path,
        control: &'a Path,
    ) -> Result<Self, Failure> {
        control_dir::prepare(control)?;
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let config = ssh_config::write(&dir, target)?;
        Ok(Self {
            target,
            login,
            config,
            control,
        })
    }

    /// Looks how the login becomes root.
    ///
    /// # Errors
    /// No connection; it has no way to become root.
    pub async fn root(&self) -> Result<Root, Failure> {
        let text = "if [ \"$(id -u)\" = 0 ]; then echo root; elif sudo -n true 2>/dev/null; then echo sudo; \
                    elif command -v sudo >/dev/null; then echo password; else echo none; fi";
        let said = self
            .run(
                "log in",
                &words("sh -c", text)?,
                NOTHING,
                Duration::from_mins(1),
            )
            .await?;
        match said.stdout.lines().last().unwrap_or_default() {
            "root" => Ok(Root::Already),
            "sudo" => Ok(Root::Sudo),
            "password" if self.login.password.is_some() => Ok(Root::SudoPassword),
            _ => Err(Failure::host(format!("{} cannot become root", self.login.user))
                .at(self.target.name.to_string())
                .hint("log in as root or as a user who may use sudo (--login), with its password where sudo asks for one")),
        }
    }

    /// Runs `text` as root.
    ///
    /// # Errors
    /// No connection, sudo refuses, the deadline, another code than 0.
    pub async fn as_root(
        &self,
        title: &str,
        root: Root,
        text: &str,
        limit: Duration,
    ) -> Result<Output, Failure> {
        // Whoever does not read the password must not take it for a script.
        let text = format!("exec </dev/null\n{text}");
        let (how, input) = match root {
            Root::Already => ("sh -c", NOTHING.to_owned()),
            Root::Sudo => ("sudo -n sh -c", NOTHING.to_owned()),
            Root::SudoPassword => (
                "sudo -k -S -p '' sh -c",
                format!("{}\n", self.login.password.unwrap_or_default()),
            ),
        };
        self.run(title, &words(how, &text)?, &input, limit).await
    }

    async fn run(
        &self,
        title: &str,
        line: &str,
        input: &str,
        limit: Duration,
    ) -> Result<Output, Failure> {
        let asked = match self.login.password {
            Some(password) => Some(Asked::serve(self.control, password)?),
            None => None,
        };
        let mut command = self.command(line);
        if let Some(asked) = &asked {
            asked.tell(&mut command);
        }
        let io = |error: std::io::Error| Failure::host(format!("cannot run ssh: {error}"));
        let mut child = command.spawn().map_err(io)?;
        if let Some(mut stdin) = child.stdin.take() {
            // Whoever ended already needs no input; how it ended tells more.
            drop(stdin.write_all(input.as_bytes()).await);
        }
        let ended = tokio::time::timeout(limit, child.wait_with_output()).await;
        let Ok(ended) = ended else {
            let what = format!("{title}: not done after {} s", limit.as_secs());
            return Err(Failure::host(what).at(self.target.name.to_string()));
        };
        self.judge(title, &ended.map_err(io)?)
    }

    fn command(&self, line: &str) -> tokio::process::Command {
        let mut command = tokio::process::Command::new("ssh");
        command
            .arg("-F")
            .arg(&self.config)
            .args(["-T", "-l", self.login.user]);
        // What is said first holds: nbctl's own key is not known there yet, and others may be.
        let options: &[&str] = if self.login.password.is_some() {
            &[
                "BatchMode=no",
                "NumberOfPasswordPrompts=1",
                "PreferredAuthentications=publickey,password,keyboard-interactive",
            ]
        } else {
            &["BatchMode=yes"]
        };
        for option in options
            .iter()
            .chain(&["IdentitiesOnly=no", "ControlPath=none"])
        {
            command.args(["-o", option]);
        }
        if let Some(key) = self.login.key {
            command.arg("-i").arg(key);
        }
        command.args(["--", &self.target.ssh.host, line]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.kill_on_drop(true);
        command
    }

    fn judge(&self, title: &str, ended: &std::process::Output) -> Result<Output, Failure> {
        let output = Output {
            code: ended.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&ended.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&ended.stderr).into_owned(),
        };
        let name = &self.target.name;
        if output.code == 255 {
            let why = output.last_lines();
            let why = why
                .last()
                .map_or("ssh ended without a word", String::as_str);
            return Err(Failure::host(format!("cannot log in as {}: {why}", self.login.user))
                .at(name.to_string())
                .hint("give its password with --ask-password, --password-file or --password-command, or a key with --login-key"));
        }
        output.check_sudo(name)?;
        output.success(name, title)
    }
}

fn words(how: &str, text: &str) -> Result<String, Failure> {
    let quoted = shlex::try_quote(text);
    let quoted =
        quoted.map_err(|error| Failure::step(format!("cannot quote a script: {error}")))?;
    Ok(format!("{how} {quoted}"))
}

/// Answers ssh's question for the password; the socket goes with it.
#[derive(Debug)]
struct Asked {
    socket: PathBuf,
    answering: tokio::task::JoinHandle<()>,
}

impl Asked {
    fn serve(control: &Path, password: &str) -> Result<Self, Failure> {
        let socket = control.join(format!("ask-{:016x}", random()));
        let listener = UnixListener::bind(&socket).map_err(|error| {
            Failure::usage(format!("cannot open a socket: {error}"))
                .at(socket.display().to_string())
        })?;
        let answer = password.as_bytes().to_vec();
        let answering = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                drop(stream.write_all(&answer).await);
            }
        });
        Ok(Self { socket, answering })
    }

    fn tell(&self, command: &mut tokio::process::Command) {
        let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("nbctl"));
        command
            .env("SSH_ASKPASS", own)
            .env("SSH_ASKPASS_REQUIRE", "force");
        command.env("DISPLAY", "nbctl").env(ASKPASS, &self.socket);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.answering.abort();
        drop(std::fs::remove_file(&self.socket));
    }
}

/// What this program does when ssh started it to ask for a password: prints what the socket says.
///
/// # Errors
/// Nobody serves the socket any more; standard output is closed.
pub fn answer(socket: &Path) -> std::io::Result<()> {
    let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
    let mut out = std::io::stdout().lock();
    std::io::copy(&mut stream, &mut out)?;
    std::io::Write::write_all(&mut out, b"\n")
}
