//! Cuts SQL text into tokens for display: nothing is rejected, and the tokens joined give the text back.
//!
//! This is not the parser: a report must show predictions that no parser reads.

/// What a token is, as far as display cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Blanks and line ends.
    Space,
    /// `-- …` and `/* … */`.
    Comment,
    /// `'…'`
    Text,
    /// `"…"`, `` `…` ``, `[…]`
    Quoted,
    /// A number.
    Number,
    /// A keyword of SQL.
    Keyword,
    /// Any other word.
    Word,
    /// An operator or punctuation.
    Symbol,
}

/// A piece of SQL text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// The text as written.
    pub text: &'a str,
}

impl Token<'_> {
    /// Two tokens with the same key mean the same in SQL: names and keywords without case, one spelling per
    /// operator.
    pub fn key(&self) -> String {
        match (self.kind, self.text) {
            (TokenKind::Keyword | TokenKind::Word, word) => word.to_lowercase(),
            (_, "==") => "=".to_owned(),
            (_, "!=") => "<>".to_owned(),
            (_, text) => text.to_owned(),
        }
    }

    /// Whether it is that keyword.
    pub fn is(&self, keyword: &str) -> bool {
        self.kind == TokenKind::Keyword && self.text.eq_ignore_ascii_case(keyword)
    }
}

/// Keywords that are shown as such.
const KEYWORDS: &[&str] = &[
    "ALL",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COLLATE",
    "CROSS",
    "CURRENT",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "ESCAPE",
    "EXCEPT",
    "EXISTS",
    "FILTER",
    "FOLLOWING",
    "FROM",
    "FULL",
    "GLOB",
    "GROUP",
    "HAVING",
    "IN",
    "INNER",
    "INTERSECT",
    "IS",
    "ISNULL",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NATURAL",
    "NOT",
    "NOTNULL",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PRECEDING",
    "RANGE",
    "RECURSIVE",
    "REGEXP",
    "RIGHT",
    "ROW",
    "ROWS",
    "SELECT",
    "THEN",
    "UNBOUNDED",
    "UNION",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
];

/// All tokens of that text; joined they are the text.
pub fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut rest = sql;
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (kind, length) = next(rest, first);
        let (text, after) = rest.split_at(length);
        found.push(Token { kind, text });
        rest = after;
    }
    found
}

fn next(rest: &str, first: char) -> (TokenKind, usize) {
    if first.is_whitespace() {
        return (TokenKind::Space, run(rest, char::is_whitespace));
    }
    if rest.starts_with("--") {
        return (TokenKind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (TokenKind::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2));
    }
    match first {
        '\'' => (TokenKind::Text, quoted(rest, '\'')),
        '"' | '`' => (TokenKind::Quoted, quoted(rest, first)),
        '[' => (TokenKind::Quoted, rest.find(']').map_or(rest.len(), |end| end + 1)),
        c if c.is_ascii_digit() => (TokenKind::Number, run(rest, |c| c.is_alphanumeric() || c == '.')),
        c if is_word(c) => word(rest),
        c => (TokenKind::Symbol, symbol(rest, c)),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '#')
}

fn run(rest: &str, belongs: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !belongs(c)).unwrap_or(rest.len())
}

fn word(rest: &str) -> (TokenKind, usize) {
    let length = run(rest, is_word);
    let upper = rest[..length].to_ascii_uppercase();
    let kind =
        if KEYWORDS.binary_search(&upper.as_str()).is_ok() { TokenKind::Keyword } else { TokenKind::Word };
    (kind, length)
}

/// Length of a quoted token; a doubled quote stands for itself, a missing end takes the rest.
fn quoted(rest: &str, quote: char) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            continue;
        }
        if chars.peek().is_some_and(|(_, next)| *next == quote) {
            chars.next();
        } else {
            return at + c.len_utf8();
        }
    }
    rest.len()
}

fn symbol(rest: &str, first: char) -> usize {
    let long = ["<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "->>", "->"];
    let found = long.iter().filter(|s| rest.starts_with(**s)).map(|s| s.len()).max();
    found.unwrap_or(first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_for_the_search() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn tokens_joined_are_the_text() {
        let cases = [
            "SELECT count(*) FROM t -- end",
            "select 'it''s' , \"a b\" from [x y] where `c` >= 1.5e3 /* open",
            "'unterminated",
            "é|| 'ß' <> \u{0}\u{1f600}",
            "",
        ];
        for sql in cases {
            let joined: String = tokens(sql).iter().map(|t| t.text).collect();
            assert_eq!(joined, sql);
        }
    }

    #[test]
    fn kinds_are_told_apart() {
        use TokenKind::{Keyword, Number, Quoted, Symbol, Text, Word};
        let kinds: Vec<_> = tokens("SELECT T1.\"a\", 'x''y' FROM t WHERE n <> 3.5")
            .into_iter()
            .filter(|t| t.kind != TokenKind::Space)
            .map(|t| t.kind)
            .collect();
        let expected =
            [Keyword, Word, Symbol, Quoted, Symbol, Text, Keyword, Word, Keyword, Word, Symbol, Number];
        assert_eq!(kinds, expected);
    }
}
