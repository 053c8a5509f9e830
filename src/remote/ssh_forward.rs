//! Local ends of sockets and ports of a host.
//!
//! Duties: one forward for each remote end, used again; socket files in the private folder under names never used
//! before, because a dead master leaves its file behind and refuses the same path; made anew after a reconnect.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nbctl_core::failure::Failure;
use openssh::{Error, ForwardType, Session, Socket};

use super::ssh::SshLink;
use super::ssh_error::words;

/// Another process may take the free port before ssh does.
const PORT_TRIES: u32 = 5;

/// What is forwarded on a connection.
#[derive(Debug, Default)]
pub(super) struct Forwards {
    unix: BTreeMap<String, PathBuf>,
    tcp: BTreeMap<String, SocketAddr>,
}

impl Forwards {
    /// Forgets all; their socket files go.
    pub(super) fn clear(&mut self) {
        for path in self.unix.values() {
            drop(std::fs::remove_file(path));
        }
        *self = Self::default();
    }
}

/// A local socket for the Unix socket `remote`.
pub(super) async fn unix(link: &SshLink, remote: &str) -> Result<PathBuf, Failure> {
    let session = live(link).await?;
    let mut forwards = link.forwards().lock().await;
    if let Some(path) = forwards.unix.get(remote) {
        return Ok(path.clone());
    }
    let path = fresh_path(link.control());
    let made = session.request_port_forward(ForwardType::Local, path.as_path(), Path::new(remote));
    made.await.map_err(|error| refused(link, remote, &error))?;
    forwards.unix.insert(remote.to_owned(), path.clone());
    Ok(path)
}

/// A local address for `endpoint`, `host:port` as seen from the host.
pub(super) async fn tcp(link: &SshLink, endpoint: &str) -> Result<SocketAddr, Failure> {
    let session = live(link).await?;
    let mut forwards = link.forwards().lock().await;
    if let Some(address) = forwards.tcp.get(endpoint) {
        return Ok(*address);
    }
    let (host, port) = split(endpoint)?;
    let mut tries = 1;
    let address = loop {
        match listen(&session, host, port).await {
            Ok(address) => break address,
            Err(error) if tries == PORT_TRIES => return Err(refused(link, endpoint, &error)),
            Err(_) => tries += 1,
        }
    };
    forwards.tcp.insert(endpoint.to_owned(), address);
    Ok(address)
}

/// A port of the host's loopback that reaches a port as seen from this machine.
#[derive(Debug)]
pub struct Reverse<'a> {
    address: SocketAddr,
    /// What carries it, and where it goes; a master that is kept would keep it too.
    over: Option<(&'a SshLink, String, u16)>,
}

impl<'a> Reverse<'a> {
    /// Host and control machine are one.
    pub(super) fn direct(address: SocketAddr) -> Self {
        Self {
            address,
            over: None,
        }
    }

    pub(super) async fn open(link: &'a SshLink, endpoint: &str) -> Result<Self, Failure> {
        let session = live(link).await?;
        let (host, port) = split(endpoint)?;
        let mut tries = 1;
        loop {
            // Only the host knows which of its ports are free; one that is free here is as good a guess as any.
            let address = free_port().map_err(|error| refused(link, endpoint, &error))?;
            let to = Socket::new(host, port);
            let made = session.request_port_forward(ForwardType::Remote, address, to);
            match made.await {
                Ok(()) => {
                    let over = Some((link, host.to_owned(), port));
                    return Ok(Self { address, over });
                }
                Err(error) if tries == PORT_TRIES => return Err(refused(link, endpoint, &error)),
                Err(_) => tries += 1,
            }
        }
    }

    /// As the host dials it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes it away; a connection that is lost has done that already.
    pub async fn close(self) {
        let Some((link, host, port)) = self.over else {
            return;
        };
        if let Ok(session) = link.session().await {
            let to = Socket::new(&host, port);
            let ended = session.close_port_forward(ForwardType::Remote, self.address, to);
            if let Err(error) = ended.await {
                tracing::debug!(
                    "a forward stays until its connection ends: {}",
                    words(&error)
                );
            }
        }
    }
}

async fn listen(session: &Session, host: &str, port: u16) -> Result<SocketAddr, Error> {
    let address = free_port()?;
    let made = session.request_port_forward(ForwardType::Local, address, Socket::new(host, port));
    made.await.map(|()| address)
}

fn free_port() -> Result<SocketAddr, Error> {
    let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::ChildIo)?;
    probe.local_addr().map_err(Error::ChildIo)
}

/// A session that answers now; a dead one would take the request down with it.
async fn live(link: &SshLink) -> Result<Arc<Session>, Failure> {
    link.alive().await;
    link.session().await
}

fn split(endpoint: &str) -> Result<(&str, u16), Failure> {
    let parts = endpoint.rsplit_once(':');
    let parts = parts.and_then(|(host, port)| Some((host, port.parse().ok()?)));
    parts.ok_or_else(|| Failure::inventory(format!("`{endpoint}` is not host:port")))
}

/// A socket's path that was never used before.
pub(super) fn fresh_path(control: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let serial = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = control.join(format!("f{}-{serial}", std::process::id()));
    // A file of an earlier process with our number.
    drop(std::fs::remove_file(&path));
    path
}

fn refused(link: &SshLink, end: &str, error: &Error) -> Failure {
    Failure::host(format!("cannot forward {end}: {}", words(error)))
        .at(link.target().name.to_string())
        .hint("allow it in sshd_config of the host: AllowTcpForwarding yes, AllowStreamLocalForwarding yes")
}
