//! Recursive descent over the tokens; one file per kind of statement.

mod admin;
mod combine;
mod cypher;
mod ddl;
mod dml;
mod expr;
#[cfg(test)]
mod fuzz;
mod primary;
mod query;
#[cfg(test)]
mod tests;
mod update;

use super::{
    ParseError,
    ast::Stmt,
    lexer::{Lexer, Token},
};

type Parsed<T> = Result<T, ParseError>;

/// Deepest nesting of an expression.
const MAX_DEPTH: u32 = 200;

/// Most operators of an expression; evaluating each of them takes a piece of the stack.
const MAX_OPERATORS: u32 = 400;

/// Most pipes, unions and edges of patterns in a text.
const MAX_JOINTS: u32 = 512;

/// Parses a text of one or more statements. An empty list = nothing but blanks and semicolons.
pub fn parse(text: &[u8]) -> Parsed<Vec<Stmt>> {
    let mut parser = Parser::new(text)?;
    let mut statements = Vec::new();
    loop {
        while parser.accept_sign(";")? {}
        if parser.token == Token::End {
            return Ok(statements);
        }
        statements.push(parser.whole()?);
        if parser.token != Token::End {
            parser.sign(";")?;
        }
    }
}

pub(super) struct Parser<'a> {
    text: &'a [u8],
    lexer: Lexer<'a>,
    token: Token<'a>,
    /// Where `token` begins (blanks before it included).
    start: usize,
    depth: u32,
    /// Operators of the current expression.
    operators: u32,
    /// Pipes, unions and edges of patterns so far.
    joints: u32,
    /// The variable that the current statement reads.
    variable: Option<String>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8]) -> Parsed<Self> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        Ok(Self {
            text,
            lexer,
            token,
            start: 0,
            depth: 0,
            operators: 0,
            joints: 0,
            variable: None,
        })
    }

    /// Moves on; answers the token that was current.
    fn advance(&mut self) -> Parsed<Token<'a>> {
        self.start = self.lexer.position();
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Runs `inner` one level deeper.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.error();
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Counts a pipe, a union or an edge of a pattern.
    fn joint(&mut self) -> Parsed<()> {
        self.joints += 1;
        if self.joints > MAX_JOINTS {
            return Err(ParseError::Other(
                "too many pipes, unions or edges".to_owned(),
            ));
        }
        Ok(())
    }

    /// The token after the current one.
    fn ahead(&self) -> Token<'a> {
        let mut lexer = self.lexer;
        lexer.next().unwrap_or(Token::End)
    }

    fn error<T>(&self) -> Parsed<T> {
        let end = self.text.len().min(self.start + 40);
        let near = self.text.get(self.start..end).unwrap_or_default();
        Err(ParseError::Near(
            String::from_utf8_lossy(near).trim().to_owned(),
        ))
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token, Token::Word(w) if w.eq_ignore_ascii_case(word))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token, Token::Sign(s) if s == sign)
    }

    fn accept(&mut self, word: &str) -> Parsed<bool> {
        let found = self.is_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn accept_sign(&mut self, sign: &str) -> Parsed<bool> {
        let found = self.is_sign(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// All these words, one after the other, or an error.
    fn words(&mut self, words: &[&str]) -> Parsed<()> {
        for word in words {
            if !self.accept(word)? {
                return self.error();
            }
        }
        Ok(())
    }

    fn sign(&mut self, sign: &str) -> Parsed<()> {
        if self.accept_sign(sign)? {
            Ok(())
        } else {
            self.error()
        }
    }

    /// The first of `words` that is there; it is consumed.
    fn one_of<'w>(&mut self, words: &[&'w str]) -> Parsed<Option<&'w str>> {
        for word in words {
            if self.accept(word)? {
                return Ok(Some(word));
            }
        }
        Ok(None)
    }

    fn name(&mut self) -> Parsed<String> {
        match self.token {
            Token::Word(name) | Token::Quoted(name) => {
                let name = name.to_owned();
                self.advance()?;
                Ok(name)
            }
            _ => self.error(),
        }
    }

    /// A name or a string, as in `comment = "…"`.
    fn text(&mut self) -> Parsed<String> {
        match self.advance()? {
            Token::Text(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Token::Word(name) | Token::Quoted(name) => Ok(name.to_owned()),
            _ => self.error(),
        }
    }

    fn int(&mut self) -> Parsed<i64> {
        let negative = self.accept_sign("-")?;
        match self.token {
            Token::Int(number) => {
                self.advance()?;
                Ok(if negative {
                    number.wrapping_neg()
                } else {
                    number
                })
            }
            _ => self.error(),
        }
    }

    fn comma_list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept_sign(",")? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn if_not_exists(&mut self) -> Parsed<bool> {
        let found = self.accept("IF")?;
        if found {
            self.words(&["NOT", "EXISTS"])?;
        }
        Ok(found)
    }

    fn if_exists(&mut self) -> Parsed<bool> {
        let found = self.accept("IF")?;
        if found {
            self.words(&["EXISTS"])?;
        }
        Ok(found)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        let Token::Word(word) = self.token else {
            return self.error();
        };
        match word.to_ascii_uppercase().as_str() {
            "USE" => {
                self.advance()?;
                Ok(Stmt::Use(self.name()?))
            }
            "CREATE" | "DROP" | "ALTER" | "DESC" | "DESCRIBE" | "REBUILD" => self.definition(),
            "INSERT" | "DELETE" | "UPDATE" | "UPSERT" => self.change(),
            "GO" | "FETCH" | "LOOKUP" | "FIND" | "YIELD" | "GROUP" | "ORDER" | "LIMIT" => {
                self.query()
            }
            "MATCH" | "OPTIONAL" | "UNWIND" | "WITH" | "RETURN" => self.cypher(),
            "SHOW" | "ADD" | "SUBMIT" | "STOP" | "RECOVER" | "BALANCE" | "GET" | "KILL" => {
                self.admin()
            }
            "EXPLAIN" | "PROFILE" | "GRANT" | "REVOKE" | "CHANGE" | "MERGE" | "RENAME"
            | "DIVIDE" | "SIGN" | "CLEAR" | "DOWNLOAD" | "INGEST" => {
                Err(ParseError::NotSupported(word.to_ascii_uppercase()))
            }
            _ => self.error(),
        }
    }
}
