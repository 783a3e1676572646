//! Cuts SQL text into tokens for display: nothing is rejected, and the tokens joined give the text back.
//!
//! This is not the parser: a report must show predictions that no parser reads.

use sqlgauge_sql::lex;

/// What a token is, as far as display cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayTokenKind {
    /// Blanks and line ends.
    Space,
    /// `-- …` and `/* … */`.
    Comment,
    /// `'…'`
    Text,
    /// `"…"`, `` `…` ``, `[…]`
    Quoted,
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
pub struct DisplayToken<'a> {
    pub kind: DisplayTokenKind,
    /// The text as written.
    pub text: &'a str,
}

impl DisplayToken<'_> {
    /// Two tokens with the same key mean the same in SQL: names and keywords without case and quotes, one spelling per
    /// operator.
    pub fn key(&self) -> String {
        let mut inside = self.text.chars();
        let _quotes = (inside.next(), inside.next_back());
        match (self.kind, self.text) {
            (DisplayTokenKind::Quoted, _) if !is_keyword(inside.as_str()) => inside.as_str().to_lowercase(),
            (DisplayTokenKind::Keyword | DisplayTokenKind::Word, word) => word.to_lowercase(),
            (_, "==") => "=".to_owned(),
            (_, "!=") => "<>".to_owned(),
            (_, text) => text.to_owned(),
        }
    }

    /// Whether it is that keyword.
    pub fn is(&self, keyword: &str) -> bool {
        self.kind == DisplayTokenKind::Keyword && self.text.eq_ignore_ascii_case(keyword)
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
pub fn tokens(sql: &str) -> Vec<DisplayToken<'_>> {
    let kind_of = |token: lex::Token<'_>| match token.kind {
        lex::TokenKind::Space | lex::TokenKind::Mark => DisplayTokenKind::Space,
        lex::TokenKind::Comment => DisplayTokenKind::Comment,
        lex::TokenKind::Text | lex::TokenKind::Blob => DisplayTokenKind::Text,
        lex::TokenKind::Quoted => DisplayTokenKind::Quoted,
        lex::TokenKind::Number => DisplayTokenKind::Number,
        lex::TokenKind::Word if is_keyword(token.text) => DisplayTokenKind::Keyword,
        lex::TokenKind::Word | lex::TokenKind::Parameter => DisplayTokenKind::Word,
        lex::TokenKind::Sign => DisplayTokenKind::Symbol,
    };
    lex::tokens(sql).map(|token| DisplayToken { kind: kind_of(token), text: token.text }).collect()
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word.to_ascii_uppercase().as_str()).is_ok()
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
            "SELECT\u{a0}1\u{3000}\u{b}",
            "",
        ];
        for sql in cases {
            let joined: String = tokens(sql).iter().map(|t| t.text).collect();
            assert_eq!(joined, sql);
        }
    }

    #[test]
    fn quotes_of_names_do_not_count_but_those_of_keywords_and_texts_do() {
        let key = |sql| tokens(sql)[0].key();
        for name in ["\"Name\"", "`name`", "[NAME]", "name"] {
            assert_eq!(key(name), "name");
        }
        for other in ["'name'", "\"order\"", "\"é"] {
            assert!(!["name", "order", "é"].contains(&key(other).as_str()), "{other}");
        }
    }

    #[test]
    fn kinds_are_told_apart() {
        use DisplayTokenKind::{Keyword, Number, Quoted, Symbol, Text, Word};
        let kinds: Vec<_> = tokens("SELECT T1.\"a\", 'x''y' FROM t WHERE n <> 3.5")
            .into_iter()
            .filter(|t| t.kind != DisplayTokenKind::Space)
            .map(|t| t.kind)
            .collect();
        let expected =
            [Keyword, Word, Symbol, Quoted, Symbol, Text, Keyword, Word, Keyword, Word, Symbol, Number];
        assert_eq!(kinds, expected);
    }
}
