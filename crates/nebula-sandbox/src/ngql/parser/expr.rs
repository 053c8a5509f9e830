//! Expressions, by precedence.

use nebula_wire::Value;

use super::{MAX_DEPTH, MAX_OPERATORS, Parsed, Parser};
use crate::ngql::{
    ParseError,
    ast::{Column, Expr, Op, Yield},
    lexer::Token,
};

fn too_deep() -> ParseError {
    ParseError::Other("The depth of the expression exceeds the maximum".to_owned())
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        if self.depth == 0 {
            self.operators = 0;
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let result = self.or();
        self.depth -= 1;
        result
    }

    /// `left op …`, where `right` reads what follows.
    fn binary(
        &mut self,
        op: Op,
        left: Expr,
        right: impl FnOnce(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        self.operator()?;
        let right = right(self)?;
        Ok(Expr::Binary(op, Box::new(left), Box::new(right)))
    }

    /// Counts an operator: a chain of them is as deep as it is long.
    pub(super) fn operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(too_deep());
        }
        Ok(())
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
            left = self.binary(op, left, Self::and)?;
        }
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.not()?;
        while self.accept("AND")? || self.accept_sign("&&")? {
            left = self.binary(Op::And, left, Self::not)?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Expr> {
        let mut count = 0u32;
        while self.accept("NOT")? || self.accept_sign("!")? {
            count += 1;
        }
        let mut inner = self.comparison()?;
        if count > MAX_DEPTH {
            return Err(too_deep());
        }
        for _ in 0..count {
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
                self.operator()?;
                left = Expr::IsNull(Box::new(left), !not);
                continue;
            }
            let Some(op) = self.comparison_op()? else {
                return Ok(left);
            };
            left = self.binary(op, left, Self::sum)?;
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
            left = self.binary(op, left, Self::product)?;
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
            left = self.binary(op, left, Self::unary)?;
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
