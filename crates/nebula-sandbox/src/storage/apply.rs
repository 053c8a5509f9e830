//! Carries out storage requests on a space; writes come here from the network and, at start, from the log.

use super::{
    request::{self, EdgeRow, read_ids},
    space::{EdgeRef, SpaceGraph, Vertex},
    vids::VidRef,
};
use crate::{
    meta::model::VidType,
    rpc::wire::{Malformed, Reader, put_bytes, put_varint},
};

/// Applies a write whose space id was already read; answers how many rows it had.
pub(super) fn write(graph: &mut SpaceGraph, op: u8, body: &[u8]) -> Result<usize, Malformed> {
    let mut reader = Reader::new(body);
    match op {
        request::OP_PUT_TAGS => put_tags(graph, &mut reader),
        request::OP_PUT_EDGES => put_edges(graph, &mut reader),
        request::OP_REMOVE_TAGS => remove_tags(graph, &mut reader),
        request::OP_REMOVE_EDGES => remove_edges(graph, &mut reader),
        request::OP_PURGE => purge(graph, &mut reader),
        _ => Err(Malformed),
    }
}

fn purge(graph: &mut SpaceGraph, reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let parts = usize::try_from(reader.varint()?).map_err(|_| Malformed)?;
    let mut gone = Vec::new();
    while !reader.is_empty() {
        gone.push(usize::try_from(reader.varint()?).map_err(|_| Malformed)?);
    }
    Ok(graph.forget(parts, &gone))
}

fn put_tags(graph: &mut SpaceGraph, reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let keep = reader.u8()? != 0;
    let tags = read_ids(reader)?;
    let mut rows = 0;
    while !reader.is_empty() {
        let vid = VidRef::read(reader, graph.kind)?;
        for tag in &tags {
            graph.put_tag(vid, *tag, reader.bytes()?, keep);
        }
        rows += 1;
    }
    Ok(rows)
}

fn edge_ref<'a>(graph: &SpaceGraph, reader: &mut Reader<'a>) -> Result<EdgeRef<'a>, Malformed> {
    Ok(EdgeRef {
        kind: reader.i32()?,
        here: VidRef::read(reader, graph.kind)?,
        rank: reader.signed()?,
        other: VidRef::read(reader, graph.kind)?,
    })
}

fn put_edges(graph: &mut SpaceGraph, reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let keep = reader.u8()? != 0;
    let mut rows = 0;
    while !reader.is_empty() {
        let edge = edge_ref(graph, reader)?;
        graph.put_edge(edge, reader.bytes()?, keep);
        rows += 1;
    }
    Ok(rows)
}

fn remove_tags(graph: &mut SpaceGraph, reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let tags = read_ids(reader)?;
    let mut rows = 0;
    while !reader.is_empty() {
        let vid = VidRef::read(reader, graph.kind)?;
        graph.remove_tags(vid, &tags);
        rows += 1;
    }
    Ok(rows)
}

fn remove_edges(graph: &mut SpaceGraph, reader: &mut Reader<'_>) -> Result<usize, Malformed> {
    let mut rows = 0;
    while !reader.is_empty() {
        let edge = edge_ref(graph, reader)?;
        graph.remove_edge(edge);
        rows += 1;
    }
    Ok(rows)
}

