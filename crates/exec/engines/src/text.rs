//! The tokens of a text as a server reads them, as far as they decide how many statements there are and how each begins.

use sqlgauge_engine::{Failure, FailureKind};

/// A way to read what is no word, which some dialects have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// A backslash takes the meaning from the character behind it.
    Escapes,
    /// `#` begins a comment.
    HashComments,
    /// `--` begins a comment only before white space.
    SpaceAfterDashes,
    /// A comment can hold comments.
    NestedComments,
    /// `$tag$ … $tag$` is a text.
    DollarQuotes,
    /// `[…]` is a name.
    Brackets,
    /// Double quotes are around texts, not names.
    DoubleQuotedTexts,
    /// The server runs what is in `/*! … */`.
    ExecutedComments,
}

/// The ways that a server has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexing(u8);

/// Ways that a server whose dialect nobody has looked up may have, with the sign of each.
const OPEN: [(Way, &str); 6] = [
    (Way::Escapes, "\\"),
    (Way::HashComments, "#"),
    (Way::SpaceAfterDashes, "--"),
    (Way::NestedComments, "/*"),
    (Way::DollarQuotes, "$"),
    (Way::Brackets, "["),
];

impl Lexing {
    pub(crate) fn of(ways: impl IntoIterator<Item = Way>) -> Self {
        Self(ways.into_iter().fold(0, |bits, way| bits | 1 << way as u8))
    }

    fn has(self, way: Way) -> bool {
        self.0 >> way as u8 & 1 == 1
    }

    /// All combinations of open ways that read this text differently.
    pub(crate) fn all(sql: &str) -> impl Iterator<Item = Self> {
        let of_text = Self::of(OPEN.into_iter().filter(|(_, sign)| sql.contains(sign)).map(|(way, _)| way));
        (0..1 << OPEN.len()).filter(move |bits| bits & !of_text.0 == 0).map(Self)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A key word, or a name without quotes.
    Word(&'a str),
    /// A name, with its quotes off.
    Name(&'a str),
    Literal,
    Symbol(u8),
    /// A comment that the server runs: `/*! … */`.
    Executed,
}

/// The tokens of a text, each with its place.
pub(crate) struct Tokens<'a> {
    sql: &'a str,
    at: usize,
    lexing: Lexing,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.sql.get(self.at..)?;
            let bytes = rest.as_bytes();
            let begin = self.at;
            let first = *bytes.first()?;
            if let Some(length) = self.blank(rest) {
                self.at += length;
                continue;
            }
            let token = match first {
                b'/' if self.is_executed(rest) => {
                    self.at += 2;
                    Token::Executed
                }
                quote @ (b'\'' | b'"' | b'`') => self.quoted(rest, quote),
                b'[' if self.lexing.has(Way::Brackets) => {
                    self.at += rest.find(']').map_or(rest.len(), |end| end + 1);
                    Token::Name(rest[1..].split(']').next().unwrap_or_default())
                }
                b'$' if self.lexing.has(Way::DollarQuotes) && dollar_tag(rest).is_some() => {
                    self.dollar_quoted(rest)
                }
                byte if is_of_word(byte) => {
                    let length = bytes.iter().take_while(|&&byte| is_of_word(byte)).count();
                    self.at += length;
                    Token::Word(&rest[..length])
                }
                symbol => {
                    self.at += 1;
                    Token::Symbol(symbol)
                }
            };
            return Some((begin, token));
        }
    }
}

impl<'a> Tokens<'a> {
    fn is_executed(&self, rest: &str) -> bool {
        self.lexing.has(Way::ExecutedComments) && (rest.starts_with("/*!") || rest.starts_with("/*M!"))
    }

    /// How long the white space or comment is that the text begins with.
    fn blank(&self, rest: &str) -> Option<usize> {
        let bytes = rest.as_bytes();
        let line = || Some(rest.find('\n').map_or(rest.len(), |end| end + 1));
        match *bytes.first()? {
            b' ' | b'\t'..=b'\r' => Some(1),
            b'#' if self.lexing.has(Way::HashComments) => line(),
            b'-' if bytes.get(1) == Some(&b'-') => {
                let is_comment =
                    !self.lexing.has(Way::SpaceAfterDashes) || bytes.get(2).is_none_or(|&byte| byte <= b' ');
                if is_comment { line() } else { None }
            }
            b'/' if rest.starts_with("/*") && !self.is_executed(rest) => {
                Some(comment_length(rest, self.lexing.has(Way::NestedComments)))
            }
            _ => None,
        }
    }

