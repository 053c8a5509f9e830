//! DELETE VERTEX, TAG and EDGE.

use super::{Context, Table, fetch::start_vids, insert::constant};
use crate::{
    graph::{
        catalog::SpaceInfo,
        error::QueryError,
        shards::{Batches, each_edge, neighbors},
        vid::{Vid, vid_ref},
    },
    meta::model::SchemaKind,
    ngql::ast::{EdgeKey, From},
    storage::request,
};

/// Removes all tags; the edges only where the statement says so (always in 2.x).
pub(super) async fn vertices(context: &Context<'_>, vids: &From, with_edges: bool) -> Table {
    let info = context.space()?;
    let vids = start_vids(context, &info, vids)?;
    if with_edges || !context.engine.line.is_3x() {
        remove_edges_of(context, &info, &vids).await?;
    }
    remove_tags(context, &info, &[], &vids).await
}

async fn remove_edges_of(
    context: &Context<'_>,
    info: &SpaceInfo,
    vids: &[Vid],
) -> Result<(), QueryError> {
    let kinds: Vec<i32> = info
        .space
        .edges
        .values()
        .flat_map(|edge| [edge.id, -edge.id])
        .collect();
    let answers = neighbors(context.engine, info, vids, &kinds, false).await?;
    let mut batches = Batches::new(info, |_| {});
    each_edge(info, &answers, |member, edge| {
        let here = vids[member].as_ref();
        request::put_edge(batches.body(here), edge.kind, here, edge.rank, edge.other);
        request::put_edge(
            batches.body(edge.other),
            -edge.kind,
            edge.other,
            edge.rank,
            here,
        );
        Ok(())
    })?;
    batches
        .send(context.engine, request::OP_REMOVE_EDGES)
        .await
        .map(drop)
}

async fn remove_tags(context: &Context<'_>, info: &SpaceInfo, tags: &[i32], vids: &[Vid]) -> Table {
    let mut batches = Batches::new(info, |head| request::put_ids(head, tags));
    for vid in vids {
        let vid = vid.as_ref();
        vid.put(batches.body(vid));
    }
    batches
        .send(context.engine, request::OP_REMOVE_TAGS)
        .await
        .map(|_| None)
}

pub(super) async fn tags(context: &Context<'_>, tags: &[String], vids: &From) -> Table {
    let info = context.space()?;
    let mut ids = Vec::new();
    for tag in tags {
        ids.push(info.schema(SchemaKind::Tag, tag)?.schema.id);
    }
    let vids = start_vids(context, &info, vids)?;
    remove_tags(context, &info, &ids, &vids).await
}

pub(super) async fn edges(context: &Context<'_>, edge: &str, keys: &[EdgeKey]) -> Table {
    let info = context.space()?;
    let kind = info.schema(SchemaKind::Edge, edge)?.schema.id;
    let mut batches = Batches::new(&info, |_| {});
    for key in keys {
        let (src, dst) = (constant(&key.src)?, constant(&key.dst)?);
        let (src, dst) = (
            vid_ref(&src, info.space.vid)?,
            vid_ref(&dst, info.space.vid)?,
        );
        request::put_edge(batches.body(src), kind, src, key.rank, dst);
        request::put_edge(batches.body(dst), -kind, dst, key.rank, src);
    }
    batches
        .send(context.engine, request::OP_REMOVE_EDGES)
        .await
        .map(|_| None)
}
