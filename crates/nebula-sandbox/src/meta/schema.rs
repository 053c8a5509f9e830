//! Tags, edge types and indexes.

use super::{
    message::{AlterItem, Failure, NewSchema, Reply},
    model::{Field, Index, Schema, SchemaKind, State},
};

fn not_found(kind: SchemaKind) -> Failure {
    match kind {
        SchemaKind::Tag => Failure::new(-6, "TagNotFound: "),
        SchemaKind::Edge => Failure::new(-7, "EdgeNotFound: "),
    }
}

impl State {
    pub(super) fn create_schema(&mut self, new: &NewSchema) -> Result<Reply, Failure> {
        let id = self.next_id + 2;
        let space = self.space_mut(new.space)?;
        if space.schemas(new.kind).contains_key(&new.name) {
            return if new.if_not_exists {
                Ok(Reply::Done)
            } else {
                Err(Failure::existed())
            };
        }
        if space.tags.contains_key(&new.name) || space.edges.contains_key(&new.name) {
            return Err(Failure::new(-2013, "Schema exisited before!"));
        }
        let schema = Schema {
            id,
            name: new.name.clone(),
            versions: vec![new.fields.clone()],
            ttl_col: new.ttl_col.clone(),
            ttl_duration: new.ttl_duration,
            comment: new.comment.clone(),
        };
        space.schemas_mut(new.kind).insert(new.name.clone(), schema);
        self.next_id += 1;
        self.catalog.version += 1;
        Ok(Reply::Done)
    }

    pub(super) fn alter_schema(
        &mut self,
        space: u32,
        kind: SchemaKind,
        name: &str,
        items: &[AlterItem],
    ) -> Result<Reply, Failure> {
        let space = self.space_mut(space)?;
        let schema = space
            .schemas_mut(kind)
            .get_mut(name)
            .ok_or_else(|| not_found(kind))?;
        let mut fields = schema.fields().to_vec();
        for item in items {
            alter(schema, &mut fields, item)?;
        }
        schema.versions.push(fields);
        self.catalog.version += 1;
        Ok(Reply::Done)
    }

    pub(super) fn drop_schema(
        &mut self,
        space: u32,
        kind: SchemaKind,
        name: &str,
        if_exists: bool,
    ) -> Result<Reply, Failure> {
        let space = self.space_mut(space)?;
        if space
            .indexes
            .values()
            .any(|index| index.on == kind && index.schema == name)
        {
            return Err(Failure::new(
                -2014,
                "Related index exists, please drop index first",
            ));
        }
        if space.schemas_mut(kind).remove(name).is_none() {
            return if if_exists {
                Ok(Reply::Done)
            } else {
                Err(not_found(kind))
            };
        }
        self.catalog.version += 1;
        Ok(Reply::Done)
    }

    pub(super) fn create_index(
        &mut self,
        space: u32,
        index: Index,
        if_not_exists: bool,
    ) -> Result<Reply, Failure> {
        let id = self.next_id + 2;
        let space = self.space_mut(space)?;
        if space.indexes.contains_key(&index.name) {
            return if if_not_exists {
                Ok(Reply::Done)
            } else {
                Err(Failure::existed())
            };
        }
        let schema = space
            .schemas(index.on)
            .get(&index.schema)
            .ok_or_else(|| not_found(index.on))?;
        for (name, _) in &index.fields {
            if !schema.fields().iter().any(|field| field.name == *name) {
                return Err(Failure::new(-10, "TagPropNotFound: "));
            }
        }
        space
            .indexes
            .insert(index.name.clone(), Index { id, ..index });
        self.next_id += 1;
        self.catalog.version += 1;
        Ok(Reply::Done)
    }

    pub(super) fn drop_index(
        &mut self,
        space: u32,
        on: SchemaKind,
        name: &str,
        if_exists: bool,
    ) -> Result<Reply, Failure> {
        let space = self.space_mut(space)?;
        let known = space.indexes.get(name).is_some_and(|index| index.on == on);
        if !known {
            return if if_exists {
                Ok(Reply::Done)
            } else {
                Err(Failure::new(-8, "IndexNotFound: "))
            };
        }
        space.indexes.remove(name);
        self.catalog.version += 1;
        Ok(Reply::Done)
    }
}

fn alter(schema: &mut Schema, fields: &mut Vec<Field>, item: &AlterItem) -> Result<(), Failure> {
    let find = |fields: &[Field], name: &str| fields.iter().position(|field| field.name == name);
    let missing = || Failure::new(-10, "TagPropNotFound: ");
    match item {
        AlterItem::Add(new) => {
            if new.iter().any(|field| find(fields, &field.name).is_some()) {
                return Err(Failure::existed());
            }
            fields.extend(new.iter().cloned());
        }
        AlterItem::Change(new) => {
            for field in new {
                let at = find(fields, &field.name).ok_or_else(missing)?;
                fields[at] = field.clone();
            }
        }
        AlterItem::Drop(names) => {
            for name in names {
                let at = find(fields, name).ok_or_else(missing)?;
                fields.remove(at);
            }
        }
        AlterItem::Ttl(col, duration) => {
            schema.ttl_col = col.clone().or_else(|| schema.ttl_col.take());
            schema.ttl_duration = duration.unwrap_or(schema.ttl_duration);
        }
    }
    Ok(())
}
