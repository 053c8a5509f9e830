//! UPDATE and UPSERT: a row is read, changed here and written back. While that goes on, the same vertex or edge
//! refuses another one, as the original does.

use nebula_wire::{DataSet, Value};

use super::{Context, Table, fetch::edge_rows, insert::constant};
use crate::{
    graph::{
        catalog::{SchemaInfo, SpaceInfo},
        error::QueryError,
        eval::{self, Scope},
        row::{self, RowWriter},
        shards::{Batches, tag_rows},
        vid::Vid,
    },
    meta::model::SchemaKind,
    ngql::ast::{Column, Expr, Target, Update},
    rpc::wire::put_bytes,
    storage::request,
};

/// Which row is meant.
#[derive(Debug)]
enum Place {
    Vertex(Vid),
    Edge(Vid, i64, Vid),
}

impl Place {
    fn new(target: &Target, info: &SpaceInfo) -> Result<Self, QueryError> {
        let vid = |expr| Vid::from_value(&*constant(expr)?, info.space.vid);
        Ok(match target {
            Target::Vertex(expr) => Self::Vertex(vid(expr)?),
            Target::Edge(key) => Self::Edge(vid(&key.src)?, key.rank, vid(&key.dst)?),
        })
    }

    const fn kind(&self) -> SchemaKind {
        match self {
            Self::Vertex(_) => SchemaKind::Tag,
            Self::Edge(..) => SchemaKind::Edge,
        }
    }

    /// Names the row among all rows of all spaces.
    fn key(&self, info: &SpaceInfo, schema: i32) -> Vec<u8> {
        format!("{} {schema} {self:?}", info.space.id).into_bytes()
    }

    async fn read(
        &self,
        context: &Context<'_>,
        info: &SpaceInfo,
        schema: &SchemaInfo,
    ) -> Result<Option<Vec<u8>>, QueryError> {
        let id = schema.schema.id;
        match self {
            Self::Vertex(vid) => {
                let vids = std::slice::from_ref(vid);
                let rows = tag_rows(context.engine, info, vids, &[id]).await?;
                let row = rows.get(vid).and_then(|rows| rows.first());
                Ok(row.map(|(_, bytes)| bytes.to_vec()))
            }
            Self::Edge(src, rank, dst) => {
                let key = [(src.clone(), *rank, dst.clone())];
                let rows = edge_rows(context, info, id, &key).await?;
                Ok(rows.into_iter().next().flatten())
            }
        }
    }

    async fn write(
        &self,
        context: &Context<'_>,
        info: &SpaceInfo,
        id: i32,
        row: &[u8],
    ) -> Result<(), QueryError> {
        // Not only where it is missing.
        let keep = u8::from(false);
        match self {
            Self::Vertex(vid) => {
                let mut batches = Batches::new(info, |head| {
                    head.push(keep);
                    request::put_ids(head, &[id]);
                });
                let body = batches.body(vid.as_ref());
                vid.as_ref().put(body);
                put_bytes(body, row);
                batches.send(context.engine, request::OP_PUT_TAGS).await?;
            }
            Self::Edge(src, rank, dst) => {
                let mut batches = Batches::new(info, |head| head.push(keep));
                for (kind, here, other) in [(id, src, dst), (-id, dst, src)] {
                    let body = batches.body(here.as_ref());
                    request::put_edge(body, kind, here.as_ref(), *rank, other.as_ref());
                    put_bytes(body, row);
                }
                batches.send(context.engine, request::OP_PUT_EDGES).await?;
            }
        }
        Ok(())
    }
}

/// The values of a row; `None` = a field that must be given and was not yet.
struct Fields<'a> {
    schema: &'a SchemaInfo,
    values: Vec<Option<Value>>,
}

impl<'a> Fields<'a> {
    fn of_row(schema: &'a SchemaInfo, row: &[u8]) -> Result<Self, QueryError> {
        let values = row::read_all(schema, row)?;
        Ok(Self {
            schema,
            values: values.into_iter().map(|(_, value)| Some(value)).collect(),
        })
    }

    fn fresh(schema: &'a SchemaInfo) -> Self {
        let fields = schema.fields().iter().enumerate();
        let value = |(at, field): (usize, &crate::meta::model::Field)| {
            let default = schema.default_at(at).cloned();
            default.or_else(|| field.nullable.then_some(Value::NULL))
        };
        Self {
            schema,
            values: fields.map(value).collect(),
        }
    }

