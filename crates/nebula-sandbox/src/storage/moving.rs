//! Partitions that change their host: handing one out, taking one in, and refusing what went to the old place.
//!
//! metad leads a move: it writes down where the partition goes, seals it at its home (nothing in it is read or written
//! any more), copies it in pieces, writes down the new home, and has the old one forget it. Catalogs travel with
//! heartbeats, so an older one may still be on its way; `held` says from which version on one is to be believed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    apply,
    journal::Journal,
    request::{self, put_edge, put_ids},
    space::SpaceGraph,
    vids::VidRef,
};
use crate::{
    meta::model::{HostPort, Space, VidType},
    rpc::wire::{Malformed, Reader, put_bytes, put_varint},
};

/// What a space's partitions (counted from 0) are to this storaged.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// On their way, gone, or never here: requests are refused. A restarted home must not take what a client with an
    /// older catalog still sends to it.
    pub(super) sealed: BTreeSet<usize>,
    /// Catalogs older than this know nothing about the partition.
    held: BTreeMap<usize, u64>,
    /// Known to hold nothing here.
    empty: BTreeSet<usize>,
}

impl Places {
    /// Goes by a catalog of `version`; answers the partitions whose data is to be forgotten.
    pub(super) fn follow(&mut self, space: &Space, me: &HostPort, version: u64) -> Vec<usize> {
        let mut foreign = Vec::new();
        for (at, part) in space.parts.iter().enumerate() {
            if self.held.get(&at).is_some_and(|from| version < *from) {
                continue;
            }
            self.held.remove(&at);
            let home = part.home == *me;
            let comes = part.moving_to.as_ref() == Some(me);
            let sealed = if home {
                part.moving_to.is_some()
            } else {
                !comes
            };
            if sealed {
                self.sealed.insert(at);
            } else {
                self.sealed.remove(&at);
            }
            if home || comes {
                self.empty.remove(&at);
            } else if self.empty.insert(at) {
                foreign.push(at);
            }
        }
        foreign
    }

    /// Nothing in `part` is served until a catalog of `version` or later says so.
    pub(super) fn seal(&mut self, part: usize, version: u64) {
        self.sealed.insert(part);
        self.held.insert(part, version);
    }

    /// `part` is on its way here, as a catalog of `version` says.
    pub(super) fn expect(&mut self, part: usize, version: u64) {
        self.sealed.remove(&part);
        self.empty.remove(&part);
        self.held.insert(part, version);
    }
}

/// How many vertices are in a partition.
pub(super) fn count(graph: &SpaceGraph, parts: usize, part: usize) -> u64 {
    let here = graph
        .vertices
        .keys()
        .filter(|key| graph.vids.vid(**key, graph.kind).part(parts) == part);
    here.count() as u64
}

/// Appends a piece of a partition as writes: operation, body.
pub(super) fn export(
    graph: &SpaceGraph,
    parts: usize,
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let number = |reader: &mut Reader<'_>| usize::try_from(reader.varint()?).map_err(|_| Malformed);
    let (part, piece, pieces) = (number(reader)?, number(reader)?, number(reader)?);
    let mut body = Vec::new();
    let here = graph
        .vertices
        .iter()
        .filter(|(key, _)| graph.vids.vid(**key, graph.kind).part(parts) == part);
    for (at, (key, vertex)) in here.enumerate() {
        if at % pieces.max(1) != piece {
            continue;
        }
        let vid = graph.vids.vid(*key, graph.kind);
        for (tag, row) in &vertex.tags {
            body.clear();
            body.push(0);
            put_ids(&mut body, &[*tag]);
            vid.put(&mut body);
            put_bytes(&mut body, graph.rows.get(*row));
            out.push(request::OP_PUT_TAGS);
            put_bytes(out, &body);
        }
        for (kind, edges) in &vertex.edges {
            body.clear();
            body.push(0);
            edges.each(usize::MAX, |edge| {
                put_edge(
                    &mut body,
                    *kind,
                    vid,
                    edge.rank,
                    graph.vids.vid(edge.other, graph.kind),
                );
                put_bytes(&mut body, graph.rows.get(edge.row));
            });
            out.push(request::OP_PUT_EDGES);
            put_bytes(out, &body);
        }
    }
    Ok(())
}

