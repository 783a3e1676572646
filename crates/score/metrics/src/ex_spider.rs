//! `ex-spider@1` and `ex-spider-distinct@1`: the official execution accuracy of Spider.
//!
//! # Contract
//! Bit-compatible with `eval_exec_match` of the test-suite repository's `exec_eval.py` on a single database:
//! `ex-spider@1` in its default mode, `ex-spider-distinct@1` with `--keep_distinct` (EXE in the paper on
//! Enhanced Tree Matching).
//! - The texts are changed as in [`official`]: the prediction ends at the first tab of its line, its text
//!   `value` becomes `1` wherever it stands, operators like `> =` are closed up, and in the default mode every `distinct` and every statement but the first dropped.
//! - Two results are equal if some permutation of the prediction's columns makes them equal: as sequences of
//!   rows if the gold text contains `order by` anywhere, else as bags of rows.
//! - Values are equal as in Python: `1 == 1.0`; text that is not UTF-8 loses the bytes at fault.
//! - Two empty results are equal, whatever their columns.
//! - Where the changes decide, the reason says so, and `as_written` of the details has the score without them.
//!
//! # Reproduced defect
//! Before columns are matched, the script sorts the values of each row by `str(x) + str(type(x))` and
//! compares. `1` and `1.0` are equal but sort differently, so some equal results are rejected.
//!
//! # Not reproduced
//! A prediction that is not a query runs for real in the script, and can destroy the database; here it fails.
//! A blank prediction stops the script; here it scores 0.

use std::collections::HashSet;

use sqlgauge_engine::compare::explain;
use sqlgauge_engine::compare::pyeq::{Grid, GridPair, str_and_type};
use sqlgauge_engine::{Database, ResultSet, Value};

use crate::columns::{Matching, match_ordered, match_unordered};
use crate::detail::AS_WRITTEN;
use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::official;
use crate::pair::{Pair, Results};

/// Execution accuracy by Spider's script.
pub struct ExSpider {
    /// `--keep_distinct`; in the default mode DISTINCT is ignored.
    pub(crate) keep_distinct: bool,
}

impl Metric for ExSpider {
    fn info(&self) -> MetricInfo {
        let (id, summary) = if self.keep_distinct {
            (
                "ex-spider-distinct@1",
                "Official Spider execution accuracy with --keep_distinct: equal results up to column order.",
            )
        } else {
            (
                "ex-spider@1",
                "Official Spider execution accuracy in its default mode: equal results up to column order, DISTINCT ignored.",
            )
        };
        MetricInfo::new(id, summary, MetricKind::Binary, Reads::Bag).of_sqlite()
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        let score = score_on(pair, &pair.target().database, self.keep_distinct);
        with_what_ran(pair, score, self.keep_distinct)
    }
}

pub(crate) fn score_on(pair: &Pair<'_>, database: &Database, keep_distinct: bool) -> Score {
    let Some((gold, ordered)) = pair.gold_to_run(keep_distinct) else {
        return Score::inapplicable("gold_failed: the gold is blank").with("gold_failed", "empty");
    };
    let prediction = official::prediction_to_run(pair.prediction(), keep_distinct);
    // A blank prediction is no reason to pass over a gold that fails.
    let results = match pair.results_in_python(database, gold, prediction.as_deref().unwrap_or_default()) {
        Ok(results) => results,
        Err(score) => return score,
    };
    if prediction.is_none() {
        return Score::new(0.0).because("the prediction is blank").with("status", "empty");
    }
    if results.are_identical() {
        return Score::new(1.0);
    }
    compare_shape(&results.gold, &results.prediction)
        .unwrap_or_else(|| compare_grids(&results.gold, &results.prediction, &pair.grids(&results), *ordered))
}

