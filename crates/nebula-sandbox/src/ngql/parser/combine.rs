//! What joins statements: pipes, UNION and its kin, variables, EXPLAIN and PROFILE.

use super::{Parsed, Parser};
use crate::ngql::{
    ast::{Explain, SetOp, Stmt},
    lexer::Token,
};

/// How a plan may be printed.
const FORMATS: &[&str] = &["row", "dot", "dot:struct", "tck"];

impl Parser<'_> {
    /// A whole statement between semicolons.
    pub(super) fn whole(&mut self) -> Parsed<Stmt> {
        if self.is_sign("$") {
            return self.assignment();
        }
        match self.one_of(&["EXPLAIN", "PROFILE"])? {
            Some(word) => self.explain(word == "PROFILE"),
            None => self.combined(),
        }
    }

    /// Pipes bind closer than UNION, INTERSECT and MINUS.
    pub(super) fn combined(&mut self) -> Parsed<Stmt> {
        let mut left = self.piped()?;
        while let Some(word) = self.one_of(&["UNION", "INTERSECT", "MINUS"])? {
            let op = match word {
                "INTERSECT" => SetOp::Intersect,
                "MINUS" => SetOp::Minus,
                _ if self.accept("ALL")? => SetOp::UnionAll,
                _ => {
                    self.accept("DISTINCT")?;
                    SetOp::Union
                }
            };
            self.joint()?;
            left = Stmt::Combine(op, Box::new(left), Box::new(self.piped()?));
        }
        Ok(left)
    }

    /// A statement and what it is piped into.
    fn piped(&mut self) -> Parsed<Stmt> {
        let mut left = self.reading()?;
        while self.accept_sign("|")? {
            self.joint()?;
            let right = self.reading()?;
            left = Stmt::Pipe(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// A single statement, or one in parentheses; with the variable it reads, if any.
    fn reading(&mut self) -> Parsed<Stmt> {
        let outer = self.variable.take();
        let statement = if self.is_sign("(") {
            self.deeper(|parser| {
                parser.sign("(")?;
                let inner = parser.combined()?;
                parser.sign(")")?;
                Ok(inner)
            })?
        } else {
            self.statement()?
        };
        Ok(match std::mem::replace(&mut self.variable, outer) {
            Some(name) => Stmt::Reading(name, Box::new(statement)),
            None => statement,
        })
    }

    /// `$name = statement`.
    fn assignment(&mut self) -> Parsed<Stmt> {
        self.sign("$")?;
        let name = self.name()?;
        self.sign("=")?;
        Ok(Stmt::Assign(name, Box::new(self.combined()?)))
    }

    /// `[FORMAT = "row"] statement` or `{statements}`.
    fn explain(&mut self, profile: bool) -> Parsed<Stmt> {
        let mut format = "row".to_owned();
        if self.accept("FORMAT")? {
            self.sign("=")?;
            if !matches!(self.token, Token::Text(_)) {
                return self.error();
            }
            format = self.text()?;
        }
        if !FORMATS.contains(&format.as_str()) {
            return self.error();
        }
        let mut statements = Vec::new();
        if self.accept_sign("{")? {
            while !self.accept_sign("}")? {
                statements.push(self.part()?);
                while self.accept_sign(";")? {}
            }
        } else {
            statements.push(self.part()?);
        }
        if statements.is_empty() {
            return self.error();
        }
        Ok(Stmt::Explain(Explain {
            profile,
            format,
            statements,
        }))
    }

    fn part(&mut self) -> Parsed<Stmt> {
        if self.is_sign("$") {
            return self.assignment();
        }
        self.combined()
    }
}
