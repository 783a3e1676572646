//! What the server's error numbers mean here.

use sqlgauge_engine::{Failure, FailureKind};

use crate::server::Blame;

/// The class of a server's refusal of a query. [`FailureKind::Machine`] says nothing of the query.
pub(crate) fn failure(code: &str, message: &str) -> Failure {
    use FailureKind as Kind;
    let number = code.parse::<u16>().unwrap_or_default();
    let kind = match number {
        1064 | 1149 if message.contains("memory exhausted") => Kind::TooLarge,
        1064 | 1149 => Kind::SyntaxError,
        1065 => Kind::Empty,
        1146 | 1109 | 1049 | 1051 => Kind::NoSuchTable,
        1054 => Kind::NoSuchColumn,
        1052 => Kind::AmbiguousColumn,
        // Without the right to execute, a function that is not there is refused as one that may not be run.
        1128 | 1305 | 1370 | 1630 => Kind::NoSuchFunction,
        // Rights, `READ ONLY`, and what the server's own options forbid.
        1044 | 1045 | 1095 | 1142 | 1143 | 1227 | 1290 | 1419 | 1792 | 1836 => Kind::Denied,
        1205 | 1317 | 1907 | 1969 | 3024 => Kind::Timeout,
        1021 | 1037 | 1038 | 1041 | 1104 | 1114 | 1118 | 1119 | 1135 | 1153 | 1301 | 1436 | 1931 | 3636 => {
            Kind::TooLarge
        }
        1034 | 1035 | 1194 | 1195 | 1712 => Kind::DatabaseError,
        1040 | 1053 | 1079 | 1080 | 1129 | 1152 | 1158..=1161 | 1203 | 1226 | 1461 | 1927 => Kind::Machine,
        1000..=1999 if !is_of_values(number) => Kind::InvalidQuery,
        _ => Kind::RuntimeError,
    };
    Failure::new(kind, message)
}

/// Whom a refusal blames. The server's own time limit has codes of its own.
pub(crate) fn blame(code: &str) -> Blame {
    match code {
        "1205" | "1213" | "1317" => Blame::Clock,
        "1021" | "1037" | "1038" | "1041" | "1135" => Blame::Crowd,
        _ => Blame::Query,
    }
}

/// Errors that depend on the values, which are known only while the query runs.
fn is_of_values(number: u16) -> bool {
    matches!(number, 1213 | 1242 | 1264 | 1292 | 1365 | 1366 | 1411 | 1426 | 1441 | 1690)
}

/// Warnings after which the rows are not what the query asked for: a value or the rows were cut.
pub(super) fn is_cut(code: &str) -> bool {
    matches!(code, "1260" | "1301" | "1931" | "3636")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_class() {
        for (code, kind) in [
            ("1064", FailureKind::SyntaxError),
            ("1146", FailureKind::NoSuchTable),
            ("1142", FailureKind::Denied),
            ("1969", FailureKind::Timeout),
            ("1055", FailureKind::InvalidQuery),
            ("1690", FailureKind::RuntimeError),
            ("1040", FailureKind::Machine),
            ("4161", FailureKind::RuntimeError),
        ] {
            assert_eq!(failure(code, "x").kind, kind, "{code}");
        }
        assert!(is_cut("1260") && !is_cut("1292"));
    }
}
