//! What operators stand between: literals, names, calls, CASE, and what is taken out of them by `.` and `[]`.

use nebula_wire::Value;

use super::{Parsed, Parser};
use crate::ngql::{ParseError, ast::Expr, lexer::Token};

const AGGREGATES: &[&str] = &[
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "collect",
    "std",
    "bit_and",
    "bit_or",
    "collect_set",
];

impl<'a> Parser<'a> {
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let mut inner = self.primary()?;
        loop {
            if self.accept_sign("[")? {
                self.operator()?;
                let index = self.expr()?;
                self.sign("]")?;
                inner = Expr::Subscript(Box::new(inner), Box::new(index));
            } else if self.is_sign(".") && !matches!(inner, Expr::Const(_)) {
                self.operator()?;
                self.advance()?;
                inner = Expr::Attr(Box::new(inner), self.name()?);
            } else {
                return Ok(inner);
            }
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        match self.token {
            Token::Int(number) => self.constant(Value::Int(number)),
            Token::Float(number) => self.constant(Value::Float(number)),
            Token::Text(_) => match self.advance()? {
                Token::Text(bytes) => Ok(Expr::Const(Value::String(bytes.into_owned()))),
                _ => self.error(),
            },
            Token::Sign("(") if self.is_condition() => self.condition(),
            Token::Sign("(") => {
                self.advance()?;
                let inner = self.expr()?;
                self.sign(")")?;
                Ok(inner)
            }
            Token::Sign("[") => self.list_literal(),
            Token::Sign("{") => self.map_literal(),
            Token::Sign("$$") => self.end_prop(Expr::Dst, Expr::DstProp),
            Token::Sign("$^") => self.end_prop(Expr::Src, Expr::SrcProp),
            Token::Sign("$-") => {
                self.advance()?;
                self.sign(".")?;
                self.column_name().map(Expr::Input)
            }
            Token::Sign("$") => self.variable_column(),
            Token::Word(word) => self.word_expr(word),
            Token::Quoted(name) => {
                self.advance()?;
                self.after_name(name)
            }
            _ => self.error(),
        }
    }

    /// `$name.column`; a statement reads one variable.
    fn variable_column(&mut self) -> Parsed<Expr> {
        self.advance()?;
        let name = self.name()?;
        self.sign(".")?;
        let column = self.column_name()?;
        let before = self.variable.replace(name.clone());
        if before.is_some_and(|before| before != name) {
            return Err(ParseError::NotSupported(
                "two variables in a statement".to_owned(),
            ));
        }
        Ok(Expr::Var(name, column))
    }

    /// A name, or `*` for all columns.
    fn column_name(&mut self) -> Parsed<String> {
        if self.accept_sign("*")? {
            return Ok("*".to_owned());
        }
        self.name()
    }

    fn constant(&mut self, value: Value) -> Parsed<Expr> {
        self.advance()?;
        Ok(Expr::Const(value))
    }

    fn list_literal(&mut self) -> Parsed<Expr> {
        self.advance()?;
        if self.accept_sign("]")? {
            return Ok(Expr::List(Vec::new()));
        }
        let items = self.comma_list(Self::expr)?;
        self.sign("]")?;
        Ok(Expr::List(items))
    }

    pub(super) fn map_literal(&mut self) -> Parsed<Expr> {
        self.advance()?;
        if self.accept_sign("}")? {
            return Ok(Expr::Map(Vec::new()));
        }
        let items = self.comma_list(|parser| {
            let key = parser.text()?;
            parser.sign(":")?;
            Ok((key, parser.expr()?))
        })?;
        self.sign("}")?;
        Ok(Expr::Map(items))
    }

    /// `$$` alone or `$$.Tag.prop`.
    fn end_prop(&mut self, alone: Expr, prop: impl Fn(String, String) -> Expr) -> Parsed<Expr> {
        self.advance()?;
        if !self.accept_sign(".")? {
            return Ok(alone);
        }
        let tag = self.name()?;
        self.sign(".")?;
        Ok(prop(tag, self.name()?))
    }

    fn word_expr(&mut self, word: &'a str) -> Parsed<Expr> {
        self.advance()?;
        let is = |known: &str| word.eq_ignore_ascii_case(known);
        if is("true") || is("false") {
            return Ok(Expr::Const(Value::Bool(is("true"))));
        }
        if is("null") {
            return Ok(Expr::Const(Value::NULL));
        }
        if is("case") {
            return self.case();
        }
        self.after_name(word)
    }

    fn after_name(&mut self, name: &str) -> Parsed<Expr> {
        if self.accept_sign("(")? {
            return self.call(name);
        }
        if self.accept_sign(".")? {
            return Ok(Expr::Prop(name.to_owned(), self.name()?));
        }
        Ok(Expr::Name(name.to_owned()))
    }

    fn call(&mut self, name: &str) -> Parsed<Expr> {
        if AGGREGATES
            .iter()
            .any(|aggregate| name.eq_ignore_ascii_case(aggregate))
        {
            return self.aggregate(name);
        }
        let mut args = Vec::new();
        if !self.is_sign(")") {
            args = self.comma_list(Self::expr)?;
        }
        self.sign(")")?;
        Ok(Expr::Call(name.to_owned(), args))
    }

    fn aggregate(&mut self, name: &str) -> Parsed<Expr> {
        let distinct = self.accept("DISTINCT")?;
        let arg = if self.accept_sign("*")? {
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        self.sign(")")?;
        Ok(Expr::Aggregate(name.to_owned(), distinct, arg))
    }

    fn case(&mut self) -> Parsed<Expr> {
        let on = if self.is_word("WHEN") {
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        let mut arms = Vec::new();
        while self.accept("WHEN")? {
            let when = self.expr()?;
            self.words(&["THEN"])?;
            arms.push((when, self.expr()?));
        }
        let other = if self.accept("ELSE")? {
            Some(Box::new(self.expr()?))
        } else {
            None
        };
        self.words(&["END"])?;
        Ok(Expr::Case(on, arms, other))
    }
}
