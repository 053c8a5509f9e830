//! FETCH PROP ON tags and on edges.

use std::collections::HashSet;

use nebula_wire::{DataSet, Value};

use super::{
    Context, Table,
    insert::constant,
    scope::{EdgeScope, VertexScope, edge_prop, edge_value, vertex_value},
};
use crate::{
    graph::{
        catalog::{SchemaInfo, SpaceInfo},
        error::QueryError,
        eval,
        key::{keep_first, key_of},
        shards::{Batches, tag_rows},
        vid::{Vid, vid_value},
    },
    meta::model::SchemaKind,
    ngql::ast::{EdgeKey, From, Yield},
    rpc::wire::Reader,
    storage::request::{self, EdgeRow},
};

/// The vertices a statement starts from.
pub(super) fn start_vids(
    context: &Context<'_>,
    info: &SpaceInfo,
    from: &From,
) -> Result<Vec<Vid>, QueryError> {
    match from {
        From::Vids(exprs) => {
            let vid = |expr| Vid::from_value(&*constant(expr)?, info.space.vid);
            exprs.iter().map(vid).collect()
        }
        From::Input(column) => {
            let Some(input) = &context.input else {
                return Ok(Vec::new());
            };
            let at = input.column(column);
            let at = at.ok_or_else(|| {
                QueryError::semantic(format!("`$-.{column}', not exist prop `{column}'"))
            })?;
            let values = input.rows.iter().filter_map(|row| row.get(at));
            values
                .map(|value| Vid::from_value(value, info.space.vid))
                .collect()
        }
    }
}

pub(super) fn missing_yield() -> QueryError {
    QueryError::semantic("Missing yield clause.")
}

/// Removes repeated rows.
pub(super) fn distinct(data: &mut DataSet) {
    keep_first(&mut data.rows, |row| key_of(row));
}

/// Whether the line answers without a YIELD; from 3.0 on there must be one.
fn old_line(context: &Context<'_>, yields: Option<&Yield>) -> Result<bool, QueryError> {
    let old = !context.engine.line.is_3x();
    if yields.is_none() && !old {
        return Err(missing_yield());
    }
    Ok(old)
}

pub(super) async fn tags(
    context: &Context<'_>,
    tags: &[String],
    vids: &From,
    yields: Option<&Yield>,
) -> Table {
    let info = context.space()?;
    let old = old_line(context, yields)?;
    let mut ids = Vec::new();
    for tag in tags {
        ids.push(info.schema(SchemaKind::Tag, tag)?.schema.id);
    }
    check_props(&info, SchemaKind::Tag, yields)?;
    let mut vids = start_vids(context, &info, vids)?;
    let mut seen = HashSet::new();
    vids.retain(|vid| seen.insert(vid.clone()));
    let rows = tag_rows(context.engine, &info, &vids, &ids).await?;
    let mut data = DataSet::with_columns(vertex_columns(yields, old));
    for vid in &vids {
        let Some(rows) = rows.get(vid) else { continue };
        let scope = VertexScope {
            info: &info,
            vid: vid.as_ref(),
            rows,
        };
        let row = match yields {
            None => vec![vertex_value(&info, vid.as_ref(), Some(rows))?],
            Some(yields) => {
                let mut row = Vec::with_capacity(yields.columns.len() + 1);
                if old {
                    row.push(vid_value(vid.as_ref()));
                }
                for column in &yields.columns {
                    row.push(eval::eval(&column.expr, &scope)?);
                }
                row
            }
        };
        data.rows.push(row);
    }
    if yields.is_some_and(|yields| yields.distinct) {
        distinct(&mut data);
    }
    Ok(Some(data))
}

fn vertex_columns(yields: Option<&Yield>, old: bool) -> Vec<String> {
    let Some(yields) = yields else {
        return vec!["vertices_".to_owned()];
    };
    let first = old.then(|| "VertexID".to_owned());
    first
        .into_iter()
        .chain(yields.columns.iter().map(crate::ngql::ast::Column::name))
        .collect()
}

/// `name.prop` must name a schema of the kind and one of its properties.
pub(super) fn check_props(
    info: &SpaceInfo,
    kind: SchemaKind,
    yields: Option<&Yield>,
) -> Result<(), QueryError> {
    let mut result = Ok(());
    for column in yields.into_iter().flat_map(|yields| &yields.columns) {
        super::scope::walk(&column.expr, &mut |expr| {
            if let (crate::ngql::ast::Expr::Prop(owner, prop), Ok(())) = (expr, &result) {
                result = check_prop(info, kind, owner, prop);
            }
        });
    }
    result
}

