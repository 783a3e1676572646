//! The meaning of drivers' errors: by the server's code where the driver passes it on, else by the words of the message, else by
//! the class of PEP 249.

use sqlgauge_engine::{Failure, FailureKind};

use crate::server::Blame;
use crate::{duckdb, mysql, postgresql};

/// The class of a refusal. `code` is what the process says of it: `state:42P01`, `mysql:1146`, `duckdb:BinderException`, `pep:DataError`.
pub(super) fn failure(code: &str, message: &str) -> Failure {
    let (family, code) = code.split_once(':').unwrap_or(("", code));
    let message = message.lines().next().unwrap_or_default();
    match (family, code) {
        ("mysql", code) => mysql::errors::failure(code, message),
        ("duckdb", code) => duckdb::errors::failure(code, message),
        // SQLSTATEs of ODBC.
        ("state", "42S02") => Failure::new(FailureKind::NoSuchTable, message),
        ("state", "42S22") => Failure::new(FailureKind::NoSuchColumn, message),
        ("state", code) if is_precise(code) => postgresql::errors::failure(code, message),
        _ => {
            let kind = kind_of_process(code)
                .or_else(|| kind_of_words(message))
                .unwrap_or_else(|| kind_of_class(code));
            Failure::new(kind, message)
        }
    }
}

/// Whom a refusal blames.
pub(super) fn blame(code: &str) -> Blame {
    match code.split_once(':').unwrap_or(("", code)) {
        ("mysql", code) => mysql::errors::blame(code),
        ("state", code) => postgresql::errors::blame(code),
        (_, code) => duckdb::errors::blame(code),
    }
}

/// Whether a SQLSTATE says more than its class: other servers put all that they refuse under one.
fn is_precise(state: &str) -> bool {
    !state.ends_with("000") && !state.starts_with("HY")
}

/// What the process itself says.
fn kind_of_process(code: &str) -> Option<FailureKind> {
    Some(match code {
        "denied" => FailureKind::Denied,
        "OutOfMemoryException" => FailureKind::TooLarge,
        _ => return None,
    })
}

/// Words of messages, in small letters, and what they mean. The first match counts.
const WORDS: [(&str, FailureKind); 44] = {
    use FailureKind as Kind;
    [
        ("syntax error", Kind::SyntaxError),
        ("syntax_error", Kind::SyntaxError),
        ("parse_syntax", Kind::SyntaxError),
        ("incorrect syntax", Kind::SyntaxError),
        ("unrecognized token", Kind::SyntaxError),
        ("incomplete input", Kind::SyntaxError),
        ("mismatched input", Kind::SyntaxError),
        ("unexpected keyword", Kind::SyntaxError),
        ("expected end of input", Kind::SyntaxError),
        ("ambiguous", Kind::AmbiguousColumn),
        ("no such table", Kind::NoSuchTable),
        ("no such view", Kind::NoSuchTable),
        ("table or view does not exist", Kind::NoSuchTable),
        ("table_or_view_not_found", Kind::NoSuchTable),
        ("table_not_found", Kind::NoSuchTable),
        ("unknown_table", Kind::NoSuchTable),
        ("unknown table", Kind::NoSuchTable),
        ("invalid object name", Kind::NoSuchTable),
        ("not found: table", Kind::NoSuchTable),
        ("no such column", Kind::NoSuchColumn),
        ("invalid column name", Kind::NoSuchColumn),
        ("invalid identifier", Kind::NoSuchColumn),
        ("column_not_found", Kind::NoSuchColumn),
        ("unresolved_column", Kind::NoSuchColumn),
        ("unknown_identifier", Kind::NoSuchColumn),
        ("unrecognized name", Kind::NoSuchColumn),
        ("no such function", Kind::NoSuchFunction),
        ("unknown function", Kind::NoSuchFunction),
        ("unknown_function", Kind::NoSuchFunction),
        ("function_not_found", Kind::NoSuchFunction),
        ("function not found", Kind::NoSuchFunction),
        ("unresolved_routine", Kind::NoSuchFunction),
        ("recognized built-in function", Kind::NoSuchFunction),
        ("permission", Kind::Denied),
        ("not authorized to", Kind::Denied),
        ("access denied", Kind::Denied),
        ("privilege", Kind::Denied),
        ("readonly", Kind::Denied),
        ("read-only", Kind::Denied),
        ("out of memory", Kind::TooLarge),
        ("too big", Kind::TooLarge),
        ("interrupted", Kind::Timeout),
        ("number of bindings", Kind::Parameters),
        ("does not exist", Kind::NoSuchTable),
    ]
};

fn kind_of_words(message: &str) -> Option<FailureKind> {
    let message = message.to_lowercase();
    WORDS.iter().find(|(words, _)| message.contains(words)).map(|(_, kind)| *kind)
}

fn kind_of_class(class: &str) -> FailureKind {
    match class {
        "ProgrammingError" | "NotSupportedError" => FailureKind::InvalidQuery,
        _ => FailureKind::RuntimeError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_drivers_have_a_class() {
        for (code, message, expected) in [
            ("state:42P01", "relation \"x\" does not exist", FailureKind::NoSuchTable),
            ("state:42S02", "[42S02] Invalid object name 'x'. (208)", FailureKind::NoSuchTable),
            ("mysql:1054", "(1054, \"Unknown column 'x'\")", FailureKind::NoSuchColumn),
            ("duckdb:BinderException", "Ambiguous reference to column", FailureKind::AmbiguousColumn),
            ("state:42000", "SQL compilation error: syntax error line 1", FailureKind::SyntaxError),
            ("state:02000", "Object 'X' does not exist or not authorized.", FailureKind::NoSuchTable),
            ("pep:DatabaseError", "ORA-00942: table or view does not exist", FailureKind::NoSuchTable),
            ("pep:DatabaseError", "ORA-00904: \"X\": invalid identifier", FailureKind::NoSuchColumn),
            ("pep:Error", "TrinoUserError(name=FUNCTION_NOT_FOUND)", FailureKind::NoSuchFunction),
            ("pep:OperationalError", "near \"FROM\": syntax error", FailureKind::SyntaxError),
            ("pep:OperationalError", "attempt to write a readonly database", FailureKind::Denied),
            ("pep:ProgrammingError", "something else", FailureKind::InvalidQuery),
            ("pep:DataError", "something else", FailureKind::RuntimeError),
            ("denied", "only queries are run", FailureKind::Denied),
            ("OutOfMemoryException", "", FailureKind::TooLarge),
        ] {
            assert_eq!(failure(code, message).kind, expected, "{code} {message}");
        }
        assert_eq!(blame("OutOfMemoryException"), Blame::Crowd);
    }
}