/// Says what was compared where it is not what the two texts return as they are written.
fn with_what_ran(pair: &Pair<'_>, score: Score, keep_distinct: bool) -> Score {
    let prediction = official::prediction_to_run(pair.prediction(), keep_distinct);
    let (Some((gold, ordered)), Some(prediction), Some(value)) =
        (pair.gold_to_run(keep_distinct), prediction, score.value)
    else {
        return score;
    };
    if gold == pair.gold() && prediction == pair.prediction() {
        return score;
    }
    let compared = pair.results_in_python(&pair.target().database, gold, &prediction);
    let written = pair.results();
    match (&written, &compared) {
        (Ok(written), Ok(compared)) if written.are_those_of(compared) => return score,
        (Err(_), Err(_)) => return score,
        _ => {}
    }
    let of_gold = official::changes_of_gold(pair.gold(), keep_distinct);
    let of_prediction = official::changes_of_prediction(pair.prediction(), keep_distinct);
    let sides = [("gold", of_gold), ("prediction", of_prediction)].into_iter();
    let sides = sides.filter(|(_, changes)| !changes.is_empty());
    let sides: Vec<String> = sides.map(|(side, changes)| format!("{side}: {}", changes.join(", "))).collect();
    let ran = format!("compared as the official script runs them, {}", sides.join("; "));
    let reason = match score.detail.reason() {
        Some(reason) => format!("{reason} ({ran})"),
        None if value >= 1.0 => format!("equal when {ran}"),
        None => ran,
    };
    let score = score.because(reason);
    let compare = |written: &Results| compare(&written.gold, &written.prediction, *ordered).value;
    match written.as_ref().map_or_else(|failed| failed.value, compare) {
        Some(written) if (written >= 1.0) != (value >= 1.0) => score.with(AS_WRITTEN, written),
        _ => score,
    }
}

/// Whether two results are equal by the script's rules, as a score with its reason.
pub fn compare(gold: &ResultSet, prediction: &ResultSet, ordered: bool) -> Score {
    compare_shape(gold, prediction)
        .unwrap_or_else(|| compare_grids(gold, prediction, &GridPair::of(gold, prediction), ordered))
}

/// The score that the numbers of rows and columns settle, if they do.
fn compare_shape(gold: &ResultSet, prediction: &ResultSet) -> Option<Score> {
    if gold.is_empty() && prediction.is_empty() {
        return Some(Score::new(1.0));
    }
    explain::shape(gold, prediction).map(|reason| Score::new(0.0).because(reason))
}

fn compare_grids(gold: &ResultSet, prediction: &ResultSet, grids: &GridPair, ordered: bool) -> Score {
    let (ours, theirs) = (&grids.gold, &grids.prediction);
    let matching = if ordered { match_ordered(ours, theirs) } else { match_unordered(ours, theirs) };
    match matching {
        Matching::Equal { .. } if grids.has_mixed_spellings && rejected(gold, prediction, grids, ordered) => {
            Score::new(0.0).because("equal, but the official script sorts 1 and 1.0 apart")
        }
        Matching::Equal { permutation } => {
            let permuted = permutation.iter().enumerate().any(|(i, &column)| i != column);
            let score = Score::new(1.0);
            if permuted { score.because("equal with the columns permuted") } else { score }
        }
        Matching::Different => {
            let (gold, prediction) = ((gold, ours), (prediction, theirs));
            let row = if ordered { explain::first_difference(gold, prediction) } else { None };
            let row = row.or_else(|| explain::missing_row(gold, prediction, false));
            Score::new(0.0).because(row.unwrap_or_else(|| "no permutation of the columns fits".into()))
        }
        Matching::Undecided => {
            Score::inapplicable("the columns are too symmetric to be matched in reasonable time")
        }
    }
}

