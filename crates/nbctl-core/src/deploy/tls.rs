//! Certificates and keys on the hosts.
//!
//! Duty: plans hold digests and local paths, never what a key says.

use std::collections::BTreeSet;

use crate::facts::HostFacts;
use crate::inventory::{Cluster, Daemon, Layout};
use crate::plan::{Action, Step, Upload};
use crate::units::{HostName, RemotePath};

/// The files of a daemon's folder; none when it does not encrypt.
fn uploads(cluster: &Cluster, daemon: &Daemon) -> Vec<Upload> {
    let tls = cluster.tls.as_ref().filter(|tls| tls.is_for(daemon.role));
    let folder = Layout::new(daemon.root.clone()).tls();
    let files = tls.into_iter().flat_map(crate::inventory::Tls::files);
    let upload = |(name, file, mode): (&str, &crate::inventory::LocalFile, u32)| {
        let (bytes, sha256) = file.seen?;
        Some(Upload {
            source: file.path.display().to_string(),
            bytes,
            sha256,
            path: folder.join(name),
            mode,
        })
    };
    files.filter_map(upload).collect()
}

/// What is to be looked at on a host.
pub(super) fn paths(cluster: &Cluster, host: &HostName) -> BTreeSet<RemotePath> {
    let all = cluster.daemons_on(host).flat_map(|d| uploads(cluster, d));
    all.map(|upload| upload.path).collect()
}

/// Whether a daemon finds the files that the inventory names.
pub(super) fn is_so(cluster: &Cluster, daemon: &Daemon, facts: &HostFacts) -> bool {
    let all = uploads(cluster, daemon);
    all.iter()
        .all(|upload| facts.sha256(&upload.path) == Some(upload.sha256))
}

/// Sends what is missing or differs.
pub(super) fn steps(cluster: &Cluster, host: &HostName, facts: &HostFacts) -> Vec<Step> {
    let mut seen = BTreeSet::new();
    let all = cluster.daemons_on(host).flat_map(|d| uploads(cluster, d));
    let missing = all.filter(|upload| facts.sha256(&upload.path) != Some(upload.sha256));
    let fresh = missing.filter(|upload| seen.insert(upload.path.clone()));
    fresh
        .map(|upload| {
            Step::on(
                host,
                format!("write {}", upload.path),
                Action::Upload(upload),
            )
        })
        .collect()
}
