//! GO, FETCH, LOOKUP, FIND PATH, YIELD and what they are piped into.

use super::{Parsed, Parser};
use crate::ngql::{
    ast::{Direction, Expr, FindPath, From, Go, Over, Stmt},
    lexer::Token,
};

impl Parser<'_> {
    pub(super) fn query(&mut self) -> Parsed<Stmt> {
        let words = [
            "GO", "FETCH", "LOOKUP", "FIND", "YIELD", "GROUP", "ORDER", "LIMIT",
        ];
        match self.one_of(&words)? {
            Some("GO") => self.go().map(Stmt::Go),
            Some("FETCH") => self.fetch(),
            Some("LOOKUP") => self.lookup(),
            Some("FIND") => self.find_path().map(Stmt::FindPath),
            Some("GROUP") => {
                self.words(&["BY"])?;
                let keys = self.comma_list(Self::expr)?;
                self.words(&["YIELD"])?;
                Ok(Stmt::GroupBy {
                    keys,
                    yields: self.columns()?,
                })
            }
            Some("ORDER") => {
                self.words(&["BY"])?;
                self.comma_list(Self::sort_key).map(Stmt::OrderBy)
            }
            Some("LIMIT") => self.limit(),
            _ => {
                let yields = self.columns()?;
                let filter = self.filter()?;
                Ok(Stmt::Yield { yields, filter })
            }
        }
    }

    pub(super) fn sort_key(&mut self) -> Parsed<(Expr, bool)> {
        let expr = self.expr()?;
        let word = self.one_of(&["ASC", "ASCENDING", "DESC", "DESCENDING"])?;
        Ok((expr, word.is_some_and(|word| word.starts_with('D'))))
    }

    /// `LIMIT n`, `LIMIT skip, n`, `LIMIT n OFFSET skip`.
    fn limit(&mut self) -> Parsed<Stmt> {
        let first = self.int()?;
        if self.accept_sign(",")? {
            return Ok(Stmt::Limit {
                skip: first,
                count: self.int()?,
            });
        }
        let skip = if self.accept("OFFSET")? {
            self.int()?
        } else {
            0
        };
        Ok(Stmt::Limit { skip, count: first })
    }

    pub(super) fn filter(&mut self) -> Parsed<Option<Expr>> {
        if self.accept("WHERE")? {
            self.expr().map(Some)
        } else {
            Ok(None)
        }
    }

    fn steps(&mut self) -> Parsed<(u32, u32)> {
        if !matches!(self.token, Token::Int(_)) {
            return Ok((1, 1));
        }
        let first = self.small()?;
        let last = if self.accept("TO")? {
            self.small()?
        } else {
            first
        };
        if self.one_of(&["STEPS", "STEP"])?.is_none() {
            return self.error();
        }
        Ok((first, last))
    }

    pub(super) fn small(&mut self) -> Parsed<u32> {
        match u32::try_from(self.int()?) {
            Ok(number) => Ok(number),
            Err(_) => self.error(),
        }
    }

    fn go(&mut self) -> Parsed<Go> {
        let steps = self.steps()?;
        self.words(&["FROM"])?;
        let from = self.vids()?;
        let over = self.over()?;
        let filter = self.filter()?;
        let yields = self.optional_yield()?;
        Ok(Go {
            steps,
            from,
            over,
            filter,
            yields,
        })
    }

    fn over(&mut self) -> Parsed<Over> {
        self.words(&["OVER"])?;
        let edges = if self.accept_sign("*")? {
            Vec::new()
        } else {
            self.comma_list(Self::name)?
        };
        let direction = match self.one_of(&["REVERSELY", "BIDIRECT"])? {
            Some("REVERSELY") => Direction::In,
            Some(_) => Direction::Both,
            None => Direction::Out,
        };
        Ok(Over { edges, direction })
    }

    fn fetch(&mut self) -> Parsed<Stmt> {
        self.words(&["PROP", "ON"])?;
        let names = if self.accept_sign("*")? {
            Vec::new()
        } else {
            self.comma_list(Self::name)?
        };
        let first = self.expr()?;
        if self.is_sign("->") {
            return self.fetch_edges(names, first);
        }
        let vids = match first {
            Expr::Input(column) | Expr::Var(_, column) => From::Input(column),
            first => {
                let mut vids = vec![first];
                while self.accept_sign(",")? {
                    vids.push(self.expr()?);
                }
                From::Vids(vids)
            }
        };
        let yields = self.optional_yield()?;
        Ok(Stmt::FetchTags {
            tags: names,
            vids,
            yields,
        })
    }

    fn fetch_edges(&mut self, names: Vec<String>, src: Expr) -> Parsed<Stmt> {
        let Ok([edge]) = <[String; 1]>::try_from(names) else {
            return self.error();
        };
        self.sign("->")?;
        let dst = self.expr()?;
        let rank = if self.accept_sign("@")? {
            self.int()?
        } else {
            0
        };
        let mut keys = vec![crate::ngql::ast::EdgeKey { src, dst, rank }];
        while self.accept_sign(",")? {
            keys.push(self.edge_key()?);
        }
        let yields = self.optional_yield()?;
        Ok(Stmt::FetchEdges { edge, keys, yields })
    }

    fn lookup(&mut self) -> Parsed<Stmt> {
        self.words(&["ON"])?;
        let on = self.name()?;
        let filter = self.filter()?;
        let yields = self.optional_yield()?;
        Ok(Stmt::Lookup { on, filter, yields })
    }

    fn find_path(&mut self) -> Parsed<FindPath> {
        let kind = self.one_of(&["SHORTEST", "ALL", "NOLOOP"])?;
        if kind.is_none() {
            return self.error();
        }
        self.words(&["PATH"])?;
        let with_props = self.accept("WITH")?;
        if with_props {
            self.words(&["PROP"])?;
        }
        self.words(&["FROM"])?;
        let from = self.vids()?;
        self.words(&["TO"])?;
        let to = self.vids()?;
        let over = self.over()?;
        let mut upto = 5;
        if self.accept("UPTO")? {
            upto = self.small()?;
            if self.one_of(&["STEPS", "STEP"])?.is_none() {
                return self.error();
            }
        }
        let yields = self.optional_yield()?;
        let limit = if self.accept("LIMIT")? {
            Some(self.int()?)
        } else {
            None
        };
        Ok(FindPath {
            shortest: kind == Some("SHORTEST"),
            no_loop: kind == Some("NOLOOP"),
            with_props,
            from,
            to,
            over,
            upto,
            limit,
            yields,
        })
    }
}
