//! `column-f1@1`: EvoSchema's Column Match F1.
//!
//! # Contract
//! F1 of the set of columns that the prediction uses against the set that the gold uses, in [0, 1].
//! Columns are (table, column) pairs of the database that the resolved query names anywhere, each once: `*`
//! names all columns of its tables, USING and NATURAL name the columns that they compare, and `count(*)` names
//! none. A column of a subquery counts by the columns inside the subquery.
//!
//! A gold that cannot be resolved makes the score null. A prediction that cannot be resolved uses nothing that
//! could be counted and scores 0; whether it would run does not matter beyond that.
//!
//! Source: "EvoSchema: Towards Text-to-SQL Robustness Against Schema Evolution", section 5.2. The paper does
//! not say how sets are taken from a query; the choice here is the resolved query.

use crate::metric::{Metric, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::set_f1::score_sets;

/// F1 over the columns that the queries use.
pub(crate) struct ColumnF1;

impl Metric for ColumnF1 {
    fn id(&self) -> &'static str {
        "column-f1@1"
    }

    fn summary(&self) -> &'static str {
        "EvoSchema Column Match F1: overlap of the columns that gold and prediction use."
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Fraction
    }

    fn reads(&self) -> Reads {
        Reads::NoRows
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        score_sets(pair, "columns", |features| {
            features.columns.iter().map(|(table, column)| format!("{table}.{column}")).collect()
        })
    }
}
