//! `table-f1@1`: EvoSchema's Table Match F1.
//!
//! # Contract
//! F1 of the set of tables that the prediction uses against the set that the gold uses, in [0, 1].
//! Tables are those of the database that the resolved query reads anywhere, each once, whatever its alias:
//! subqueries and common table expressions count by the tables inside them.
//!
//! A gold that cannot be resolved makes the score null. A prediction that cannot be resolved uses nothing that
//! could be counted and scores 0; whether it would run does not matter beyond that.
//!
//! Source: "EvoSchema: Towards Text-to-SQL Robustness Against Schema Evolution", section 5.2. The paper does
//! not say how sets are taken from a query; the choice here is the resolved query.

use crate::metric::{Metric, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::set_f1::score_sets;

/// F1 over the tables that the queries use.
pub(crate) struct TableF1;

impl Metric for TableF1 {
    fn id(&self) -> &'static str {
        "table-f1@1"
    }

    fn summary(&self) -> &'static str {
        "EvoSchema Table Match F1: overlap of the tables that gold and prediction use."
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Fraction
    }

    fn reads(&self) -> Reads {
        Reads::NoRows
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        score_sets(pair, "tables", |features| features.tables.clone())
    }
}