/// One property; built-in ones begin with an underscore.
pub(super) fn check_prop(
    info: &SpaceInfo,
    kind: SchemaKind,
    owner: &str,
    prop: &str,
) -> Result<(), QueryError> {
    let schema = info.schema(kind, owner)?;
    if prop.starts_with('_') || schema.place(prop).is_some() {
        return Ok(());
    }
    Err(QueryError::semantic(format!(
        "`{owner}.{prop}', not found the property `{prop}'."
    )))
}

pub(super) async fn edges(
    context: &Context<'_>,
    edge: &str,
    keys: &[EdgeKey],
    yields: Option<&Yield>,
) -> Table {
    let info = context.space()?;
    let old = old_line(context, yields)?;
    let schema = info.schema(SchemaKind::Edge, edge)?;
    check_props(&info, SchemaKind::Edge, yields)?;
    let mut ends = Vec::new();
    for key in keys {
        let src = Vid::from_value(&*constant(&key.src)?, info.space.vid)?;
        let dst = Vid::from_value(&*constant(&key.dst)?, info.space.vid)?;
        ends.push((src, key.rank, dst));
    }
    let found = edge_rows(context, &info, schema.schema.id, &ends).await?;
    let mut data = DataSet::with_columns(edge_columns(edge, yields, old));
    for ((src, rank, dst), row) in ends.iter().zip(&found) {
        let Some(row) = row else { continue };
        let edge = EdgeRow {
            kind: schema.schema.id,
            rank: *rank,
            other: dst.as_ref(),
            row,
        };
        data.rows
            .push(edge_row(&info, schema, src, edge, yields, old)?);
    }
    if yields.is_some_and(|yields| yields.distinct) {
        distinct(&mut data);
    }
    Ok(Some(data))
}

fn edge_columns(edge: &str, yields: Option<&Yield>, old: bool) -> Vec<String> {
    let Some(yields) = yields else {
        return vec!["edges_".to_owned()];
    };
    let first: &[&str] = if old { &["_src", "_dst", "_rank"] } else { &[] };
    let first = first.iter().map(|prop| format!("{edge}.{prop}"));
    first
        .chain(yields.columns.iter().map(crate::ngql::ast::Column::name))
        .collect()
}

fn edge_row(
    info: &SpaceInfo,
    schema: &SchemaInfo,
    src: &Vid,
    edge: EdgeRow<'_>,
    yields: Option<&Yield>,
    old: bool,
) -> Result<Vec<Value>, QueryError> {
    let Some(yields) = yields else {
        return Ok(vec![edge_value(schema, src.as_ref(), &edge)?]);
    };
    let mut row = Vec::new();
    for prop in ["_src", "_dst", "_rank"].iter().filter(|_| old) {
        row.push(edge_prop(schema, src.as_ref(), &edge, prop)?);
    }
    let ends = std::collections::HashMap::new();
    let scope = EdgeScope {
        info,
        src,
        edge,
        schema,
        ends: &ends,
        input: None,
    };
    for column in &yields.columns {
        row.push(eval::eval(&column.expr, &scope)?);
    }
    Ok(row)
}

/// Rows of edges by (source, rank, destination); `None` where there is no such edge.
pub(super) async fn edge_rows(
    context: &Context<'_>,
    info: &SpaceInfo,
    kind: i32,
    ends: &[(Vid, i64, Vid)],
) -> Result<Vec<Option<Vec<u8>>>, QueryError> {
    let mut batches = Batches::new(info, |_| {});
    for (member, (src, rank, dst)) in ends.iter().enumerate() {
        let src = src.as_ref();
        request::put_edge(batches.body(src), kind, src, *rank, dst.as_ref());
        batches.note(member, src);
    }
    let answers = batches.send(context.engine, request::OP_EDGES).await?;
    let mut rows = vec![None; ends.len()];
    for answer in &answers {
        let mut reader = Reader::new(&answer.bytes);
        for member in &answer.members {
            let found = reader.u8()? != 0;
            let row = reader.bytes()?;
            rows[*member] = found.then(|| row.to_vec());
        }
    }
    Ok(rows)
}
