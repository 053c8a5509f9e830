//! CREATE, ALTER and DROP of spaces, tags, edge types and indexes.

use super::{Context, Table};
use crate::{
    graph::error::QueryError,
    line::Line,
    meta::{
        message::{NewSchema, NewSpace, Request},
        model::{Index, VidType},
    },
    ngql::ast::{CreateSchema, CreateSpace, Stmt},
};

pub(super) async fn run(context: &Context<'_>, statement: Stmt) -> Table {
    match statement {
        Stmt::CreateSpace(new) => create_space(context, new).await,
        Stmt::DropSpace { name, if_exists } => {
            let current = *context.live.space() == name;
            context
                .order(Request::DropSpace { name, if_exists })
                .await?;
            if current {
                context.engine.use_space(context.live, "").await;
            }
            Ok(None)
        }
        Stmt::CreateSchema(new) => create_schema(context, new).await,
        Stmt::AlterSchema { kind, name, items } => {
            let space = context.space()?.space.id;
            context
                .order(Request::AlterSchema {
                    space,
                    kind,
                    name,
                    items,
                })
                .await
        }
        Stmt::DropSchema {
            kind,
            name,
            if_exists,
        } => {
            let space = context.space()?.space.id;
            context
                .order(Request::DropSchema {
                    space,
                    kind,
                    name,
                    if_exists,
                })
                .await
        }
        other => index(context, other).await,
    }
}

/// Indexes.
async fn index(context: &Context<'_>, statement: Stmt) -> Table {
    match statement {
        Stmt::CreateIndex {
            kind,
            name,
            on,
            fields,
            if_not_exists,
        } => {
            let space = context.space()?.space.id;
            let index = Index {
                id: 0,
                name,
                on: kind,
                schema: on,
                fields,
                built: false,
            };
            context
                .order(Request::CreateIndex {
                    space,
                    index,
                    if_not_exists,
                })
                .await
        }
        Stmt::DropIndex {
            kind,
            name,
            if_exists,
        } => {
            let space = context.space()?.space.id;
            context
                .order(Request::DropIndex {
                    space,
                    on: kind,
                    name,
                    if_exists,
                })
                .await
        }
        other => Err(QueryError::not_supported(&format!("{other:?}"))),
    }
}

fn number(value: Option<i64>, what: &str) -> Result<Option<u32>, QueryError> {
    let bad = |_| QueryError::semantic(format!("{what} value should be greater than zero"));
    value
        .map(|value| u32::try_from(value).map_err(bad))
        .transpose()
}

async fn create_space(context: &Context<'_>, new: CreateSpace) -> Table {
    let vid = match (new.vid, context.engine.line) {
        (Some(vid), _) => vid,
        // The default of the first releases.
        (None, Line::V2_0_1) => VidType::Text(8),
        (None, _) => {
            return Err(QueryError::semantic(
                "space vid_type must be specified explicitly",
            ));
        }
    };
    let request = NewSpace {
        name: new.name,
        parts: number(new.parts, "Partition_num")?,
        replica: number(new.replica, "Replica_factor")?,
        vid,
        comment: new.comment,
        if_not_exists: new.if_not_exists,
    };
    context.order(Request::CreateSpace(request)).await
}

async fn create_schema(context: &Context<'_>, new: CreateSchema) -> Table {
    let mut names: Vec<_> = new.fields.iter().map(|field| field.name.as_str()).collect();
    names.sort_unstable();
    if let Some([twice, _]) = names.array_windows().find(|[a, b]| a == b) {
        return Err(QueryError::semantic(format!(
            "Duplicate column name `{twice}'"
        )));
    }
    let request = NewSchema {
        space: context.space()?.space.id,
        kind: new.kind,
        name: new.name,
        fields: new.fields,
        ttl_col: new.ttl_col,
        ttl_duration: new.ttl_duration,
        comment: new.comment,
        if_not_exists: new.if_not_exists,
    };
    context.order(Request::CreateSchema(request)).await
}
