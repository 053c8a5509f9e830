//! INSERT and DELETE.

use super::{Parsed, Parser};
use crate::ngql::ast::{EdgeKey, EdgeRow, Expr, From, Stmt, VertexRow};

impl Parser<'_> {
    pub(super) fn change(&mut self) -> Parsed<Stmt> {
        if self.accept("INSERT")? {
            return match self.one_of(&["VERTEX", "EDGE"])? {
                Some("VERTEX") => self.insert_vertices(),
                Some(_) => self.insert_edges(),
                None => self.error(),
            };
        }
        if self.accept("DELETE")? {
            return self.delete();
        }
        if self.accept("UPSERT")? {
            return self.update(true);
        }
        self.words(&["UPDATE"])?;
        if self.accept("CONFIGS")? {
            return self.update_configs();
        }
        self.update(false)
    }

    /// `IGNORE_EXISTED_INDEX` changes nothing here; true when `IF NOT EXISTS` stands.
    fn insert_options(&mut self) -> Parsed<bool> {
        let if_not_exists = self.if_not_exists()?;
        self.accept("IGNORE_EXISTED_INDEX")?;
        Ok(if_not_exists)
    }

    fn prop_names(&mut self) -> Parsed<Option<Vec<String>>> {
        if !self.accept_sign("(")? {
            return Ok(None);
        }
        let mut names = Vec::new();
        if !self.is_sign(")") {
            names = self.comma_list(Self::name)?;
        }
        self.sign(")")?;
        Ok(Some(names))
    }

    fn insert_vertices(&mut self) -> Parsed<Stmt> {
        let if_not_exists = self.insert_options()?;
        let tags = self.comma_list(|parser| Ok((parser.name()?, parser.prop_names()?)))?;
        self.values_word()?;
        let rows = self.comma_list(|parser| {
            let vid = parser.expr()?;
            parser.sign(":")?;
            let values = parser.values()?;
            Ok(VertexRow { vid, values })
        })?;
        Ok(Stmt::InsertVertices {
            tags,
            rows,
            if_not_exists,
        })
    }

    fn values_word(&mut self) -> Parsed<()> {
        match self.one_of(&["VALUES", "VALUE"])? {
            Some(_) => Ok(()),
            None => self.error(),
        }
    }

    fn values(&mut self) -> Parsed<Vec<Expr>> {
        self.sign("(")?;
        let mut values = Vec::new();
        while !self.is_sign(")") {
            values.push(self.expr()?);
            if !self.accept_sign(",")? {
                break;
            }
        }
        self.sign(")")?;
        Ok(values)
    }

    fn insert_edges(&mut self) -> Parsed<Stmt> {
        let if_not_exists = self.insert_options()?;
        let edge = self.name()?;
        let props = self.prop_names()?;
        self.values_word()?;
        let rows = self.comma_list(|parser| {
            let key = parser.edge_key()?;
            parser.sign(":")?;
            let values = parser.values()?;
            Ok(EdgeRow { key, values })
        })?;
        Ok(Stmt::InsertEdges {
            edge,
            props,
            rows,
            if_not_exists,
        })
    }

    /// `src -> dst [@rank]`.
    pub(super) fn edge_key(&mut self) -> Parsed<EdgeKey> {
        let src = self.expr()?;
        self.sign("->")?;
        let dst = self.expr()?;
        let rank = if self.accept_sign("@")? {
            self.int()?
        } else {
            0
        };
        Ok(EdgeKey { src, dst, rank })
    }

    /// Vertex ids, or `$-.column`.
    pub(super) fn vids(&mut self) -> Parsed<From> {
        let mut vids = self.comma_list(Self::expr)?;
        match vids.as_mut_slice() {
            [Expr::Input(column) | Expr::Var(_, column)] => Ok(From::Input(std::mem::take(column))),
            _ => Ok(From::Vids(vids)),
        }
    }

    fn delete(&mut self) -> Parsed<Stmt> {
        match self.one_of(&["VERTEX", "EDGE", "TAG"])? {
            Some("VERTEX") => {
                let vids = self.vids()?;
                let with_edges = self.accept("WITH")?;
                if with_edges {
                    self.words(&["EDGE"])?;
                }
                Ok(Stmt::DeleteVertices { vids, with_edges })
            }
            Some("EDGE") => {
                let edge = self.name()?;
                let keys = self.comma_list(Self::edge_key)?;
                Ok(Stmt::DeleteEdges { edge, keys })
            }
            Some(_) => {
                let tags = if self.accept_sign("*")? {
                    Vec::new()
                } else {
                    self.comma_list(Self::name)?
                };
                self.words(&["FROM"])?;
                Ok(Stmt::DeleteTags {
                    tags,
                    vids: self.vids()?,
                })
            }
            None => self.error(),
        }
    }
}
