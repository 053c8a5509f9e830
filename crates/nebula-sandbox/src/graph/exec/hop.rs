//! Edges on the way of a path.

use super::Context;
use crate::graph::{
    catalog::SpaceInfo,
    error::QueryError,
    shards::{each_edge, neighbors},
    vid::Vid,
};

/// An edge on the way, seen in the direction of travel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Hop {
    pub(super) from: Vid,
    pub(super) to: Vid,
    /// Negative when travelled against the edge's direction.
    pub(super) kind: i32,
    pub(super) rank: i64,
    /// Its properties; empty where nobody asked for them.
    pub(super) row: Vec<u8>,
}

impl Hop {
    pub(super) fn turned(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            kind: -self.kind,
            ..self
        }
    }

    /// The same edge whichever way it is travelled.
    pub(super) fn identity(&self) -> (&Vid, &Vid, i32, i64) {
        if self.kind > 0 {
            (&self.from, &self.to, self.kind, self.rank)
        } else {
            (&self.to, &self.from, -self.kind, self.rank)
        }
    }
}

/// Edges of `kinds` that leave `frontier`.
pub(super) async fn hops(
    context: &Context<'_>,
    info: &SpaceInfo,
    frontier: &[Vid],
    kinds: &[i32],
    with_rows: bool,
) -> Result<Vec<Hop>, QueryError> {
    let answers = neighbors(context.engine, info, frontier, kinds, with_rows).await?;
    let mut hops = Vec::new();
    each_edge(info, &answers, |member, edge| {
        hops.push(Hop {
            from: frontier[member].clone(),
            to: Vid::of(edge.other),
            kind: edge.kind,
            rank: edge.rank,
            row: edge.row.to_vec(),
        });
        Ok(())
    })?;
    Ok(hops)
}
