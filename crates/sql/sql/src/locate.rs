//! Where something stands in a text, so that an error can be shown.

use std::fmt;

use crate::lex::{self, Token, TokenKind};

/// A place in the text: line and column from 1, columns counted in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The first place in `text` where the identifier `name` (its last part, if it is qualified) stands outside of
/// strings and comments, so that a naming error can be shown.
pub(crate) fn locate(text: &str, name: &str) -> Option<TextPosition> {
    let (qualifier, last) = match name.rsplit_once('.') {
        Some((qualifier, last)) => (Some(qualifier.rsplit('.').next().unwrap_or(qualifier)), last),
        None => (None, name),
    };
    let mut previous: Option<String> = None;
    let mut dotted = false;
    for token in tokens(text) {
        if token.text == "." {
            dotted = true;
            continue;
        }
        let word = token.unquoted().into_owned();
        let follows_qualifier = dotted
            && qualifier.is_some_and(|q| previous.as_deref().is_some_and(|p| p.eq_ignore_ascii_case(q)));
        if word.eq_ignore_ascii_case(last) && (qualifier.is_none() || follows_qualifier) {
            return Some(position_at(text, token.start));
        }
        previous = Some(word);
        dotted = false;
    }
    None
}

/// The first place in `text` where the words of `part` stand one after the other; `None` without words.
pub(crate) fn place_of(text: &str, part: &str) -> Option<TextPosition> {
    let plain = |token: &Token<'_>| token.unquoted().to_ascii_lowercase();
    let wanted: Vec<String> = tokens(part).map(|token| plain(&token)).collect();
    let all: Vec<(usize, String)> = tokens(text).map(|token| (token.start, plain(&token))).collect();
    let index = first_run(&wanted, all.iter().map(|(_, token)| token))?;
    all.get(index).map(|(start, _)| position_at(text, *start))
}

/// Where `wanted` stands first in `all` in a row, in time linear in both (Knuth, Morris, Pratt); `None` for nothing.
fn first_run<'t>(wanted: &[String], all: impl Iterator<Item = &'t String>) -> Option<usize> {
    // For each beginning of `wanted`, the length of its longest proper ending that is a beginning too.
    let mut shorter = vec![0_usize; wanted.len()];
    let mut fits = 0;
    for at in 1..wanted.len() {
        while fits > 0 && wanted[at] != wanted[fits] {
            fits = shorter[fits - 1];
        }
        fits += usize::from(wanted[at] == wanted[fits]);
        shorter[at] = fits;
    }
    fits = 0;
    for (at, token) in all.enumerate() {
        while fits > 0 && wanted.get(fits) != Some(token) {
            fits = shorter[fits - 1];
        }
        fits += usize::from(wanted.get(fits) == Some(token));
        if fits > 0 && fits == wanted.len() {
            return Some(at + 1 - fits);
        }
    }
    None
}

/// The words and names of a statement, quotes taken off: among them is every table and view that it reads. Strings too, since
/// they may name a table.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let named = |token: &Token<'_>| token.kind == TokenKind::Text || is_significant(token);
    lex::tokens(text).filter(named).map(|token| token.unquoted().into_owned())
}

fn position_at(text: &str, offset: usize) -> TextPosition {
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    TextPosition { line, column }
}

/// Words, names, numbers, dots, parentheses, commas and semicolons of a text; texts, comments and operators are passed
/// over.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    lex::tokens(text).filter(is_significant)
}

fn is_significant(token: &Token<'_>) -> bool {
    token.is_name() || token.kind == TokenKind::Number || matches!(token.text, "." | "(" | ")" | "," | ";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_words_is_found_where_it_stands_first() {
        let place = |text, part| place_of(text, part).map(|position| position.column);
        assert_eq!(place("a a b a a a b", "a a a b"), Some(7));
        assert_eq!(place("a b a b c", "a b c"), Some(5));
        assert_eq!(place("a b", "c"), None);
        assert_eq!(place("a b", "+"), None);
        assert_eq!(place("a", "a b"), None);
    }

    #[test]
    fn a_name_is_found_outside_of_strings_and_comments() {
        let place = |text, name| locate(text, name).map(|position| (position.line, position.column));
        assert_eq!(place("SELECT 'a' -- a\n, \"A\" FROM t", "a"), Some((2, 3)));
        assert_eq!(place("SELECT a, t.a FROM t", "t.a"), Some((1, 13)));
        assert_eq!(place("SELECT é, a", "a"), Some((1, 11)));
        assert_eq!(place("SELECT 1", "a"), None);
    }
}
