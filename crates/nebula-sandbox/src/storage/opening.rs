//! Heartbeats of a storaged, and which spaces and partitions it holds by what they bring.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
    time::Duration,
};

use super::{
    apply,
    journal::Journal,
    moving::{self, Arrival, Places},
    request,
    service::{OpenSpace, Storaged, WriteRate, malformed},
    space::SpaceGraph,
};
use crate::{
    clock,
    daemon::log::log,
    line::{Role, SANDBOX_GIT_SHA},
    meta::{
        message::{Failure, Heartbeat, Reply, Request},
        model::{Catalog, HostPort, Space, VidType},
        sync_configs,
    },
    rpc::wire::Reader,
};

impl Storaged {
    /// Heartbeats for ever.
    pub async fn keep_beating(self: Arc<Self>) {
        loop {
            tokio::time::sleep(Duration::from_secs(self.interval())).await;
            if let Err(failure) = self.beat().await {
                log!(Error, "Heartbeat failed, status:{failure}");
            }
        }
    }

    pub(super) async fn beat(&self) -> Result<(), Failure> {
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
        let mine = |space: &&Space| {
            let mut parts = space.parts.iter();
            parts.any(|part| part.home == self.me || part.moving_to.as_ref() == Some(&self.me))
        };
        let mut wanted = BTreeSet::new();
        for space in catalog.spaces.values().filter(mine) {
            wanted.insert(space.id);
            if !self.lock().contains_key(&space.id) {
                let opened = self.open(space.id, space.vid, space.parts.len())?;
                self.lock().insert(space.id, opened);
            }
            if let Some(open) = self.lock().get_mut(&space.id) {
                open.follow(space, &self.me, catalog.version)?;
            }
        }
        self.lock().retain(|id, _| wanted.contains(id));
        let every: BTreeSet<u32> = catalog.spaces.values().map(|space| space.id).collect();
        if self.flags.on("auto_remove_invalid_space") {
            self.remove_unknown(&every, at_start);
        }
        Ok(())
    }

    pub(super) fn open(&self, id: u32, vid: VidType, parts: usize) -> io::Result<OpenSpace> {
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
            places: Places::default(),
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

    /// A piece of a partition that moves here; opens the space when it is not.
    pub(super) fn take_in(&self, id: u32, body: &[u8]) -> Result<(), Failure> {
        let mut reader = Reader::new(body);
        let arrival = Arrival::read(&mut reader).map_err(|_| malformed())?;
        if !self.lock().contains_key(&id) {
            let opened = self.open(id, arrival.vid, arrival.parts);
            let opened = opened.map_err(|_| Failure::new(-3033, "E_INVALID_STORE"))?;
            self.lock().insert(id, opened);
        }
        let mut spaces = self.lock();
        let Some(space) = spaces.get_mut(&id) else {
            return Ok(());
        };
        space.places.expect(arrival.part, arrival.version);
        if arrival.first {
            space
                .forget(&[arrival.part])
                .map_err(|_| Failure::new(-3521, "E_RAFT_WAL_FAIL"))?;
        }
        moving::import(&mut space.graph, &mut space.journal, &mut reader).map_err(|_| malformed())
    }
}

impl OpenSpace {
    /// Goes by a catalog: what is at home elsewhere is forgotten.
    fn follow(&mut self, space: &Space, me: &HostPort, version: u64) -> io::Result<()> {
        let foreign = self.places.follow(space, me, version);
        if foreign.is_empty() {
            return Ok(());
        }
        self.forget(&foreign)
    }

    fn forget(&mut self, gone: &[usize]) -> io::Result<()> {
        if self.graph.forget(self.parts, gone) == 0 {
            return Ok(());
        }
        let body = moving::purge_body(self.parts, gone);
        self.journal.append(request::OP_PURGE, &body)
    }

    /// A vertex of a partition that moves or has moved is not answered for.
    pub(super) fn refuse_moved(&self, op: u8, body: &[u8]) -> Result<(), Failure> {
        let sealed = &self.places.sealed;
        if sealed.is_empty() || !(request::OP_PUT_TAGS..=request::OP_EDGES).contains(&op) {
            return Ok(());
        }
        match moving::touched(&self.graph, op, body, self.parts, sealed) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(Failure::new(-4, "E_LEADER_CHANGED")),
            Err(_) => Err(malformed()),
        }
    }

    /// The old home's side of a move.
    pub(super) fn hand_out(
        &mut self,
        op: u8,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let mut reader = Reader::new(body);
        let done = match op {
            request::OP_SEAL => reader.varint().and_then(|part| {
                let part = usize::try_from(part).unwrap_or(usize::MAX);
                self.places.seal(part, reader.varint()?);
                let count = moving::count(&self.graph, self.parts, part);
                out.extend_from_slice(&count.to_le_bytes());
                Ok(())
            }),
            request::OP_EXPORT => moving::export(&self.graph, self.parts, &mut reader, out),
            _ => {
                let gone = reader.varint().and_then(|_| reader.varint());
                let part = gone.map_err(|_| malformed())?;
                let part = usize::try_from(part).unwrap_or(usize::MAX);
                let forgotten = self.forget(&[part]);
                return forgotten.map_err(|_| Failure::new(-3521, "E_RAFT_WAL_FAIL"));
            }
        };
        done.map_err(|_| malformed())
    }
}

/// 0 when there is no readable file.
fn read_cluster_id(path: &Path) -> i64 {
    let bytes = fs::read(path).unwrap_or_default();
    bytes
        .first_chunk::<8>()
        .map_or(0, |id| i64::from_le_bytes(*id))
}
