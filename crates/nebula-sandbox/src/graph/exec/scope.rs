//! Where expressions of queries find their names: the row of a table, an edge of a traversal, a vertex.

use std::collections::HashMap;

use nebula_wire::{
    DataSet, Value,
    value::{Edge, Tag, Vertex},
};

use crate::{
    graph::{
        catalog::{SchemaInfo, SpaceInfo},
        error::QueryError,
        eval::Scope,
        row,
        shards::TagRows,
        vid::{Vid, vid_value},
    },
    ngql::ast::Expr,
    storage::{VidRef, request::EdgeRow},
};

/// Calls `visit` for `expr` and everything in it.
pub(super) fn walk<'e>(expr: &'e Expr, visit: &mut impl FnMut(&'e Expr)) {
    visit(expr);
    expr.children(&mut |inner| walk(inner, visit));
}

/// A row of a table: `$-.column`, and columns by bare name.
pub(super) struct RowScope<'a> {
    pub(super) table: &'a DataSet,
    pub(super) row: &'a [Value],
}

impl RowScope<'_> {
    fn find(&self, column: &str) -> Option<Value> {
        let at = self.table.column(column)?;
        self.row.get(at).cloned()
    }
}

impl Scope for RowScope<'_> {
    fn name(&self, name: &str) -> Result<Value, QueryError> {
        self.find(name)
            .ok_or_else(|| QueryError::semantic(format!("`{name}' is not defined")))
    }

    fn input(&self, column: &str) -> Result<Value, QueryError> {
        let missing = || QueryError::semantic(format!("`$-.{column}', not exist prop `{column}'"));
        self.find(column).ok_or_else(missing)
    }
}

/// A vertex with the tags that were read.
pub(super) fn vertex_value(
    info: &SpaceInfo,
    vid: VidRef<'_>,
    rows: Option<&TagRows>,
) -> Result<Value, QueryError> {
    let mut vertex = Vertex {
        vid: vid_value(vid),
        tags: Vec::new(),
    };
    for (id, bytes) in rows.into_iter().flatten() {
        // A tag that was dropped leaves its rows behind.
        if let Some(schema) = info.tag_by_id(*id) {
            vertex.tags.push(Tag {
                name: schema.schema.name.as_bytes().to_vec(),
                props: row::read_all(schema, bytes)?,
            });
        }
    }
    Ok(Value::Vertex(Box::new(vertex)))
}

/// One property of a tag; EMPTY where the vertex does not have the tag.
pub(super) fn tag_prop(
    info: &SpaceInfo,
    rows: Option<&TagRows>,
    tag: &str,
    prop: &str,
) -> Result<Value, QueryError> {
    let schema = info.schema(crate::meta::model::SchemaKind::Tag, tag)?;
    let id = schema.schema.id;
    match rows.into_iter().flatten().find(|(known, _)| *known == id) {
        Some((_, bytes)) => Ok(row::read_field(schema, bytes, prop)?),
        None => Ok(Value::Empty),
    }
}

/// An edge with its properties.
pub(super) fn edge_value(
    schema: &SchemaInfo,
    src: VidRef<'_>,
    edge: &EdgeRow<'_>,
) -> Result<Value, QueryError> {
    Ok(Value::Edge(Box::new(Edge {
        src: vid_value(src),
        dst: vid_value(edge.other),
        etype: edge.kind,
        name: schema.schema.name.as_bytes().to_vec(),
        ranking: edge.rank,
        props: row::read_all(schema, edge.row)?,
    })))
}

/// `_src`, `_dst`, `_rank`, `_type` or a stored property of an edge.
pub(super) fn edge_prop(
    schema: &SchemaInfo,
    src: VidRef<'_>,
    edge: &EdgeRow<'_>,
    prop: &str,
) -> Result<Value, QueryError> {
    Ok(match prop {
        "_src" => vid_value(src),
        "_dst" => vid_value(edge.other),
        "_rank" => Value::Int(edge.rank),
        "_type" => Value::Int(edge.kind.into()),
        _ => row::read_field(schema, edge.row, prop)?,
    })
}

