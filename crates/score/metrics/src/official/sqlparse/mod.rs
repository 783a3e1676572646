//! What the Python library `sqlparse` (0.6) makes of a text, as far as the official Spider script depends on it.
//!
//! In its default mode that script keeps the first statement that `sqlparse` sees and drops every token that
//! spells `distinct`, wherever it stands: as a keyword, as a column name, glued to a parenthesis. Both
//! decisions hang on where tokens begin, so the lexer's rules are followed one by one, in their order, with
//! the outcome that Python's backtracking regular expressions give. Token types are kept only as far as the
//! statement splitter looks at them, or `--plug_value` does.
//!
//! Known difference: letters are taken from Rust's Unicode tables; a combining mark that Python does not
//! count as a word character can move a token boundary next to it.

mod lexer;
mod splitter;

use std::borrow::Cow;

pub(super) use lexer::Kind;
use lexer::Lexer;
pub(crate) use lexer::is_space;
use splitter::Splitter;

/// The first statement of `text` without its `distinct` tokens, `None` when there is no statement at all
/// (nothing but white space), where the official script stops with an exception.
pub(crate) fn remove_distinct(text: &str) -> Option<Cow<'_, str>> {
    if text.chars().all(is_space) {
        return None;
    }
    if !needs_lexing(text) {
        return Some(Cow::Borrowed(text));
    }
    let tokens = first_statement(text)?.into_iter().map(|(_, value)| value);
    Some(Cow::Owned(tokens.filter(|value| !is_distinct(value)).collect()))
}

/// Whether Python's `lower()` makes `distinct` of it.
fn is_distinct(token: &str) -> bool {
    const WORD: &str = "distinct";
    // No letter takes more than three times the bytes of its lower case.
    token.len() <= 3 * WORD.len() && token.to_lowercase() == WORD
}

/// The tokens of the first statement of `text`, `None` when there is no statement at all.
pub(super) fn first_statement(text: &str) -> Option<Vec<(Kind, &str)>> {
    if text.chars().all(is_space) {
        return None;
    }
    let mut lexer = Lexer::new(text);
    let mut splitter = Splitter::default();
    let mut tokens = Vec::new();
    while let Some((kind, value)) = lexer.next_token() {
        if splitter.is_complete() && !matches!(kind, Kind::Whitespace | Kind::LineComment) {
            break;
        }
        splitter.advance(kind, value);
        tokens.push((kind, value));
    }
    Some(tokens)
}

/// Whether anything in the text could make the result differ from it.
fn needs_lexing(text: &str) -> bool {
    let bytes = text.as_bytes();
    !text.is_ascii()
        || bytes.contains(&b';')
        || text.contains("GO")
        || bytes.windows(8).any(|w| w.eq_ignore_ascii_case(b"distinct"))
}
#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values were produced with Python's sqlparse 0.6.1.
    #[test]
    fn distinct_tokens_go_and_the_first_statement_stays() {
        for (text, expected) in [
            ("SELECT DISTINCT a FROM t", "SELECT  a FROM t"),
            ("SELECT count(DISTINCT a), count(distinct(b))", "SELECT count( a), count((b))"),
            ("SELECT 'distinct' , \"DISTINCT\", `distinct`", "SELECT 'distinct' , \"DISTINCT\", `distinct`"),
            ("SELECT t.distinct, distinctive", "SELECT t., distinctive"),
            ("SELECT 1 ; SELECT 2", "SELECT 1 ; "),
            ("SELECT 1; -- done\nSELECT 2", "SELECT 1; -- done\n"),
            ("SELECT 1;\n-- done", "SELECT 1;"),
            ("SELECT (1; 2)", "SELECT (1; 2)"),
            ("SELECT CASE WHEN 1 THEN (2 END; 3)", "SELECT CASE WHEN 1 THEN (2 END; "),
            ("SELECT ';' ; x", "SELECT ';' ; "),
            ("SELECT 'a\\' ; x", "SELECT 'a\\' ; "),
            ("SELECT 'a\\' distinct 'b'", "SELECT 'a\\' distinct 'b'"),
            ("SELECT 'it''s distinct", "SELECT 'it''s "),
            ("SELECT 1 GO SELECT 2", "SELECT 1 GO "),
            ("SELECT 1 go SELECT 2;", "SELECT 1 go SELECT 2;"),
            ("BEGIN; SELECT 1; END", "BEGIN; "),
            ("SELECT 12distinct", "SELECT 12distinct"),
            ("SELECT %sdistinct", "SELECT %s"),
            ("SELECT /* distinct; */ 1", "SELECT /* distinct; */ 1"),
            ("SELECT /* distinct; 1", "SELECT /* ; "),
            ("; SELECT 1", "; "),
        ] {
            assert_eq!(remove_distinct(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn blank_text_has_no_statement() {
        assert_eq!(remove_distinct(""), None);
        assert_eq!(remove_distinct(" \t\n\u{a0}"), None);
    }

    #[test]
    fn unclosed_openers_take_linear_time() {
        let text = "/* ' \" ` $a$ distinct ".repeat(20_000);
        assert!(remove_distinct(&text).is_some());
    }
}
