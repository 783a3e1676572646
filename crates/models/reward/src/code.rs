//! What became of an answer.

use std::fmt;

use serde::Serialize;
use sqlgauge_engine::FailureKind;

/// What became of an answer; each code but [`Code::GoldFailed`] has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// It returns what the gold returns, or by [`crate::RewardKind::Structure`] it is the gold up to rules that hold.
    Right,
    Wrong,
    /// It returns what the gold returns on the benchmark's database, but not on a counterexample database of the question.
    WrongOnWitness,
    /// It is no query over the schema, or fails while it runs.
    DoesNotRun,
    /// It ran longer than the time limit.
    Timeout,
    /// Its text, its result, a value or its working memory passed a limit.
    TooLarge,
    /// There is no SQL in it.
    NoSql,
    /// It asks for something that untrusted SQL may not do, such as writing.
    Denied,
    /// It reads no table, and the gold does: an echo of a result.
    ReadsNoTable,
    /// The gold does not run: the benchmark's failure, which has no value.
    GoldFailed,
}

impl Code {
    /// All codes, in the order of their declaration.
    pub const ALL: [Self; 10] = [
        Self::Right,
        Self::Wrong,
        Self::WrongOnWitness,
        Self::DoesNotRun,
        Self::Timeout,
        Self::TooLarge,
        Self::NoSql,
        Self::Denied,
        Self::ReadsNoTable,
        Self::GoldFailed,
    ];

    /// Its name, `snake_case`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::WrongOnWitness => "wrong_on_witness",
            Self::DoesNotRun => "does_not_run",
            Self::Timeout => "timeout",
            Self::TooLarge => "too_large",
            Self::NoSql => "no_sql",
            Self::Denied => "denied",
            Self::ReadsNoTable => "reads_no_table",
            Self::GoldFailed => "gold_failed",
        }
    }

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

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
