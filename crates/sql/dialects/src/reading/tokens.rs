//! The tokens of a text by the rules of its own dialect.

use sqlgauge_sql::PrintDialect::Sqlite;
use sqlgauge_sql::quote;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name; its quotes are gone.
    Name,
    /// A text; its quotes and escapes are gone.
    Text,
    Number,
    /// An operator, a bracket, a comma; a parameter.
    Sign,
}

/// A piece of a text, white space and comments aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
}

impl Token {
    pub(super) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    pub(super) fn word(text: &str) -> Self {
        Self::new(Kind::Word, text)
    }

    pub(super) fn sign(text: &str) -> Self {
        Self::new(Kind::Sign, text)
    }

    /// Whether it is one of those keywords, in capitals.
    pub(super) fn is(&self, words: &[&str]) -> bool {
        self.kind == Kind::Word && words.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }

    /// Whether it is that sign.
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }
}

/// How a dialect writes what is no word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quotes {
    /// `"…"` is a text, and `\` escapes inside of texts.
    pub(super) is_mysql: bool,
}

/// Operators of more than one character, the longest first.
const LONG: [&str; 30] = [
    "!~~*", "!~~", "!~*", "~~*", "->>", "#>>", "<=>", "!~", "~~", "~*", "->", "#>", "@>", "<@", "<>", "!=",
    "<=", ">=", "==", "||", "&&", "::", ":=", "<<", ">>", "@@", "?|", "?&", "//", "**",
];

/// All tokens of a text; what belongs to no token is a sign of its own.
pub(super) fn tokens(sql: &str, quotes: Quotes) -> Vec<Token> {
    let (mut all, mut rest) = (Vec::new(), sql);
    while let Some(first) = rest.chars().next() {
        let (token, length) = next(rest, first, quotes);
        all.extend(token);
        rest = rest.get(length.max(first.len_utf8())..).unwrap_or_default();
    }
    all
}

/// The first token, if it is one, and its length in bytes.
pub(super) fn next(rest: &str, first: char, quotes: Quotes) -> (Option<Token>, usize) {
    if first.is_whitespace() || first == '\u{feff}' {
        return (None, first.len_utf8());
    }
    if let Some(length) = comment(rest, quotes) {
        return (None, length);
    }
    match first {
        '\'' => quoted(rest, '\'', quotes.is_mysql, Kind::Text),
        '"' if quotes.is_mysql => quoted(rest, '"', true, Kind::Text),
        '"' | '`' => quoted(rest, first, false, Kind::Name),
        '$' => dollar(rest),
        '0'..='9' => number(rest),
        '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest),
        first if is_word(first) => word(rest, quotes),
        _ => {
            let long = LONG.iter().find(|long| rest.starts_with(**long)).copied();
            let sign = long.unwrap_or(&rest[..first.len_utf8()]);
            (Some(Token::sign(sign)), sign.len())
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_')
}

fn comment(rest: &str, quotes: Quotes) -> Option<usize> {
    let is_line = rest.starts_with("--") || (quotes.is_mysql && rest.starts_with('#'));
    if is_line {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    rest.starts_with("/*").then(|| rest[2..].find("*/").map_or(rest.len(), |end| end + 4))
}

/// What stands in quotes, which are doubled inside; with `escapes` a `\` takes the character behind it as it is.
fn quoted(rest: &str, quote: char, escapes: bool, kind: Kind) -> (Option<Token>, usize) {
    let mut inner = String::new();
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' if escapes => inner.extend(characters.next().map(|(_, escaped)| escaped)),
            c if c == quote => {
                if characters.next_if(|(_, next)| *next == quote).is_none() {
                    return (Some(Token::new(kind, inner)), at + 1);
                }
                inner.push(quote);
            }
            c => inner.push(c),
        }
    }
    (Some(Token::new(kind, inner)), rest.len())
}

/// `$tag$…$tag$`, or a parameter.
fn dollar(rest: &str) -> (Option<Token>, usize) {
    let tag = rest[1..]
        .find('$')
        .map(|end| &rest[..end + 2])
        .filter(|tag| tag[1..tag.len() - 1].chars().all(is_word));
    if let Some(tag) = tag
        && let Some(end) = rest[tag.len()..].find(tag)
    {
        return (Some(Token::new(Kind::Text, &rest[tag.len()..tag.len() + end])), end + 2 * tag.len());
    }
    let length = 1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1);
    (Some(Token::sign("?")), length)
}

fn number(rest: &str) -> (Option<Token>, usize) {
    let bytes = rest.as_bytes();
    let digits = |from: usize| {
        from + bytes[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
    };
    let mut end = digits(0);
    // `1..2` is no number.
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end - 1), Some(b'e' | b'E')) && matches!(bytes.get(end), Some(b'+' | b'-')) {
        end = digits(end + 1);
    }
    (Some(Token::new(Kind::Number, &rest[..end])), end)
}

/// A word, or what a word before quotes makes of them: `E'…'`, `X'…'`, `N'…'`.
fn word(rest: &str, quotes: Quotes) -> (Option<Token>, usize) {
    let end = rest.find(|c| !(is_word(c) || c == '$')).unwrap_or(rest.len());
    let (word, behind) = rest.split_at(end);
    let is_prefix = ["e", "x", "b", "n"].iter().any(|prefix| word.eq_ignore_ascii_case(prefix));
    if is_prefix && behind.starts_with('\'') {
        let escapes = quotes.is_mysql || word.eq_ignore_ascii_case("e");
        let (token, length) = quoted(behind, '\'', escapes, Kind::Text);
        return (token, end + length);
    }
    (Some(Token::word(word)), end)
}

/// The tokens as a text of SQLite.
pub(super) fn text_of(tokens: &[Token]) -> String {
    let mut text = String::new();
    let mut joins = true;
    for token in tokens {
        let is_point = token.is_sign(".");
        if !joins && !is_point {
            text.push(' ');
        }
        match token.kind {
            Kind::Name => text.push_str(&Sqlite.identifier(&token.text)),
            Kind::Text => text.push_str(&quote::text(&token.text.replace('\0', ""))),
            Kind::Word | Kind::Number | Kind::Sign => text.push_str(&token.text),
        }
        joins = is_point;
    }
    text
}
