//! INSERT VERTEX and INSERT EDGE: rows are encoded here and sent to the storageds in one batch each.

use std::{borrow::Cow, sync::Arc};

use nebula_wire::Value;

use super::{Context, Table};
use crate::{
    graph::{
        catalog::SchemaInfo,
        error::QueryError,
        eval::{self, NoScope},
        row::RowWriter,
        shards::Batches,
        vid::vid_ref,
    },
    meta::model::SchemaKind,
    ngql::ast::{EdgeRow, Expr, VertexRow},
    rpc::wire::put_bytes,
    storage::request,
};

/// Where a field's value comes from.
#[derive(Debug, Clone)]
enum Source {
    /// The n-th value of the row.
    Given(usize),
    Default(Value),
}

/// How rows of one tag or edge type are made from the values of a statement.
#[derive(Debug)]
struct Plan {
    schema: Arc<SchemaInfo>,
    sources: Vec<Source>,
    given: usize,
}

impl Plan {
    /// `names` missing = all fields in their order.
    fn new(schema: &Arc<SchemaInfo>, names: Option<&[String]>) -> Result<Self, QueryError> {
        let all: Vec<String>;
        let names = if let Some(names) = names {
            names
        } else {
            all = schema
                .fields()
                .iter()
                .map(|field| field.name.clone())
                .collect();
            &all
        };
        if let Some(name) = names.iter().find(|name| schema.place(name).is_none()) {
            return Err(QueryError::semantic(format!(
                "Unknown column `{name}' in schema"
            )));
        }
        let mut sources = Vec::new();
        for (place, field) in schema.fields().iter().enumerate() {
            let given = names.iter().position(|name| *name == field.name);
            let source = match (given, schema.default_at(place)) {
                (Some(at), _) => Source::Given(at),
                (None, Some(value)) => Source::Default(value.clone()),
                (None, None) if field.nullable => Source::Default(Value::NULL),
                (None, None) => {
                    let text = "Storage Error: The not null field doesn't have a default value.";
                    return Err(QueryError::execution(text));
                }
            };
            sources.push(source);
        }
        Ok(Self {
            schema: Arc::clone(schema),
            sources,
            given: names.len(),
        })
    }

    /// Makes one row in `out`.
    fn encode(&self, values: &[Expr], out: &mut Vec<u8>) -> Result<(), QueryError> {
        let mut writer = RowWriter::new(&self.schema, out);
        for (field, source) in self.schema.fields().iter().zip(&self.sources) {
            match source {
                Source::Default(value) => writer.put(field, value)?,
                Source::Given(at) => {
                    let expr = values.get(*at).ok_or_else(count_mismatch)?;
                    writer.put(field, &*constant(expr)?)?;
                }
            }
        }
        Ok(())
    }
}

fn count_mismatch() -> QueryError {
    QueryError::semantic("Column count doesn't match value count.")
}

/// The value of an expression, without copying a literal.
pub(super) fn constant(expr: &Expr) -> Result<Cow<'_, Value>, QueryError> {
    match expr {
        Expr::Const(value) => Ok(Cow::Borrowed(value)),
        other => eval::eval(other, &NoScope).map(Cow::Owned),
    }
}

pub(super) async fn vertices(
    context: &Context<'_>,
    tags: &[(String, Option<Vec<String>>)],
    rows: &[VertexRow],
    if_not_exists: bool,
) -> Table {
    let info = context.space()?;
    let mut plans = Vec::new();
    for (name, props) in tags {
        plans.push(Plan::new(
            info.schema(SchemaKind::Tag, name)?,
            props.as_deref(),
        )?);
    }
    let wanted: usize = plans.iter().map(|plan| plan.given).sum();
    let ids: Vec<i32> = plans.iter().map(|plan| plan.schema.schema.id).collect();
    let mut batches = Batches::new(&info, |head| {
        head.push(u8::from(if_not_exists));
        request::put_ids(head, &ids);
    });
    let mut row_bytes = Vec::new();
    for row in rows {
        if row.values.len() != wanted {
            return Err(count_mismatch());
        }
        let value = constant(&row.vid)?;
        let vid = vid_ref(&value, info.space.vid)?;
        let body = batches.body(vid);
        vid.put(body);
        let mut values = row.values.as_slice();
        for plan in &plans {
            let (mine, rest) = values.split_at(plan.given);
            values = rest;
            row_bytes.clear();
            plan.encode(mine, &mut row_bytes)?;
            put_bytes(body, &row_bytes);
        }
    }
    batches
        .send(context.engine, request::OP_PUT_TAGS)
        .await
        .map(|_| None)
}

pub(super) async fn edges(
    context: &Context<'_>,
    edge: &str,
    props: Option<&[String]>,
    rows: &[EdgeRow],
    if_not_exists: bool,
) -> Table {
    let info = context.space()?;
    let plan = Plan::new(info.schema(SchemaKind::Edge, edge)?, props)?;
    let kind = plan.schema.schema.id;
    let mut batches = Batches::new(&info, |head| head.push(u8::from(if_not_exists)));
    let mut row_bytes = Vec::new();
    for row in rows {
        if row.values.len() != plan.given {
            return Err(count_mismatch());
        }
        let (src, dst) = (constant(&row.key.src)?, constant(&row.key.dst)?);
        let (src, dst) = (
            vid_ref(&src, info.space.vid)?,
            vid_ref(&dst, info.space.vid)?,
        );
        row_bytes.clear();
        plan.encode(&row.values, &mut row_bytes)?;
        for (kind, here, other) in [(kind, src, dst), (-kind, dst, src)] {
            let body = batches.body(here);
            request::put_edge(body, kind, here, row.key.rank, other);
            put_bytes(body, &row_bytes);
        }
    }
    batches
        .send(context.engine, request::OP_PUT_EDGES)
        .await
        .map(|_| None)
}
