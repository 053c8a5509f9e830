//! Who leads among several metads, and handing changes to the others.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    message::OP_PEER,
    model::{HostPort, State},
    service::Metad,
};
use crate::daemon::log::log;

/// Between metads, on the raft port.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum PeerRequest {
    Hello,
    /// The whole document.
    Fetch,
    Push(Box<State>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum PeerReply {
    Hello { revision: u64, leads: bool },
    State(Box<State>),
    Done,
}

/// What a living peer said.
struct Peer {
    address: HostPort,
    revision: u64,
    leads: bool,
}

/// Watches the peers for ever and decides who leads.
pub(super) async fn run(metad: Arc<Metad>) {
    loop {
        round(&metad).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// One look at all peers.
pub(super) async fn round(metad: &Metad) {
    let rules = metad.rules();
    let Some(my_place) = rules.metas.iter().position(|host| *host == rules.me) else {
        log!(Error, "{} is not in meta_server_addrs", rules.me);
        return;
    };
    let mut peers = Vec::new();
    for address in rules.metas.iter().filter(|host| **host != rules.me) {
        if let Some(peer) = hello(metad, address).await {
            metad.saw(address);
            peers.push(peer);
        }
    }
    if (peers.len() + 1) * 2 <= rules.metas.len() {
        log!(Info, "Leader has not been elected, sleep 1s");
        metad.follow(None);
        return;
    }
    let place = |address: &HostPort| rules.metas.iter().position(|host| host == address);
    let leading = peers
        .iter()
        .filter(|peer| peer.leads)
        .map(|peer| &peer.address);
    let lowest = leading.min_by_key(|address| place(address));
    let leads_now = metad.is_leader();
    match lowest {
        Some(other) if !leads_now || place(other) < Some(my_place) => {
            metad.follow(Some(other.clone()));
        }
        _ if leads_now => {}
        _ if peers
            .iter()
            .any(|peer| place(&peer.address) < Some(my_place)) =>
        {
            metad.follow(None);
        }
        _ => lead(metad, &peers).await,
    }
}

async fn hello(metad: &Metad, address: &HostPort) -> Option<Peer> {
    match ask(metad, address, &PeerRequest::Hello).await? {
        PeerReply::Hello { revision, leads } => Some(Peer {
            address: address.clone(),
            revision,
            leads,
        }),
        _ => None,
    }
}

async fn ask(metad: &Metad, address: &HostPort, request: &PeerRequest) -> Option<PeerReply> {
    let body = serde_json::to_vec(request).ok()?;
    let client = metad.peers.get(&address.shifted(1).to_string());
    let answer = client.call(OP_PEER, &body).await.ok()?;
    serde_json::from_slice(&answer).ok()
}

/// Takes the newest document among the living and leads.
async fn lead(metad: &Metad, peers: &[Peer]) {
    let mine = metad.read(|state| state.revision);
    let newest = peers
        .iter()
        .filter(|peer| peer.revision > mine)
        .max_by_key(|peer| peer.revision);
    if let Some(peer) = newest {
        match ask(metad, &peer.address, &PeerRequest::Fetch).await {
            Some(PeerReply::State(state)) => metad.adopt(*state),
            _ => return,
        }
    }
    metad.take_the_lead().await;
}

/// Hands the document to the others; true when a majority (with us) has it.
pub(super) async fn replicate(metad: &Metad, state: &State) -> bool {
    let rules = metad.rules();
    let mut have = 1;
    for address in rules.metas.iter().filter(|host| **host != rules.me) {
        let push = PeerRequest::Push(Box::new(state.clone()));
        if matches!(ask(metad, address, &push).await, Some(PeerReply::Done)) {
            have += 1;
        }
    }
    have * 2 > rules.metas.len()
}
