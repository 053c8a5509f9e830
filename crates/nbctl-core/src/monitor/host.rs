//! What is known about a host before the stack is planned.
//!
//! Duty: one small script a host, and its answer; what the engine says is added by whoever speaks to it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::failure::Failure;
use crate::units::{RemotePath, Sha256};

/// State of one host.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HostState {
    /// Of the login user.
    pub uid: u32,
    /// Name of the login user.
    pub user: String,
    /// `/` is a shared or slave mount, so that `rslave` is accepted.
    pub root_shared: bool,
    /// The engine's socket.
    pub docker: DockerAccess,
    /// Whose the folder is.
    pub standing: Standing,
    /// Digests of the files of ours that are there, by path below the folder.
    pub files: BTreeMap<String, Sha256>,
    /// What the engine has; `None` when it could not be asked.
    pub engine: Option<EngineState>,
}

/// Whether the login user can speak to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DockerAccess {
    /// No such socket.
    #[default]
    None,
    /// May read and write it.
    Ok,
    /// May not; owner and mode of the socket.
    Denied(String),
    /// May not, but may run `docker` under sudo, and the inventory allows that.
    Sudo,
    /// May neither; why sudo refuses.
    NoSudo(String),
}

/// Whose the folder of the stack is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Not there or empty.
    #[default]
    Free,
    /// Marked by this cluster id.
    Marked(String),
    /// Something nobody marked, a file, or a link.
    Taken(String),
}

/// What an engine has that concerns us.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct EngineState {
    /// `20.10.24`.
    pub version: String,
    /// Containers of this cluster, by name.
    pub containers: BTreeMap<String, Found>,
    /// Images by every tag and digest reference, to their ids.
    pub images: BTreeMap<String, String>,
    /// Volumes of this cluster.
    pub volumes: BTreeSet<String>,
}

/// A container of this cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Found {
    /// From its label.
    pub component: String,
    /// From its label: digest of the specification it was made from.
    pub spec: String,
    /// It runs and does not keep restarting.
    pub running: bool,
    /// As the engine words it: `Up 3 minutes`.
    pub status: String,
    /// Reference it was made from.
    pub image: String,
}

/// The script for `sh -s`; with `sudo` it looks whether the engine can be reached under sudo.
///
/// # Errors
/// A path that cannot be quoted.
pub fn script<'a>(
    dir: &RemotePath,
    socket: &RemotePath,
    sudo: bool,
    files: impl IntoIterator<Item = &'a RemotePath>,
) -> Result<String, Failure> {
    let names: String = files
        .into_iter()
        .filter_map(|path| Some(format!("{}\n", below(dir, path)?)))
        .collect();
    let quote = |text: &str| {
        let quoted = shlex::try_quote(text).map(std::borrow::Cow::into_owned);
        quoted.map_err(|error| Failure::inventory(format!("cannot quote {text}: {error}")))
    };
    Ok(format!(
        "dir={}\nsocket={}\nsudo={}\nfiles={}\n{}",
        quote(dir.as_str())?,
        quote(socket.as_str())?,
        if sudo { "yes" } else { "no" },
        quote(&names)?,
        include_str!("host.sh")
    ))
}

/// `path` relative to `dir`.
pub(super) fn below<'a>(dir: &RemotePath, path: &'a RemotePath) -> Option<&'a str> {
    path.as_str().strip_prefix(dir.as_str())?.strip_prefix('/')
}

impl HostState {
    /// Reads the script's answer; lines before its head (greetings of a login shell) are skipped.
    ///
    /// # Errors
    /// When it is none, or was cut off.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            Failure::host(format!("unexpected answer to the look at the host: {what}"))
        };
        let mut lines = text
            .lines()
            .skip_while(|line| *line != "nbctl-monitor\t1")
            .skip(1);
        let mut state = Self::default();
        loop {
            match lines.next() {
                None => return Err(wrong("it was cut off")),
                Some("end") => return Ok(state),
                Some(line) => state.read(line),
            }
        }
    }

    fn read(&mut self, line: &str) {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        match (next(), next(), next()) {
            ("uid", uid, _) => self.uid = uid.parse().unwrap_or(0),
            ("user", name, _) => name.clone_into(&mut self.user),
            ("root", kind, _) => self.root_shared = kind == "shared",
            ("docker", "ok", _) => self.docker = DockerAccess::Ok,
            ("docker", "denied", owner) => self.docker = DockerAccess::Denied(owner.to_owned()),
            ("docker", "sudo", _) => self.docker = DockerAccess::Sudo,
            ("docker", "nosudo", why) => self.docker = DockerAccess::NoSudo(why.to_owned()),
            ("dir", "marked", id) => self.standing = Standing::Marked(id.to_owned()),
            ("dir", "used", _) => {
                self.standing = Standing::Taken("has files that nbctl did not put there".into());
            }
            ("dir", "link", _) => self.standing = Standing::Taken("is a link".into()),
            ("dir", "file", _) => self.standing = Standing::Taken("is not a folder".into()),
            ("file", path, digest) => {
                if let Ok(digest) = Sha256::parse(digest) {
                    self.files.insert(path.to_owned(), digest);
                }
            }
            _ => {}
        }
    }

    /// The engine can be spoken to.
    ///
    /// # Errors
    /// Why not, and what helps.
    pub fn check_docker(&self, host: &str, socket: &RemotePath) -> Result<(), Failure> {
        let failure = |what: String| Failure::host(what).at(host.to_owned());
        match &self.docker {
            DockerAccess::Ok | DockerAccess::Sudo => Ok(()),
            DockerAccess::NoSudo(why) => Err(failure(format!(
                "user {} may neither open the Docker socket {socket} nor run docker under sudo: {why}",
                self.user
            ))
            .hint(format!(
                "in /etc/sudoers.d: {} ALL=(root) NOPASSWD: /usr/bin/docker",
                self.user
            ))),
            DockerAccess::None => Err(failure(format!("no Docker engine: {socket} is not there"))
                .hint("install Docker and start it: systemctl start docker")),
            DockerAccess::Denied(owner) => Err(failure(format!(
                "user {} may not open the Docker socket {socket} ({owner})",
                self.user
            ))
            .hint(format!(
                "usermod -aG docker {} on the host (a new login picks it up), or set `monitor.docker.sudo: true`",
                self.user
            ))),
        }
    }
}
