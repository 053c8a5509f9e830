//! DESCRIBE and SHOW CREATE.

use nebula_wire::Value;

use super::{Context, Table, int, optional, space_not_found, table, text};
use crate::{
    graph::{catalog::SpaceInfo, error::QueryError},
    line::Line,
    meta::model::{Field, PropType, Schema, SchemaKind, VidType},
};

pub(super) fn vid_type(vid: VidType) -> String {
    match vid {
        VidType::Int => "INT64".to_owned(),
        VidType::Text(size) => format!("FIXED_STRING({size})"),
    }
}

pub(super) fn space(context: &Context<'_>, name: &str) -> Table {
    let info = context
        .catalog
        .space(name)
        .ok_or_else(|| space_not_found(name))?;
    let space = &info.space;
    let mut columns = vec![
        "ID",
        "Name",
        "Partition Number",
        "Replica Factor",
        "Charset",
        "Collate",
        "Vid Type",
    ];
    let mut row = vec![
        Value::Int(space.id.into()),
        text(&space.name),
        int(space.parts.len()),
        Value::Int(space.replica.into()),
        text("utf8"),
        text("utf8_bin"),
        text(vid_type(space.vid)),
    ];
    if !context.engine.line.is_3x() {
        columns.extend(["Atomic Edge", "Group"]);
        row.extend([Value::Bool(false), text("default")]);
    }
    if context.engine.line != Line::V2_0_1 {
        columns.push("Comment");
        row.push(optional(space.comment.clone()));
    }
    Ok(Some(table(&columns, vec![row])))
}

fn find<'a>(info: &'a SpaceInfo, kind: SchemaKind, name: &str) -> Result<&'a Schema, QueryError> {
    let missing = || match kind {
        SchemaKind::Tag => QueryError::execution("TagNotFound: "),
        SchemaKind::Edge => QueryError::execution("EdgeNotFound: "),
    };
    info.space.schemas(kind).get(name).ok_or_else(missing)
}

pub(super) fn schema(context: &Context<'_>, kind: SchemaKind, name: &str) -> Table {
    let info = context.space()?;
    let schema = find(&info, kind, name)?;
    let comments = context.engine.line != Line::V2_0_1;
    let mut columns = vec!["Field", "Type", "Null", "Default"];
    if comments {
        columns.push("Comment");
    }
    let indexed = info.schema(kind, name)?;
    let row = |(place, field): (usize, &Field)| {
        let mut row = vec![
            text(&field.name),
            text(field.kind.to_string()),
            text(if field.nullable { "YES" } else { "NO" }),
            indexed.default_at(place).cloned().unwrap_or(Value::Empty),
        ];
        if comments {
            row.push(optional(field.comment.clone()));
        }
        row
    };
    let rows = schema.fields().iter().enumerate().map(row).collect();
    Ok(Some(table(&columns, rows)))
}

pub(super) fn index(context: &Context<'_>, kind: SchemaKind, name: &str) -> Table {
    let info = context.space()?;
    let index = info
        .space
        .indexes
        .get(name)
        .filter(|index| index.on == kind);
    let index = index.ok_or_else(|| QueryError::execution("IndexNotFound: "))?;
    let schema = find(&info, kind, &index.schema)?;
    let row = |(name, length): &(String, Option<u16>)| {
        let kind = schema
            .fields()
            .iter()
            .find(|field| field.name == *name)
            .map(|field| field.kind);
        let kind = match (kind, length) {
            (Some(PropType::Text), Some(length)) => format!("fixed_string({length})"),
            (Some(kind), _) => kind.to_string(),
            (None, _) => String::new(),
        };
        vec![text(name), text(kind)]
    };
    let rows = index.fields.iter().map(row).collect();
    Ok(Some(table(&["Field", "Type"], rows)))
}

/// `SHOW CREATE SPACE`.
pub(super) fn create_space(context: &Context<'_>, name: &str) -> Table {
    let info = context
        .catalog
        .space(name)
        .ok_or_else(|| space_not_found(name))?;
    let space = &info.space;
    let comment = space
        .comment
        .as_ref()
        .map_or_else(String::new, |comment| format!(" comment = '{comment}'"));
    let statement = format!(
        "CREATE SPACE `{}` (partition_num = {}, replica_factor = {}, charset = utf8, collate = utf8_bin, vid_type = {}){comment}",
        space.name,
        space.parts.len(),
        space.replica,
        vid_type(space.vid),
    );
    Ok(Some(table(
        &["Space", "Create Space"],
        vec![vec![text(&space.name), text(statement)]],
    )))
}

/// `SHOW CREATE TAG|EDGE`.
pub(super) fn create_schema(context: &Context<'_>, kind: SchemaKind, name: &str) -> Table {
    let info = context.space()?;
    let schema = find(&info, kind, name)?;
    let (word, columns) = match kind {
        SchemaKind::Tag => ("TAG", ["Tag", "Create Tag"]),
        SchemaKind::Edge => ("EDGE", ["Edge", "Create Edge"]),
    };
    let fields: Vec<_> = schema.fields().iter().map(field_text).collect();
    let statement = format!(
        "CREATE {word} `{name}` (\n{}\n) ttl_duration = {}, ttl_col = \"{}\"",
        fields.join(",\n"),
        schema.ttl_duration,
        schema.ttl_col.as_deref().unwrap_or_default(),
    );
    Ok(Some(table(
        &columns,
        vec![vec![text(name), text(statement)]],
    )))
}

fn field_text(field: &Field) -> String {
    let null = if field.nullable { "NULL" } else { "NOT NULL" };
    let default = field
        .default
        .as_ref()
        .map_or_else(String::new, |default| format!(" DEFAULT {default}"));
    let comment = field
        .comment
        .as_ref()
        .map_or_else(String::new, |comment| format!(" COMMENT \"{comment}\""));
    format!(" `{}` {} {null}{default}{comment}", field.name, field.kind)
}
