//! How graphd and storaged talk to the metads: finds the leader, follows redirects.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use super::{
    message::{Failure, OP_META, Reply, Request},
    model::HostPort,
};
use crate::rpc::Pool;

/// Client of the metad group.
#[derive(Debug)]
pub struct MetaClient {
    metas: Vec<HostPort>,
    pool: Pool,
    /// Index of the metad that answered last.
    current: AtomicUsize,
}

impl MetaClient {
    /// A client for a `meta_server_addrs` list.
    pub fn new(addresses: &str) -> Self {
        Self {
            metas: HostPort::list(addresses),
            pool: Pool::new(Duration::from_mins(1)),
            current: AtomicUsize::new(0),
        }
    }

    /// Asks the leader. `Err` = metad refused, or none could be reached (code −3).
    pub async fn ask(&self, request: &Request) -> Result<Reply, Failure> {
        let body = serde_json::to_vec(request).map_err(|e| Failure::new(-8000, e.to_string()))?;
        let mut last = Failure::new(-3, "RPC failure in MetaClient: no metad given");
        for _ in 0..=self.metas.len() {
            let current = self.current.load(Ordering::Relaxed) % self.metas.len().max(1);
            let Some(address) = self.metas.get(current) else {
                break;
            };
            let reply = self
                .pool
                .get(&address.to_string())
                .call(OP_META, &body)
                .await;
            match reply.map(|bytes| serde_json::from_slice(&bytes)) {
                Ok(Ok(Reply::Failed(failure))) => return Err(failure),
                Ok(Ok(Reply::NotLeader(leader))) => {
                    last = Failure::new(-4, "Leader changed!");
                    self.turn_to(current, leader.as_ref());
                }
                Ok(Ok(reply)) => return Ok(reply),
                Ok(Err(error)) => return Err(Failure::new(-8000, error.to_string())),
                Err(error) => {
                    last = Failure::new(-3, format!("RPC failure in MetaClient: {error}"));
                    self.turn_to(current, None);
                }
            }
        }
        Err(last)
    }

    fn turn_to(&self, current: usize, leader: Option<&HostPort>) {
        let place = leader.and_then(|leader| self.metas.iter().position(|host| host == leader));
        self.current
            .store(place.unwrap_or(current + 1), Ordering::Relaxed);
    }
}