    fn get(&self, prop: &str) -> Result<Value, QueryError> {
        let unknown = || QueryError::semantic(format!("`{prop}' is not defined"));
        let at = self.schema.place(prop).ok_or_else(unknown)?;
        self.values
            .get(at)
            .cloned()
            .flatten()
            .ok_or_else(incomplete)
    }

    fn encode(&self) -> Result<Vec<u8>, QueryError> {
        let mut row = Vec::new();
        let mut writer = RowWriter::new(self.schema, &mut row);
        for (field, value) in self.schema.fields().iter().zip(&self.values) {
            writer.put(field, value.as_ref().ok_or_else(incomplete)?)?;
        }
        Ok(row)
    }
}

impl Scope for Fields<'_> {
    fn name(&self, name: &str) -> Result<Value, QueryError> {
        self.get(name)
    }

    fn prop(&self, owner: &str, prop: &str) -> Result<Value, QueryError> {
        if owner == self.schema.schema.name {
            return self.get(prop);
        }
        Err(QueryError::semantic(format!(
            "No schema found for `{owner}'"
        )))
    }

    fn end_prop(&self, destination: bool, tag: &str, prop: &str) -> Result<Value, QueryError> {
        if destination {
            return Err(QueryError::semantic(format!(
                "Has wrong expr in `$$.{tag}.{prop}'"
            )));
        }
        self.prop(tag, prop)
    }
}

fn incomplete() -> QueryError {
    QueryError::execution(
        "Storage Error: Invalid field value: may be the filed is not NULL or without default value or wrong schema.",
    )
}

fn missing() -> QueryError {
    QueryError::execution("Storage Error: Vertex or edge not found.")
}

fn conflict() -> QueryError {
    QueryError::execution(
        "Storage Error: More than one request trying to add/update/delete one edge/vertex at the same time.",
    )
}

/// The one tag or edge type that ON or the properties name.
fn schema_name(update: &Update) -> Result<&str, QueryError> {
    let owners = update.sets.iter().filter_map(|(owner, ..)| owner.as_ref());
    let mut names = update.schema.iter().chain(owners);
    let none = || QueryError::semantic("Multi schema name: ,");
    let first = names.next().ok_or_else(none)?;
    match names.find(|name| *name != first) {
        Some(other) => Err(QueryError::semantic(format!(
            "Multi schema name: {first},{other}"
        ))),
        None => Ok(first),
    }
}

pub(super) async fn run(context: &Context<'_>, update: &Update) -> Table {
    let info = context.space()?;
    let place = Place::new(&update.target, &info)?;
    let schema = info.schema(place.kind(), schema_name(update)?)?;
    let id = schema.schema.id;
    let in_flight = &context.engine.in_flight;
    let _mine = in_flight.begin(place.key(&info, id)).ok_or_else(conflict)?;
    let old = place.read(context, &info, schema).await?;
    let mut fields = match &old {
        Some(row) => Fields::of_row(schema, row)?,
        None if update.upsert => Fields::fresh(schema),
        None => return Err(missing()),
    };
    // A row that UPSERT makes is made whatever WHEN says.
    if old.is_none() || eval::passes(update.when.as_ref(), &fields)? {
        for (_, prop, expr) in &update.sets {
            set(&mut fields, place.kind(), prop, expr)?;
        }
        place.write(context, &info, id, &fields.encode()?).await?;
    }
    let Some(yields) = &update.yields else {
        return Ok(None);
    };
    let mut data = DataSet::with_columns(yields.columns.iter().map(Column::name));
    let columns = yields.columns.iter();
    let row = columns.map(|column| eval::eval(&column.expr, &fields));
    data.rows.push(row.collect::<Result<_, _>>()?);
    Ok(Some(data))
}

/// What was set before is seen by what is set after it.
fn set(
    fields: &mut Fields<'_>,
    kind: SchemaKind,
    prop: &str,
    expr: &Expr,
) -> Result<(), QueryError> {
    let Some(at) = fields.schema.place(prop) else {
        let word = match kind {
            SchemaKind::Tag => "Tag",
            SchemaKind::Edge => "Edge",
        };
        return Err(QueryError::execution(format!(
            "Storage Error: {word} prop not found."
        )));
    };
    fields.values[at] = Some(eval::eval(expr, fields)?);
    Ok(())
}
