//! What a host answered.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::conf;
use crate::failure::Failure;
use crate::inventory::{DaemonRole, Version};

/// Daemons on a host, and who asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Host {
    /// The login.
    pub user: String,
    /// In the order of their process ids.
    pub daemons: Vec<Found>,
}

/// A daemon that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What it is.
    pub role: DaemonRole,
    /// Process id.
    pub pid: u32,
    /// Its executable.
    pub exe: String,
    /// Its working directory, where `cluster.id` lies.
    pub cwd: String,
    /// The configuration file it was started with.
    pub conf: String,
    /// Account it runs under.
    pub user: String,
    /// What `--version` says: the build, seldom the release.
    pub build: String,
    /// The release, where `--version` or the host's database of packages tells it.
    pub release: Option<Version>,
    /// The lines of `conf`.
    pub flags: BTreeMap<String, String>,
}

/// Reads an answer.
///
/// # Errors
/// It was cut off, or a configuration file is none.
pub fn parse(text: &str) -> Result<Host, Failure> {
    let mut host = Host::default();
    let mut confs: Vec<String> = Vec::new();
    let mut whole = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix('|') {
            if let Some(conf) = confs.last_mut() {
                conf.push_str(rest);
                conf.push('\n');
            }
            continue;
        }
        let words: Vec<&str> = line.split('\t').collect();
        match words.as_slice() {
            ["user", user] => (*user).clone_into(&mut host.user),
            ["daemon", pid, exe, cwd, conf, user, said, packaged] => {
                if let Some(found) = daemon([pid, exe, cwd, conf, user, said, packaged]) {
                    host.daemons.push(found);
                    confs.push(String::new());
                }
            }
            ["end"] => whole = true,
            _ => {}
        }
    }
    if !whole {
        return Err(Failure::host("the answer was cut off"));
    }
    for (daemon, text) in host.daemons.iter_mut().zip(confs) {
        let read = conf::parse(&text);
        daemon.flags = read.map_err(|why| Failure::host(why).at(daemon.conf.clone()))?;
    }
    Ok(host)
}

/// `nebula-graphd version 3.8.0, Git: …`; most builds leave it out.
fn release(said: &str) -> Option<Version> {
    let (_, behind) = said.split_once("version ")?;
    let word = behind.split([' ', ',']).next()?;
    Version::parse(word).ok()
}

fn daemon([pid, exe, cwd, conf, user, said, packaged]: [&str; 7]) -> Option<Found> {
    let program = exe.rsplit('/').next()?;
    let role = DaemonRole::START_ORDER
        .into_iter()
        .find(|role| role.program() == program)?;
    Some(Found {
        role,
        pid: pid.parse().ok()?,
        exe: exe.to_owned(),
        cwd: cwd.to_owned(),
        conf: conf.to_owned(),
        user: user.to_owned(),
        build: said.trim().to_owned(),
        release: release(said).or_else(|| Version::parse(packaged.trim()).ok()),
        flags: BTreeMap::new(),
    })
}
