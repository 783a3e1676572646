//! What became of an answer.

use serde::Serialize;
use sqlgauge_engine::FailureKind;

sqlgauge_base::named! {
    /// What became of an answer; each code but [`Code::GoldFailed`] has a value.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Code by as_str {
        /// It returns what the gold returns, or by [`crate::RewardKind::Structure`] it is the gold up to rules that hold.
        Right = "right",
        Wrong = "wrong",
        /// It returns what the gold returns on the benchmark's database, but not on a counterexample database of the question.
        WrongOnWitness = "wrong_on_witness",
        /// The text is not a query over the schema, or fails while it runs.
        DoesNotRun = "does_not_run",
        /// It ran longer than the time limit.
        Timeout = "timeout",
        /// Its text, its result, a value or its working memory passed a limit.
        TooLarge = "too_large",
        /// The completion has no SQL.
        NoSql = "no_sql",
        /// It asks for something that untrusted SQL may not do, such as writing.
        Denied = "denied",
        /// It reads no table, and the gold does: an echo of a result.
        ReadsNoTable = "reads_no_table",
        /// The gold does not run: the benchmark's failure, which has no value.
        GoldFailed = "gold_failed",
    }
}

impl Code {
    /// The code of an answer that has no rows; `None` where the file or the machine is at fault and not the answer.
    pub(crate) fn of_failure(kind: FailureKind) -> Option<Self> {
        Some(match kind {
            FailureKind::Empty => Self::NoSql,
            FailureKind::Timeout => Self::Timeout,
            FailureKind::TooLarge => Self::TooLarge,
            FailureKind::Denied => Self::Denied,
            FailureKind::DatabaseError | FailureKind::Machine => return None,
            FailureKind::MultipleStatements
            | FailureKind::NulByte
            | FailureKind::SyntaxError
            | FailureKind::NoSuchTable
            | FailureKind::NoSuchColumn
            | FailureKind::AmbiguousColumn
            | FailureKind::NoSuchFunction
            | FailureKind::InvalidQuery
            | FailureKind::Parameters
            | FailureKind::RuntimeError => Self::DoesNotRun,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_those_of_records() {
        let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn every_failure_but_that_of_the_file_has_a_code() {
        for kind in FailureKind::ALL {
            assert_eq!(
                Code::of_failure(kind).is_none(),
                matches!(kind, FailureKind::DatabaseError | FailureKind::Machine),
                "{kind}"
            );
        }
    }
}
