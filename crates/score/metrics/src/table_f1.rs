//! `table-f1@2` and `table-f1@1`: EvoSchema's Table Match F1.
//!
//! # Contract
//! F1 of the set of tables that the prediction uses against the set that the gold uses, in [0, 1].
//! Tables are those of the database that the resolved query reads anywhere, each once, whatever its alias:
//! subqueries and common table expressions count by the tables inside them.
//!
//! A gold that cannot be resolved makes the score null. Of a prediction that cannot be resolved, `table-f1@2` reads the tables off
//! its text: one unknown name costs no more than itself, and the reason says that the text was read. If SQLite's grammar cannot
//! read it either, the score is 0. `table-f1@1` scores 0 whenever the prediction cannot be resolved.
//!
//! On PostgreSQL, MySQL and DuckDB what the texts name counts, in SQLite's words, whether or not their
//! functions are known. A text that has no such words makes the score null.
//!
//! Source: "EvoSchema: Towards Text-to-SQL Robustness Against Schema Evolution", section 5.2. The paper does
//! not say how sets are taken from a query; the choice here is the resolved query.

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::set_f1::{Unresolved, score_sets};

/// F1 over the tables that the queries use.
pub(crate) struct TableF1 {
    unresolved: Unresolved,
}

impl TableF1 {
    /// `table-f1@1`.
    pub(crate) const FIRST: Self = Self { unresolved: Unresolved::Nothing };
    /// `table-f1@2`.
    pub(crate) const SECOND: Self = Self { unresolved: Unresolved::Text };
}

impl Metric for TableF1 {
    fn info(&self) -> MetricInfo {
        let (id, summary) = match self.unresolved {
            Unresolved::Nothing => (
                "table-f1@1",
                "EvoSchema Table Match F1 over queries that resolve: 0 for a prediction with an unknown name.",
            ),
            Unresolved::Text => (
                "table-f1@2",
                "EvoSchema Table Match F1: overlap of the tables that gold and prediction use.",
            ),
        };
        MetricInfo::new(id, summary, MetricKind::Fraction, Reads::NoRows)
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        score_sets(pair, self.unresolved, "tables", |named| named.tables.clone())
    }
}
