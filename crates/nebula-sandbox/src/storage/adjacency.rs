//! The edges of one vertex and one edge type, in the order of (rank, other end).

use std::{collections::BTreeMap, mem};

use super::{arena::RowId, vids::Key};

/// Lists longer than this become trees: a hub with a million edges must not cost a million moves per insert.
const SMALL: usize = 256;

#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) rank: i64,
    pub(super) other: Key,
    pub(super) row: RowId,
}

impl Edge {
    const fn key(&self) -> (i64, Key) {
        (self.rank, self.other)
    }
}

#[derive(Debug)]
pub(super) enum Edges {
    Small(Vec<Edge>),
    Large(BTreeMap<(i64, Key), RowId>),
}

impl Default for Edges {
    fn default() -> Self {
        Self::Small(Vec::new())
    }
}

impl Edges {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Small(list) => list.len(),
            Self::Large(tree) => tree.len(),
        }
    }

    /// Adds or replaces; true when the edge is new. `keep` leaves an existing edge as it is.
    pub(super) fn put(&mut self, edge: Edge, keep: bool) -> bool {
        match self {
            Self::Small(list) => {
                let place = match list.last() {
                    Some(newest) if newest.key() < edge.key() => Err(list.len()),
                    _ => list.binary_search_by_key(&edge.key(), Edge::key),
                };
                match place {
                    Ok(at) => {
                        if !keep {
                            list[at] = edge;
                        }
                        return false;
                    }
                    Err(at) => list.insert(at, edge),
                }
                self.grow();
                true
            }
            Self::Large(tree) => {
                let known = tree.contains_key(&edge.key());
                if !(known && keep) {
                    tree.insert(edge.key(), edge.row);
                }
                !known
            }
        }
    }

    fn grow(&mut self) {
        if let Self::Small(list) = self
            && list.len() > SMALL
        {
            let tree = mem::take(list)
                .into_iter()
                .map(|edge| (edge.key(), edge.row));
            *self = Self::Large(tree.collect());
        }
    }

    /// Removes an edge; true when it was there.
    pub(super) fn remove(&mut self, rank: i64, other: Key) -> bool {
        match self {
            Self::Small(list) => {
                let found = list.binary_search_by_key(&(rank, other), Edge::key);
                found.map(|at| list.remove(at)).is_ok()
            }
            Self::Large(tree) => tree.remove(&(rank, other)).is_some(),
        }
    }

    pub(super) fn get(&self, rank: i64, other: Key) -> Option<RowId> {
        match self {
            Self::Small(list) => {
                let found = list.binary_search_by_key(&(rank, other), Edge::key);
                found.ok().map(|at| list[at].row)
            }
            Self::Large(tree) => tree.get(&(rank, other)).copied(),
        }
    }

    /// Calls `visit` for at most `limit` edges.
    pub(super) fn each(&self, limit: usize, mut visit: impl FnMut(Edge)) {
        match self {
            Self::Small(list) => list.iter().take(limit).copied().for_each(visit),
            Self::Large(tree) => {
                for ((rank, other), row) in tree.iter().take(limit) {
                    visit(Edge {
                        rank: *rank,
                        other: *other,
                        row: *row,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_tree(ops in prop::collection::vec((0u64..400, 0i64..3, any::<bool>()), 0..1500)) {
            let mut edges = Edges::default();
            let mut model = BTreeMap::new();
            for (at, (other, rank, add)) in ops.into_iter().enumerate() {
                if add {
                    let row = at as u64;
                    let fresh = edges.put(Edge { rank, other, row }, false);
                    prop_assert_eq!(fresh, model.insert((rank, other), row).is_none());
                } else {
                    prop_assert_eq!(edges.remove(rank, other), model.remove(&(rank, other)).is_some());
                }
            }
            let mut found = Vec::new();
            edges.each(usize::MAX, |e| found.push(((e.rank, e.other), e.row)));
            prop_assert_eq!(found.len(), edges.len());
            prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
        }
    }
}
