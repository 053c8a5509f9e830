//! The metad process: answers requests, keeps the document on disk and on the other metads.

use std::{
    collections::HashMap,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{
    election::{self, PeerReply, PeerRequest},
    jobs,
    message::{Failure, OP_META, OP_PEER, Reply, Request},
    model::{HostPort, State},
    store::Store,
};
use crate::{
    clock,
    daemon::{faults, log::log},
    flags::Flags,
    line::Line,
    rpc::{self, Pool, Service},
    stats::Stats,
};

/// What decides about requests beside the document: the line, the flags, who we are.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) line: Line,
    pub(super) me: HostPort,
    pub(super) metas: Vec<HostPort>,
    pub(super) default_parts: u32,
    pub(super) default_replica: u32,
    pub(super) job_millis: u64,
    /// When each other metad answered last, milliseconds since the epoch.
    seen_metas: HashMap<HostPort, u64>,
    offline_millis: u64,
    forget_millis: u64,
}

impl Rules {
    fn new(line: Line, flags: &Flags, me: HostPort, metas: Vec<HostPort>) -> Self {
        let heartbeat = flags.count("heartbeat_interval_secs").max(1);
        let small = |name: &str| u32::try_from(flags.int(name)).unwrap_or(1);
        Self {
            line,
            me,
            metas,
            default_parts: small("default_parts_num"),
            default_replica: small("default_replica_factor"),
            job_millis: flags.count("sandbox_job_ms"),
            seen_metas: HashMap::new(),
            offline_millis: heartbeat * flags.count("expired_time_factor").max(1) * 1000,
            forget_millis: flags.count("removed_threshold_sec") * 1000,
        }
    }

    pub(super) fn is_online(&self, last_heartbeat: u64) -> bool {
        clock::millis().saturating_sub(last_heartbeat) < self.offline_millis
    }

    /// Before 3.3 metads are always shown as alive.
    pub(super) fn shows_metad_online(&self, host: &HostPort) -> bool {
        let seen = || self.seen_metas.get(host);
        !self.line.shows_metads_offline()
            || *host == self.me
            || seen().is_some_and(|last| self.is_online(*last))
    }

    pub(super) fn is_remembered(&self, last_heartbeat: u64) -> bool {
        clock::millis().saturating_sub(last_heartbeat) < self.forget_millis
    }
}

/// How much of a request must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// Soon on disk: losing the last second does no harm.
    Lazy,
    /// On disk, and with a majority of the metads, before it is answered.
    Durable,
}

#[derive(Debug)]
enum Standing {
    Leader,
    Follower(Option<HostPort>),
}

/// A metad.
#[derive(Debug)]
pub struct Metad {
    line: Line,
    flags: Arc<Flags>,
    stats: Arc<Stats>,
    me: HostPort,
    metas: Vec<HostPort>,
    store: Store,
    state: Mutex<State>,
    standing: Mutex<Standing>,
    seen_metas: Mutex<HashMap<HostPort, u64>>,
    unsaved: Mutex<bool>,
    pub(super) peers: Pool,
    pub(super) storages: Pool,
}

impl Metad {
    /// Loads what is under `data_path`.
    pub fn open(
        line: Line,
        flags: Arc<Flags>,
        stats: Arc<Stats>,
        me: HostPort,
    ) -> io::Result<Arc<Self>> {
        let store = Store::open(Path::new(&flags.text("data_path")))?;
        let document = store.load()?;
        Ok(Arc::new(Self {
            line,
            metas: HostPort::list(&flags.text("meta_server_addrs")),
            flags,
            stats,
            me,
            store,
            state: Mutex::new(document),
            standing: Mutex::new(Standing::Follower(None)),
            seen_metas: Mutex::default(),
            unsaved: Mutex::new(false),
            peers: Pool::new(Duration::from_secs(1)),
            storages: Pool::new(Duration::from_mins(10)),
        }))
    }

    /// Opens the raft port and waits until some metad leads and the cluster id is known.
    pub async fn elect(self: &Arc<Self>) -> io::Result<()> {
        let raft = rpc::listen(self.me.shifted(1).port)?;
        drop(tokio::spawn(rpc::serve(raft, Arc::clone(self))));
        election::round(self).await;
        drop(tokio::spawn(election::run(Arc::clone(self))));
        while !self.is_leader() && self.leader().is_none() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    /// Opens the RPC port and serves for ever.
    pub async fn serve(self: Arc<Self>) -> io::Result<()> {
        let listener = rpc::listen(self.me.port)?;
        drop(tokio::spawn(jobs::run(Arc::clone(&self))));
        drop(tokio::spawn(keep_house(Arc::clone(&self))));
        rpc::serve(listener, self).await;
        Ok(())
    }

    pub(super) fn rules(&self) -> Rules {
        let mut rules = Rules::new(self.line, &self.flags, self.me.clone(), self.metas.clone());
        rules.seen_metas.clone_from(&self.seen());
        rules
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<HostPort, u64>> {
        self.seen_metas
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Another metad answered.
    pub(super) fn saw(&self, peer: &HostPort) {
        self.seen().insert(peer.clone(), clock::millis());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.lock())
    }

    /// As `read`, where the reader needs the document as if to change it.
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.lock())
    }

