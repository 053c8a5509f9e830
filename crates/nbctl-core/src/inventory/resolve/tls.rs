//! Encryption of the graph service.

use super::super::at::At;
use super::super::cluster::{LocalFile, Tls};
use super::super::names::DaemonRole;
use super::super::problem::{Problem, Source};
use super::super::spec::{Reach, TlsScope, TlsSpec};
use super::Draft;
use crate::inventory::Layout;
use crate::units::RemotePath;

/// The files as paths of the control machine; whether they are there is found out by whoever reads them.
pub(super) fn resolve(
    draft: &Draft<'_>,
    source: &Source,
    problems: &mut Vec<Problem>,
) -> Option<Tls> {
    let spec = draft.spec.nebula.tls.as_ref()?;
    if let Some((version, _)) = draft.version.filter(|(version, _)| !version.since(2, 6)) {
        let what = format!("{version} does not encrypt");
        problems.push(Problem::error(Some(spec.place), what).hint("graphd does from 2.6 on"));
    }
    let verify = spec.verify.unwrap_or(true);
    let forwarded = |reach: Reach| reach == Reach::Ssh;
    if verify && draft.hosts.iter().any(|h| forwarded(h.host.ssh.reach)) {
        let what = "graphd is reached through forwards, whose name no certificate has";
        problems.push(
            Problem::error(Some(spec.place), what)
                .hint("say `verify: false`, or `ssh: {reach: direct}`"),
        );
    }
    let file = |path: &At<String>| LocalFile {
        path: source.local_path(path),
        seen: None,
    };
    Some(Tls {
        scope: spec.scope,
        verify,
        ca: file(&spec.ca),
        cert: file(&spec.cert),
        key: file(&spec.key),
    })
}

/// What a daemon is told.
pub(super) fn flags(
    spec: &TlsSpec,
    role: DaemonRole,
    root: &RemotePath,
) -> Vec<(&'static str, String)> {
    let all = spec.scope == TlsScope::All;
    if !all && role != DaemonRole::Graphd {
        return Vec::new();
    }
    let folder = Layout::new(root.clone()).tls();
    let file = |name: &str| folder.join(name).to_string();
    let switch = if all {
        "enable_ssl"
    } else {
        "enable_graph_ssl"
    };
    vec![
        (switch, "true".to_owned()),
        ("ca_path", file("ca.pem")),
        ("cert_path", file("cert.pem")),
        ("key_path", file("key.pem")),
    ]
}
