//! Texts that SQLite cannot tell apart: equal but for white space and the letter case outside of quotes.

use std::borrow::Cow;

/// A key that two texts share only if SQLite reads the same tokens from both. It is no SQL to run.
///
/// Outside of quotes, ASCII letters lose their case, white space becomes one blank, blanks beside `,`, `(` and
/// `)` go, and so do blanks at the ends and one semicolon at the end. Blanks beside operators stay, because `> =`
/// is not `>=`. A text with a comment is its own key.
pub fn key(sql: &str) -> Cow<'_, str> {
    if sql.contains("--") || sql.contains("/*") {
        return Cow::Borrowed(sql);
    }
    let mut key = String::with_capacity(sql.len());
    let mut closing = None;
    for c in sql.chars() {
        if let Some(end) = closing {
            key.push(c);
            if c == end {
                closing = None;
            }
            continue;
        }
        match c {
            // SQLite's white space; it takes no other character for it.
            ' ' | '\t' | '\n' | '\r' | '\u{c}' => {
                if !key.ends_with([' ', ',', '(', ')']) {
                    key.push(' ');
                }
            }
            ',' | '(' | ')' => {
                if key.ends_with(' ') {
                    key.pop();
                }
                key.push(c);
            }
            '\'' | '"' | '`' => {
                closing = Some(c);
                key.push(c);
            }
            '[' => {
                closing = Some(']');
                key.push(c);
            }
            other => key.push(other.to_ascii_lowercase()),
        }
    }
    if closing.is_some() {
        return Cow::Borrowed(sql);
    }
    let trimmed = key.trim_matches(' ');
    let trimmed = trimmed.strip_suffix(';').unwrap_or(trimmed).trim_end_matches(' ');
    Cow::Owned(trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spacing_and_case_outside_of_quotes_make_no_difference() {
        for (one, other) in [
            ("SELECT name ,  age FROM t", "select NAME,age\nfrom T;"),
            ("SELECT count ( * ) FROM t WHERE a IN (1, 2)", "SELECT COUNT(*) FROM t WHERE a IN(1,2) ; "),
            ("SELECT 'It''s' FROM t", "select 'It''s' from t"),
        ] {
            assert_eq!(key(one), key(other));
        }
    }

    #[test]
    fn what_sqlite_tells_apart_has_keys_of_its_own() {
        for (one, other) in [
            ("SELECT 'a'", "SELECT 'A'"),
            ("SELECT 'a  b'", "SELECT 'a b'"),
            ("SELECT a > = 1", "SELECT a >= 1"),
            ("SELECT a - -1", "SELECT a --1"),
            ("SELECT \"a\"", "SELECT 'a'"),
            ("SELECT a b FROM t", "SELECT ab FROM t"),
            ("SELECT 1;;", "SELECT 1;"),
            ("SELECT 1; SELECT 2", "SELECT 1 SELECT 2"),
            ("SELECT 'open", "SELECT 'OPEN"),
            ("SELECT É", "SELECT é"),
            ("SELECT a\u{a0}b", "SELECT a b"),
        ] {
            assert_ne!(key(one), key(other), "{one} / {other}");
        }
    }
}
