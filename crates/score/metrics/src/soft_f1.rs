//! `soft-f1@1`: BIRD's Soft F1.
//!
//! # Contract
//! Equal to `evaluation_f1.py` of the BIRD Mini-Dev repository. Both results lose repeated rows (the first of
//! equal rows stays), then row `i` of the prediction is compared with row `i` of the gold, cell by cell and
//! without regard to the order of columns:
//! - matched: cells of the prediction that occur in the gold row, divided by the gold row's width;
//! - prediction only: cells of the prediction that do not; gold only: cells of the gold that do not occur in
//!   the prediction's row; both divided by the gold row's width;
//! - a gold row without a partner counts 1 as gold only, a predicted row without one counts 1 as prediction
//!   only.
//!
//! The sums are true positives, false positives and false negatives of precision, recall and F1. Two empty
//! results give 1. Texts run as they are written; a prediction that fails gives 0.
//!
//! # What follows from it
//! Pairing by position is the script's: it makes the score depend on the order in which the database returns
//! rows even where the question asks for none, and one extra row at the top shifts every pair. SQLite returns
//! the rows of one query on one database in one order, so the score is deterministic.
//! A cell that repeats in the prediction matches each time, so a row can match by more than its width.
//!
//! Source: BIRD Mini-Dev, "Soft F1-Score".

use std::collections::HashSet;

use sqlgauge_engine::ResultSet;
use sqlgauge_engine::compare::pyeq::{Grid, GridPair};

use crate::ex_bird;
use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;

/// Cell-by-cell F1 of rows paired by position.
pub(crate) struct SoftF1;

impl Metric for SoftF1 {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "soft-f1@1",
            "BIRD Soft F1: share of matching cells over rows paired by position.",
            MetricKind::Fraction,
            Reads::Everything,
        )
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        match ex_bird::results(pair) {
            Err(score) => score,
            Ok(results) => {
                let soft = if results.are_identical() { Soft::FULL } else { of_grids(&pair.grids(&results)) };
                let score = Score::new(soft.f1);
                if soft.f1 >= 1.0 {
                    return score;
                }
                score.with("precision", soft.precision).with("recall", soft.recall)
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Soft {
    /// True positives over all that was predicted.
    pub precision: f64,
    /// True positives over all that was asked for.
    pub recall: f64,
    /// Harmonic mean of both.
    pub f1: f64,
}

impl Soft {
    const FULL: Self = Self { precision: 1.0, recall: 1.0, f1: 1.0 };
}

/// Soft F1 of two results.
pub fn soft_f1(gold: &ResultSet, prediction: &ResultSet) -> Soft {
    of_grids(&GridPair::of(gold, prediction))
}

fn of_grids(grids: &GridPair) -> Soft {
    let (gold, prediction) = (distinct_rows(&grids.gold), distinct_rows(&grids.prediction));
    if gold.is_empty() && prediction.is_empty() {
        return Soft::FULL;
    }
    let (mut matched, mut prediction_only, mut gold_only) = (0.0, 0.0, 0.0);
    for (index, row) in gold.iter().enumerate() {
        let Some(predicted) = prediction.get(index) else {
            gold_only += 1.0;
            continue;
        };
        let width = row.len() as f64;
        let count = predicted.iter().filter(|cell| row.contains(cell)).count();
        let missed = row.iter().filter(|cell| !predicted.contains(cell)).count();
        matched += count as f64 / width;
        prediction_only += (predicted.len() - count) as f64 / width;
        gold_only += missed as f64 / width;
    }
    // One by one, as the script sums, so that rounding is the same.
    for _ in gold.len()..prediction.len() {
        prediction_only += 1.0;
    }
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let precision = share(matched, matched + prediction_only);
    let recall = share(matched, matched + gold_only);
    Soft { precision, recall, f1: share(2.0 * precision * recall, precision + recall) }
}

/// Rows in the order of their first appearance.
fn distinct_rows(grid: &Grid) -> Vec<&[u32]> {
    let mut seen = HashSet::new();
    grid.rows().filter(|row| seen.insert(*row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_engine::Value;

    fn table(rows: &[&[&str]]) -> ResultSet {
        let width = rows.first().map_or(1, |row| row.len());
        let values = rows.concat().iter().map(|text| Value::text(text)).collect();
        ResultSet::new((0..width).map(|i| format!("c{i}")).collect(), values)
    }

    /// The first case is the worked example of BIRD's documentation; the others were computed by the script.
    #[test]
    #[expect(clippy::type_complexity, reason = "a table of cases")]
    fn scores_are_those_of_the_script() {
        let cases: [(&[&[&str]], &[&[&str]], f64); 6] = [
            (
                &[&["Apple", "325"], &["Orange", ""], &["Banana", "119"]],
                &[&["325", "Apple"], &["191", "Orange"], &["", "Banana"]],
                2.0 / 3.0,
            ),
            (&[&["a"], &["b"]], &[&["a"], &["a"], &["b"]], 1.0),
            (&[&["a"]], &[&["x"], &["a"]], 0.0),
            (&[&["a", "b"]], &[&["a"]], 2.0 / 3.0),
            (&[&["a"]], &[], 0.0),
            (&[], &[], 1.0),
        ];
        for (gold, prediction, expected) in cases {
            let soft = soft_f1(&table(gold), &table(prediction));
            assert!((soft.f1 - expected).abs() < 1e-12, "{gold:?} {prediction:?}: {soft:?}");
        }
    }

    #[test]
    fn rounding_is_that_of_the_script() {
        let gold = table(&[&["x", "n", "n"]]);
        let prediction = table(&[&["a", "x", "n"], &["q", "0", "0"], &["n", "q", "0"], &["q", "n", "q"]]);
        assert_eq!(soft_f1(&gold, &prediction).f1.to_bits(), 0.285_714_285_714_285_75_f64.to_bits());
    }
}
