//! Words, numbers, strings and signs of nGQL.

#![expect(clippy::cast_possible_truncation, reason = "escapes name one byte")]

use std::borrow::Cow;

use super::ParseError;

/// A token. Signs are `Sign("->")` and the like.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    End,
    /// Bare word: keyword or name.
    Word(&'a str),
    /// Name in backticks.
    Quoted(&'a str),
    Int(i64),
    Float(f64),
    Text(Cow<'a, [u8]>),
    Sign(&'static str),
}

/// Longest first.
const SIGNS: &[&str] = &[
    "...", "->", "<-", "==", "!=", "<>", "<=", ">=", "&&", "||", "$$", "$^", "$-", "=~", "..",
    "+=", "(", ")", "{", "}", "[", "]", ",", ";", ":", ".", "-", "@", "|", "<", ">", "=", "+", "*",
    "/", "%", "^", "!", "$",
];

/// Position in a text. Copying it is how the parser looks ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(super) const fn position(&self) -> usize {
        self.at
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            if rest.first().is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            } else if rest.starts_with(b"#") || rest.starts_with(b"//") {
                self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                let end = rest.windows(2).position(|w| w == b"*/");
                self.at += end.map_or(rest.len(), |end| end + 2);
            } else {
                return;
            }
        }
    }

    fn near(&self, from: usize) -> ParseError {
        let end = self.text.len().min(from + 40);
        let bytes = self.text.get(from..end).unwrap_or_default();
        ParseError::Near(String::from_utf8_lossy(bytes).into_owned())
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blanks();
        let Some(first) = self.text.get(self.at).copied() else {
            return Ok(Token::End);
        };
        match first {
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            b'"' | b'\'' => self.string(first),
            b'`' => self.quoted(),
            byte if is_word(byte) => self.word(),
            // The signs of INSERT come by the million.
            b'(' => Ok(self.short("(")),
            b')' => Ok(self.short(")")),
            b',' => Ok(self.short(",")),
            b':' => Ok(self.short(":")),
            b';' => Ok(self.short(";")),
            _ => self.sign(),
        }
    }

    fn span(&mut self, accept: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|b| !accept(*b)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn word(&mut self) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        let bytes = self.span(is_word);
        std::str::from_utf8(bytes)
            .map(Token::Word)
            .map_err(|_| self.near(start))
    }

    fn quoted(&mut self) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        self.at += 1;
        let bytes = self.span(|b| b != b'`');
        if self.peek(0) != b'`' || bytes.is_empty() {
            return Err(self.near(start));
        }
        self.at += 1;
        std::str::from_utf8(bytes)
            .map(Token::Quoted)
            .map_err(|_| self.near(start))
    }

    const fn short(&mut self, sign: &'static str) -> Token<'a> {
        self.at += 1;
        Token::Sign(sign)
    }

    fn sign(&mut self) -> Result<Token<'a>, ParseError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes()));
        let sign = found.ok_or_else(|| self.near(self.at))?;
        self.at += sign.len();
        Ok(Token::Sign(sign))
    }

    fn number(&mut self) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        if self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X') {
            self.at += 2;
            let digits = self.span(|b| b.is_ascii_hexdigit());
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            return i64::from_str_radix(digits, 16)
                .map(Token::Int)
                .map_err(|_| self.near(start));
        }
        self.span(|b| b.is_ascii_digit());
        let mut float = false;
        // `1..3` is a range, not the number `1.`.
        if self.peek(0) == b'.' && self.peek(1) != b'.' && !self.peek(1).is_ascii_alphabetic() {
            float = true;
            self.at += 1;
            self.span(|b| b.is_ascii_digit());
        }
        let signed = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if matches!(self.peek(0), b'e' | b'E') && self.peek(1 + signed).is_ascii_digit() {
            float = true;
            self.at += 1 + signed;
            self.span(|b| b.is_ascii_digit());
        }
        if is_word(self.peek(0)) {
            return Err(self.near(start));
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        self.parsed(digits, float, start)
    }

    fn parsed(&self, digits: &[u8], float: bool, start: usize) -> Result<Token<'a>, ParseError> {
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        if float {
            return digits
                .parse()
                .map(Token::Float)
                .map_err(|_| self.near(start));
        }
        match digits.parse::<u64>() {
            // 2^63 is let through for the minus sign before it.
            Ok(number) if number <= 1 << 63 => Ok(Token::Int(number.cast_signed())),
            _ => Err(ParseError::Other(format!("Out of range: near `{digits}'"))),
        }
    }

    fn string(&mut self, quote: u8) -> Result<Token<'a>, ParseError> {
        let start = self.at;
        self.at += 1;
        let plain = self.span(|b| b != quote && b != b'\\');
        if self.peek(0) == quote && self.at < self.text.len() {
            self.at += 1;
            return Ok(Token::Text(Cow::Borrowed(plain)));
        }
        let mut bytes = plain.to_vec();
        loop {
            if self.at >= self.text.len() {
                return Err(self.near(start));
            }
            let byte = self.peek(0);
            self.at += 1;
            match byte {
                b'\\' => self.escape(&mut bytes),
                byte if byte == quote => return Ok(Token::Text(Cow::Owned(bytes))),
                byte => bytes.push(byte),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, bytes: &mut Vec<u8>) {
        let byte = self.peek(0);
        self.at += 1;
        match byte {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b'u' => self.code_point(4, bytes),
            b'U' => self.code_point(8, bytes),
            b'x' => match self.hex(2) {
                Some(code) => bytes.push(code as u8),
                None => bytes.push(b'x'),
            },
            b'0'..=b'7' => self.octal(byte, bytes),
            byte => bytes.push(byte),
        }
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text = std::str::from_utf8(self.text.get(self.at..self.at + digits)?).ok()?;
        let code = u32::from_str_radix(text, 16).ok()?;
        self.at += digits;
        Some(code)
    }

    fn code_point(&mut self, digits: usize, bytes: &mut Vec<u8>) {
        if let Some(character) = self.hex(digits).and_then(char::from_u32) {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    fn octal(&mut self, first: u8, bytes: &mut Vec<u8>) {
        let mut code = u32::from(first - b'0');
        for _ in 0..2 {
            let digit = self.peek(0);
            if !(b'0'..=b'7').contains(&digit) {
                break;
            }
            code = code * 8 + u32::from(digit - b'0');
            self.at += 1;
        }
        bytes.push(code as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
        let mut lexer = Lexer::new(text.as_bytes());
        let mut found = Vec::new();
        loop {
            match lexer.next()? {
                Token::End => return Ok(found),
                token => found.push(token),
            }
        }
    }

    #[test]
    fn tokens() {
        let text = |s: &str| Token::Text(Cow::Owned(s.as_bytes().to_vec()));
        let cases: Vec<(&str, Vec<Token<'_>>)> = vec![
            ("GO 1", vec![Token::Word("GO"), Token::Int(1)]),
            (
                "1..3",
                vec![Token::Int(1), Token::Sign(".."), Token::Int(3)],
            ),
            (
                "1.5 2e3 .5",
                vec![Token::Float(1.5), Token::Float(2000.0), Token::Float(0.5)],
            ),
            ("0x1F", vec![Token::Int(31)]),
            (
                "`a b`.c",
                vec![Token::Quoted("a b"), Token::Sign("."), Token::Word("c")],
            ),
            ("\"a\\\"b\\n\"", vec![text("a\"b\n")]),
            ("'x\\u00e9\\x41\\101'", vec![text("xéAA")]),
            (
                "a->b<-c",
                vec![
                    Token::Word("a"),
                    Token::Sign("->"),
                    Token::Word("b"),
                    Token::Sign("<-"),
                    Token::Word("c"),
                ],
            ),
            (
                "$$.a $^ $-",
                vec![
                    Token::Sign("$$"),
                    Token::Sign("."),
                    Token::Word("a"),
                    Token::Sign("$^"),
                    Token::Sign("$-"),
                ],
            ),
            (
                "a # b\n c // d\n /* e */ f",
                vec![Token::Word("a"), Token::Word("c"), Token::Word("f")],
            ),
        ];
        for (input, expected) in cases {
            assert_eq!(all(input), Ok(expected), "{input}");
        }
        for bad in ["\"open", "`open", "1a", "99999999999999999999", "?"] {
            assert!(all(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text: Vec<u8>) {
            let mut lexer = Lexer::new(&text);
            while let Ok(token) = lexer.next() {
                if token == Token::End {
                    break;
                }
            }
        }
    }
}
