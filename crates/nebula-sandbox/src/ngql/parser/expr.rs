//! Expressions, by precedence.

use nebula_wire::Value;

use super::{MAX_DEPTH, Parsed, Parser};
use crate::ngql::{
    ParseError,
    ast::{Column, Expr, Op, Yield},
    lexer::Token,
};

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
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ParseError::Other(
                "The depth of the expression exceeds the maximum".to_owned(),
            ));
        }
        let result = self.or();
        self.depth -= 1;
        result
    }

    fn binary(op: Op, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    fn or(&mut self) -> Parsed<Expr> {
        let mut left = self.and()?;
        loop {
            let op = if self.accept("OR")? || self.accept_sign("||")? {
                Op::Or
            } else if self.accept("XOR")? {
                Op::Xor
            } else {
                return Ok(left);
            };
            left = Self::binary(op, left, self.and()?);
        }
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.not()?;
        while self.accept("AND")? || self.accept_sign("&&")? {
            left = Self::binary(Op::And, left, self.not()?);
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Expr> {
        let mut count = 0u32;
        while self.accept("NOT")? || self.accept_sign("!")? {
            count += 1;
        }
        let mut inner = self.comparison()?;
        for _ in 0..count.min(MAX_DEPTH) {
            inner = Expr::Not(Box::new(inner));
        }
        Ok(inner)
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let mut left = self.sum()?;
        loop {
            if self.accept("IS")? {
                let not = self.accept("NOT")?;
                self.words(&["NULL"])?;
                left = Expr::IsNull(Box::new(left), !not);
                continue;
            }
            let Some(op) = self.comparison_op()? else {
                return Ok(left);
            };
            left = Self::binary(op, left, self.sum()?);
        }
    }

    fn comparison_op(&mut self) -> Parsed<Option<Op>> {
        let op = match self.token {
            // OpenCypher's `=` is understood as well.
            Token::Sign("==" | "=") => Op::Eq,
            Token::Sign("!=" | "<>") => Op::Ne,
            Token::Sign("<") => Op::Lt,
            Token::Sign("<=") => Op::Le,
            Token::Sign(">") => Op::Gt,
            Token::Sign(">=") => Op::Ge,
            Token::Sign("=~") => Op::Regex,
            Token::Word(_) => return self.word_op(),
            _ => return Ok(None),
        };
        self.advance()?;
        Ok(Some(op))
    }

    fn word_op(&mut self) -> Parsed<Option<Op>> {
        let not = self.is_word("NOT");
        if not {
            let Token::Word(next) = self.ahead() else {
                return Ok(None);
            };
            if !["IN", "CONTAINS", "STARTS", "ENDS"]
                .iter()
                .any(|w| next.eq_ignore_ascii_case(w))
            {
                return Ok(None);
            }
            self.advance()?;
        }
        let pick = |yes, no| Ok(Some(if not { no } else { yes }));
        if self.accept("IN")? {
            return pick(Op::In, Op::NotIn);
        }
        if self.accept("CONTAINS")? {
            return pick(Op::Contains, Op::NotContains);
        }
        if self.accept("STARTS")? {
            self.words(&["WITH"])?;
            return pick(Op::StartsWith, Op::NotStartsWith);
        }
        if self.accept("ENDS")? {
            self.words(&["WITH"])?;
            return pick(Op::EndsWith, Op::NotEndsWith);
        }
        Ok(None)
    }

    fn sum(&mut self) -> Parsed<Expr> {
        let mut left = self.product()?;
        loop {
            let op = match self.token {
                Token::Sign("+") => Op::Add,
                Token::Sign("-") => Op::Sub,
                _ => return Ok(left),
            };
            self.advance()?;
            left = Self::binary(op, left, self.product()?);
        }
    }

    fn product(&mut self) -> Parsed<Expr> {
        let mut left = self.unary()?;
        loop {
            let op = match self.token {
                Token::Sign("*") => Op::Mul,
                Token::Sign("/") => Op::Div,
                Token::Sign("%") => Op::Mod,
                _ => return Ok(left),
            };
            self.advance()?;
            left = Self::binary(op, left, self.unary()?);
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.deeper(Self::signed)
    }

    fn signed(&mut self) -> Parsed<Expr> {
        if self.accept_sign("+")? {
            return self.unary();
        }
        if !self.accept_sign("-")? {
            return self.postfix();
        }
        Ok(match self.unary()? {
            Expr::Const(Value::Int(number)) => Expr::Const(Value::Int(number.wrapping_neg())),
            Expr::Const(Value::Float(number)) => Expr::Const(Value::Float(-number)),
            other => Expr::Minus(Box::new(other)),
        })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut inner = self.primary()?;
        loop {
            if self.accept_sign("[")? {
                let index = self.expr()?;
                self.sign("]")?;
                inner = Expr::Subscript(Box::new(inner), Box::new(index));
            } else if self.is_sign(".") && !matches!(inner, Expr::Const(_)) {
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
                Ok(Expr::Input(self.name()?))
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
        let column = self.name()?;
        let before = self.variable.replace(name.clone());
        if before.is_some_and(|before| before != name) {
            return Err(ParseError::NotSupported(
                "two variables in a statement".to_owned(),
            ));
        }
        Ok(Expr::Var(name, column))
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

    pub(super) fn column(&mut self) -> Parsed<Column> {
        let expr = self.expr()?;
        let alias = if self.accept("AS")? {
            Some(self.name()?)
        } else {
            None
        };
        Ok(Column { expr, alias })
    }

    /// What follows `YIELD`.
    pub(super) fn columns(&mut self) -> Parsed<Yield> {
        let distinct = self.accept("DISTINCT")?;
        let columns = self.comma_list(Self::column)?;
        Ok(Yield { distinct, columns })
    }

    pub(super) fn optional_yield(&mut self) -> Parsed<Option<Yield>> {
        if self.accept("YIELD")? {
            self.columns().map(Some)
        } else {
            Ok(None)
        }
    }
}
