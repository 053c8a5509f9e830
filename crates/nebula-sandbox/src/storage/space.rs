//! One space's share of the graph in memory.

use std::collections::{BTreeMap, HashMap};

use super::{
    adjacency::{Edge, Edges},
    arena::{Arena, RowId},
    hash::IdHash,
    vids::{Key, VidRef, Vids},
};
use crate::meta::model::{Counts, VidType};

#[derive(Debug, Default)]
pub(super) struct Vertex {
    pub(super) tags: Vec<(i32, RowId)>,
    /// Edges by type; a negative type holds the edges that arrive here.
    pub(super) edges: Vec<(i32, Edges)>,
}

impl Vertex {
    pub(super) fn edges_of(&self, kind: i32) -> Option<&Edges> {
        self.edges
            .iter()
            .find(|(k, _)| *k == kind)
            .map(|(_, edges)| edges)
    }
}

/// Vertices and edges of the partitions at home here.
#[derive(Debug)]
pub(super) struct SpaceGraph {
    pub(super) kind: VidType,
    pub(super) vids: Vids,
    pub(super) vertices: HashMap<Key, Vertex, IdHash>,
    pub(super) rows: Arena,
    counts: BTreeMap<i32, i64>,
    edge_counts: BTreeMap<i32, i64>,
    tagged: i64,
}

/// An edge as a request names it, seen from the vertex that is stored here.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeRef<'a> {
    pub(super) kind: i32,
    pub(super) here: VidRef<'a>,
    pub(super) rank: i64,
    pub(super) other: VidRef<'a>,
}

impl SpaceGraph {
    pub(super) fn new(kind: VidType) -> Self {
        Self {
            kind,
            vids: Vids::default(),
            vertices: HashMap::default(),
            rows: Arena::default(),
            counts: BTreeMap::new(),
            edge_counts: BTreeMap::new(),
            tagged: 0,
        }
    }

    /// Writes one tag of a vertex. `keep` leaves an existing one as it is.
    pub(super) fn put_tag(&mut self, vid: VidRef<'_>, tag: i32, row: &[u8], keep: bool) {
        let key = self.vids.intern(vid);
        let vertex = self.vertices.entry(key).or_default();
        match vertex.tags.iter_mut().find(|(id, _)| *id == tag) {
            Some(_) if keep => {}
            Some(slot) => slot.1 = self.rows.put(row),
            None => {
                if vertex.tags.is_empty() {
                    self.tagged += 1;
                }
                vertex.tags.reserve_exact(1);
                vertex.tags.push((tag, self.rows.put(row)));
                *self.counts.entry(tag).or_default() += 1;
            }
        }
    }

    /// Writes one side of an edge.
    pub(super) fn put_edge(&mut self, edge: EdgeRef<'_>, row: &[u8], keep: bool) {
        let here = self.vids.intern(edge.here);
        let other = self.vids.intern(edge.other);
        let row = self.rows.put(row);
        let vertex = self.vertices.entry(here).or_default();
        let slot = vertex.edges.iter().position(|(kind, _)| *kind == edge.kind);
        let slot = slot.unwrap_or_else(|| {
            vertex.edges.reserve_exact(1);
            vertex.edges.push((edge.kind, Edges::default()));
            vertex.edges.len() - 1
        });
        let edges = &mut vertex.edges[slot].1;
        let fresh = edges.put(
            Edge {
                rank: edge.rank,
                other,
                row,
            },
            keep,
        );
        if fresh && edge.kind > 0 {
            *self.edge_counts.entry(edge.kind).or_default() += 1;
        }
    }

    /// Removes one side of an edge.
    pub(super) fn remove_edge(&mut self, edge: EdgeRef<'_>) {
        let (Some(here), Some(other)) = (self.vids.find(edge.here), self.vids.find(edge.other))
        else {
            return;
        };
        let Some(vertex) = self.vertices.get_mut(&here) else {
            return;
        };
        let found = vertex.edges.iter_mut().find(|(kind, _)| *kind == edge.kind);
        if found.is_some_and(|(_, edges)| edges.remove(edge.rank, other)) && edge.kind > 0 {
            *self.edge_counts.entry(edge.kind).or_default() -= 1;
        }
    }

    /// Removes tags of a vertex; an empty list means all of them.
    pub(super) fn remove_tags(&mut self, vid: VidRef<'_>, tags: &[i32]) {
        let Some(key) = self.vids.find(vid) else {
            return;
        };
        let Some(vertex) = self.vertices.get_mut(&key) else {
            return;
        };
        let had = !vertex.tags.is_empty();
        let counts = &mut self.counts;
        vertex.tags.retain(|(id, _)| {
            let goes = tags.is_empty() || tags.contains(id);
            if goes {
                *counts.entry(*id).or_default() -= 1;
            }
            !goes
        });
        if had && vertex.tags.is_empty() {
            self.tagged -= 1;
        }
    }

    /// Forgets every vertex of some of the `parts` partitions; answers how many there were.
    pub(super) fn forget(&mut self, parts: usize, gone: &[usize]) -> usize {
        let before = self.vertices.len();
        let (vids, kind) = (&self.vids, self.kind);
        let (counts, edge_counts, tagged) =
            (&mut self.counts, &mut self.edge_counts, &mut self.tagged);
        self.vertices.retain(|key, vertex| {
            if !gone.contains(&vids.vid(*key, kind).part(parts)) {
                return true;
            }
            *tagged -= i64::from(!vertex.tags.is_empty());
            for (tag, _) in &vertex.tags {
                *counts.entry(*tag).or_default() -= 1;
            }
            for (kind, edges) in vertex.edges.iter().filter(|(kind, _)| *kind > 0) {
                let count = i64::try_from(edges.len()).unwrap_or(i64::MAX);
                *edge_counts.entry(*kind).or_default() -= count;
            }
            false
        });
        before - self.vertices.len()
    }

    pub(super) fn vertex(&self, vid: VidRef<'_>) -> Option<&Vertex> {
        self.vertices.get(&self.vids.find(vid)?)
    }

    /// Row of an edge.
    pub(super) fn edge_row(&self, edge: EdgeRef<'_>) -> Option<&[u8]> {
        let other = self.vids.find(edge.other)?;
        let edges = self.vertex(edge.here)?.edges_of(edge.kind)?;
        edges.get(edge.rank, other).map(|row| self.rows.get(row))
    }

    pub(super) fn counts(&self) -> Counts {
        let positive = |counts: &BTreeMap<i32, i64>| {
            let some = counts.iter().filter(|(_, n)| **n > 0);
            some.map(|(id, n)| (*id, n.unsigned_abs())).collect()
        };
        Counts {
            tags: positive(&self.counts),
            edges: positive(&self.edge_counts),
            vertices: self.tagged.unsigned_abs(),
        }
    }
}
