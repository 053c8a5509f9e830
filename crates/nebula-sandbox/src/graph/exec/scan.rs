//! Reads all there is of a tag or an edge type, from every storaged.

use super::{Context, hop::Hop};
use crate::{
    graph::{
        catalog::SpaceInfo,
        error::QueryError,
        shards::{TagRows, ask_everyone, read_tag_rows},
        vid::Vid,
    },
    rpc::wire::{Reader, put_varint},
    storage::{
        VidRef,
        request::{self, EdgeRow},
    },
};

fn head(body: &mut Vec<u8>, ids: &[i32], limit: usize) {
    put_varint(body, limit as u64);
    request::put_ids(body, ids);
}

/// Calls `visit` with every vertex that has one of the tags (none named = any), at most `limit` from each storaged.
pub(super) async fn tags(
    context: &Context<'_>,
    info: &SpaceInfo,
    ids: &[i32],
    limit: usize,
    mut visit: impl FnMut(VidRef<'_>, TagRows) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let op = request::OP_SCAN_TAGS;
    let head = |body: &mut Vec<u8>| head(body, ids, limit);
    for answer in ask_everyone(context.engine, info, op, head).await? {
        let mut reader = Reader::new(&answer);
        while !reader.is_empty() {
            let vid = VidRef::read(&mut reader, info.space.vid)?;
            let rows = read_tag_rows(&mut reader, &answer)?;
            visit(vid, rows)?;
        }
    }
    Ok(())
}

/// Calls `visit` with every edge of the types, in its own direction, at most `limit` from each storaged.
pub(super) async fn edges(
    context: &Context<'_>,
    info: &SpaceInfo,
    ids: &[i32],
    limit: usize,
    mut visit: impl FnMut(Hop) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let op = request::OP_SCAN_EDGES;
    let head = |body: &mut Vec<u8>| head(body, ids, limit);
    for answer in ask_everyone(context.engine, info, op, head).await? {
        let mut reader = Reader::new(&answer);
        while !reader.is_empty() {
            let from = Vid::of(VidRef::read(&mut reader, info.space.vid)?);
            let edge = EdgeRow::read(&mut reader, info.space.vid)?;
            visit(Hop {
                from,
                to: Vid::of(edge.other),
                kind: edge.kind,
                rank: edge.rank,
                row: edge.row.to_vec(),
            })?;
        }
    }
    Ok(())
}
