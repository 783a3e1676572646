//! How a reward is made.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqlgauge_engine::Limits;
use sqlgauge_search::{ColumnOrder, Contract};
use sqlgauge_verify::ColumnValues;

use crate::error::RewardError;

const MIB: usize = 1 << 20;
/// Working memory of one query.
const HEAP_BYTES: u64 = 256 << 20;

sqlgauge_base::named! {
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum RewardKind by as_str {
        /// 1 if the answer returns what the gold returns, as `ex@1` compares but for [`AnswerColumns`]; else 0.
        #[default]
        Exact = "exact",
        /// 1 for a right answer, and partial credit for one that parses, resolves, runs, and has cells in common with the gold.
        Dense = "dense",
        /// `etm@1`: 1 if the answer is the gold up to rules that hold on every database of the schema. Nothing is run.
        Structure = "structure",
    }
}

impl FromStr for RewardKind {
    type Err = RewardError;

    fn from_str(name: &str) -> Result<Self, RewardError> {
        named(Self::ALL, Self::as_str, name, "kind of reward")
    }
}

sqlgauge_base::named! {
    /// What of the benchmark's rows a counterexample database keeps to, so that an answer is not refused for what the data
    /// never shows. Each adds to the one before.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Likeness by as_str {
        /// The schema alone.
        Schema = "schema",
        /// A column without NULL there has none.
        Nulls = "nulls",
        /// A column whose values never repeat there does not repeat any, so that names, say, are unique; but for golds with
        /// DISTINCT, whose question is about what repeats.
        #[default]
        Repeats = "repeats",
    }
}

impl FromStr for Likeness {
    type Err = RewardError;

    fn from_str(name: &str) -> Result<Self, RewardError> {
        named(Self::ALL, Self::as_str, name, "likeness of witnesses")
    }
}

/// The one of that name, or an error that names all.
fn named<T: Copy, const N: usize>(
    all: [T; N],
    name_of: fn(T) -> &'static str,
    name: &str,
    what: &str,
) -> Result<T, RewardError> {
    all.into_iter().find(|one| name_of(*one) == name).ok_or_else(|| {
        let names = all.map(name_of).join(", ");
        RewardError::Option(format!("unknown {what} {name:?}: choose from {names}"))
    })
}

sqlgauge_base::named! {
    /// In which order the columns of an answer may come.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum AnswerColumns by as_str {
        /// In any: on each database some permutation of them must return what the gold returns, as for Spider's execution
        /// accuracy.
        #[default]
        Any = "any",
        /// In the gold's, as for `ex@1`.
        Ordered = "ordered",
    }
}

impl FromStr for AnswerColumns {
    type Err = RewardError;

    fn from_str(name: &str) -> Result<Self, RewardError> {
        named(Self::ALL, Self::as_str, name, "order of columns")
    }
}

/// How a reward is made.
#[derive(Debug, Clone, PartialEq)]
pub struct RewardOptions {
    /// Folder of the databases (`<db_id>/<db_id>.sqlite`), or one database for all questions, or the address of a server.
    pub databases: PathBuf,
    pub kind: RewardKind,
    /// In which order the columns of an answer may come. The kind structure always keeps the gold's.
    pub columns: AnswerColumns,
    /// Whether a right answer must also agree with its gold on the counterexample databases of the question.
    pub witnesses: bool,
    /// What of the benchmark's rows these databases keep to.
    pub likeness: Likeness,
    /// Which values they hold. With `Rows` and a likeness the benchmark's rows decide; without a likeness the columns' declarations do. Only
    /// with `Any` does a witness with a value off its type, or NULL in a primary key, count against an answer.
    pub values: ColumnValues,
    /// Where these are kept; without a folder they are in memory. Several processes may share one.
    pub witness_folder: Option<PathBuf>,
    /// Processor time of one query; ten times as much by the clock on the wall. What runs beside it costs it nothing.
    pub time_limit: Duration,
    /// Whether predictions are completions, out of which the SQL is taken
    /// ([`EXTRACTION`](sqlgauge_dataset::EXTRACTION)), or SQL already.
    pub extract: bool,
    /// Whether an answer that reads no table is refused where the gold reads one.
    pub refuse_no_table: bool,
    /// Threads that score at once; 0 for one per core.
    pub threads: usize,
    /// Slow queries that run at once, each in a process of its own; 0 for one per core.
    pub slow_queries: usize,
    /// What is remembered of golds, and again of answers and of witnesses, in bytes.
    pub cache_bytes: usize,
    /// Wrong answers of one batch out of which witnesses are made, at most.
    pub growth: usize,
    /// Where the random numbers of the search for witnesses begin.
    pub seed: u64,
}

