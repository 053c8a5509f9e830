//! The schema of a data set as statements.

use super::encode::VidType;
use super::error::DatasetError;
use super::header::{ColumnType, DataFile};
use super::kind::FileKind;

/// Tags and edge types in the order in which their files were handed in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// Tags.
    pub tags: Vec<TypeDef>,
    /// Edge types.
    pub edges: Vec<TypeDef>,
}

/// A tag or an edge type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeDef {
    /// Its name.
    pub name: String,
    /// Property names and types in order; no entry is an id.
    pub properties: Vec<(String, ColumnType)>,
    /// Path of the file that the properties come from.
    pub origin: String,
    /// That file has no rows: another one may know better.
    guessed: bool,
}

/// What a space is created with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceOptions {
    /// Its name: letters, digits and `_`.
    pub name: String,
    /// `partition_num`; nebula-bench takes 24.
    pub partitions: u32,
    /// `replica_factor`; nebula-bench takes 3.
    pub replicas: u32,
    /// Type of vertex ids.
    pub vid: VidType,
}

impl Schema {
    /// Joins the types of all files; files of one type must agree about its properties.
    pub fn of(files: &[DataFile]) -> Result<Self, DatasetError> {
        let mut schema = Self::default();
        for file in files {
            let types = match file.kind {
                FileKind::Vertex { .. } => &mut schema.tags,
                FileKind::Edge { .. } => &mut schema.edges,
                FileKind::Skipped { .. } => continue,
            };
            join(types, TypeDef::of(file))?;
        }
        Ok(schema)
    }

    /// `CREATE TAG` and `CREATE EDGE` for everything.
    pub fn create_types(&self) -> Vec<String> {
        let tags = self.tags.iter().map(|def| def.create("TAG"));
        tags.chain(self.edges.iter().map(|def| def.create("EDGE")))
            .collect()
    }
}

impl TypeDef {
    fn of(file: &DataFile) -> Self {
        let properties = file
            .properties()
            .map(|column| (column.name.clone(), column.ty));
        Self {
            name: file.kind.type_name().unwrap_or_default().to_owned(),
            properties: properties.collect(),
            origin: file.path.clone(),
            guessed: file.properties().any(|column| column.guessed),
        }
    }

    fn create(&self, what: &str) -> String {
        let property = |(name, ty): &(String, ColumnType)| format!("`{name}` {}", ngql(*ty));
        let properties: Vec<String> = self.properties.iter().map(property).collect();
        format!(
            "CREATE {what} IF NOT EXISTS `{}`({})",
            self.name,
            properties.join(", ")
        )
    }

    fn agrees_with(&self, other: &Self) -> bool {
        let names = |def: &Self| {
            def.properties
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        let is_guess = self.guessed || other.guessed;
        self.properties == other.properties || is_guess && names(self) == names(other)
    }
}

fn join(types: &mut Vec<TypeDef>, new: TypeDef) -> Result<(), DatasetError> {
    let Some(known) = types.iter_mut().find(|known| known.name == new.name) else {
        types.push(new);
        return Ok(());
    };
    if !known.agrees_with(&new) {
        let (first, second) = (known.origin.clone(), new.origin);
        return Err(DatasetError::Conflict {
            name: new.name,
            first,
            second,
        });
    }
    if known.guessed {
        *known = new;
    }
    Ok(())
}

const fn ngql(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::Int | ColumnType::Id => "int",
        ColumnType::String => "string",
        ColumnType::Datetime => "datetime",
    }
}

impl SpaceOptions {
    /// `CREATE SPACE`.
    pub fn create(&self) -> Result<String, DatasetError> {
        let Self {
            name,
            partitions,
            replicas,
            vid,
        } = self;
        let starts_well =
            name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        if !starts_well
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return Err(DatasetError::SpaceName(name.clone()));
        }
        Ok(format!(
            "CREATE SPACE IF NOT EXISTS `{name}` (partition_num = {partitions}, replica_factor = {replicas}, vid_type = {vid})"
        ))
    }
}
