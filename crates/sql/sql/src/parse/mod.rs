//! Text to [syntax](crate::syntax), one query per text.
//!
//! The grammar is SQLite's (crate `sqlite3-parser`, a port of its lemon grammar), so that precedence, optional
//! keywords and what may serve as a name are exactly SQLite's. Its types are known here and nowhere else.

mod declare;
mod sqlite;

pub(crate) use sqlite::{MAX_RELATIONS, TOO_MANY_RELATIONS};

use fallible_iterator::FallibleIterator;
use sqlite3_parser::Bump;
use sqlite3_parser::ast::{Cmd, Stmt};
use sqlite3_parser::lexer::sql::{Error as ParserError, Parser};

use crate::error::{ErrorKind, ResolveError};
use crate::lex::{self, Token, TokenKind};
use crate::locate::{TextPosition, locate, tokens};
use crate::syntax::{Declaration, Select};

/// The longest text that is parsed, in bytes; SQLite's own default limit is 1,000,000,000, but no query that a
/// person or a model writes comes near.
pub(crate) const MAX_SQL_BYTES: usize = 4 << 20;

/// Where the syntax of a text lives.
#[derive(Default)]
pub(crate) struct Arena(Bump);

/// The first statement of a text, which is a query.
pub(crate) struct Parsed<'b> {
    pub query: &'b Select<'b>,
    /// Something other than white space and comments follows it.
    pub followed: bool,
}

/// Parses a text whose first statement must be a SELECT, VALUES or WITH query.
pub(crate) fn parse_query<'b>(arena: &'b Arena, text: &'b str) -> Result<Parsed<'b>, ResolveError> {
    // The parser takes `LIMIT a, b` for `LIMIT a OFFSET b`, which is `LIMIT b OFFSET a`. The text as it is goes
    // first, so that a syntax error has its place in it.
    if let Some(rewritten) = without_limit_commas(text) {
        Statements::new(arena, text)?.next()?;
        return parse_rewritten(arena, arena.0.alloc_str(&rewritten));
    }
    parse_rewritten(arena, text)
}

fn parse_rewritten<'b>(arena: &'b Arena, text: &'b str) -> Result<Parsed<'b>, ResolveError> {
    let mut statements = Statements::new(arena, text)?;
    match statements.next()? {
        None => Err(ErrorKind::Empty.into()),
        Some(Stmt::Select(select)) => {
            let query = sqlite::Reader::new(&arena.0).whole(select);
            let query = query.map_err(|(kind, word)| ResolveError::new(kind).at(locate(text, word)))?;
            Ok(Parsed { query, followed: !matches!(statements.next(), Ok(None)) })
        }
        Some(other) => Err(ErrorKind::NotAQuery(statement_name(&other)).into()),
    }
}

/// The statements of a text, one by one.
pub(crate) struct Statements<'b> {
    parser: Parser<'b>,
    arena: &'b Arena,
    text: &'b str,
}

impl<'b> Statements<'b> {
    /// Errors when the text is too long or holds a NUL byte.
    fn new(arena: &'b Arena, text: &'b str) -> Result<Self, ResolveError> {
        if text.len() > MAX_SQL_BYTES {
            return Err(ErrorKind::Unsupported(format!("a text of more than {MAX_SQL_BYTES} bytes")).into());
        }
        if text.contains('\0') {
            return Err(ErrorKind::Syntax("the text holds a NUL byte".to_owned()).into());
        }
        check_for_parser(text)?;
        Ok(Self { parser: Parser::new(&arena.0, text.as_bytes()), arena, text })
    }

    /// The statements of a script; errors when the text is too long or holds a NUL byte.
    pub(crate) fn of_script(arena: &'b Arena, text: &'b str) -> Result<Self, ResolveError> {
        match without_limit_commas(text) {
            Some(rewritten) => Self::new(arena, arena.0.alloc_str(&rewritten)),
            None => Self::new(arena, text),
        }
    }

    /// What the next statement declares, `None` at the end of the text.
    pub(crate) fn next_declaration(&mut self) -> Result<Option<Declaration<'b>>, ResolveError> {
        Ok(self.next()?.map(|statement| declare::declaration(&self.arena.0, statement)))
    }

    fn next(&mut self) -> Result<Option<Stmt<'b>>, ResolveError> {
        match self.parser.next() {
            Ok(None) => Ok(None),
            Ok(Some(Cmd::Stmt(statement))) => Ok(Some(statement)),
            Ok(Some(Cmd::Explain(_) | Cmd::ExplainQueryPlan(_))) => {
                Err(ErrorKind::NotAQuery("EXPLAIN").into())
            }
            Err(error) => Err(syntax_error(&error, self.text)),
        }
    }
}

