//! The storaged process: registration, opening of spaces, and answering requests.

use std::{
    collections::{BTreeSet, HashMap},
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{apply, journal::Journal, request, space::SpaceGraph};
use crate::{
    clock,
    daemon::{faults, log::log},
    flags::Flags,
    line::{Line, Role, SANDBOX_GIT_SHA},
    meta::{
        MetaClient,
        message::{Failure, Heartbeat, Reply, Request},
        model::{Catalog, HostPort, VidType},
        sync_configs,
    },
    rpc::{self, Service},
    stats::Stats,
};

/// Windows of a second for the "raft buffer is full" knob.
#[derive(Debug, Default)]
struct WriteRate {
    second: u64,
    rows: u64,
}

#[derive(Debug)]
struct OpenSpace {
    graph: SpaceGraph,
    journal: Journal,
    parts: usize,
    rate: WriteRate,
}

/// A storaged.
#[derive(Debug)]
pub struct Storaged {
    line: Line,
    flags: Arc<Flags>,
    stats: Arc<Stats>,
    me: HostPort,
    metas: MetaClient,
    data_paths: Vec<PathBuf>,
    spaces: Mutex<HashMap<u32, OpenSpace>>,
    catalog_version: Mutex<u64>,
}

impl Storaged {
    pub fn new(line: Line, flags: Arc<Flags>, stats: Arc<Stats>, me: HostPort) -> Arc<Self> {
        let paths = flags.text("data_path");
        Arc::new(Self {
            line,
            metas: MetaClient::new(&flags.text("meta_server_addrs")),
            data_paths: paths
                .split(',')
                .map(|path| PathBuf::from(path.trim()))
                .collect(),
            flags,
            stats,
            me,
            spaces: Mutex::default(),
            catalog_version: Mutex::default(),
        })
    }

    /// Sends heartbeats until one is accepted and the spaces of this host are open. Ends with an error only where
    /// the line gives up.
    pub async fn register(self: &Arc<Self>) -> Result<(), Failure> {
        let mut tries = 0;
        loop {
            match self.beat().await {
                Ok(()) => return Ok(()),
                Err(failure) => log!(Error, "Heartbeat failed, status:{failure}"),
            }
            tries += 1;
            if self.line.gives_up_fast() && tries >= 3 {
                return Err(Failure::new(
                    -3,
                    "Failed to wait for meta service ready synchronously.",
                ));
            }
            let pause = if self.line.gives_up_fast() {
                1
            } else {
                self.interval()
            };
            tokio::time::sleep(Duration::from_secs(pause)).await;
        }
    }

    fn interval(&self) -> u64 {
        self.flags.count("heartbeat_interval_secs").max(1)
    }

    /// Opens the RPC ports and serves for ever.
    pub fn serve(self: &Arc<Self>) -> io::Result<()> {
        for by in [-1, 1] {
            let listener = rpc::listen(self.me.shifted(by).port)?;
            drop(tokio::spawn(rpc::serve(listener, Arc::clone(self))));
        }
        if !self.line.is_3x() {
            let listener = rpc::listen(self.me.shifted(-2).port)?;
            drop(tokio::spawn(rpc::serve(listener, Arc::clone(self))));
        }
        let listener = rpc::listen(self.me.port)?;
        drop(tokio::spawn(rpc::serve(listener, Arc::clone(self))));
        Ok(())
    }

    /// Heartbeats for ever.
    pub async fn keep_beating(self: Arc<Self>) {
        loop {
            tokio::time::sleep(Duration::from_secs(self.interval())).await;
            if let Err(failure) = self.beat().await {
                log!(Error, "Heartbeat failed, status:{failure}");
            }
        }
    }

    async fn beat(&self) -> Result<(), Failure> {
        let path = PathBuf::from(self.flags.text("cluster_id_path"));
        let known = read_cluster_id(&path);
        let beat = Heartbeat {
            role: Role::Storaged,
            host: self.me.clone(),
            http_port: self.flags.port("ws_http_port"),
            cluster_id: known,
            sha: SANDBOX_GIT_SHA.to_owned(),
            version: self.line.version().to_owned(),
        };
        let Reply::Heartbeat {
            cluster_id,
            catalog,
        } = self.metas.ask(&Request::Heartbeat(beat)).await?
        else {
            return Err(Failure::new(-8000, "Unknown error!"));
        };
        if known == 0 {
            fs::write(&path, cluster_id.to_le_bytes())
                .map_err(|e| Failure::new(-8000, e.to_string()))?;
        }
        let mine = *self
            .catalog_version
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if catalog != mine {
            self.load_catalog(mine).await?;
        }
        sync_configs(&self.metas, &self.flags, Role::Storaged.column()).await;
        Ok(())
    }

    async fn load_catalog(&self, mine: u64) -> Result<(), Failure> {
        let Reply::Catalog(Some(catalog)) = self.metas.ask(&Request::Catalog(mine)).await? else {
            return Ok(());
        };
        self.follow_catalog(&catalog, mine == 0)
            .map_err(|error| Failure::new(-3031, format!("cannot open spaces: {error}")))?;
        *self
            .catalog_version
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = catalog.version;
        Ok(())
    }

    /// Opens spaces that are new here, closes those that are gone.
    fn follow_catalog(&self, catalog: &Catalog, at_start: bool) -> io::Result<()> {
        let mine = |space: &&crate::meta::model::Space| {
            space.parts.iter().any(|part| part.home == self.me)
        };
        let mut wanted = BTreeSet::new();
        for space in catalog.spaces.values().filter(mine) {
            wanted.insert(space.id);
            if !self.lock().contains_key(&space.id) {
                let opened = self.open(space.id, space.vid, space.parts.len())?;
                self.lock().insert(space.id, opened);
            }
        }
        self.lock().retain(|id, _| wanted.contains(id));
        let every: BTreeSet<u32> = catalog.spaces.values().map(|space| space.id).collect();
        if self.flags.on("auto_remove_invalid_space") {
            self.remove_unknown(&every, at_start);
        }
        Ok(())
    }

    fn open(&self, id: u32, vid: VidType, parts: usize) -> io::Result<OpenSpace> {
        let started = clock::millis();
        let mut graph = SpaceGraph::new(vid);
        let home = &self.data_paths[id as usize % self.data_paths.len()];
        let journal = Journal::open(home, id, |op, body| apply::write(&mut graph, op, body))?;
        for path in &self.data_paths {
            for part in 1..=parts {
                fs::create_dir_all(Journal::folder(path, id).join("wal").join(part.to_string()))?;
            }
        }
        let bytes = journal.bytes();
        log!(
            Info,
            "Space {id} is open, {bytes} bytes read in {} ms",
            clock::millis() - started
        );
        Ok(OpenSpace {
            graph,
            journal,
            parts,
            rate: WriteRate::default(),
        })
    }

    /// Deletes the folders of spaces that metad does not know.
    fn remove_unknown(&self, known: &BTreeSet<u32>, at_start: bool) {
        for path in &self.data_paths {
            let Ok(entries) = fs::read_dir(path.join("nebula")) else {
                continue;
            };
            for entry in entries.flatten() {
                let id = entry.file_name().to_string_lossy().parse::<u32>().ok();
                if id.is_some_and(|id| id != 0 && !known.contains(&id)) {
                    log!(
                        Warning,
                        "Remove invalid space {} (at start: {at_start})",
                        entry.path().display()
                    );
                    fs::remove_dir_all(entry.path()).ok();
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u32, OpenSpace>> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spaces that are open, by id, with the bytes of their logs.
    pub fn open_spaces(&self) -> Vec<(u32, u64)> {
        self.lock()
            .iter()
            .map(|(id, space)| (*id, space.journal.bytes()))
            .collect()
    }

    fn answer(&self, op: u8, body: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        faults::count_down(&self.flags);
        faults::freeze_if_asked(&self.flags);
        if faults::happens(self.flags.float("sandbox_leader_change_rate")) {
            return Err(Failure::new(-4, "E_LEADER_CHANGED"));
        }
        let started = clock::micros();
        let (id, rest) = body.split_first_chunk::<4>().ok_or_else(malformed)?;
        let id = u32::from_le_bytes(*id);
        let mut spaces = self.lock();
        let space = spaces
            .get_mut(&id)
            .ok_or_else(|| Failure::new(-5, "E_SPACE_NOT_FOUND"))?;
        let rows = match op {
            request::OP_PUT_TAGS..=request::OP_REMOVE_EDGES => self.write(space, op, rest)?,
            request::OP_COUNT => {
                let counts = serde_json::to_vec(&space.graph.counts());
                out.extend(counts.unwrap_or_default());
                0
            }
            request::OP_FLUSH | request::OP_COMPACT => {
                space
                    .journal
                    .sync()
                    .map_err(|_| Failure::new(-3033, "E_INVALID_STORE"))?;
                0
            }
            _ => {
                let limit = self.flags.count("max_edge_returned_per_vertex");
                let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                apply::read(&space.graph, op, rest, limit, out).map_err(|_| malformed())?;
                0
            }
        };
        drop(spaces);
        self.count(op, rows, clock::micros() - started);
        Ok(())
    }

    fn write(&self, space: &mut OpenSpace, op: u8, body: &[u8]) -> Result<usize, Failure> {
        self.check_rate(space, body)?;
        // Apply first: a malformed body must not reach the log.
        let rows = apply::write(&mut space.graph, op, body).map_err(|_| malformed())?;
        let logged = space.journal.append(op, body);
        logged.map_err(|_| Failure::new(-3521, "E_RAFT_WAL_FAIL"))?;
        Ok(rows)
    }

    fn check_rate(&self, space: &mut OpenSpace, body: &[u8]) -> Result<(), Failure> {
        let limit = self.flags.count("sandbox_raft_rate");
        if limit == 0 {
            return Ok(());
        }
        let now = clock::seconds();
        if space.rate.second != now {
            space.rate = WriteRate {
                second: now,
                rows: 0,
            };
        }
        space.rate.rows += 1 + body.len() as u64 / 64;
        if space.rate.rows > limit * space.parts as u64 {
            let (code, name) = match self.line {
                Line::V2_0_1 => (-16, "E_CONSENSUS_ERROR"),
                Line::V2_6_2 => (-3001, "E_CONSENSUS_ERROR"),
                Line::V3_8_0 => (-3529, "E_RAFT_BUFFER_OVERFLOW"),
            };
            log!(
                Warning,
                "The appendLog buffer is full. Please slow down the log appending rate."
            );
            return Err(Failure::new(code, name));
        }
        Ok(())
    }

    fn count(&self, op: u8, rows: usize, spent: i64) {
        let rows = i64::try_from(rows).unwrap_or(0);
        let names = match op {
            request::OP_PUT_TAGS => (
                "num_add_vertices",
                "add_vertices_latency_us",
                "num_vertices_inserted",
            ),
            request::OP_PUT_EDGES => (
                "num_add_edges",
                "add_edges_latency_us",
                "num_edges_inserted",
            ),
            request::OP_REMOVE_TAGS => ("num_delete_vertices", "delete_vertices_latency_us", ""),
            request::OP_REMOVE_EDGES => ("num_delete_edges", "delete_edges_latency_us", ""),
            request::OP_NEIGHBORS => ("num_get_neighbors", "get_neighbors_latency_us", ""),
            request::OP_TAGS | request::OP_EDGES => ("num_get_prop", "get_prop_latency_us", ""),
            request::OP_SCAN_TAGS => ("num_scan_vertex", "scan_vertex_latency_us", ""),
            request::OP_SCAN_EDGES => ("num_scan_edge", "scan_edge_latency_us", ""),
            _ => return,
        };
        self.stats
            .add_all(&[(names.0, 1), (names.1, spent), (names.2, rows)]);
    }

    /// Handles `GET /admin?space=S&op=compact|flush` by space id or name; the body of the answer.
    pub fn admin(&self, op: &str) -> String {
        match op {
            "compact" | "flush" => {
                let failed = self
                    .lock()
                    .values()
                    .any(|space| space.journal.sync().is_err());
                if failed {
                    "Compact failed! error=-1".to_owned()
                } else {
                    "ok".to_owned()
                }
            }
            other => format!("Unknown operation: {other}"),
        }
    }

    /// Syncs everything: the flush before a stop.
    pub fn flush(&self) {
        for space in self.lock().values() {
            space.journal.sync().ok();
        }
    }
}

fn malformed() -> Failure {
    Failure::new(-3044, "E_INVALID_DATA")
}

/// 0 when there is no readable file.
fn read_cluster_id(path: &Path) -> i64 {
    let bytes = fs::read(path).unwrap_or_default();
    bytes
        .first_chunk::<8>()
        .map_or(0, |id| i64::from_le_bytes(*id))
}

impl Service for Storaged {
    async fn call(&self, op: u8, body: &[u8], out: &mut Vec<u8>) -> u8 {
        match self.answer(op, body, out) {
            Ok(()) => rpc::OK,
            Err(failure) => {
                if op == request::OP_NEIGHBORS {
                    self.stats.add("num_get_neighbors_errors", 1);
                }
                out.extend_from_slice(&failure.code.to_le_bytes());
                out.extend_from_slice(failure.text.as_bytes());
                rpc::FAILED
            }
        }
    }
}