impl RewardOptions {
    /// The default options for those databases: exact, columns in any order, without witnesses, two seconds for a query.
    pub fn new(databases: impl Into<PathBuf>) -> Self {
        Self {
            databases: databases.into(),
            kind: RewardKind::default(),
            columns: AnswerColumns::default(),
            witnesses: false,
            likeness: Likeness::default(),
            values: ColumnValues::default(),
            witness_folder: None,
            time_limit: Duration::from_secs(2),
            extract: true,
            refuse_no_table: true,
            threads: 0,
            slow_queries: 0,
            cache_bytes: 64 * MIB,
            growth: 8,
            seed: 0,
        }
    }

    /// What one query may use.
    pub fn limits(&self) -> Limits {
        Limits { timeout: self.time_limit, max_heap_bytes: HEAP_BYTES, ..Limits::default() }
    }

    /// When an answer has the rows of its gold.
    pub(crate) fn contract(&self) -> Contract {
        let column_order = match self.columns {
            AnswerColumns::Any => ColumnOrder::Free,
            AnswerColumns::Ordered => ColumnOrder::Kept,
        };
        Contract { column_order, ..Contract::default() }
    }

    /// Threads that score at once.
    pub(crate) fn cores(&self) -> usize {
        or_cores(self.threads)
    }

    /// Slow queries that run at once.
    pub(crate) fn processes(&self) -> usize {
        or_cores(self.slow_queries)
    }

    /// # Errors
    /// What cannot be, with the remedy.
    pub(crate) fn check(&self) -> Result<(), RewardError> {
        let refused = if self.time_limit.is_zero() {
            "a time limit of 0 lets no query run: give a time limit above 0 seconds"
        } else if self.witness_folder.is_some() && !self.witnesses {
            "a folder of witnesses is of no use without witnesses: turn witnesses on, or leave the folder out"
        } else if self.witnesses && self.kind == RewardKind::Structure {
            "a reward for structure looks at no data: leave the witnesses out, or choose the kind exact or dense"
        } else {
            return Ok(());
        };
        Err(RewardError::Option(refused.to_owned()))
    }
}

/// That number, or the cores of the machine for 0.
fn or_cores(count: usize) -> usize {
    match count {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        count => count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_back_and_others_are_named() {
        for kind in RewardKind::ALL {
            assert_eq!(kind.as_str().parse::<RewardKind>().unwrap(), kind);
        }
        for likeness in Likeness::ALL {
            assert_eq!(likeness.as_str().parse::<Likeness>().unwrap(), likeness);
        }
        for columns in AnswerColumns::ALL {
            assert_eq!(columns.as_str().parse::<AnswerColumns>().unwrap(), columns);
        }
        let error = "none".parse::<AnswerColumns>().unwrap_err().to_string();
        assert_eq!(error, "unknown order of columns \"none\": choose from any, ordered");
        let error = "exakt".parse::<RewardKind>().unwrap_err().to_string();
        assert_eq!(error, "unknown kind of reward \"exakt\": choose from exact, dense, structure");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_remedy() {
        let good = RewardOptions::new("x");
        assert!(good.check().is_ok());
        for bad in [
            RewardOptions { time_limit: Duration::ZERO, ..good.clone() },
            RewardOptions { witness_folder: Some("w".into()), ..good.clone() },
            RewardOptions { witnesses: true, kind: RewardKind::Structure, ..good.clone() },
        ] {
            assert!(bad.check().unwrap_err().to_string().contains(": "), "{bad:?}");
        }
    }
}
