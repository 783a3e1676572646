//! What SQLSTATE codes mean here.

use sqlgauge_engine::{Failure, FailureKind};

use crate::server::Blame;

/// The class of a server's refusal. [`FailureKind::Machine`] says nothing of the query.
pub(crate) fn failure(code: &str, message: &str) -> Failure {
    use FailureKind as Kind;
    let class = code.get(..2).unwrap_or_default();
    let kind = match (code, class) {
        ("42601", _) if message.contains("multiple commands") => Kind::MultipleStatements,
        // The parser's own stack.
        ("42601", _) if message.starts_with("memory exhausted") => Kind::TooLarge,
        ("42601", _) => Kind::SyntaxError,
        ("42P01" | "3F000", _) => Kind::NoSuchTable,
        ("42703", _) => Kind::NoSuchColumn,
        ("42702", _) => Kind::AmbiguousColumn,
        ("42883", _) if message.starts_with("function") => Kind::NoSuchFunction,
        ("42P02", _) => Kind::Parameters,
        ("25006" | "42501", _) => Kind::Denied,
        ("57014" | "55P03", _) => Kind::Timeout,
        ("53200" | "53400", _) | (_, "54") => Kind::TooLarge,
        ("XX001" | "XX002", _) => Kind::DatabaseError,
        (_, "42" | "0A") => Kind::InvalidQuery,
        (_, "08" | "28" | "3D" | "53" | "57" | "58") => Kind::Machine,
        _ => Kind::RuntimeError,
    };
    Failure::new(kind, message)
}

/// Whom a refusal blames. Time limit and request to cancel have one code.
pub(crate) fn blame(code: &str) -> Blame {
    match code {
        "57014" | "55P03" => Blame::Clock,
        "53200" => Blame::Crowd,
        _ => Blame::Query,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_a_class() {
        for (code, message, kind) in [
            ("42601", "syntax error at or near \"x\"", FailureKind::SyntaxError),
            ("42883", "function f() does not exist", FailureKind::NoSuchFunction),
            ("42883", "operator does not exist: text = integer", FailureKind::InvalidQuery),
            ("22012", "division by zero", FailureKind::RuntimeError),
            ("53400", "temporary file size exceeds temp_file_limit", FailureKind::TooLarge),
            ("53300", "too many clients", FailureKind::Machine),
            ("57P01", "terminating connection", FailureKind::Machine),
        ] {
            assert_eq!(failure(code, message).kind, kind, "{code}");
        }
    }
}