/// Carries out what [`export`] wrote, in memory and in the log.
pub(super) fn import(
    graph: &mut SpaceGraph,
    journal: &mut Journal,
    reader: &mut Reader<'_>,
) -> Result<(), Malformed> {
    while !reader.is_empty() {
        let op = reader.u8()?;
        let body = reader.bytes()?;
        apply::write(graph, op, body)?;
        journal.append(op, body).map_err(|_| Malformed)?;
    }
    Ok(())
}

/// Body of [`request::OP_PURGE`] after the space: the number of partitions, and those to be forgotten.
pub(super) fn purge_body(parts: usize, gone: &[usize]) -> Vec<u8> {
    let mut body = Vec::new();
    put_varint(&mut body, parts as u64);
    for part in gone {
        put_varint(&mut body, *part as u64);
    }
    body
}

/// A space that a partition comes to: type of its ids, number of its partitions, that partition, the catalog's version,
/// whether this is the first piece.
pub(super) struct Arrival {
    pub(super) vid: VidType,
    pub(super) parts: usize,
    pub(super) part: usize,
    pub(super) version: u64,
    pub(super) first: bool,
}

impl Arrival {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let number =
            |reader: &mut Reader<'_>| usize::try_from(reader.varint()?).map_err(|_| Malformed);
        let length = u16::try_from(reader.varint()?).map_err(|_| Malformed)?;
        Ok(Self {
            vid: if length == 0 {
                VidType::Int
            } else {
                VidType::Text(length)
            },
            parts: number(reader)?,
            part: number(reader)?,
            version: reader.varint()?,
            first: reader.u8()? != 0,
        })
    }
}

/// The first partition of `sealed` that a request names a vertex of.
pub(super) fn touched(
    graph: &SpaceGraph,
    op: u8,
    body: &[u8],
    parts: usize,
    sealed: &BTreeSet<usize>,
) -> Result<Option<usize>, Malformed> {
    let mut found = None;
    let mut see = |vid: VidRef<'_>| {
        let part = vid.part(parts);
        if sealed.contains(&part) {
            found.get_or_insert(part);
        }
    };
    apply::each_vertex(graph.kind, op, body, &mut see)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::model::Part;

    fn host(port: u16) -> HostPort {
        HostPort::new("h", port)
    }

    /// Homes and goals by partition.
    fn space(parts: &[(u16, Option<u16>)]) -> Space {
        let part = |(home, goal): &(u16, Option<u16>)| Part {
            home: host(*home),
            peers: vec![host(*home)],
            leader: None,
            moving_to: goal.map(host),
        };
        Space {
            id: 1,
            name: "s".to_owned(),
            replica: 1,
            vid: VidType::Int,
            comment: None,
            parts: parts.iter().map(part).collect(),
            tags: BTreeMap::new(),
            edges: BTreeMap::new(),
            indexes: BTreeMap::new(),
            stats: None,
        }
    }

    /// It knows nothing of the time before, while a client may still go by it.
    #[test]
    fn a_restarted_storaged_takes_only_what_is_at_home_or_comes() {
        // At home, leaving, coming, gone.
        let now = space(&[(1, None), (1, Some(2)), (2, Some(1)), (2, None)]);
        let mut places = Places::default();
        let foreign = places.follow(&now, &host(1), 7);
        assert_eq!(places.sealed, BTreeSet::from([1, 3]));
        assert_eq!(foreign, [3]);
        // A move that was given up.
        places.follow(
            &space(&[(1, None), (1, None), (2, None), (2, None)]),
            &host(1),
            8,
        );
        assert_eq!(places.sealed, BTreeSet::from([2, 3]));
    }

    #[test]
    fn a_catalog_from_before_a_move_changes_nothing_about_it() {
        let mut places = Places::default();
        places.follow(&space(&[(1, None), (2, None)]), &host(1), 4);
        places.seal(0, 5);
        places.expect(1, 6);
        let foreign = places.follow(&space(&[(1, None), (2, None)]), &host(1), 4);
        assert_eq!(
            (foreign, places.sealed.clone()),
            (vec![], BTreeSet::from([0]))
        );
        places.follow(&space(&[(2, None), (1, None)]), &host(1), 6);
        assert_eq!(places.sealed, BTreeSet::from([0]));
    }
}
