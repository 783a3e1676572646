//! Finds the end of the first statement of a text, by SQLite's rules of tokens.
//!
//! SQLite compiles one statement and hands back the rest of the text. A text holds one statement if that rest
//! holds no token but semicolons: space, comments and empty statements do not count.
//!
//! Python's `sqlite3` module, on which the official scripts run, is stricter: a second semicolon is a second
//! statement to it. What follows those scripts asks [`has_further_semicolon`].

use sqlgauge_sql::lex::{Token, TokenKind, tokens, words};

use crate::outcome::{Failure, FailureKind};

/// Common table expressions and windows that one statement may define. SQLite compares the name of each with all names before
/// it: 33,000 in a megabyte take it 1.3 s to compile, and ten thousand 0.12 s (SQLite 3.40).
const MOST_DEFINITIONS: usize = 10_000;

/// The one statement in `sql`, its semicolon included.
///
/// # Errors
/// [`FailureKind::NulByte`], [`FailureKind::Empty`], or [`FailureKind::TooLarge`] for more than [`MOST_DEFINITIONS`]. The rest of the text is judged by [`Split::rest_is_empty`] only
/// after SQLite has accepted the statement, since its own errors come first.
pub(crate) fn split(sql: &str) -> Result<Split<'_>, Failure> {
    if let Some(at) = sql.bytes().position(|byte| byte == 0) {
        return Err(Failure::new(
            FailureKind::NulByte,
            format!("byte {at} of the SQL text is NUL, which SQL text may not contain"),
        ));
    }
    let mut first_word = None;
    let mut definitions = Definitions::default();
    for token in words(sql) {
        if token.text != ";" {
            first_word.get_or_insert(token.text);
            definitions.read(token.text)?;
        } else if let Some(first_word) = first_word {
            let (statement, rest) = sql.split_at(token.range().end);
            return Ok(Split { statement, rest, first_word });
        }
    }
    match first_word {
        Some(first_word) => Ok(Split { statement: sql, rest: "", first_word }),
        None => Err(Failure::new(FailureKind::Empty, "the text holds no SQL statement")),
    }
}

/// Counts what a statement defines: `AS (`, `AS MATERIALIZED (`.
#[derive(Default)]
struct Definitions {
    count: usize,
    /// The token before is one that a definition's parenthesis follows.
    is_begun: bool,
}

impl Definitions {
    fn read(&mut self, token: &str) -> Result<(), Failure> {
        self.count += usize::from(self.is_begun && token == "(");
        self.is_begun = ["AS", "MATERIALIZED"].iter().any(|word| word.eq_ignore_ascii_case(token));
        if self.count > MOST_DEFINITIONS {
            return Err(Failure::new(
                FailureKind::TooLarge,
                format!("defines more than {MOST_DEFINITIONS} common table expressions and windows"),
            ));
        }
        Ok(())
    }
}

/// A text cut behind its first statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    /// The first statement with what stands before it.
    pub(crate) statement: &'a str,
    /// What stands behind it.
    pub(crate) rest: &'a str,
    /// The first token of the statement.
    pub(crate) first_word: &'a str,
}

impl Split<'_> {
    /// Whether no further statement follows: only space, comments and semicolons.
    pub(crate) fn rest_is_empty(&self) -> bool {
        words(self.rest).all(|token| token.text == ";")
    }

    /// Whether the statement begins with a word that only begins statements which are not queries.
    pub(crate) fn is_command(&self) -> bool {
        const COMMANDS: [&str; 20] = [
            "ALTER",
            "ANALYZE",
            "ATTACH",
            "BEGIN",
            "COMMIT",
            "CREATE",
            "DELETE",
            "DETACH",
            "DROP",
            "END",
            "EXPLAIN",
            "INSERT",
            "PRAGMA",
            "REINDEX",
            "RELEASE",
            "REPLACE",
            "ROLLBACK",
            "SAVEPOINT",
            "UPDATE",
            "VACUUM",
        ];
        COMMANDS.iter().any(|command| command.eq_ignore_ascii_case(self.first_word))
    }
}

