//! The tokens of a text, as the server reads them.
//!
//! The server has the locks. Refused here are words that no privilege governs, and words that make one query's outcome depend on
//! another's: waiting, named locks, row locks, the list of processes.

use sqlgauge_engine::{Failure, FailureKind};

use crate::text::{self, Lexing, Token, Way, tokens};

/// How the server reads texts in that `sql_mode`.
pub(crate) fn lexing(sql_mode: &str) -> Lexing {
    let has = |mode: &str| sql_mode.split(',').any(|item| item.eq_ignore_ascii_case(mode));
    let always = [Way::HashComments, Way::SpaceAfterDashes, Way::ExecutedComments];
    let escapes = (!has("NO_BACKSLASH_ESCAPES")).then_some(Way::Escapes);
    let texts = (!has("ANSI_QUOTES")).then_some(Way::DoubleQuotedTexts);
    Lexing::of(always.into_iter().chain(escapes).chain(texts))
}

/// The text up to the semicolon that ends its statement.
pub(super) fn statement(sql: &str, lexing: Lexing) -> &str {
    let end = tokens(sql, lexing).skip_while(|(_, token)| *token == Token::Symbol(b';'));
    let end = end.into_iter().find(|(_, token)| *token == Token::Symbol(b';'));
    end.map_or(sql, |(at, _)| &sql[..at])
}

/// Functions that wait, take locks, ask for those of other sessions or for the rows of the query before, or read files. The server asks
/// no privilege for most.
const FUNCTIONS: [&str; 15] = [
    "BENCHMARK",
    "FOUND_ROWS",
    "GET_LOCK",
    "IS_FREE_LOCK",
    "IS_USED_LOCK",
    "LOAD_FILE",
    "MASTER_GTID_WAIT",
    "MASTER_POS_WAIT",
    "RELEASE_ALL_LOCKS",
    "RELEASE_LOCK",
    "SLEEP",
    "SOURCE_POS_WAIT",
    "WAIT_FOR_EXECUTED_GTID_SET",
    "WAIT_UNTIL_SQL_THREAD_AFTER_GTIDS",
    "WSREP_SYNC_WAIT_UPTO_GTID",
];

/// What a query begins with. Only a query is sent at all: the server can prepare SHOW and HANDLER too, which return rows and need no right.
const QUERIES: [&str; 4] = ["SELECT", "WITH", "VALUES", "TABLE"];

/// Why a text is not sent to the server.
pub(crate) fn refuse(sql: &str, lexing: Lexing) -> Option<Failure> {
    let all: Vec<Token<'_>> = tokens(sql, lexing).map(|(_, token)| token).collect();
    if all.contains(&Token::Executed) {
        let message =
            "a comment that the server would run (/*! … */): write what is in it without the comment";
        return Some(Failure::new(FailureKind::Denied, message));
    }
    text::refuse(&all, &QUERIES).or_else(|| all.windows(3).chain(all.windows(2)).find_map(refuse_tokens))
}

fn refuse_tokens(tokens: &[Token<'_>]) -> Option<Failure> {
    // The server takes an I with a dot for an I in the names of its tables.
    let is = |word: &str, expected: &str| word.replace('\u{130}', "I").eq_ignore_ascii_case(expected);
    let what = match *tokens {
        [Token::Word(name) | Token::Name(name), Token::Symbol(b'(')]
            if FUNCTIONS.iter().any(|function| is(name, function)) =>
        {
            format!("the function {}", name.to_ascii_uppercase())
        }
        [Token::Word(a), Token::Word(b)]
            if is(a, "LOCK") && is(b, "IN") || is(a, "FOR") && (is(b, "UPDATE") || is(b, "SHARE")) =>
        {
            "a lock on the rows".to_owned()
        }
        [Token::Word(a) | Token::Name(a), Token::Symbol(b'.'), Token::Word(b) | Token::Name(b)]
            if is(a, "performance_schema") || is(a, "information_schema") && is(b, "PROCESSLIST") =>
        {
            "what other sessions do".to_owned()
        }
        _ => return None,
    };
    Some(Failure::new(FailureKind::Denied, format!("asks for {what}, which a query here may not")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(sql: &str, mode: &str) -> Option<FailureKind> {
        refuse(sql, lexing(mode)).map(|failure| failure.kind)
    }

    #[test]
    fn a_text_is_read_as_the_server_reads_it() {
        use FailureKind::{Denied, Empty, MultipleStatements, SyntaxError};
        for (sql, expected) in [
            ("SELECT 1; -- x\n# y\n/* z */ ;", None),
            ("(SELECT 'a;b', \"c;d\", `e;f`, 'it''s; \\'; x')", None),
            ("SELECT 1 /* open ; SELECT 2", None),
            ("SELECT 1--1; SELECT 2", Some(MultipleStatements)),
            ("SELECT 'a\\'; SELECT 2; -- '", None),
            ("SELECT 1;;SELECT 2", Some(MultipleStatements)),
            (" # only\n -- this", Some(Empty)),
            ("'x'", Some(SyntaxError)),
            ("/* SELECT */ DELETE FROM t", Some(Denied)),
            ("SELECT 1 /*!50000 + 1 */", Some(Denied)),
            ("SELECT 1 /*M!100000 + 1 */", Some(Denied)),
            ("SELECT '/*! x */', 1 /* /*! */ # /*! x", None),
            ("SELECT sleep /* wait */ (1)", Some(Denied)),
            ("SELECT `SLEEP`(1)", Some(Denied)),
            ("SELECT sleep, `benchmark` FROM t", None),
            ("SELECT * FROM t LOCK/**/IN SHARE MODE", Some(Denied)),
            ("SELECT * FROM t FOR UPDATE", Some(Denied)),
            ("SELECT * FROM `information_schema` . processlist", Some(Denied)),
            ("SELECT * FROM information_schema.PROCESSL\u{130}ST", Some(Denied)),
            ("SELECT * FROM information_schema.tables, processlist", None),
        ] {
            assert_eq!(refused(sql, "STRICT_TRANS_TABLES"), expected, "{sql}");
        }
        // The same characters in another mode are other tokens.
        let quoted = "SELECT '\\', sleep(1), '\\'";
        assert_eq!((refused(quoted, ""), refused(quoted, "NO_BACKSLASH_ESCAPES")), (None, Some(Denied)));
        let named = "SELECT \"sleep\"(1)";
        assert_eq!((refused(named, ""), refused(named, "ANSI_QUOTES,ANSI")), (None, Some(Denied)));
    }

    #[test]
    fn a_statement_ends_at_its_semicolon() {
        let of = |sql| statement(sql, lexing(""));
        assert_eq!(of("SELECT ';' ; -- x"), "SELECT ';' ");
        assert_eq!((of("SELECT 1"), of("; SELECT 1;")), ("SELECT 1", "; SELECT 1"));
    }
}