fn syntax_error(error: &ParserError, text: &str) -> ResolveError {
    let (message, place) = match error {
        ParserError::Io(error) => (error.to_string(), None),
        ParserError::UnrecognizedToken(place) => ("unrecognized token".to_owned(), place.as_ref()),
        ParserError::UnterminatedLiteral(place) => ("a quote is never closed".to_owned(), place.as_ref()),
        ParserError::UnterminatedBracket(place) => ("a [ is never closed".to_owned(), place.as_ref()),
        ParserError::UnterminatedBlockComment(place) => {
            ("a comment is never closed".to_owned(), place.as_ref())
        }
        ParserError::BadVariableName(place) => ("bad parameter name".to_owned(), place.as_ref()),
        ParserError::BadNumber(place) => ("bad number".to_owned(), place.as_ref()),
        ParserError::ExpectedEqualsSign(place) => ("= expected after !".to_owned(), place.as_ref()),
        ParserError::MalformedBlobLiteral(place) => ("malformed blob".to_owned(), place.as_ref()),
        ParserError::MalformedHexInteger(place) => {
            ("malformed hexadecimal integer".to_owned(), place.as_ref())
        }
        ParserError::ParserError(error, place) => (error.to_string(), place.as_ref()),
        other => (other.to_string(), None),
    };
    let position = place.map(|place| character_position(text, place.line, place.column));
    ResolveError::new(ErrorKind::Syntax(message)).at(position)
}

/// Turns the parser's column, which counts bytes, into one that counts characters.
fn character_position(text: &str, line: usize, byte_column: usize) -> TextPosition {
    let bytes = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default().as_bytes();
    let before = &bytes[..byte_column.saturating_sub(1).min(bytes.len())];
    TextPosition { line, column: String::from_utf8_lossy(before).chars().count() + 1 }
}