/// Whether something other than space and comments follows the first statement, be it only a semicolon or a byte
/// order mark. Python's `sqlite3` refuses such a text, as one of several statements.
pub fn has_further_semicolon(sql: &str) -> bool {
    // A vertical tab continues white space to SQLite, and is not white space to Python.
    let is_space = |token: &Token<'_>| match token.kind {
        TokenKind::Space => !token.text.contains('\u{b}'),
        kind => kind == TokenKind::Comment,
    };
    split(sql).is_ok_and(|split| !tokens(split.rest).all(|token| is_space(&token)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_statement_ends_at_a_semicolon_that_is_a_token() {
        for (sql, statement) in [
            ("SELECT 1", "SELECT 1"),
            ("SELECT 1; x", "SELECT 1;"),
            ("; ;SELECT 1;", "; ;SELECT 1;"),
            ("SELECT ';' ; x", "SELECT ';' ;"),
            ("SELECT 'a'';' ; x", "SELECT 'a'';' ;"),
            ("SELECT \";\" ; x", "SELECT \";\" ;"),
            ("SELECT `;` ; x", "SELECT `;` ;"),
            ("SELECT [;] ; x", "SELECT [;] ;"),
            ("SELECT 1 -- ;\n; x", "SELECT 1 -- ;\n;"),
            ("SELECT 1 /* ; */; x", "SELECT 1 /* ; */;"),
            ("SELECT 'open ; x", "SELECT 'open ; x"),
            ("SELECT 1 /* open ;", "SELECT 1 /* open ;"),
            ("SELECT 1 / 2 - 3; x", "SELECT 1 / 2 - 3;"),
            ("\u{feff}SELECT 'é;'; x", "\u{feff}SELECT 'é;';"),
        ] {
            assert_eq!(split(sql).map(|split| split.statement), Ok(statement), "{sql}");
        }
    }

    #[test]
    fn what_a_statement_may_define_is_bounded() {
        let defining = |count: usize, between: &str| {
            let all: Vec<String> = (0..count).map(|at| format!("c{at} as{between}(SELECT 1)")).collect();
            format!("WITH {} SELECT 1", all.join(", "))
        };
        for between in ["", " ", " /* ( */ ", " NOT MATERIALIZED "] {
            assert!(split(&defining(MOST_DEFINITIONS, between)).is_ok(), "{between}");
            let failure = split(&defining(MOST_DEFINITIONS + 1, between)).unwrap_err();
            assert_eq!(failure.kind, FailureKind::TooLarge, "{between}");
        }
        // Words that only look like it, and what stands behind the statement.
        let aliases =
            "SELECT 'AS (', \"AS\" (1), 1 AS b -- AS (\n".to_owned() + &", (1)".repeat(MOST_DEFINITIONS);
        assert!(split(&aliases).is_ok());
        assert!(split(&format!("SELECT 1; {}", defining(MOST_DEFINITIONS + 1, " "))).is_ok());
    }

    #[test]
    fn texts_without_a_statement_are_empty() {
        for sql in ["", " \t\r\n", ";", " ; ;; ", "-- only", "/* open", "/* a */ ; -- b\n", "\u{feff}"] {
            assert_eq!(split(sql).map_err(|failure| failure.kind), Err(FailureKind::Empty), "{sql:?}");
        }
    }

    /// Whether it is one statement, and whether Python's `sqlite3` 3.11 runs it.
    #[test]
    fn only_space_comments_and_semicolons_may_follow_the_statement() {
        for (sql, is_one, python_runs_it) in [
            ("SELECT 1", true, true),
            ("SELECT 1;", true, true),
            ("SELECT 1; \n\t\r\x0c", true, true),
            ("SELECT 1; -- a;b", true, true),
            ("SELECT 1; /* a; */ -- b\n ", true, true),
            ("SELECT 1; /* open", true, true),
            ("SELECT 1;;", true, false),
            ("SELECT 1; /* b */ ;", true, false),
            ("SELECT 1; -- a\n;", true, false),
            (";;SELECT 1;; ; -- b", true, false),
            ("SELECT 1; \u{feff}", true, false),
            ("SELECT 1; \u{b}", true, false),
            ("SELECT 1;\u{b}", false, false),
            ("SELECT 1;\u{a0}", false, false),
            ("SELECT 1; \u{3000}", false, false),
            ("SELECT 1; SELECT 2", false, false),
            ("SELECT 1;; SELECT 2", false, false),
            ("SELECT 1; /* b */ ; x", false, false),
            ("SELECT 1; -", false, false),
            ("SELECT 1; / 2", false, false),
            ("SELECT 1;; ';'", false, false),
        ] {
            assert_eq!(split(sql).map(|split| split.rest_is_empty()), Ok(is_one), "{sql}");
            assert_eq!(!has_further_semicolon(sql), python_runs_it, "{sql}");
        }
    }

    #[test]
    fn commands_are_told_from_queries_by_their_first_word() {
        for (sql, is_command) in [
            ("/* x */ drop TABLE t", true),
            (";\nPRAGMA x", true),
            ("WITH a AS (SELECT 1) SELECT 1", false),
            ("(SELECT 1)", false),
            ("dropped", false),
        ] {
            assert_eq!(split(sql).map(|split| split.is_command()), Ok(is_command), "{sql}");
        }
    }
}
