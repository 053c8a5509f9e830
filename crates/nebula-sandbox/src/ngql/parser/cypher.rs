//! MATCH, UNWIND, WITH and RETURN.

use super::{Parsed, Parser};
use crate::ngql::{
    ast::{Direction, Expr, Stmt, Yield},
    cypher::{
        Clause, EdgePattern, Match, NodePattern, PathPattern, Projection, Props, Query, Shortest,
    },
    lexer::Token,
};

impl Parser<'_> {
    pub(super) fn cypher(&mut self) -> Parsed<Stmt> {
        let start = self.start;
        let mut clauses = Vec::new();
        while !self.accept("RETURN")? {
            clauses.push(self.clause()?);
        }
        let result = self.projection()?;
        if clauses.is_empty() && is_plain(&result) {
            return Ok(Stmt::Yield {
                yields: Yield {
                    distinct: result.distinct,
                    columns: result.columns,
                },
                filter: None,
            });
        }
        let text = self.text.get(start..self.start).unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        let words: Vec<_> = text.split_ascii_whitespace().collect();
        Ok(Stmt::Match(Box::new(Query {
            clauses,
            result,
            text: words.join(" "),
        })))
    }

    fn clause(&mut self) -> Parsed<Clause> {
        match self.one_of(&["MATCH", "OPTIONAL", "UNWIND", "WITH"])? {
            Some("MATCH") => self.matching(false),
            Some("OPTIONAL") => {
                self.words(&["MATCH"])?;
                self.matching(true)
            }
            Some("UNWIND") => {
                let list = self.expr()?;
                self.words(&["AS"])?;
                Ok(Clause::Unwind(list, self.name()?))
            }
            Some(_) => {
                let projection = self.projection()?;
                Ok(Clause::With(projection, self.filter()?))
            }
            None => self.error(),
        }
    }

    fn matching(&mut self, optional: bool) -> Parsed<Clause> {
        let paths = self.comma_list(Self::path_pattern)?;
        Ok(Clause::Match(Match {
            optional,
            paths,
            filter: self.filter()?,
        }))
    }

    fn path_pattern(&mut self) -> Parsed<PathPattern> {
        let mut path = PathPattern::default();
        if !self.is_sign("(") && self.ahead() != Token::Sign("(") {
            path.alias = Some(self.name()?);
            self.sign("=")?;
        }
        if self.is_sign("(") {
            self.way(&mut path)?;
            return Ok(path);
        }
        path.shortest = match self.one_of(&["shortestPath", "allShortestPaths"])? {
            Some("shortestPath") => Some(Shortest::One),
            Some(_) => Some(Shortest::All),
            None => return self.error(),
        };
        self.sign("(")?;
        self.way(&mut path)?;
        self.sign(")")?;
        for edge in &mut path.edges {
            edge.range.get_or_insert((1, Some(1)));
        }
        Ok(path)
    }

    /// A pattern that stands where an expression may stand.
    pub(super) fn condition(&mut self) -> Parsed<Expr> {
        let mut path = PathPattern::default();
        self.way(&mut path)?;
        Ok(Expr::Pattern(Box::new(path)))
    }

    /// Whether the bracket here is a node with an edge behind it: `(a:Label)-[`, `()<-`, `(a)-->`.
    pub(super) fn is_condition(&self) -> bool {
        let mut lexer = self.lexer;
        let mut next = || lexer.next().unwrap_or(Token::End);
        let mut token = next();
        let mut first = true;
        while token != Token::Sign(")") {
            let inside = match token {
                Token::Word(_) | Token::Quoted(_) | Token::Sign(":" | "{") => true,
                Token::Text(_) | Token::Int(_) | Token::Float(_) | Token::Sign("}" | ",") => !first,
                _ => false,
            };
            if !inside {
                return false;
            }
            first = false;
            token = next();
        }
        let leaves = next();
        let edge = next();
        match leaves {
            Token::Sign("-") => matches!(edge, Token::Sign("[" | "->")),
            Token::Sign("<-") => matches!(edge, Token::Sign("[" | "-")),
            _ => false,
        }
    }

    fn way(&mut self, path: &mut PathPattern) -> Parsed<()> {
        path.nodes.push(self.node_pattern()?);
        while self.is_sign("-") || self.is_sign("<-") {
            self.joint()?;
            path.edges.push(self.edge_pattern()?);
            path.nodes.push(self.node_pattern()?);
        }
        Ok(())
    }

    fn optional_name(&mut self) -> Parsed<Option<String>> {
        if matches!(self.token, Token::Word(_) | Token::Quoted(_)) {
            return self.name().map(Some);
        }
        Ok(None)
    }

    fn node_pattern(&mut self) -> Parsed<NodePattern> {
        self.sign("(")?;
        let mut node = NodePattern {
            alias: self.optional_name()?,
            ..NodePattern::default()
        };
        self.node_props(&mut node, None)?;
        while self.accept_sign(":")? {
            let label = self.name()?;
            self.node_props(&mut node, Some(&label))?;
            node.labels.push(label);
        }
        self.sign(")")?;
        Ok(node)
    }

    fn node_props(&mut self, node: &mut NodePattern, label: Option<&String>) -> Parsed<()> {
        let props = self.braces()?.into_iter();
        node.props
            .extend(props.map(|(name, value)| (label.cloned(), name, value)));
        Ok(())
    }

    /// `{prop: value, …}`, if it stands here.
    fn braces(&mut self) -> Parsed<Props> {
        if !self.is_sign("{") {
            return Ok(Vec::new());
        }
        match self.map_literal()? {
            Expr::Map(items) => Ok(items),
            _ => self.error(),
        }
    }

    fn edge_pattern(&mut self) -> Parsed<EdgePattern> {
        let arriving = self.accept_sign("<-")?;
        if !arriving {
            self.sign("-")?;
        }
        let mut edge = EdgePattern {
            alias: None,
            types: Vec::new(),
            direction: Direction::Both,
            range: None,
            props: Vec::new(),
        };
        if self.accept_sign("[")? {
            self.edge_inside(&mut edge)?;
            self.sign("]")?;
        }
        let leaving = self.accept_sign("->")?;
        if !leaving {
            self.sign("-")?;
        }
        edge.direction = match (arriving, leaving) {
            (true, false) => Direction::In,
            (false, true) => Direction::Out,
            (false, false) => Direction::Both,
            (true, true) => return self.error(),
        };
        Ok(edge)
    }

    fn edge_inside(&mut self, edge: &mut EdgePattern) -> Parsed<()> {
        edge.alias = self.optional_name()?;
        if self.accept_sign(":")? {
            edge.types.push(self.name()?);
            while self.accept_sign("|")? {
                self.accept_sign(":")?;
                edge.types.push(self.name()?);
            }
        }
        if self.accept_sign("*")? {
            edge.range = Some(self.hops()?);
        }
        edge.props = self.braces()?;
        Ok(())
    }

    /// `*`, `*n`, `*m..n`, `*..n`, `*m..`.
    fn hops(&mut self) -> Parsed<(u32, Option<u32>)> {
        let first = self.optional_small()?;
        if self.accept_sign("..")? {
            return Ok((first.unwrap_or(1), self.optional_small()?));
        }
        Ok((first.unwrap_or(1), first))
    }

    fn optional_small(&mut self) -> Parsed<Option<u32>> {
        if matches!(self.token, Token::Int(_)) {
            return self.small().map(Some);
        }
        Ok(None)
    }

    /// `[DISTINCT] * | columns [ORDER BY …] [SKIP n] [LIMIT n]`.
    fn projection(&mut self) -> Parsed<Projection> {
        let mut projection = Projection {
            distinct: self.accept("DISTINCT")?,
            all: self.accept_sign("*")?,
            ..Projection::default()
        };
        if !projection.all || self.accept_sign(",")? {
            projection.columns = self.comma_list(Self::column)?;
        }
        if self.accept("ORDER")? {
            self.words(&["BY"])?;
            projection.order = self.comma_list(Self::sort_key)?;
        }
        if self.accept("SKIP")? {
            projection.skip = Some(self.int()?);
        }
        if self.accept("LIMIT")? {
            projection.limit = Some(self.int()?);
        }
        Ok(projection)
    }
}

/// Nothing but columns.
const fn is_plain(result: &Projection) -> bool {
    !result.all && result.order.is_empty() && result.skip.is_none() && result.limit.is_none()
}
