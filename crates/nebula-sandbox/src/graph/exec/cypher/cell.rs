//! What a row of a pattern holds: vertices and edges stay small until somebody asks for their properties.

use std::sync::Arc;

use nebula_wire::{
    Value,
    value::{Edge, Path, Step, Vertex},
};

use super::store::Env;
use crate::graph::{
    error::QueryError,
    exec::{hop::Hop, scope::vertex_value},
    key::put_key,
    row,
    vid::{Vid, vid_value},
};

/// A way through the graph.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) start: Vid,
    pub(super) hops: Vec<Arc<Hop>>,
}

/// One place of a row.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    Value(Value),
    Node(Vid),
    Edge(Arc<Hop>),
    /// The edges of a pattern of variable length.
    Trail(Arc<[Arc<Hop>]>),
    Path(Arc<Walk>),
}

impl Cell {
    pub(super) const NULL: Self = Self::Value(Value::NULL);

    /// The vertex, if it is one.
    pub(super) const fn node(&self) -> Option<&Vid> {
        match self {
            Self::Node(vid) => Some(vid),
            _ => None,
        }
    }

    /// The edges it is made of.
    pub(super) fn hops(&self) -> &[Arc<Hop>] {
        match self {
            Self::Edge(hop) => std::slice::from_ref(hop),
            Self::Trail(hops) => hops,
            Self::Path(walk) => &walk.hops,
            _ => &[],
        }
    }

    /// As a client sees it.
    pub(super) fn value(&self, env: &Env<'_>) -> Result<Value, QueryError> {
        Ok(match self {
            Self::Value(value) => value.clone(),
            Self::Node(vid) => Value::Vertex(Box::new(vertex(vid, env)?)),
            Self::Edge(hop) => edge(hop, env)?,
            Self::Trail(hops) => Value::List(
                hops.iter()
                    .map(|hop| edge(hop, env))
                    .collect::<Result<_, _>>()?,
            ),
            Self::Path(walk) => Value::Path(Box::new(path(walk, env)?)),
        })
    }

    /// Appends bytes that are equal for equal cells.
    pub(super) fn put_key(&self, out: &mut Vec<u8>, env: &Env<'_>) -> Result<(), QueryError> {
        match self {
            Self::Value(value) => put_key(out, value),
            Self::Node(vid) => {
                out.push(b'v');
                put_key(out, &vid_value(vid.as_ref()));
            }
            other => put_key(out, &other.value(env)?),
        }
        Ok(())
    }
}

fn vertex(vid: &Vid, env: &Env<'_>) -> Result<Vertex, QueryError> {
    match vertex_value(env.info, vid.as_ref(), env.tags_of(vid))? {
        Value::Vertex(vertex) => Ok(*vertex),
        other => Ok(Vertex {
            vid: other,
            tags: Vec::new(),
        }),
    }
}

fn edge(hop: &Hop, env: &Env<'_>) -> Result<Value, QueryError> {
    let schema = env.info.edge_by_id(hop.kind);
    let name = schema.map_or("", |schema| schema.schema.name.as_str());
    Ok(Value::Edge(Box::new(Edge {
        src: vid_value(hop.from.as_ref()),
        dst: vid_value(hop.to.as_ref()),
        etype: hop.kind,
        name: name.as_bytes().to_vec(),
        ranking: hop.rank,
        props: schema.map_or(Ok(Vec::new()), |schema| row::read_all(schema, &hop.row))?,
    })))
}

fn path(walk: &Walk, env: &Env<'_>) -> Result<Path, QueryError> {
    let mut path = Path {
        src: vertex(&walk.start, env)?,
        steps: Vec::with_capacity(walk.hops.len()),
    };
    for hop in &walk.hops {
        let Value::Edge(edge) = edge(hop, env)? else {
            continue;
        };
        path.steps.push(Step {
            dst: vertex(&hop.to, env)?,
            etype: edge.etype,
            name: edge.name,
            ranking: edge.ranking,
            props: edge.props,
        });
    }
    Ok(path)
}