/// Shows every vertex that a request is about (not those at the other ends of its edges) to `see`.
pub(super) fn each_vertex(
    kind: VidType,
    op: u8,
    body: &[u8],
    see: &mut impl FnMut(VidRef<'_>),
) -> Result<(), Malformed> {
    let mut reader = Reader::new(body);
    let edges = matches!(
        op,
        request::OP_PUT_EDGES | request::OP_REMOVE_EDGES | request::OP_EDGES
    );
    if matches!(
        op,
        request::OP_PUT_TAGS | request::OP_PUT_EDGES | request::OP_NEIGHBORS
    ) {
        reader.u8()?;
    }
    let ids = if edges {
        0
    } else {
        read_ids(&mut reader)?.len()
    };
    let rows = match op {
        request::OP_PUT_TAGS => ids,
        request::OP_PUT_EDGES => 1,
        _ => 0,
    };
    while !reader.is_empty() {
        if edges {
            reader.i32()?;
        }
        see(VidRef::read(&mut reader, kind)?);
        if edges {
            reader.signed()?;
            VidRef::read(&mut reader, kind)?;
        }
        for _ in 0..rows {
            reader.bytes()?;
        }
    }
    Ok(())
}

/// Answers a read whose space id was already read; `limit` = edges read per vertex and type.
pub(super) fn read(
    graph: &SpaceGraph,
    op: u8,
    body: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let mut reader = Reader::new(body);
    match op {
        request::OP_NEIGHBORS => neighbors(graph, &mut reader, limit, out),
        request::OP_TAGS => tags(graph, &mut reader, out),
        request::OP_EDGES => edges(graph, &mut reader, out),
        request::OP_SCAN_TAGS => scan_tags(graph, &mut reader, out),
        request::OP_SCAN_EDGES => scan_edges(graph, &mut reader, out),
        _ => Err(Malformed),
    }
}

/// Per vertex: count, edges.
fn neighbors(
    graph: &SpaceGraph,
    reader: &mut Reader<'_>,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let with_rows = reader.u8()? != 0;
    let kinds = read_ids(reader)?;
    while !reader.is_empty() {
        let vertex = graph.vertex(VidRef::read(reader, graph.kind)?);
        let lists = || {
            vertex
                .into_iter()
                .flat_map(|vertex| &vertex.edges)
                .filter(|(kind, _)| kinds.contains(kind))
        };
        let total: usize = lists().map(|(_, edges)| edges.len().min(limit)).sum();
        put_varint(out, total as u64);
        for (kind, edges) in lists() {
            edges.each(limit, |edge| {
                EdgeRow {
                    kind: *kind,
                    rank: edge.rank,
                    other: graph.vids.vid(edge.other, graph.kind),
                    row: if with_rows {
                        graph.rows.get(edge.row)
                    } else {
                        &[]
                    },
                }
                .put(out);
            });
        }
    }
    Ok(())
}

/// Per vertex: count, then tag id and row.
fn tags(graph: &SpaceGraph, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Malformed> {
    let wanted = read_ids(reader)?;
    while !reader.is_empty() {
        let vertex = graph.vertex(VidRef::read(reader, graph.kind)?);
        put_tag_rows(graph, vertex, &wanted, out);
    }
    Ok(())
}

fn put_tag_rows(graph: &SpaceGraph, vertex: Option<&Vertex>, wanted: &[i32], out: &mut Vec<u8>) {
    let rows = || {
        let all = vertex.into_iter().flat_map(|vertex| &vertex.tags);
        all.filter(|(id, _)| wanted.is_empty() || wanted.contains(id))
    };
    put_varint(out, rows().count() as u64);
    for (id, row) in rows() {
        out.extend_from_slice(&id.to_le_bytes());
        put_bytes(out, graph.rows.get(*row));
    }
}

/// Per edge: found (0 or 1), row.
fn edges(graph: &SpaceGraph, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), Malformed> {
    while !reader.is_empty() {
        let edge = edge_ref(graph, reader)?;
        let row = graph.edge_row(edge);
        out.push(u8::from(row.is_some()));
        put_bytes(out, row.unwrap_or_default());
    }
    Ok(())
}

/// Every vertex that has one of the tags (all tagged vertices when none is named): vid, count, tag rows.
fn scan_tags(
    graph: &SpaceGraph,
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let limit = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
    let wanted = read_ids(reader)?;
    let has = |vertex: &Vertex| {
        if wanted.is_empty() {
            !vertex.tags.is_empty()
        } else {
            vertex.tags.iter().any(|(id, _)| wanted.contains(id))
        }
    };
    for (key, vertex) in graph
        .vertices
        .iter()
        .filter(|(_, vertex)| has(vertex))
        .take(limit)
    {
        graph.vids.vid(*key, graph.kind).put(out);
        put_tag_rows(graph, Some(vertex), &[], out);
    }
    Ok(())
}

/// Every outgoing edge of the types: source, edge.
fn scan_edges(
    graph: &SpaceGraph,
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let mut left = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
    let kinds = read_ids(reader)?;
    for (key, vertex) in &graph.vertices {
        for (kind, edges) in vertex.edges.iter().filter(|(kind, _)| kinds.contains(kind)) {
            edges.each(left, |edge| {
                graph.vids.vid(*key, graph.kind).put(out);
                EdgeRow {
                    kind: *kind,
                    rank: edge.rank,
                    other: graph.vids.vid(edge.other, graph.kind),
                    row: graph.rows.get(edge.row),
                }
                .put(out);
            });
            left = left.saturating_sub(edges.len());
        }
    }
    Ok(())
}
