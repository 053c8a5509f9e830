//! How a host is reached: its own settings over those of the cluster.

use std::path::PathBuf;

use super::super::at::At;
use super::super::cluster::SshTarget;
use super::super::problem::{Problem, Source};
use super::super::spec::SshSpec;
use super::{keep, value};
use crate::duration::parse_duration;

/// Host settings in front of cluster settings.
pub(super) struct Both<'a> {
    pub host: &'a SshSpec,
    pub cluster: &'a SshSpec,
}

impl<'a> Both<'a> {
    fn get<T>(&self, field: impl Fn(&'a SshSpec) -> Option<T>) -> Option<T> {
        field(self.host).or_else(|| field(self.cluster))
    }

    fn file(
        &self,
        source: &Source,
        field: impl Fn(&'a SshSpec) -> Option<&'a At<String>>,
    ) -> Option<PathBuf> {
        self.get(field).map(|file| source.local_path(file))
    }

    pub(super) fn user_written(&self) -> bool {
        self.get(|s| s.user.as_ref()).is_some()
    }

    fn user(&self, problems: &mut Vec<Problem>) -> Option<String> {
        let user = self.get(|s| s.user.as_ref())?;
        keep(value::user(user), user.place, problems)
    }
}

/// The way to one host; `address` is used unless another name is given for ssh.
pub(super) fn target(
    both: &Both<'_>,
    address: &str,
    source: &Source,
    problems: &mut Vec<Problem>,
) -> SshTarget {
    let jump = both.get(|s| s.jump.as_ref()).map_or(&[][..], Vec::as_slice);
    SshTarget {
        host: connect_to(both, address, problems),
        user: both.user(problems),
        port: port(both, problems),
        identity_file: both.file(source, |s| s.identity_file.as_ref()),
        config_file: both.file(source, |s| s.config_file.as_ref()),
        known_hosts: both.get(|s| s.known_hosts).unwrap_or_default(),
        known_hosts_file: both.file(source, |s| s.known_hosts_file.as_ref()),
        jump: jump
            .iter()
            .filter_map(|j| keep(value::ssh_word(j), j.place, problems))
            .collect(),
        persist_minutes: both.get(|s| s.persist.as_ref()).map_or(0, |p| p.value),
        sudo: both.get(|s| s.sudo).unwrap_or(false),
        reach: both.get(|s| s.reach).unwrap_or_default(),
        connect_timeout_s: connect_timeout(both, problems),
    }
}

fn connect_to(both: &Both<'_>, address: &str, problems: &mut Vec<Problem>) -> String {
    let named = both.host.host.as_ref();
    let word = named.and_then(|h| keep(value::ssh_word(h), h.place, problems));
    word.unwrap_or_else(|| address.to_owned())
}

fn port(both: &Both<'_>, problems: &mut Vec<Problem>) -> Option<u16> {
    let port = both.get(|s| s.port.as_ref())?;
    keep(value::port(port.value), port.place, problems)
}

/// At least one second, because ssh takes whole seconds.
fn connect_timeout(both: &Both<'_>, problems: &mut Vec<Problem>) -> u64 {
    let written = both.get(|s| s.connect_timeout.as_ref());
    let time = written.and_then(|t| keep(parse_duration(t), t.place, problems));
    time.map_or(10, |t| t.as_secs().max(1))
}
