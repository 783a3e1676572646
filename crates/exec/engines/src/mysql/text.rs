//! A text as the server's own reader of tokens takes it.
//!
//! The locks are the server's. What is refused here is what no privilege governs, and what would make one query's outcome depend on
//! another: waiting, named locks, row locks, the list of processes.

use sqlgauge_engine::{Failure, FailureKind};

/// How the server's `sql_mode` has it read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexing {
    /// A backslash takes the meaning from the character behind it.
    pub(super) has_escapes: bool,
    /// Double quotes are around names.
    pub(super) has_quoted_names: bool,
}

impl Lexing {
    pub(super) fn of(sql_mode: &str) -> Self {
        let has = |mode: &str| sql_mode.split(',').any(|item| item.eq_ignore_ascii_case(mode));
        Self { has_escapes: !has("NO_BACKSLASH_ESCAPES"), has_quoted_names: has("ANSI_QUOTES") }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A name or key word, with its quotes off.
    Word(&'a str),
    Literal,
    Symbol(u8),
    /// A comment that the server runs: `/*! … */`.
    Executed,
}

/// The tokens of a text, each with its place.
struct Tokens<'a> {
    sql: &'a str,
    at: usize,
    lexing: Lexing,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.sql.get(self.at..)?;
            let bytes = rest.as_bytes();
            let begin = self.at;
            let line = || rest.find('\n').map_or(rest.len(), |end| end + 1);
            let token = match *bytes.first()? {
                b' ' | b'\t'..=b'\r' => {
                    self.at += 1;
                    continue;
                }
                b'#' => {
                    self.at += line();
                    continue;
                }
                b'-' if bytes.get(1) == Some(&b'-') && bytes.get(2).is_none_or(|&byte| byte <= b' ') => {
                    self.at += line();
                    continue;
                }
                b'/' if rest.starts_with("/*!") || rest.starts_with("/*M!") => {
                    self.at += 2;
                    Token::Executed
                }
                b'/' if rest.starts_with("/*") => {
                    self.at += rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
                    continue;
                }
                quote @ (b'\'' | b'"' | b'`') => self.quoted(rest, quote),
                byte if is_of_word(byte) => {
                    let length = bytes.iter().take_while(|&&byte| is_of_word(byte)).count();
                    self.at += length;
                    Token::Word(&rest[..length])
                }
                symbol => {
                    self.at += 1;
                    Token::Symbol(symbol)
                }
            };
            return Some((begin, token));
        }
    }
}

impl<'a> Tokens<'a> {
    /// What is in quotes. A doubled quote ends one and begins the next, which comes to the same here.
    fn quoted(&mut self, rest: &'a str, quote: u8) -> Token<'a> {
        let is_name = quote == b'`' || (quote == b'"' && self.lexing.has_quoted_names);
        let mut bytes = rest.bytes().enumerate().skip(1);
        let mut end = None;
        while let Some((at, byte)) = bytes.next() {
            if byte == quote {
                end = Some(at);
                break;
            }
            if byte == b'\\' && self.lexing.has_escapes && !is_name {
                let _escaped = bytes.next();
            }
        }
        self.at += end.map_or(rest.len(), |end| end + 1);
        if is_name { Token::Word(&rest[1..end.unwrap_or(rest.len())]) } else { Token::Literal }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

fn tokens(sql: &str, lexing: Lexing) -> Tokens<'_> {
    Tokens { sql, at: 0, lexing }
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

/// Why a text is not sent to the server.
pub(super) fn refuse(sql: &str, lexing: Lexing) -> Option<Failure> {
    let all: Vec<Token<'_>> = tokens(sql, lexing).map(|(_, token)| token).collect();
    if all.contains(&Token::Executed) {
        let message =
            "a comment that the server would run (/*! … */): write what is in it without the comment";
        return Some(Failure::new(FailureKind::Denied, message));
    }
    let first = all.iter().find(|token| !matches!(token, Token::Symbol(b'(' | b';')));
    let word = first.map(|token| if let Token::Word(word) = token { word } else { "?" });
    if let Some(failure) = refuse_commands(word) {
        return Some(failure);
    }
    let is_end = |token: &&Token<'_>| **token == Token::Symbol(b';');
    let ended = all.iter().skip_while(is_end).skip_while(|token| !is_end(token));
    if ended.into_iter().any(|token| !is_end(&token)) {
        let message = "the text holds more than one statement";
        return Some(Failure::new(FailureKind::MultipleStatements, message));
    }
    all.windows(3).chain(all.windows(2)).find_map(refuse_tokens)
}

/// What a query begins with.
const QUERIES: [&str; 4] = ["SELECT", "WITH", "VALUES", "TABLE"];

/// Only a query is sent at all: the server can prepare SHOW and HANDLER too, which return rows and need no right. `first` is the first word
/// of the text, behind parentheses and semicolons.
fn refuse_commands(first: Option<&str>) -> Option<Failure> {
    match first {
        None => Some(Failure::new(FailureKind::Empty, "the text holds no SQL statement")),
        Some(first) if QUERIES.iter().any(|word| word.eq_ignore_ascii_case(first)) => None,
        Some(first) if first.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            let first: String = first.chars().take(40).collect();
            let message = format!("only queries are run, and this begins with {first}");
            Some(Failure::new(FailureKind::Denied, message))
        }
        Some(_) => Some(Failure::new(FailureKind::SyntaxError, "the text begins with no word of a query")),
    }
}

fn refuse_tokens(tokens: &[Token<'_>]) -> Option<Failure> {
    // The server takes an I with a dot for an I in the names of its tables.
    let is = |word: &str, expected: &str| word.replace('\u{130}', "I").eq_ignore_ascii_case(expected);
    let what = match *tokens {
        [Token::Word(name), Token::Symbol(b'(')] if FUNCTIONS.iter().any(|function| is(name, function)) => {
            format!("the function {}", name.to_ascii_uppercase())
        }
        [Token::Word(a), Token::Word(b)]
            if is(a, "LOCK") && is(b, "IN") || is(a, "FOR") && (is(b, "UPDATE") || is(b, "SHARE")) =>
        {
            "a lock on the rows".to_owned()
        }
        [Token::Word(a), Token::Symbol(b'.'), Token::Word(b)]
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
        refuse(sql, Lexing::of(mode)).map(|failure| failure.kind)
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
        let of = |sql| statement(sql, Lexing::of(""));
        assert_eq!(of("SELECT ';' ; -- x"), "SELECT ';' ");
        assert_eq!((of("SELECT 1"), of("; SELECT 1;")), ("SELECT 1", "; SELECT 1"));
    }
}