fn statement_name(statement: &Stmt<'_>) -> &'static str {
    match statement {
        Stmt::AlterTable(..) => "ALTER TABLE",
        Stmt::Analyze(..) => "ANALYZE",
        Stmt::Attach { .. } => "ATTACH",
        Stmt::Begin(..) => "BEGIN",
        Stmt::Commit(..) => "COMMIT",
        Stmt::CreateIndex { .. } => "CREATE INDEX",
        Stmt::CreateTable { .. } => "CREATE TABLE",
        Stmt::CreateTrigger { .. } => "CREATE TRIGGER",
        Stmt::CreateView { .. } => "CREATE VIEW",
        Stmt::CreateVirtualTable { .. } => "CREATE VIRTUAL TABLE",
        Stmt::Delete { .. } => "DELETE",
        Stmt::Detach(..) => "DETACH",
        Stmt::DropIndex { .. } => "DROP INDEX",
        Stmt::DropTable { .. } => "DROP TABLE",
        Stmt::DropTrigger { .. } => "DROP TRIGGER",
        Stmt::DropView { .. } => "DROP VIEW",
        Stmt::Insert { .. } => "INSERT",
        Stmt::Pragma(..) => "PRAGMA",
        Stmt::Reindex { .. } => "REINDEX",
        Stmt::Release(..) => "RELEASE",
        Stmt::Rollback { .. } => "ROLLBACK",
        Stmt::Savepoint(..) => "SAVEPOINT",
        Stmt::Select(..) => "SELECT",
        Stmt::Update { .. } => "UPDATE",
        Stmt::Vacuum(..) => "VACUUM",
    }
}

/// Texts that are shorter cost the parser little, whatever they say.
const LONG_TEXT_BYTES: usize = 4_096;
/// The deepest that a tree of the parser may be.
const MAX_PARSED_DEPTH: usize = 250_000;
/// Names in a row, as in a type: the parser writes the name of a type anew with each of them.
const MAX_NAMES_IN_A_ROW: usize = 64;
/// Columns of a CREATE TABLE, of which SQLite itself allows 2,000: the parser compares each with all others.
const MAX_COLUMNS: usize = 4_000;

/// Refuses what the parser takes more than n log n for, in time or in memory.
fn check_for_parser(text: &str) -> Result<(), ResolveError> {
    if text.len() < LONG_TEXT_BYTES {
        return Ok(());
    }
    let refused = |what: String| Err(ErrorKind::Unsupported(what).into());
    if text.len() > MAX_PARSED_DEPTH && depth_at_most(text) > MAX_PARSED_DEPTH {
        return refused(format!("nesting that may be deeper than {MAX_PARSED_DEPTH} levels"));
    }
    let (mut names, mut is_first, mut creates, mut depth, mut columns) = (0, true, false, 0_usize, 0);
    let mut begins_part = false;
    for token in parsed_tokens(text) {
        if is_first {
            (creates, depth, columns) = (token.text.eq_ignore_ascii_case("create"), 0, 0);
        }
        is_first = token.text == ";";
        columns += usize::from(begins_part && !begins_constraint(token.text));
        begins_part = token.text == "," && depth == 1;
        match token.text {
            // What the reader refuses, before the parser has taken memory for it.
            "(" if depth == sqlite::MAX_DEPTH => return refused(sqlite::TOO_DEEP.to_owned()),
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_name = !matches!(token.kind, TokenKind::Sign | TokenKind::Parameter);
        names = if is_name && !is_reserved(token.text) { names + 1 } else { 0 };
        if names > MAX_NAMES_IN_A_ROW {
            return refused(format!("more than {MAX_NAMES_IN_A_ROW} names in a row"));
        }
        if creates && columns > MAX_COLUMNS {
            return refused(format!("a CREATE TABLE of more than {MAX_COLUMNS} columns"));
        }
    }
    Ok(())
}

/// Whether a part of a CREATE TABLE that begins with that word is a constraint: the words are reserved, so not a column's name.
fn begins_constraint(word: &str) -> bool {
    ["constraint", "primary", "unique", "check", "foreign"]
        .iter()
        .any(|keyword| word.eq_ignore_ascii_case(keyword))
}

/// Whether a word ends a row of names: it is no name in SQLite's grammar, or an operator between operands.
fn is_reserved(word: &str) -> bool {
    const RESERVED: [&str; 36] = [
        "and", "as", "between", "case", "check", "collate", "default", "distinct", "else", "escape",
        "exists", "from", "glob", "group", "having", "in", "is", "isnull", "join", "like", "limit", "match",
        "not", "notnull", "null", "on", "or", "order", "regexp", "select", "set", "then", "union", "values",
        "when", "where",
    ];
    RESERVED.iter().any(|reserved| word.eq_ignore_ascii_case(reserved))
}

/// The deepest that a tree of the parser may be that is written by the parser's own code, which calls itself once for
/// each level.
const MAX_WRITTEN_DEPTH: usize = 50_000;
/// How deep it may be for the stack at hand.
const SHALLOW: usize = 200;
/// Bytes of stack for writing one level.
const WRITER_BYTES: usize = 4_096;

/// Runs what writes the statements of a text, on a stack that is large enough for them.
pub(crate) fn with_stack_to_write<T>(
    text: &str,
    write: impl FnOnce() -> Result<T, ResolveError>,
) -> Result<T, ResolveError> {
    match depth_at_most(text) {
        ..SHALLOW => write(),
        depth @ ..MAX_WRITTEN_DEPTH => stacker::maybe_grow(depth * WRITER_BYTES, depth * WRITER_BYTES, write),
        _ => {
            let message = format!("nesting that may be deeper than {MAX_WRITTEN_DEPTH} levels");
            Err(ErrorKind::Unsupported(message).into())
        }
    }
}

/// What the depth of the trees of a text's statements does not exceed: an expression is at most as deep as it has words
/// and signs, and ends at a comma.
fn depth_at_most(text: &str) -> usize {
    let (mut open, mut sum, mut most) = (vec![0_usize], 0, 0);
    for token in parsed_tokens(text) {
        match token.text {
            ")" => sum -= if open.len() > 1 { open.pop().unwrap_or(0) } else { 0 },
            "," => sum -= open.last_mut().map_or(0, std::mem::take),
            ";" => (open, sum) = (vec![0], 0),
            _ => {
                // What SQLite and the parser may cut in different places counts by its length.
                let is_certain = token.is_legal && token.kind != TokenKind::Parameter;
                let count = if is_certain { 1 } else { token.text.len() };
                sum += count;
                if let Some(last) = open.last_mut() {
                    *last += count;
                }
                if token.text == "(" {
                    open.push(0);
                }
            }
        }
        most = most.max(sum);
    }
    most
}

/// The text with every `LIMIT a, b` as `LIMIT b OFFSET a`; `None` without one.
fn without_limit_commas(text: &str) -> Option<String> {
    /// A LIMIT whose clause has not ended: parenthesis depth, start of its expression, comma.
    struct Open {
        depth: usize,
        start: usize,
        comma: Option<usize>,
    }
    let mut open: Vec<Open> = Vec::new();
    let mut limits: Vec<(usize, usize, usize)> = Vec::new();
    let mut depth = 0_usize;
    let all = tokens(text).map(|token| (token.start, token.text));
    for (start, token) in all.chain([(text.len(), ";")]) {
        let ends = match token {
            "(" => {
                depth += 1;
                false
            }
            ")" => {
                depth = depth.saturating_sub(1);
                true
            }
            "," => {
                if let Some(limit) = open.last_mut().filter(|limit| limit.depth == depth) {
                    limit.comma.get_or_insert(start);
                }
                false
            }
            ";" => {
                depth = 0;
                true
            }
            word if word.eq_ignore_ascii_case("limit") => {
                open.push(Open { depth, start: start + word.len(), comma: None });
                false
            }
            _ => false,
        };
        while let Some(limit) = open.pop_if(|limit| ends && (limit.depth > depth || token == ";")) {
            limits.extend(limit.comma.map(|comma| (limit.start, comma, start)));
        }
    }
    limits.sort_unstable();
    let (&(first, ..), mut rewritten) =
        (limits.first()?, String::with_capacity(text.len() + 16 * limits.len()));
    rewritten.push_str(&text[..first]);
    let mut done = first;
    for (start, comma, end) in limits {
        // A LIMIT inside the expression of another one is left to the outer, which no query in use has.
        if start < done {
            continue;
        }
        rewritten.push_str(&text[done..start]);
        // The line ends keep a comment from swallowing what follows it.
        for part in [" ", &text[comma + 1..end], "\n OFFSET ", &text[start..comma], "\n"] {
            rewritten.push_str(part);
        }
        done = end;
    }
    rewritten.push_str(&text[done..]);
    Some(rewritten)
}

/// What the parser reads of a text. It takes a byte order mark for a name, which SQLite passes over.
fn parsed_tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    lex::tokens(text).filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_no_deeper_than_its_words_and_signs_between_commas() {
        for (text, depth) in [
            ("", 0),
            ("SELECT 1", 2),
            ("SELECT 1, 2, 3", 2),
            ("SELECT ((1)), 2", 4),
            ("a (b, (c), d) , e f; g", 4),
            ("(1, (1, (1, 2)))", 4),
            (") ) a", 1),
        ] {
            assert_eq!(depth_at_most(text), depth, "{text}");
        }
    }

    #[test]
    fn an_expression_is_as_deep_as_its_own_tree() {
        let depth = |text: &str| {
            let arena = Arena::default();
            let parsed = parse_query(&arena, text).unwrap();
            let crate::syntax::Operand::Select(select) = &parsed.query.first else { panic!("{text}") };
            let crate::syntax::ResultColumn::Expr(output, _) = &select.outputs[0] else { panic!("{text}") };
            (output.depth, select.filter.as_ref().map(|filter| filter.depth))
        };
        assert_eq!(depth("SELECT 1 WHERE 1 AND 2 AND 3 AND 4"), (1, Some(4)));
        assert_eq!(depth("SELECT -(1) WHERE 1 AND 2 * (3 + 4)"), (3, Some(5)));
        // The query is a level, and so is its FROM clause.
        assert_eq!(depth("SELECT 1 WHERE EXISTS (SELECT 1 + 1 FROM t) AND 2"), (1, Some(5)));
    }

    #[test]
    fn limit_with_a_comma_has_its_offset_first() {
        for (text, rewritten) in [
            ("SELECT a, b FROM t LIMIT 5", None),
            ("SELECT f(a, b) FROM t LIMIT max(1, 2)", None),
            ("SELECT ', limit 1, 2' FROM t", None),
            ("SELECT a FROM t LIMIT 1, 2", Some("SELECT a FROM t LIMIT  2\n OFFSET  1\n")),
            (
                "SELECT (SELECT a FROM t limit 1,2), b FROM t LIMIT 3",
                Some("SELECT (SELECT a FROM t limit 2\n OFFSET  1\n), b FROM t LIMIT 3"),
            ),
            ("SELECT a FROM t LIMIT 1, 2;", Some("SELECT a FROM t LIMIT  2\n OFFSET  1\n;")),
        ] {
            assert_eq!(without_limit_commas(text).as_deref(), rewritten, "{text}");
        }
    }

    /// As SQLite counts: a semicolon alone is not a statement.
    #[test]
    fn empty_statements_do_not_count() {
        for (text, followed) in [
            ("SELECT 1", false),
            ("SELECT 1;", false),
            ("SELECT 1;;", false),
            ("SELECT 1; /* b */ ;", false),
            (";;SELECT 1;; -- b\n;", false),
            ("SELECT 1 LIMIT 2, 3;;", false),
            ("SELECT 1; SELECT 2", true),
            ("SELECT 1;; SELECT 2", true),
            ("SELECT 1; /* b */ ; x", true),
            ("SELECT 1; 'open", true),
        ] {
            let arena = Arena::default();
            assert_eq!(
                parse_query(&arena, text).map(|parsed| parsed.followed).ok(),
                Some(followed),
                "{text}"
            );
        }
    }
}