/// The script's quick rejection, which goes wrong only where one number has several spellings.
fn rejected(gold: &ResultSet, prediction: &ResultSet, grids: &GridPair, ordered: bool) -> bool {
    let sorted = |rows: &ResultSet, grid: &Grid| -> Vec<Vec<u32>> {
        let sort = |(values, cells): (&[Value], &[u32])| {
            let mut keyed: Vec<_> = values.iter().map(str_and_type).zip(cells.iter().copied()).collect();
            keyed.sort_by(|a, b| a.0.cmp(&b.0));
            keyed.into_iter().map(|(_, cell)| cell).collect()
        };
        rows.rows().zip(grid.rows()).map(sort).collect()
    };
    let (ours, theirs) = (sorted(gold, &grids.gold), sorted(prediction, &grids.prediction));
    if ordered {
        ours != theirs
    } else {
        ours.into_iter().collect::<HashSet<_>>() != theirs.into_iter().collect::<HashSet<_>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(width: usize, values: &[Value]) -> ResultSet {
        ResultSet::new((0..width).map(|i| format!("c{i}")).collect(), values.to_vec())
    }

    fn ints(width: usize, values: &[i64]) -> ResultSet {
        rows(width, &values.iter().map(|&i| Value::Integer(i)).collect::<Vec<_>>())
    }

    #[test]
    fn results_are_equal_as_the_script_says() {
        for (gold, prediction, ordered, expected) in [
            (ints(2, &[1, 2, 3, 4]), ints(2, &[2, 1, 4, 3]), true, 1.0),
            (ints(2, &[1, 2, 3, 4]), ints(2, &[4, 3, 2, 1]), true, 0.0),
            (ints(2, &[1, 2, 3, 4]), ints(2, &[4, 3, 2, 1]), false, 1.0),
            (ints(2, &[1, 2, 3, 4]), ints(2, &[1, 4, 3, 2]), false, 0.0),
            (ints(1, &[1, 1, 2]), ints(1, &[1, 2, 2]), false, 0.0),
            (ints(2, &[]), ints(3, &[]), true, 1.0),
            (ints(1, &[1]), ints(2, &[1, 1]), false, 0.0),
            (ints(1, &[1]), rows(1, &[Value::Real(1.0)]), true, 1.0),
            (ints(1, &[1]), rows(1, &[Value::text("1")]), true, 0.0),
            (rows(1, &[Value::Null]), rows(1, &[Value::Null]), true, 1.0),
            (rows(1, &[Value::Text((*b"a\xff").into())]), rows(1, &[Value::text("a")]), true, 1.0),
        ] {
            assert_eq!(compare(&gold, &prediction, ordered).value, Some(expected), "{gold:?} {prediction:?}");
        }
    }

    /// `"1.5<…" < "1<…"` but `"1.0<…" < "1.5<…"`: checked with the script itself.
    #[test]
    fn the_scripts_sorting_rejects_some_equal_rows() {
        let gold = rows(2, &[Value::Integer(1), Value::Real(1.5)]);
        let prediction = rows(2, &[Value::Real(1.0), Value::Real(1.5)]);
        assert_eq!(compare(&gold, &prediction, true).value, Some(0.0));
        assert_eq!(compare(&gold, &prediction, false).value, Some(0.0));
        let prediction = rows(2, &[Value::Real(1.0), Value::Real(2.5)]);
        let gold = rows(2, &[Value::Integer(1), Value::Real(2.5)]);
        assert_eq!(compare(&gold, &prediction, false).value, Some(1.0));
    }

    #[test]
    fn a_reason_names_what_differs() {
        let reason = |gold: &ResultSet, prediction: &ResultSet, ordered| {
            compare(gold, prediction, ordered).detail.reason().unwrap_or_default().to_owned()
        };
        assert_eq!(reason(&ints(1, &[1]), &ints(1, &[1, 2]), true), "gold has 1 row, prediction 2");
        assert_eq!(reason(&ints(1, &[1]), &ints(2, &[1, 2]), true), "gold has 1 column, prediction 2");
        assert_eq!(
            reason(&ints(1, &[1, 2]), &ints(1, &[1, 3]), true),
            "row 2 differs: gold (2), prediction (3)"
        );
        assert_eq!(
            reason(&ints(1, &[1, 2]), &ints(1, &[3, 1]), false),
            "gold row 2 (2) is not in the prediction; prediction row 1 (3) is not in the gold"
        );
        for ordered in [true, false] {
            assert_eq!(reason(&ints(1, &[13]), &ints(1, &[17]), ordered), "gold 13, prediction 17");
        }
        assert_eq!(reason(&ints(2, &[1, 2]), &ints(2, &[2, 1]), true), "equal with the columns permuted");
    }
}
