//! UPDATE and UPSERT, with the tag or edge type behind ON or, as in 1.x, in front of the properties.

use super::{Parsed, Parser};
use crate::ngql::ast::{Stmt, Target, Update};

impl Parser<'_> {
    /// After `UPDATE` or `UPSERT`.
    pub(super) fn update(&mut self, upsert: bool) -> Parsed<Stmt> {
        let vertex = match self.one_of(&["VERTEX", "EDGE"])? {
            Some(word) => word == "VERTEX",
            None => return self.error(),
        };
        let mut schema = None;
        if self.accept("ON")? {
            schema = Some(self.name()?);
        }
        let target = if vertex {
            Target::Vertex(self.expr()?)
        } else {
            Target::Edge(self.edge_key()?)
        };
        if !vertex && schema.is_none() {
            self.words(&["OF"])?;
            schema = Some(self.name()?);
        }
        self.words(&["SET"])?;
        let sets = self.comma_list(Self::set_item)?;
        let mut when = None;
        if self.accept("WHEN")? {
            when = Some(self.expr()?);
        }
        Ok(Stmt::Update(Box::new(Update {
            upsert,
            target,
            schema,
            sets,
            when,
            yields: self.optional_yield()?,
        })))
    }

    /// `[schema.]prop = expression`.
    fn set_item(&mut self) -> Parsed<(Option<String>, String, crate::ngql::ast::Expr)> {
        let mut owner = None;
        let mut prop = self.name()?;
        if self.accept_sign(".")? {
            owner = Some(prop);
            prop = self.name()?;
        }
        self.sign("=")?;
        Ok((owner, prop, self.expr()?))
    }
}
