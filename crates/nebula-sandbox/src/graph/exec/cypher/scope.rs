//! Expressions over a row of cells: names, `v.prop`, `v.tag.prop`, and functions that need no properties.

use nebula_wire::{Value, value::NullKind};

use super::{cell::Cell, rows::Rows, store::Env};
use crate::{
    graph::{
        error::QueryError,
        eval::{self, Scope},
        exec::{hop::Hop, scope::walk},
        row,
        vid::{Vid, vid_value},
    },
    ngql::ast::Expr,
};

/// A row of a pattern.
pub(super) struct CellScope<'a> {
    pub(super) env: &'a Env<'a>,
    pub(super) columns: &'a [String],
    pub(super) row: &'a [Cell],
}

pub(super) fn undefined(name: &str) -> QueryError {
    QueryError::semantic(format!("Alias used but not defined: `{name}'"))
}

/// Every name in `expr` must be a column of `rows`.
pub(super) fn check_names(expr: &Expr, rows: &Rows) -> Result<(), QueryError> {
    let mut result = Ok(());
    walk(expr, &mut |expr| {
        if let Expr::Name(name) | Expr::Prop(name, _) = expr
            && result.is_ok()
            && rows.slot(name).is_none()
        {
            result = Err(undefined(name));
        }
    });
    result
}

impl CellScope<'_> {
    fn cell(&self, name: &str) -> Result<&Cell, QueryError> {
        let at = self.columns.iter().position(|column| column == name);
        let found = at.and_then(|at| self.row.get(at));
        found.ok_or_else(|| undefined(name))
    }

    /// `v.prop` of 2.x: whichever tag has it.
    fn any_tag(&self, vid: &Vid, prop: &str) -> Result<Value, QueryError> {
        for (id, bytes) in self.env.tags_of(vid).into_iter().flatten() {
            let Some(schema) = self.env.info.tag_by_id(*id) else {
                continue;
            };
            if schema.place(prop).is_some() {
                return Ok(row::read_field(schema, bytes, prop)?);
            }
        }
        Ok(Value::Null(NullKind::UnknownProp))
    }

    /// `v.tag.prop` of 3.x; NULL where the vertex has no such tag or the tag no such property.
    fn tag_prop(&self, vid: &Vid, tag: &str, prop: &str) -> Result<Value, QueryError> {
        let Some(schema) = self.env.info.tag(tag) else {
            return Ok(Value::Null(NullKind::UnknownProp));
        };
        let id = schema.schema.id;
        let rows = self.env.tags_of(vid);
        match rows.into_iter().flatten().find(|(known, _)| *known == id) {
            Some((_, bytes)) if schema.place(prop).is_some() => {
                Ok(row::read_field(schema, bytes, prop)?)
            }
            _ => Ok(Value::NULL),
        }
    }

    /// `v.name` of 3.x is the map of a tag's properties.
    fn whole_tag(&self, vid: &Vid, tag: &str) -> Result<Value, QueryError> {
        let Some(schema) = self.env.info.tag(tag) else {
            return Ok(Value::Null(NullKind::UnknownProp));
        };
        let id = schema.schema.id;
        let rows = self.env.tags_of(vid);
        match rows.into_iter().flatten().find(|(known, _)| *known == id) {
            Some((_, bytes)) => Ok(Value::Map(row::read_all(schema, bytes)?)),
            None => Ok(Value::Null(NullKind::UnknownProp)),
        }
    }

    fn edge_prop(&self, hop: &Hop, prop: &str) -> Result<Value, QueryError> {
        match self.env.info.edge_by_id(hop.kind) {
            Some(schema) if schema.place(prop).is_some() => {
                Ok(row::read_field(schema, &hop.row, prop)?)
            }
            _ => Ok(Value::Null(NullKind::UnknownProp)),
        }
    }
}

impl Scope for CellScope<'_> {
    fn name(&self, name: &str) -> Result<Value, QueryError> {
        self.cell(name)?.value(self.env)
    }

    fn prop(&self, owner: &str, prop: &str) -> Result<Value, QueryError> {
        match self.cell(owner)? {
            Cell::Node(vid) if self.env.by_tag => self.whole_tag(vid, prop),
            Cell::Node(vid) => self.any_tag(vid, prop),
            Cell::Edge(hop) => self.edge_prop(hop, prop),
            Cell::Value(value) => Ok(eval::attribute(value, prop)),
            _ => Ok(Value::Null(NullKind::BadType)),
        }
    }

    fn attribute(&self, inner: &Expr, name: &str) -> Option<Result<Value, QueryError>> {
        let Expr::Prop(owner, tag) = inner else {
            return None;
        };
        match self.cell(owner) {
            Ok(Cell::Node(vid)) if self.env.by_tag => Some(self.tag_prop(vid, tag, name)),
            _ => None,
        }
    }

    fn shortcut(&self, function: &str, argument: &Expr) -> Option<Result<Value, QueryError>> {
        let Expr::Name(name) = argument else {
            return None;
        };
        let cell = self.cell(name).ok()?;
        let function = function.to_ascii_lowercase();
        let value = match (cell, function.as_str()) {
            (Cell::Node(vid), "id") => vid_value(vid.as_ref()),
            (Cell::Edge(hop), _) => self.edge_function(hop, &function)?,
            (Cell::Trail(hops), "size") => count(hops.len()),
            (Cell::Path(walk), "length") => count(walk.hops.len()),
            _ => return None,
        };
        Some(Ok(value))
    }
}

impl CellScope<'_> {
    fn edge_function(&self, hop: &Hop, function: &str) -> Option<Value> {
        let (src, dst, ..) = hop.identity();
        Some(match function {
            "src" => vid_value(src.as_ref()),
            "dst" => vid_value(dst.as_ref()),
            "rank" => Value::Int(hop.rank),
            "typeid" => Value::Int(hop.kind.into()),
            "type" => Value::from(self.env.info.edge_by_id(hop.kind)?.schema.name.as_str()),
            _ => return None,
        })
    }
}

fn count(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
