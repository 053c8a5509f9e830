//! LOOKUP: reads every row of a tag or edge type and filters. An index must exist, though it is not what finds them.

use std::collections::HashMap;

use nebula_wire::{DataSet, Value};

use super::{
    Context, Table,
    fetch::{check_props, distinct, missing_yield},
    scan,
    scope::{EdgeScope, VertexScope},
};
use crate::{
    graph::{
        catalog::SpaceInfo,
        error::QueryError,
        eval::{self, Scope},
        vid::vid_value,
    },
    meta::model::SchemaKind,
    ngql::ast::{Column, Expr, Yield},
    storage::request::EdgeRow,
};

/// What the rows of a LOOKUP are made of.
struct Lookup<'a> {
    filter: Option<&'a Expr>,
    yields: Option<&'a Yield>,
    /// 2.x puts the ids first.
    ids: bool,
    data: DataSet,
}

impl Lookup<'_> {
    fn push(
        &mut self,
        ids: impl FnOnce() -> Vec<Value>,
        scope: &dyn Scope,
    ) -> Result<(), QueryError> {
        if !eval::passes(self.filter, scope)? {
            return Ok(());
        }
        let mut row = if self.ids { ids() } else { Vec::new() };
        for column in self.yields.into_iter().flat_map(|yields| &yields.columns) {
            row.push(eval::eval(&column.expr, scope)?);
        }
        self.data.rows.push(row);
        Ok(())
    }
}

pub(super) async fn run(
    context: &Context<'_>,
    on: &str,
    filter: Option<&Expr>,
    yields: Option<&Yield>,
) -> Table {
    let info = context.space()?;
    let kind = match (info.tag(on), info.edge(on)) {
        (Some(_), _) => SchemaKind::Tag,
        (None, Some(_)) => SchemaKind::Edge,
        (None, None) => {
            return Err(QueryError::semantic(format!(
                "`{on}' not found in space [{}].",
                info.space.name
            )));
        }
    };
    let ids = !context.engine.line.is_3x();
    if yields.is_none() && !ids {
        return Err(missing_yield());
    }
    let mut indexes = info.space.indexes.values();
    if !indexes.any(|index| index.on == kind && index.schema == on) {
        return Err(QueryError::execution("IndexNotFound: No valid index found"));
    }
    check_props(&info, kind, yields)?;
    let first: &[&str] = match (ids, kind) {
        (false, _) => &[],
        (true, SchemaKind::Tag) => &["VertexID"],
        (true, SchemaKind::Edge) => &["SrcVID", "DstVID", "Ranking"],
    };
    let named = yields
        .into_iter()
        .flat_map(|yields| &yields.columns)
        .map(Column::name);
    let columns = first.iter().map(|name| (*name).to_owned()).chain(named);
    let data = DataSet::with_columns(columns);
    let mut lookup = Lookup {
        filter,
        yields,
        ids,
        data,
    };
    match kind {
        SchemaKind::Tag => tags(context, &info, on, &mut lookup).await?,
        SchemaKind::Edge => edges(context, &info, on, &mut lookup).await?,
    }
    if yields.is_some_and(|yields| yields.distinct) {
        distinct(&mut lookup.data);
    }
    Ok(Some(lookup.data))
}

async fn tags(
    context: &Context<'_>,
    info: &SpaceInfo,
    on: &str,
    lookup: &mut Lookup<'_>,
) -> Result<(), QueryError> {
    let id = info.schema(SchemaKind::Tag, on)?.schema.id;
    scan::tags(context, info, &[id], usize::MAX, |vid, rows| {
        let scope = VertexScope {
            info,
            vid,
            rows: &rows,
        };
        lookup.push(|| vec![vid_value(vid)], &scope)
    })
    .await
}

async fn edges(
    context: &Context<'_>,
    info: &SpaceInfo,
    on: &str,
    lookup: &mut Lookup<'_>,
) -> Result<(), QueryError> {
    let schema = info.schema(SchemaKind::Edge, on)?;
    let ends = HashMap::new();
    scan::edges(context, info, &[schema.schema.id], usize::MAX, |hop| {
        let scope = EdgeScope {
            info,
            src: &hop.from,
            edge: EdgeRow {
                kind: hop.kind,
                rank: hop.rank,
                other: hop.to.as_ref(),
                row: &hop.row,
            },
            schema,
            ends: &ends,
            input: None,
        };
        let ids = || {
            vec![
                vid_value(hop.from.as_ref()),
                vid_value(hop.to.as_ref()),
                Value::Int(hop.rank),
            ]
        };
        lookup.push(ids, &scope)
    })
    .await
}
