//! What SHOW HOSTS says of partitions.

use std::collections::BTreeMap;

use serde::Serialize;

/// A storaged in SHOW HOSTS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StorageHost {
    /// `address:port`.
    pub endpoint: String,
    /// Whether it is ONLINE.
    pub online: bool,
    /// Copies of partitions by space; spaces of which it has none are left out.
    pub partitions: BTreeMap<String, u64>,
}

/// A partition in SHOW PARTS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Copies {
    /// Its space.
    pub space: String,
    /// Its number, from 1.
    pub part: i64,
    /// Storageds that have a copy, `address:port`.
    pub peers: Vec<String>,
}

impl Copies {
    /// Reads the peers of a row, `10.0.0.1:9779, 10.0.0.2:9779`.
    pub fn new(space: &str, part: i64, peers: &str) -> Self {
        let peers = peers.split(',').map(|peer| peer.trim().to_owned());
        Self {
            space: space.to_owned(),
            part,
            peers: peers.filter(|peer| !peer.is_empty()).collect(),
        }
    }
}

/// Reads `nba:3, test:5`; `No valid partition` is none.
pub fn distribution(text: &str) -> BTreeMap<String, u64> {
    let part = |part: &str| {
        let (space, count) = part.trim().rsplit_once(':')?;
        Some((space.to_owned(), count.parse().ok().filter(|n| *n > 0)?))
    };
    text.split(',').filter_map(part).collect()
}

/// Spaces whose partitions lie unevenly on the storageds that are ONLINE: two of them differ by more than one.
pub fn uneven(hosts: &[StorageHost]) -> Vec<String> {
    let online: Vec<&StorageHost> = hosts.iter().filter(|host| host.online).collect();
    let mut spaces: Vec<&String> = hosts.iter().flat_map(|h| h.partitions.keys()).collect();
    spaces.sort();
    spaces.dedup();
    let is_uneven = |space: &&String| {
        let counts = online
            .iter()
            .map(|host| host.partitions.get(*space).copied().unwrap_or(0));
        let (most, least) = (counts.clone().max(), counts.min());
        most.unwrap_or(0) - least.unwrap_or(0) > 1
    };
    spaces.into_iter().filter(is_uneven).cloned().collect()
}
