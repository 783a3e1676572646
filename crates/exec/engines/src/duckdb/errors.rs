//! What DuckDB's exceptions mean here.

use sqlgauge_engine::{Failure, FailureKind};

use crate::server::Blame;

/// The class of a refusal, by the name of the exception and its text.
pub(crate) fn failure(kind: &str, message: &str) -> Failure {
    use FailureKind as Kind;
    let has = |part: &str| message.contains(part);
    let kind = match kind {
        "empty" => Kind::Empty,
        "multiple" => Kind::MultipleStatements,
        "parameters" => Kind::Parameters,
        "denied" | "PermissionException" => Kind::Denied,
        "ParserException" | "SyntaxException" => Kind::SyntaxError,
        "CatalogException" if has("Table with name") || has("View with name") => Kind::NoSuchTable,
        "CatalogException" if has("Schema with name") || has("Catalog \"") => Kind::NoSuchTable,
        "CatalogException" if has("Function with name") => Kind::NoSuchFunction,
        "BinderException" if has("Ambiguous reference") => Kind::AmbiguousColumn,
        "BinderException" if has("not found in FROM clause") || has("does not have a column named") => {
            Kind::NoSuchColumn
        }
        "BinderException" if has("Referenced table") => Kind::NoSuchTable,
        "BinderException" | "CatalogException" | "NotImplementedException" | "NotSupportedError" => {
            Kind::InvalidQuery
        }
        "TransactionException" if has("read-only") => Kind::Denied,
        "InvalidInputException" if has("read-only mode") || has("has been locked") => Kind::Denied,
        "OutOfMemoryException" => Kind::TooLarge,
        "InterruptException" => Kind::Timeout,
        _ => Kind::RuntimeError,
    };
    Failure::new(kind, message.lines().next().unwrap_or_default())
}

/// Whom a refusal blames: the queries of a process share its memory, and only a signal interrupts one.
pub(crate) fn blame(kind: &str) -> Blame {
    match kind {
        "InterruptException" => Blame::Clock,
        "OutOfMemoryException" => Blame::Crowd,
        _ => Blame::Query,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_have_a_class() {
        for (kind, message, expected) in [
            (
                "CatalogException",
                "Catalog Error: Table with name x does not exist!",
                FailureKind::NoSuchTable,
            ),
            ("BinderException", "Binder Error: Ambiguous reference to column", FailureKind::AmbiguousColumn),
            ("InvalidInputException", "… attached in read-only mode!", FailureKind::Denied),
            ("ConversionException", "Conversion Error", FailureKind::RuntimeError),
        ] {
            assert_eq!(failure(kind, message).kind, expected, "{message}");
        }
    }
}