    /// Changes the document durably.
    pub(super) async fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.commit().await;
        result
    }

    pub(super) fn is_leader(&self) -> bool {
        matches!(*self.standing(), Standing::Leader)
    }

    fn leader(&self) -> Option<HostPort> {
        match &*self.standing() {
            Standing::Leader => Some(self.me.clone()),
            Standing::Follower(leader) => leader.clone(),
        }
    }

    pub(super) fn follow(&self, leader: Option<HostPort>) {
        *self.standing() = Standing::Follower(leader);
    }

    pub(super) fn adopt(&self, state: State) {
        if let Ok(document) = serde_json::to_vec(&state) {
            self.save(&document);
        }
        *self.lock() = state;
    }

    pub(super) async fn take_the_lead(&self) {
        log!(Info, "{} is the leader now", self.me);
        *self.standing() = Standing::Leader;
        let rules = self.rules();
        self.change(|state| state.begin(&rules, &self.flags.text("meta_server_addrs")))
            .await;
    }

    fn save(&self, document: &[u8]) {
        if let Err(error) = self.store.save(document) {
            log!(Error, "Put failed: {error}");
        }
    }

    async fn commit(&self) -> bool {
        let state = {
            let mut state = self.lock();
            state.revision += 1;
            state.clone()
        };
        *self.unsaved.lock().unwrap_or_else(PoisonError::into_inner) = false;
        match serde_json::to_vec(&state) {
            Ok(document) => self.save(&document),
            Err(error) => log!(Error, "Put failed: {error}"),
        }
        election::replicate(self, &state).await
    }

    async fn answer(&self, request: Request) -> Reply {
        faults::count_down(&self.flags);
        faults::freeze_if_asked(&self.flags);
        if !self.is_leader() {
            return Reply::NotLeader(self.leader());
        }
        let rules = self.rules();
        let started = clock::micros();
        let beat = matches!(request, Request::Heartbeat(_));
        let (change, result) = self.lock().handle(request, &rules);
        match change {
            Change::Durable if result.is_ok() && !self.commit().await => {
                return Reply::Failed(Failure::new(-2021, "Store failure!"));
            }
            Change::Lazy => *self.unsaved.lock().unwrap_or_else(PoisonError::into_inner) = true,
            _ => {}
        }
        if beat {
            let spent = clock::micros() - started;
            self.stats
                .add_all(&[("num_heartbeats", 1), ("heartbeat_latency_us", spent)]);
        }
        result.unwrap_or_else(Reply::Failed)
    }

    fn peer(&self, request: PeerRequest) -> PeerReply {
        match request {
            PeerRequest::Hello => PeerReply::Hello {
                revision: self.read(|state| state.revision),
                leads: self.is_leader(),
            },
            PeerRequest::Fetch => PeerReply::State(Box::new(self.read(State::clone))),
            PeerRequest::Push(state) => {
                self.adopt(*state);
                PeerReply::Done
            }
        }
    }
}

impl Service for Metad {
    async fn call(&self, op: u8, body: &[u8], out: &mut Vec<u8>) -> u8 {
        let answer = match op {
            OP_META => match serde_json::from_slice(body) {
                Ok(request) => serde_json::to_vec(&self.answer(request).await),
                Err(error) => Err(error),
            },
            OP_PEER => serde_json::from_slice(body).and_then(|r| serde_json::to_vec(&self.peer(r))),
            _ => return rpc::FAILED,
        };
        match answer {
            Ok(bytes) => {
                out.extend_from_slice(&bytes);
                rpc::OK
            }
            Err(_) => rpc::FAILED,
        }
    }
}

/// Saves what may be saved late and forgets what is too old, every second; shows its own sign of life.
async fn keep_house(metad: Arc<Metad>) {
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if !metad.is_leader() {
            continue;
        }
        let rules = metad.rules();
        let changed = {
            let mut state = metad.lock();
            state.forget_hosts(&rules) | state.elect_part_leaders(&rules)
        };
        let unsaved = *metad.unsaved.lock().unwrap_or_else(PoisonError::into_inner);
        if changed || unsaved {
            metad.commit().await;
        }
    }
}
