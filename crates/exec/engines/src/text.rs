//! A text as a server's own reader of tokens takes it, as far as that decides how many statements it holds and what they begin with.

use sqlgauge_engine::{Failure, FailureKind};

/// How a server reads what is no word. A server whose way nobody has looked up may read it in [any](Lexing::all) of several.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lexing {
    /// A backslash takes the meaning from the character behind it.
    pub(crate) has_escapes: bool,
    /// Double quotes are around texts, not names.
    pub(crate) has_double_quoted_texts: bool,
    /// `#` begins a comment.
    pub(crate) has_hash_comments: bool,
    /// `--` begins a comment only before white space.
    pub(crate) dashes_need_space: bool,
    /// The server runs what is in `/*! … */`.
    pub(crate) has_executed_comments: bool,
    /// A comment can hold comments.
    pub(crate) nests_comments: bool,
    /// `$tag$ … $tag$` is a text.
    pub(crate) has_dollar_quotes: bool,
    /// `[…]` is a name.
    pub(crate) has_brackets: bool,
}

impl Lexing {
    /// All ways that dialects are known to have to read this text, but comments that are run.
    pub(crate) fn all(sql: &str) -> impl Iterator<Item = Self> {
        let has_inner = sql.match_indices("/*").nth(1).is_some();
        let signs = ["\\", "#", "--", "/*", "$", "["].map(|sign| sql.contains(sign));
        let differs = move |at: usize| signs[at] && (at != 3 || has_inner);
        let is_of_text = move |bits: &u8| (0..6).all(|at| bits >> at & 1 == 0 || differs(at));
        (0..64_u8).filter(is_of_text).map(|bits| {
            let bit = |at: u8| bits >> at & 1 == 1;
            Self {
                has_escapes: bit(0),
                has_hash_comments: bit(1),
                dashes_need_space: bit(2),
                nests_comments: bit(3),
                has_dollar_quotes: bit(4),
                has_brackets: bit(5),
                ..Self::default()
            }
        })
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
                b'[' if self.lexing.has_brackets => {
                    self.at += rest.find(']').map_or(rest.len(), |end| end + 1);
                    Token::Name(rest[1..].split(']').next().unwrap_or_default())
                }
                b'$' if self.lexing.has_dollar_quotes && dollar_tag(rest).is_some() => {
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
        self.lexing.has_executed_comments && (rest.starts_with("/*!") || rest.starts_with("/*M!"))
    }

    /// How long the white space or comment is that the text begins with.
    fn blank(&self, rest: &str) -> Option<usize> {
        let bytes = rest.as_bytes();
        let line = || Some(rest.find('\n').map_or(rest.len(), |end| end + 1));
        match *bytes.first()? {
            b' ' | b'\t'..=b'\r' => Some(1),
            b'#' if self.lexing.has_hash_comments => line(),
            b'-' if bytes.get(1) == Some(&b'-') => {
                let is_comment =
                    !self.lexing.dashes_need_space || bytes.get(2).is_none_or(|&byte| byte <= b' ');
                if is_comment { line() } else { None }
            }
            b'/' if rest.starts_with("/*") && !self.is_executed(rest) => {
                Some(comment_length(rest, self.lexing.nests_comments))
            }
            _ => None,
        }
    }

    /// What is in quotes. A doubled quote ends one and begins the next, which comes to the same here.
    fn quoted(&mut self, rest: &'a str, quote: u8) -> Token<'a> {
        let is_name = quote == b'`' || (quote == b'"' && !self.lexing.has_double_quoted_texts);
        let mut bytes = rest.bytes().enumerate().skip(1);
        let mut end = None;
        while let Some((at, byte)) = bytes.next() {
            if byte == quote {
                end = Some(at);
                break;
            }
            if byte == b'\\' && self.lexing.has_escapes && !is_name {
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
