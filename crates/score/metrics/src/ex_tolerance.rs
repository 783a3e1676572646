//! `ex-tolerance@1`: execution accuracy with numbers within a hundredth.
//!
//! # Contract
//! `ex@1` with one change: two numbers are equal if at least one has a fraction and they differ
//! by at most 0.01 (or by 1e-9 of the larger). Rows are paired off one to one. Whole numbers are compared exactly. 1 under
//! `ex@1` is 1 here. Null where pairing takes too long (thousands of rows within the tolerance).
//!
//! For golds with rounded numbers. 0.01 says nothing about rates and shares: 0.012 equals 0.004.
//!
//! The tolerance is that of Spider 2's `compare_pandas_table`.

use crate::ex;
use crate::fitting::{Fit, Rule, fit};
use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;
use sqlgauge_engine::compare::{GoldOrder, RELATIVE_TOLERANCE};

/// Numbers of `ex-tolerance@1`.
const RULE: Rule = Rule { absolute: 1e-2, relative: RELATIVE_TOLERANCE, extra_columns: false };

/// Rows equal within a hundredth.
pub(crate) struct ExTolerance;

impl Metric for ExTolerance {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "ex-tolerance@1",
            "Execution accuracy as ex@1, with numbers equal within 0.01.",
            MetricKind::Binary,
            Reads::Bag,
        )
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        score_by(pair, RULE)
    }
}

/// The score under `ex@1` where that is 1, else by the rule.
pub(crate) fn score_by(pair: &Pair<'_>, rule: Rule) -> Score {
    let results = match pair.results() {
        Ok(results) if results.are_identical() => return Score::new(1.0),
        Ok(results) => results,
        Err(score) => return score,
    };
    let order = pair.gold_order(&results.gold);
    let strict = ex::compare(&results.gold, order, &results.prediction);
    if strict.value == Some(1.0) {
        return strict;
    }
    let runs = match order {
        GoldOrder::Runs(runs) | GoldOrder::Partly(runs, _) => Some(runs.as_slice()),
        GoldOrder::Unordered | GoldOrder::Unknown(_) => None,
    };
    let score = match fit(&results.gold, runs, &results.prediction, rule) {
        Fit::Differs => return strict,
        Fit::Undecided => {
            Score::inapplicable("too many rows are too much alike to be paired off in reasonable time")
        }
        Fit::Fits(columns) if columns.iter().copied().eq(0..results.prediction.width()) => Score::new(1.0),
        Fit::Fits(columns) => {
            let columns: Vec<String> = columns.iter().map(|column| (column + 1).to_string()).collect();
            Score::new(1.0).because(format!("equal in the prediction's columns {}", columns.join(", ")))
        }
    };
    ex::note_order(score, order)
}