    /// What is in quotes. A doubled quote ends one and begins the next, which comes to the same here.
    fn quoted(&mut self, rest: &'a str, quote: u8) -> Token<'a> {
        let is_name = quote == b'`' || (quote == b'"' && !self.lexing.has(Way::DoubleQuotedTexts));
        let mut bytes = rest.bytes().enumerate().skip(1);
        let mut end = None;
        while let Some((at, byte)) = bytes.next() {
            if byte == quote {
                end = Some(at);
                break;
            }
            if byte == b'\\' && self.lexing.has(Way::Escapes) && !is_name {
                let _escaped = bytes.next();
            }
        }
        self.at += end.map_or(rest.len(), |end| end + 1);
        if is_name { Token::Name(&rest[1..end.unwrap_or(rest.len())]) } else { Token::Literal }
    }

    fn dollar_quoted(&mut self, rest: &str) -> Token<'a> {
        let tag = dollar_tag(rest).unwrap_or_default();
        let end = rest[tag.len()..].find(tag).map(|end| end + 2 * tag.len());
        self.at += end.unwrap_or(rest.len());
        Token::Literal
    }
}

/// `$tag$`, where the text begins with one.
fn dollar_tag(rest: &str) -> Option<&str> {
    let inner = rest.get(1..)?;
    let end = inner.find('$')?;
    let is_tag = inner[..end].bytes().all(|byte| is_of_word(byte) && byte != b'$')
        && !inner.starts_with(|first: char| first.is_ascii_digit());
    is_tag.then(|| &rest[..end + 2])
}

/// The length of the comment that the text begins with.
fn comment_length(rest: &str, nests: bool) -> usize {
    let (bytes, mut at, mut depth) = (rest.as_bytes(), 2, 1);
    while at < bytes.len() && depth > 0 {
        match (bytes[at], bytes.get(at + 1)) {
            (b'*', Some(b'/')) => (at, depth) = (at + 2, depth - 1),
            (b'/', Some(b'*')) if nests => (at, depth) = (at + 2, depth + 1),
            _ => at += 1,
        }
    }
    at
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

pub(crate) fn tokens(sql: &str, lexing: Lexing) -> Tokens<'_> {
    Tokens { sql, at: 0, lexing }
}

/// Why a text is no single query: it holds nothing, begins otherwise, or goes on behind the semicolon that ends its statement.
pub(crate) fn refuse(all: &[Token<'_>], queries: &[&str]) -> Option<Failure> {
    let first = all.iter().find(|token| !matches!(token, Token::Symbol(b'(' | b';')));
    let word = first.map(|token| if let Token::Word(word) = token { word } else { "?" });
    if let Some(failure) = refuse_commands(word, queries) {
        return Some(failure);
    }
    let is_end = |token: &&Token<'_>| **token == Token::Symbol(b';');
    let ended = all.iter().skip_while(is_end).skip_while(|token| !is_end(token));
    ended.into_iter().any(|token| !is_end(&token)).then(|| {
        let message = "the text holds more than one statement";
        Failure::new(FailureKind::MultipleStatements, message)
    })
}

/// `first` is the first word of the text, behind parentheses and semicolons.
fn refuse_commands(first: Option<&str>, queries: &[&str]) -> Option<Failure> {
    match first {
        None => Some(Failure::new(FailureKind::Empty, "the text holds no SQL statement")),
        Some(first) if queries.iter().any(|word| word.eq_ignore_ascii_case(first)) => None,
        Some(first) if first.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            let first: String = first.chars().take(40).collect();
            let message = format!("only queries are run, and this begins with {first}");
            Some(Failure::new(FailureKind::Denied, message))
        }
        Some(_) => Some(Failure::new(FailureKind::SyntaxError, "the text begins with no word of a query")),
    }
}
