//! Sends a request about many vertices to the storageds they live on, all at once, and puts the answers together.

use std::collections::HashMap;

use bytes::Bytes;
use futures_util::future::join_all;

use super::{catalog::SpaceInfo, engine::Engine, error::QueryError, vid::Vid};
use crate::{
    rpc::wire::Reader,
    storage::{
        VidRef,
        request::{self, EdgeRow},
    },
};

/// Bodies for several storageds, built row by row.
#[derive(Debug)]
pub(super) struct Batches<'a> {
    info: &'a SpaceInfo,
    head: Vec<u8>,
    /// By host: the body, the first partition in it (0 = nothing yet), and what was put there.
    bodies: Vec<Body>,
}

#[derive(Debug, Default)]
struct Body {
    bytes: Vec<u8>,
    part: usize,
    /// The caller's numbers of the vertices in it.
    members: Vec<usize>,
}

/// What one storaged answered, and for whom.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) members: Vec<usize>,
    pub(super) bytes: Bytes,
}

impl<'a> Batches<'a> {
    /// Every body begins with the space and `head`.
    pub(super) fn new(info: &'a SpaceInfo, head: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut start = request::start(info.space.id);
        head(&mut start);
        Self {
            info,
            head: start,
            bodies: info.hosts.iter().map(|_| Body::default()).collect(),
        }
    }

    /// The body of the storaged where `vid` lives; the caller appends a row that begins with the vertex.
    pub(super) fn body(&mut self, vid: VidRef<'_>) -> &mut Vec<u8> {
        let (part, host) = self.info.place(vid);
        let body = &mut self.bodies[host];
        if body.part == 0 {
            body.part = part;
            body.bytes.extend_from_slice(&self.head);
        }
        &mut body.bytes
    }

    /// Asks about a vertex, remembered as `member`.
    pub(super) fn ask(&mut self, member: usize, vid: VidRef<'_>) {
        vid.put(self.body(vid));
        let (_, host) = self.info.place(vid);
        self.bodies[host].members.push(member);
    }

    /// Remembers that the row just appended for `vid` is the caller's `member`.
    pub(super) fn note(&mut self, member: usize, vid: VidRef<'_>) {
        let (_, host) = self.info.place(vid);
        self.bodies[host].members.push(member);
    }

    /// Sends everything; the first failure is the result.
    pub(super) async fn send(self, engine: &Engine, op: u8) -> Result<Vec<Answer>, QueryError> {
        let info = self.info;
        let mut calls: Vec<_> = self
            .bodies
            .into_iter()
            .enumerate()
            .filter(|(_, body)| body.part > 0)
            .collect();
        if calls.len() == 1 {
            let Some((host, body)) = calls.pop() else {
                return Ok(Vec::new());
            };
            let bytes = engine
                .storage(info, host, body.part, op, &body.bytes)
                .await?;
            return Ok(vec![Answer {
                members: body.members,
                bytes,
            }]);
        }
        let sent = calls.into_iter().map(|(host, body)| async move {
            let bytes = engine
                .storage(info, host, body.part, op, &body.bytes)
                .await?;
            Ok(Answer {
                members: body.members,
                bytes,
            })
        });
        join_all(sent).await.into_iter().collect()
    }
}

/// Sends one body to every storaged of a space.
pub(super) async fn ask_everyone(
    engine: &Engine,
    info: &SpaceInfo,
    op: u8,
    head: impl FnOnce(&mut Vec<u8>),
) -> Result<Vec<Bytes>, QueryError> {
    let mut body = request::start(info.space.id);
    head(&mut body);
    let body = &body;
    let calls = (0..info.hosts.len()).map(|host| engine.storage(info, host, 1, op, body));
    join_all(calls).await.into_iter().collect()
}

/// Edges of `kinds` at each of `vids`.
pub(super) async fn neighbors(
    engine: &Engine,
    info: &SpaceInfo,
    vids: &[Vid],
    kinds: &[i32],
    with_rows: bool,
) -> Result<Vec<Answer>, QueryError> {
    let mut batches = Batches::new(info, |head| {
        head.push(u8::from(with_rows));
        request::put_ids(head, kinds);
    });
    for (member, vid) in vids.iter().enumerate() {
        batches.ask(member, vid.as_ref());
    }
    batches.send(engine, request::OP_NEIGHBORS).await
}

/// Calls `visit` with (number of the vertex asked about, edge) for every edge in `answers`.
pub(super) fn each_edge<'a>(
    info: &SpaceInfo,
    answers: &'a [Answer],
    mut visit: impl FnMut(usize, EdgeRow<'a>) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    for answer in answers {
        let mut reader = Reader::new(&answer.bytes);
        for member in &answer.members {
            for _ in 0..reader.varint()? {
                visit(*member, EdgeRow::read(&mut reader, info.space.vid)?)?;
            }
        }
    }
    Ok(())
}

/// Rows of a vertex by tag id.
pub(super) type TagRows = Vec<(i32, Bytes)>;

/// Tag rows of each of `vids` (an empty list of tags = all); vertices without any are left out.
pub(super) async fn tag_rows(
    engine: &Engine,
    info: &SpaceInfo,
    vids: &[Vid],
    tags: &[i32],
) -> Result<HashMap<Vid, TagRows>, QueryError> {
    let mut batches = Batches::new(info, |head| request::put_ids(head, tags));
    for (member, vid) in vids.iter().enumerate() {
        batches.ask(member, vid.as_ref());
    }
    let answers = batches.send(engine, request::OP_TAGS).await?;
    let mut found = HashMap::with_capacity(vids.len());
    for answer in &answers {
        let mut reader = Reader::new(&answer.bytes);
        for member in &answer.members {
            let rows = read_tag_rows(&mut reader, &answer.bytes)?;
            if !rows.is_empty() {
                found.insert(vids[*member].clone(), rows);
            }
        }
    }
    Ok(found)
}

/// Count, then tag id and row: as storaged writes the tags of a vertex.
pub(super) fn read_tag_rows(reader: &mut Reader<'_>, whole: &Bytes) -> Result<TagRows, QueryError> {
    let mut rows = TagRows::new();
    for _ in 0..reader.varint()? {
        let tag = reader.i32()?;
        rows.push((tag, whole.slice_ref(reader.bytes()?)));
    }
    Ok(rows)
}
