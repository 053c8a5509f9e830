//! graphd's copy of metad's catalog, indexed for queries. Refreshed by heartbeats, so a new space or tag is unknown
//! here for up to one interval: a property of the original that users trip over.

use std::{collections::HashMap, sync::Arc};

use nebula_wire::Value;

use super::{error::QueryError, eval};
use crate::{
    meta::model::{Catalog, Field, Schema, SchemaKind, Space, VidType},
    ngql,
    storage::VidRef,
};

/// A tag or edge type with its defaults evaluated.
#[derive(Debug, Clone)]
pub(super) struct SchemaInfo {
    pub schema: Schema,
    /// Default values by field; `None` = there is none.
    defaults: Vec<Option<Value>>,
}

impl SchemaInfo {
    pub(super) fn new(schema: &Schema) -> Self {
        let defaults = schema
            .fields()
            .iter()
            .map(|field| field.default.as_deref().and_then(default_value));
        Self {
            defaults: defaults.collect(),
            schema: schema.clone(),
        }
    }

    /// The current fields.
    pub(super) fn fields(&self) -> &[Field] {
        self.schema.fields()
    }

    /// Number of the current version.
    pub(super) fn version(&self) -> usize {
        self.schema.versions.len().saturating_sub(1)
    }

    /// Place of a field.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.fields().iter().position(|field| field.name == name)
    }

    /// Default of the field at `place`.
    pub(super) fn default_at(&self, place: usize) -> Option<&Value> {
        self.defaults.get(place)?.as_ref()
    }

    /// Default of a field, NULL when it has none.
    pub(super) fn default_of(&self, name: &str) -> Value {
        let found = self.place(name).and_then(|place| self.default_at(place));
        found.cloned().unwrap_or(Value::NULL)
    }
}

/// `text` is an expression printed by the parser.
fn default_value(text: &str) -> Option<Value> {
    let statements = ngql::parse(format!("YIELD {text}").as_bytes()).ok()?;
    let Some(ngql::ast::Stmt::Yield { yields, .. }) = statements.first() else {
        return None;
    };
    eval::eval(&yields.columns.first()?.expr, &eval::NoScope).ok()
}

/// A space, ready to be queried.
#[derive(Debug)]
pub(super) struct SpaceInfo {
    pub space: Space,
    tags: HashMap<String, Arc<SchemaInfo>>,
    edges: HashMap<String, Arc<SchemaInfo>>,
    tags_by_id: HashMap<i32, Arc<SchemaInfo>>,
    edges_by_id: HashMap<i32, Arc<SchemaInfo>>,
    /// Storaged addresses that are home to some partition.
    pub hosts: Vec<String>,
    /// Index into `hosts` by partition.
    homes: Vec<usize>,
}

impl SpaceInfo {
    fn new(space: &Space) -> Self {
        let index = |schemas: &std::collections::BTreeMap<String, Schema>| -> Vec<Arc<SchemaInfo>> {
            schemas
                .values()
                .map(|schema| Arc::new(SchemaInfo::new(schema)))
                .collect()
        };
        let (tags, edges) = (index(&space.tags), index(&space.edges));
        let by_name = |list: &[Arc<SchemaInfo>]| {
            list.iter()
                .map(|s| (s.schema.name.clone(), Arc::clone(s)))
                .collect()
        };
        let by_id =
            |list: &[Arc<SchemaInfo>]| list.iter().map(|s| (s.schema.id, Arc::clone(s))).collect();
        let mut hosts: Vec<String> = space
            .parts
            .iter()
            .map(|part| part.home.to_string())
            .collect();
        hosts.sort();
        hosts.dedup();
        let home = |part: &crate::meta::model::Part| {
            hosts.binary_search(&part.home.to_string()).unwrap_or(0)
        };
        Self {
            tags: by_name(&tags),
            edges: by_name(&edges),
            tags_by_id: by_id(&tags),
            edges_by_id: by_id(&edges),
            homes: space.parts.iter().map(home).collect(),
            hosts,
            space: space.clone(),
        }
    }

    /// A space of nothing, for statements that read no graph.
    pub(super) fn nothing() -> Self {
        Self::new(&Space {
            id: 0,
            name: String::new(),
            replica: 1,
            vid: VidType::Int,
            comment: None,
            parts: Vec::new(),
            tags: std::collections::BTreeMap::new(),
            edges: std::collections::BTreeMap::new(),
            indexes: std::collections::BTreeMap::new(),
            stats: None,
        })
    }

    /// The partition (from 1) and the place in `hosts` of a vertex.
    pub(super) fn place(&self, vid: VidRef<'_>) -> (usize, usize) {
        let part = vid.part(self.homes.len());
        (part + 1, self.homes.get(part).copied().unwrap_or(0))
    }

    pub(super) fn tag(&self, name: &str) -> Option<&Arc<SchemaInfo>> {
        self.tags.get(name)
    }

    pub(super) fn edge(&self, name: &str) -> Option<&Arc<SchemaInfo>> {
        self.edges.get(name)
    }

    /// By kind and name, or the error a query gets.
    pub(super) fn schema(
        &self,
        kind: SchemaKind,
        name: &str,
    ) -> Result<&Arc<SchemaInfo>, QueryError> {
        let found = match kind {
            SchemaKind::Tag => self.tag(name),
            SchemaKind::Edge => self.edge(name),
        };
        found.ok_or_else(|| QueryError::semantic(format!("No schema found for `{name}'")))
    }

    pub(super) fn tag_by_id(&self, id: i32) -> Option<&Arc<SchemaInfo>> {
        self.tags_by_id.get(&id)
    }

    /// An edge type by its id, whatever its sign.
    pub(super) fn edge_by_id(&self, id: i32) -> Option<&Arc<SchemaInfo>> {
        self.edges_by_id.get(&id.abs())
    }
}

/// The catalog as queries use it.
#[derive(Debug, Default)]
pub(super) struct GraphCatalog {
    pub version: u64,
    pub users: HashMap<String, String>,
    spaces: HashMap<String, Arc<SpaceInfo>>,
}

impl GraphCatalog {
    pub(super) fn new(catalog: &Catalog) -> Self {
        Self {
            version: catalog.version,
            users: catalog.users.clone().into_iter().collect(),
            spaces: catalog
                .spaces
                .iter()
                .map(|(name, space)| (name.clone(), Arc::new(SpaceInfo::new(space))))
                .collect(),
        }
    }

    pub(super) fn space(&self, name: &str) -> Option<&Arc<SpaceInfo>> {
        self.spaces.get(name)
    }

    /// All spaces by name.
    pub(super) fn spaces(&self) -> Vec<&Arc<SpaceInfo>> {
        let mut spaces: Vec<_> = self.spaces.values().collect();
        spaces.sort_by(|a, b| a.space.name.cmp(&b.space.name));
        spaces
    }
}
