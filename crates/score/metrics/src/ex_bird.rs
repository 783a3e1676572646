//! `ex-bird@1`: the official execution accuracy of BIRD.
//!
//! # Contract
//! Equal to `evaluation.py` of the BIRD repository: 1 if the sets of row tuples of gold and prediction are equal.
//! Repetition and order of rows do not count, the order of columns does; two empty results are equal. Both texts run as
//! written. Values are equal as in Python; a text value that is not UTF-8 makes the query fail, because the script decodes
//! strictly.
//!
//! A prediction with a row that the gold lacks need not run to its end.
//!
//! # Not reproduced
//! The script turns every failure into the result `[("error",)]`, so that a prediction that fails equals a gold that fails;
//! here the gold's failure makes the score null.
//!
//! Source: J. Li et al., "Can LLM Already Serve as a Database Interface?", 2023.

use std::collections::HashSet;

use sqlgauge_engine::compare::explain;
use sqlgauge_engine::compare::pyeq::{GridPair, all_text_is_utf8};
use sqlgauge_engine::{Failure, FailureKind, ResultSet};

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::{Pair, Results, gold_failed, prediction_failed};

/// Equality of the sets of rows.
pub struct ExBird;

impl Metric for ExBird {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "ex-bird@1",
            "Official BIRD execution accuracy: equal sets of rows, columns in order.",
            MetricKind::Binary,
            Reads::Set,
        )
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        match results(pair) {
            Ok(results) => score_results(pair, &results),
            Err(score) => score,
        }
    }
}

/// Both results as Python's default text factory reads them, or the score that a failure settles.
pub(crate) fn results(pair: &Pair<'_>) -> Result<Results, Score> {
    let results = pair.results_in_python(&pair.target().database, pair.gold(), pair.prediction())?;
    let undecodable = || Failure::new(FailureKind::RuntimeError, "a text value of the result is not UTF-8");
    if !all_text_is_utf8(&results.gold) {
        return Err(gold_failed(&undecodable()));
    }
    if !all_text_is_utf8(&results.prediction) {
        return Err(prediction_failed(&undecodable()));
    }
    Ok(results)
}

/// The score of two results of a pair.
pub(crate) fn score_results(pair: &Pair<'_>, results: &Results) -> Score {
    if results.are_identical() {
        return Score::new(1.0);
    }
    compare_grids(&results.gold, &results.prediction, &pair.grids(results))
}

/// Whether the sets of rows are equal, as a score with its reason.
pub fn compare(gold: &ResultSet, prediction: &ResultSet) -> Score {
    compare_grids(gold, prediction, &GridPair::of(gold, prediction))
}

fn compare_grids(gold: &ResultSet, prediction: &ResultSet, grids: &GridPair) -> Score {
    let (ours, theirs) = (&grids.gold, &grids.prediction);
    if ours.rows().collect::<HashSet<_>>() == theirs.rows().collect::<HashSet<_>>() {
        return Score::new(1.0);
    }
    let both_have_rows = !gold.is_empty() && !prediction.is_empty();
    let reason = if both_have_rows { explain::width(gold, prediction) } else { None };
    let reason = reason.or_else(|| explain::missing_row((gold, ours), (prediction, theirs), true));
    Score::new(0.0).because(reason.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_engine::Value;

    fn ints(width: usize, values: &[i64]) -> ResultSet {
        let values = values.iter().map(|&i| Value::Integer(i)).collect();
        ResultSet::new((0..width).map(|i| format!("c{i}")).collect(), values)
    }

    #[test]
    fn sets_of_rows_are_compared() {
        for (gold, prediction, expected) in [
            (ints(1, &[1, 2, 2]), ints(1, &[2, 1]), 1.0),
            (ints(2, &[1, 2]), ints(2, &[2, 1]), 0.0),
            (ints(1, &[1]), ints(1, &[]), 0.0),
            (ints(1, &[]), ints(2, &[]), 1.0),
            (ints(1, &[1]), ints(2, &[1, 1]), 0.0),
        ] {
            let score = compare(&gold, &prediction);
            assert_eq!(score.value, Some(expected), "{gold:?} {prediction:?}");
            assert_eq!(score.detail.entries().contains_key("reason"), expected == 0.0);
        }
    }
}