/// An edge met on the way, with what is known about its ends.
pub(super) struct EdgeScope<'a> {
    pub(super) info: &'a SpaceInfo,
    pub(super) src: &'a Vid,
    pub(super) edge: EdgeRow<'a>,
    pub(super) schema: &'a SchemaInfo,
    pub(super) ends: &'a HashMap<Vid, TagRows>,
    pub(super) input: Option<RowScope<'a>>,
}

impl EdgeScope<'_> {
    fn end_vid(&self, destination: bool) -> VidRef<'_> {
        if destination {
            self.edge.other
        } else {
            self.src.as_ref()
        }
    }

    fn rows(&self, destination: bool) -> Option<&TagRows> {
        if destination {
            self.ends.get(&Vid::of(self.edge.other))
        } else {
            self.ends.get(self.src)
        }
    }
}

impl Scope for EdgeScope<'_> {
    fn name(&self, name: &str) -> Result<Value, QueryError> {
        match name.to_ascii_lowercase().as_str() {
            "edge" => edge_value(self.schema, self.src.as_ref(), &self.edge),
            _ => Err(QueryError::semantic(format!("`{name}' is not defined"))),
        }
    }

    fn prop(&self, owner: &str, prop: &str) -> Result<Value, QueryError> {
        if owner == self.schema.schema.name {
            return edge_prop(self.schema, self.src.as_ref(), &self.edge, prop);
        }
        // Another type of the same OVER clause.
        Ok(Value::Empty)
    }

    fn end(&self, destination: bool) -> Result<Value, QueryError> {
        vertex_value(self.info, self.end_vid(destination), self.rows(destination))
    }

    fn end_prop(&self, destination: bool, tag: &str, prop: &str) -> Result<Value, QueryError> {
        tag_prop(self.info, self.rows(destination), tag, prop)
    }

    fn input(&self, column: &str) -> Result<Value, QueryError> {
        match &self.input {
            Some(input) => input.input(column),
            None => Err(QueryError::semantic(format!(
                "`$-.{column}', not exist prop `{column}'"
            ))),
        }
    }

    fn shortcut(&self, function: &str, argument: &Expr) -> Option<Result<Value, QueryError>> {
        let is = |name: &str| function.eq_ignore_ascii_case(name);
        let value = match argument {
            Expr::Dst if is("id") => vid_value(self.edge.other),
            Expr::Src if is("id") => vid_value(self.src.as_ref()),
            Expr::Name(name) if name.eq_ignore_ascii_case("edge") => {
                let (src, dst) = (vid_value(self.src.as_ref()), vid_value(self.edge.other));
                let forward = self.edge.kind > 0;
                match function.to_ascii_lowercase().as_str() {
                    "src" => {
                        if forward {
                            src
                        } else {
                            dst
                        }
                    }
                    "dst" => {
                        if forward {
                            dst
                        } else {
                            src
                        }
                    }
                    "rank" => Value::Int(self.edge.rank),
                    "type" => Value::from(self.schema.schema.name.as_str()),
                    "typeid" => Value::Int(self.edge.kind.into()),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Ok(value))
    }
}

/// A vertex that was fetched.
pub(super) struct VertexScope<'a> {
    pub(super) info: &'a SpaceInfo,
    pub(super) vid: VidRef<'a>,
    pub(super) rows: &'a TagRows,
}

impl Scope for VertexScope<'_> {
    fn name(&self, name: &str) -> Result<Value, QueryError> {
        if name.eq_ignore_ascii_case("vertex") {
            vertex_value(self.info, self.vid, Some(self.rows))
        } else {
            Err(QueryError::semantic(format!("`{name}' is not defined")))
        }
    }

    fn prop(&self, owner: &str, prop: &str) -> Result<Value, QueryError> {
        tag_prop(self.info, Some(self.rows), owner, prop)
    }

    fn shortcut(&self, function: &str, argument: &Expr) -> Option<Result<Value, QueryError>> {
        let vertex = matches!(argument, Expr::Name(name) if name.eq_ignore_ascii_case("vertex"));
        (vertex && function.eq_ignore_ascii_case("id")).then(|| Ok(vid_value(self.vid)))
    }
}
