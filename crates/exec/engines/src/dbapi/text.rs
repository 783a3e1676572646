//! Which texts are sent to a driver: only those that are one query however the server behind it reads them.

use sqlgauge_engine::{Failure, FailureKind};

use super::dialect::Dialect;
use crate::mysql;
use crate::text::{self, Token, tokens};

/// What a query begins with in every dialect.
const QUERIES: [&str; 3] = ["SELECT", "WITH", "VALUES"];
/// Words of commands that can stand inside a text which begins as a query does.
const COMMANDS: [&str; 13] = [
    "INSERT", "UPDATE", "DELETE", "MERGE", "INTO", "DROP", "CREATE", "ALTER", "TRUNCATE", "GRANT", "REVOKE",
    "EXEC", "EXECUTE",
];

/// Why a text is not sent to the driver.
pub(super) fn refuse(sql: &str, dialect: &Dialect) -> Option<Failure> {
    let mut lexings = dialect.lexings(sql).into_iter();
    if dialect.name == "mysql" {
        return lexings.find_map(|lexing| {
            mysql::text::refuse(sql, lexing).or_else(|| refuse_commands(&all(sql, lexing)))
        });
    }
    lexings.find_map(|lexing| {
        let all = all(sql, lexing);
        text::refuse(&all, &QUERIES).or_else(|| refuse_commands(&all))
    })
}

fn all(sql: &str, lexing: text::Lexing) -> Vec<Token<'_>> {
    tokens(sql, lexing).map(|(_, token)| token).collect()
}

/// The word of a command, unless it is a function or the column of a table.
fn refuse_commands(all: &[Token<'_>]) -> Option<Failure> {
    let word = all.iter().enumerate().find_map(|(at, token)| {
        let Token::Word(word) = token else { return None };
        let is_column = at > 0 && all[at - 1] == Token::Symbol(b'.');
        let is_call = all.get(at + 1) == Some(&Token::Symbol(b'('));
        let is_command = COMMANDS.iter().any(|command| command.eq_ignore_ascii_case(word));
        (is_command && !is_column && !is_call).then_some(word)
    })?;
    let message = format!("holds {}, which a query here may not", word.to_ascii_uppercase());
    Some(Failure::new(FailureKind::Denied, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_query_is_sent_however_the_server_reads_it() {
        use FailureKind::{Denied, Empty, MultipleStatements, SyntaxError};
        for (sql, expected) in [
            ("SELECT 1; -- x\n ;", None),
            ("(SELECT 'a;b', \"c;d\", `e;f`, 'it''s')", None),
            ("WITH a AS (SELECT 1) SELECT replace(x, 'a', 'b'), t.update, insert(1) FROM a t", None),
            ("VALUES (1)", None),
            ("SELECT 'it''s; not two'", None),
            ("SELECT x #> '{a;b}' FROM t", None),
            ("SELECT 1; SELECT 2", Some(MultipleStatements)),
            ("SELECT 'a\\'; DROP TABLE t; -- '", Some(MultipleStatements)),
            ("SELECT 'a\\\\'; DROP TABLE t; -- '", Some(MultipleStatements)),
            ("SELECT $$'$$; DROP TABLE t; --'", Some(MultipleStatements)),
            ("SELECT 1 # ;\n; DELETE FROM t", Some(MultipleStatements)),
            ("/* /* */ SELECT 1 -- */ DROP TABLE t", Some(Denied)),
            ("/* SELECT */ DELETE FROM t", Some(Denied)),
            ("WITH a AS (DELETE FROM t RETURNING x) SELECT * FROM a", Some(Denied)),
            ("SELECT 1 INTO x", Some(Denied)),
            ("SELECT * FROM t FOR UPDATE", Some(Denied)),
            ("PRAGMA query_only = OFF", Some(Denied)),
            ("SHOW ALL", Some(Denied)),
            (" -- only\n/* this */ ;", Some(Empty)),
            ("'x'", Some(SyntaxError)),
        ] {
            let dialect = Dialect::of_module("unknown");
            assert_eq!(refuse(sql, dialect).map(|failure| failure.kind), expected, "{sql}");
        }
        let hash = "SELECT 1 # one; two";
        let kind = |module| refuse(hash, Dialect::of_module(module)).map(|failure| failure.kind);
        assert_eq!((kind("pymysql"), kind("sqlite3")), (None, Some(MultipleStatements)));
    }

    #[test]
    fn a_long_text_is_read_in_a_moment() {
        let long = "/* ".repeat(200_000) + "SELECT 1";
        assert!(refuse(&long, Dialect::of_module("unknown")).is_some());
        assert!(
            refuse(&format!("SELECT {}1", "[$(".repeat(200_000)), Dialect::of_module("unknown")).is_none()
        );
    }
}
