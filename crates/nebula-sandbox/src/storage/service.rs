//! The storaged process: registration and answering requests.

use std::{
    collections::HashMap,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{apply, journal::Journal, moving::Places, request, space::SpaceGraph};
use crate::{
    clock,
    daemon::{faults, log::log},
    flags::Flags,
    line::Line,
    meta::{MetaClient, message::Failure, model::HostPort},
    rpc::{self, Service},
    stats::Stats,
};

/// Windows of a second for the "raft buffer is full" knob.
#[derive(Debug, Default)]
pub(super) struct WriteRate {
    second: u64,
    rows: u64,
}

#[derive(Debug)]
pub(super) struct OpenSpace {
    pub(super) graph: SpaceGraph,
    pub(super) journal: Journal,
    pub(super) parts: usize,
    pub(super) places: Places,
    pub(super) rate: WriteRate,
}

/// A storaged.
#[derive(Debug)]
pub struct Storaged {
    pub(super) line: Line,
    pub(super) flags: Arc<Flags>,
    stats: Arc<Stats>,
    pub(super) me: HostPort,
    pub(super) metas: MetaClient,
    pub(super) data_paths: Vec<PathBuf>,
    spaces: Mutex<HashMap<u32, OpenSpace>>,
    pub(super) catalog_version: Mutex<u64>,
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

    pub(super) fn interval(&self) -> u64 {
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

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<u32, OpenSpace>> {
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
        if faults::any(&self.flags) {
            self.suffer()?;
        }
        let started = clock::micros();
        let (id, rest) = body.split_first_chunk::<4>().ok_or_else(malformed)?;
        let id = u32::from_le_bytes(*id);
        if op == request::OP_IMPORT {
            return self.take_in(id, rest);
        }
        let mut spaces = self.lock();
        let space = spaces
            .get_mut(&id)
            .ok_or_else(|| Failure::new(-5, "E_SPACE_NOT_FOUND"))?;
        space.refuse_moved(op, rest)?;
        let rows = match op {
            request::OP_SEAL | request::OP_EXPORT | request::OP_PURGE => {
                space.hand_out(op, rest, out)?;
                0
            }
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

    fn suffer(&self) -> Result<(), Failure> {
        faults::count_down(&self.flags);
        faults::freeze_if_asked(&self.flags);
        if faults::happens(self.flags.float("sandbox_leader_change_rate")) {
            return Err(Failure::new(-4, "E_LEADER_CHANGED"));
        }
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

pub(super) fn malformed() -> Failure {
    Failure::new(-3044, "E_INVALID_DATA")
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
