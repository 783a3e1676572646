//! The tokens of a SQL text, by the rules of SQLite's own tokenizer.
//!
//! Any text has tokens: what SQLite refuses is a token too, with [`Token::is_legal`] unset. The tokens in a row are the
//! text. Reading takes time linear in its length.

use std::borrow::Cow;
use std::ops::Range;

use crate::quote::unquote;

/// What a token is by its first characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// White space.
    Space,
    /// `-- …` without its line end, and `/* … */`.
    Comment,
    /// A byte order mark, which SQLite takes for white space where a token may begin.
    Mark,
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes: `"…"`, `` `…` ``, `[…]`.
    Quoted,
    /// A text: `'…'`.
    Text,
    /// Bytes: `x'…'`.
    Blob,
    /// A number.
    Number,
    /// A parameter: `?`, `?1`, `:a`, `@a`, `#a`, `$a`, `$a::b(c)`.
    Parameter,
    /// An operator, a mark of punctuation, or a character that SQL does not have.
    Sign,
}

/// A piece of a SQL text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// As it is written.
    pub text: &'a str,
    /// Its place in bytes.
    pub start: usize,
    /// Whether SQLite accepts it: the quotes are closed, the number ends before the next word, the character is one of SQL.
    pub is_legal: bool,
}

impl<'a> Token<'a> {
    /// Where it stands in the text, in bytes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Whether it only separates other tokens: white space, a comment, a byte order mark.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self.kind, TokenKind::Space | TokenKind::Comment | TokenKind::Mark)
    }

    /// Whether it is a keyword or a name, in quotes or not.
    pub fn is_name(&self) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Quoted)
    }

    /// Without its quotes.
    pub fn unquoted(&self) -> Cow<'a, str> {
        unquote(self.text).0
    }
}

/// White space inside of SQLite's tokens and texts. A vertical tab begins no token, but continues white space.
pub fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// All tokens of a text; in a row they are the text.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let (kind, length, is_legal) = first(rest.as_bytes());
        let token = Token { kind, text: &rest[..length], start, is_legal };
        start += length;
        Some(token)
    })
}

/// The tokens of a text but for white space, comments and byte order marks.
pub fn words(text: &str) -> impl Iterator<Item = Token<'_>> {
    tokens(text).filter(|token| !token.is_blank())
}

/// A type name as text, unquoted, with single spaces, and with its size as it is written.
pub(crate) fn type_text(name: &str, size: Option<&str>) -> String {
    let name = words(name).map(|word| word.unquoted()).collect::<Vec<_>>().join(" ");
    match size {
        None => name,
        Some(size) => format!("{name}({size})"),
    }
}

/// The first token of a text that is not empty: its kind, its length in bytes, whether SQLite accepts it.
fn first(rest: &[u8]) -> (TokenKind, usize, bool) {
    let legal = |kind, length| (kind, length, true);
    match rest {
        [b' ' | b'\t' | b'\n' | b'\x0c' | b'\r', ..] => {
            legal(TokenKind::Space, run(rest, |byte| is_space(byte.into())))
        }
        [b'-', b'-', ..] => legal(TokenKind::Comment, run(rest, |byte| byte != b'\n')),
        // Where nothing follows, SQLite takes it for two operators.
        [b'/', b'*', _, ..] => {
            let end = rest[2..].windows(2).position(|pair| pair == b"*/");
            legal(TokenKind::Comment, end.map_or(rest.len(), |end| end + 4))
        }
        [0xef, 0xbb, 0xbf, ..] => legal(TokenKind::Mark, 3),
        [b'\'', ..] => closed(TokenKind::Text, quoted_length(rest), rest),
        [b'"' | b'`', ..] => closed(TokenKind::Quoted, quoted_length(rest), rest),
        [b'[', ..] => {
            closed(TokenKind::Quoted, rest.iter().position(|&byte| byte == b']').map(|end| end + 1), rest)
        }
        [b'x' | b'X', b'\'', ..] => blob(rest),
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => number(rest),
        [b'?', digits @ ..] => legal(TokenKind::Parameter, 1 + run(digits, |byte| byte.is_ascii_digit())),
        [b'$' | b'@' | b':' | b'#', ..] => parameter(rest),
        [byte, ..] if is_word(*byte) => legal(TokenKind::Word, run(rest, is_word)),
        _ => sign(rest),
    }
}

fn run(rest: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

/// What its closing quote ends, or the rest of the text.
fn closed(kind: TokenKind, length: Option<usize>, rest: &[u8]) -> (TokenKind, usize, bool) {
    (kind, length.unwrap_or(rest.len()), length.is_some())
}

/// The length of what stands in quotes, which are doubled inside.
fn quoted_length(rest: &[u8]) -> Option<usize> {
    let quote = *rest.first()?;
    let mut at = 1;
    loop {
        at += rest.get(at..)?.iter().position(|&byte| byte == quote)? + 1;
        if rest.get(at) != Some(&quote) {
            return Some(at);
        }
        at += 1;
    }
}

fn blob(rest: &[u8]) -> (TokenKind, usize, bool) {
    let digits = run(&rest[2..], |byte| byte.is_ascii_hexdigit());
    let end = 2 + run(&rest[2..], |byte| byte != b'\'');
    let is_legal = end < rest.len() && end == 2 + digits && digits % 2 == 0;
    (TokenKind::Blob, rest.len().min(end + 1), is_legal)
}

fn number(rest: &[u8]) -> (TokenKind, usize, bool) {
    let is_hex = matches!(rest, [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit());
    let is_digit = |byte: u8| if is_hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
    let digits = |from: usize| from + run(&rest[from..], |byte| is_digit(byte) || byte == b'_');
    let mut end = digits(if is_hex { 2 } else { 0 });
    if !is_hex {
        if rest.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if let [b'e' | b'E', b'0'..=b'9', ..] | [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] = &rest[end..] {
            end = digits(end + 2);
        }
    }
    // An underscore stands between two digits.
    let is_between = |at: usize| {
        let neighbours = [at.checked_sub(1), Some(at + 1)];
        neighbours.into_iter().all(|at| at.and_then(|at| rest.get(at)).is_some_and(|&byte| is_digit(byte)))
    };
    let tail = run(&rest[end..], is_word);
    let is_legal = tail == 0 && (0..end).all(|at| rest[at] != b'_' || is_between(at));
    (TokenKind::Number, end + tail, is_legal)
}

fn parameter(rest: &[u8]) -> (TokenKind, usize, bool) {
    let (mut end, mut named) = (1, false);
    loop {
        match &rest[end..] {
            [byte, ..] if is_word(*byte) => (end, named) = (end + 1, true),
            [b':', b':', ..] => end += 2,
            [b'(', inside @ ..] if named => {
                let length = run(inside, |byte| byte != b')' && !is_space(byte.into()));
                let is_closed = inside.get(length) == Some(&b')');
                return (TokenKind::Parameter, end + 1 + length + usize::from(is_closed), is_closed);
            }
            _ => return (TokenKind::Parameter, end, named),
        }
    }
}

fn sign(rest: &[u8]) -> (TokenKind, usize, bool) {
    const LONG: [&[u8]; 10] = [b"->>", b"->", b"==", b"<=", b"<>", b"<<", b">=", b">>", b"!=", b"||"];
    match LONG.iter().find(|long| rest.starts_with(long)) {
        Some(long) => (TokenKind::Sign, long.len(), true),
        None => (TokenKind::Sign, 1, rest.first().is_some_and(|byte| b"-+*/%=<>|,&~().;".contains(byte))),
    }
}

#[cfg(test)]
mod tests;
