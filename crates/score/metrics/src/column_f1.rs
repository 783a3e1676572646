//! `column-f1@2` and `column-f1@1`: EvoSchema's Column Match F1.
//!
//! # Contract
//! F1 of the set of columns that the prediction uses against the set that the gold uses, in [0, 1].
//! Columns are (table, column) pairs of the database that the resolved query names anywhere, each once: `*`
//! names all columns of its tables, USING and NATURAL name the columns that they compare, and `count(*)` names
//! none. A column of a subquery counts by the columns inside the subquery.
//!
//! Queries that cannot be resolved, other dialects and the source: as for `table-f1`.

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::set_f1::{Unresolved, score_sets};

/// F1 over the columns that the queries use.
pub(crate) struct ColumnF1 {
    unresolved: Unresolved,
}

impl ColumnF1 {
    /// `column-f1@1`.
    pub(crate) const FIRST: Self = Self { unresolved: Unresolved::Nothing };
    /// `column-f1@2`.
    pub(crate) const SECOND: Self = Self { unresolved: Unresolved::Text };
}

impl Metric for ColumnF1 {
    fn info(&self) -> MetricInfo {
        let (id, summary) = match self.unresolved {
            Unresolved::Nothing => (
                "column-f1@1",
                "EvoSchema Column Match F1 over queries that resolve: 0 for a prediction with an unknown name.",
            ),
            Unresolved::Text => (
                "column-f1@2",
                "EvoSchema Column Match F1: overlap of the columns that gold and prediction use.",
            ),
        };
        MetricInfo::new(id, summary, MetricKind::Fraction, Reads::NoRows)
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        score_sets(pair, self.unresolved, "columns", |named| {
            named.columns.iter().map(|(table, column)| format!("{table}.{column}")).collect()
        })
    }
}
