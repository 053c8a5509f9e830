//! Listening sockets, from the rows of `ss -lntp` or the kernel's hexadecimal table.

use serde::Serialize;

/// A listening TCP port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listener {
    /// Port.
    pub port: u16,
    /// Address as shown, `*` for all; empty when not told.
    pub address: String,
    /// First process that holds it, where the account may see that.
    pub owner: Option<Owner>,
}

/// A process that holds a socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Owner {
    /// Name (at most 15 characters).
    pub name: String,
    /// Process id.
    pub pid: u32,
}

/// A row of `ss -lntp` without its heading:
/// `LISTEN 0 128 *:22 *:* users:(("sshd",pid=957,fd=3))`; iproute 3.10 writes `("sshd",957,3)`.
pub(super) fn ss_row(row: &str) -> Option<Listener> {
    let mut words = row.split_whitespace();
    let local = words.nth(3)?;
    let (address, port) = local.rsplit_once(':')?;
    let owner = row.split_once("((").and_then(|(_, users)| owner(users));
    Some(Listener {
        port: port.parse().ok()?,
        address: address.to_owned(),
        owner,
    })
}

fn owner(users: &str) -> Option<Owner> {
    let (name, rest) = users.strip_prefix('"')?.split_once('"')?;
    let pid = rest.trim_start_matches(',').split([',', ')']).next()?;
    let pid = pid.trim_start_matches("pid=").parse().ok()?;
    Some(Owner {
        name: name.to_owned(),
        pid,
    })
}

/// `00000000:1F90` of `/proc/net/tcp`.
pub(super) fn hex_row(local: &str) -> Option<Listener> {
    let (_, port) = local.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    Some(Listener {
        port,
        address: String::new(),
        owner: None,
    })
}
