//! CREATE, DROP, ALTER, DESCRIBE, REBUILD.

use super::{Parsed, Parser};
use crate::{
    meta::{
        message::AlterItem,
        model::{Field, PropType, SchemaKind, VidType},
    },
    ngql::{
        ParseError,
        ast::{CreateSchema, CreateSpace, Stmt},
        lexer::Token,
    },
};

impl Parser<'_> {
    pub(super) fn definition(&mut self) -> Parsed<Stmt> {
        match self.one_of(&["CREATE", "DROP", "ALTER", "DESCRIBE", "DESC", "REBUILD"])? {
            Some("CREATE") => self.create(),
            Some("DROP") => self.drop_any(),
            Some("ALTER") => self.alter(),
            Some("REBUILD") => {
                let kind = self.schema_kind()?;
                self.words(&["INDEX"])?;
                let name = match self.token {
                    Token::Word(_) | Token::Quoted(_) => self.name()?,
                    _ => String::new(),
                };
                Ok(Stmt::RebuildIndex(kind, name))
            }
            _ => self.describe(),
        }
    }

    pub(super) fn schema_kind(&mut self) -> Parsed<SchemaKind> {
        match self.one_of(&["TAG", "EDGE"])? {
            Some("TAG") => Ok(SchemaKind::Tag),
            Some(_) => Ok(SchemaKind::Edge),
            None => self.error(),
        }
    }

    fn create(&mut self) -> Parsed<Stmt> {
        if self.accept("SPACE")? {
            return self.create_space().map(Stmt::CreateSpace);
        }
        for word in ["USER", "SNAPSHOT", "FULLTEXT"] {
            if self.is_word(word) {
                return Err(ParseError::NotSupported(format!("CREATE {word}")));
            }
        }
        let kind = self.schema_kind()?;
        if self.accept("INDEX")? {
            return self.create_index(kind);
        }
        self.create_schema(kind).map(Stmt::CreateSchema)
    }

    fn create_space(&mut self) -> Parsed<CreateSpace> {
        let if_not_exists = self.if_not_exists()?;
        let mut space = CreateSpace {
            name: self.name()?,
            if_not_exists,
            parts: None,
            replica: None,
            vid: None,
            comment: None,
        };
        if self.accept_sign("(")? {
            self.comma_list(|parser| parser.space_option(&mut space))?;
            self.sign(")")?;
        }
        if self.accept("COMMENT")? {
            self.sign("=")?;
            space.comment = Some(self.text()?);
        }
        Ok(space)
    }

    fn space_option(&mut self, space: &mut CreateSpace) -> Parsed<()> {
        let name = self.name()?.to_ascii_lowercase();
        self.sign("=")?;
        match name.as_str() {
            "partition_num" => space.parts = Some(self.int()?),
            "replica_factor" => space.replica = Some(self.int()?),
            "vid_type" => space.vid = Some(self.vid_type()?),
            "charset" | "collate" | "atomic_edge" => drop(self.text()?),
            "comment" => space.comment = Some(self.text()?),
            _ => return self.error(),
        }
        Ok(())
    }

    fn vid_type(&mut self) -> Parsed<VidType> {
        match self.prop_type()? {
            PropType::Int64 => Ok(VidType::Int),
            PropType::FixedText(size) => Ok(VidType::Text(size)),
            _ => self.error(),
        }
    }

    fn prop_type(&mut self) -> Parsed<PropType> {
        let kind = match self.name()?.to_ascii_lowercase().as_str() {
            "bool" => PropType::Bool,
            "int8" => PropType::Int8,
            "int16" => PropType::Int16,
            "int32" => PropType::Int32,
            "int64" | "int" => PropType::Int64,
            "float" => PropType::Float,
            "double" => PropType::Double,
            "string" => PropType::Text,
            "timestamp" => PropType::Timestamp,
            "date" => PropType::Date,
            "time" => PropType::Time,
            "datetime" => PropType::DateTime,
            "fixed_string" => {
                self.sign("(")?;
                let size = u16::try_from(self.int()?).or_else(|_| self.error())?;
                self.sign(")")?;
                PropType::FixedText(size)
            }
            other @ ("geography" | "duration") => {
                return Err(ParseError::NotSupported(format!("property type {other}")));
            }
            _ => return self.error(),
        };
        Ok(kind)
    }

    fn field(&mut self) -> Parsed<Field> {
        let mut field = Field {
            name: self.name()?,
            kind: self.prop_type()?,
            nullable: true,
            default: None,
            comment: None,
        };
        loop {
            if self.accept("NOT")? {
                self.words(&["NULL"])?;
                field.nullable = false;
            } else if self.accept("NULL")? {
                field.nullable = true;
            } else if self.accept("DEFAULT")? {
                let expr = self.expr()?;
                field.default = Some(expr.to_string());
            } else if self.accept("COMMENT")? {
                field.comment = Some(self.text()?);
            } else {
                return Ok(field);
            }
        }
    }

    fn fields(&mut self) -> Parsed<Vec<Field>> {
        self.sign("(")?;
        let mut fields = Vec::new();
        if !self.is_sign(")") {
            fields = self.comma_list(Self::field)?;
        }
        self.sign(")")?;
        Ok(fields)
    }

    fn create_schema(&mut self, kind: SchemaKind) -> Parsed<CreateSchema> {
        let if_not_exists = self.if_not_exists()?;
        let mut schema = CreateSchema {
            kind,
            name: self.name()?,
            if_not_exists,
            fields: self.fields()?,
            ttl_col: None,
            ttl_duration: 0,
            comment: None,
        };
        while let Some(option) = self.one_of(&["TTL_DURATION", "TTL_COL", "COMMENT"])? {
            self.sign("=")?;
            match option {
                "TTL_DURATION" => schema.ttl_duration = self.int()?,
                "TTL_COL" => schema.ttl_col = Some(self.text()?),
                _ => schema.comment = Some(self.text()?),
            }
            self.accept_sign(",")?;
        }
        Ok(schema)
    }

    fn create_index(&mut self, kind: SchemaKind) -> Parsed<Stmt> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        self.words(&["ON"])?;
        let on = self.name()?;
        self.sign("(")?;
        let mut fields = Vec::new();
        if !self.is_sign(")") {
            fields = self.comma_list(Self::index_field)?;
        }
        self.sign(")")?;
        if self.accept("COMMENT")? {
            self.accept_sign("=")?;
            self.text()?;
        }
        Ok(Stmt::CreateIndex {
            kind,
            name,
            on,
            fields,
            if_not_exists,
        })
    }

    fn index_field(&mut self) -> Parsed<(String, Option<u16>)> {
        let name = self.name()?;
        if !self.accept_sign("(")? {
            return Ok((name, None));
        }
        let length = u16::try_from(self.int()?).or_else(|_| self.error())?;
        self.sign(")")?;
        Ok((name, Some(length)))
    }

    fn drop_any(&mut self) -> Parsed<Stmt> {
        if self.accept("SPACE")? {
            let if_exists = self.if_exists()?;
            return Ok(Stmt::DropSpace {
                name: self.name()?,
                if_exists,
            });
        }
        if self.accept("HOSTS")? {
            return self.host_list().map(Stmt::DropHosts);
        }
        let kind = self.schema_kind()?;
        let index = self.accept("INDEX")?;
        let if_exists = self.if_exists()?;
        let name = self.name()?;
        Ok(if index {
            Stmt::DropIndex {
                kind,
                name,
                if_exists,
            }
        } else {
            Stmt::DropSchema {
                kind,
                name,
                if_exists,
            }
        })
    }

    fn alter(&mut self) -> Parsed<Stmt> {
        let kind = self.schema_kind()?;
        let name = self.name()?;
        let items = self.comma_list(Self::alter_item)?;
        Ok(Stmt::AlterSchema { kind, name, items })
    }

    fn alter_item(&mut self) -> Parsed<AlterItem> {
        match self.one_of(&["ADD", "CHANGE", "DROP", "TTL_COL", "TTL_DURATION"])? {
            Some("ADD") => self.fields().map(AlterItem::Add),
            Some("CHANGE") => self.fields().map(AlterItem::Change),
            Some("DROP") => {
                self.sign("(")?;
                let names = self.comma_list(Self::name)?;
                self.sign(")")?;
                Ok(AlterItem::Drop(names))
            }
            Some("TTL_COL") => {
                self.sign("=")?;
                Ok(AlterItem::Ttl(Some(self.text()?), None))
            }
            Some(_) => {
                self.sign("=")?;
                Ok(AlterItem::Ttl(None, Some(self.int()?)))
            }
            None => self.error(),
        }
    }

    fn describe(&mut self) -> Parsed<Stmt> {
        if self.accept("SPACE")? {
            return Ok(Stmt::DescSpace(self.name()?));
        }
        let kind = self.schema_kind()?;
        if self.accept("INDEX")? {
            Ok(Stmt::DescIndex(kind, self.name()?))
        } else {
            Ok(Stmt::DescSchema(kind, self.name()?))
        }
    }
}
