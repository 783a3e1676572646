//! Why answers are wrong: those of a system by what makes them wrong, with the points that each cause costs.
//!
//! # Contract
//! - The metric is the first of the run that is right or wrong by the rows that are returned.
//! - An answer counts once, under its first cause; so the points of the lines are the points that are lost, as far as the
//!   items say why. `alone` are the answers that have this cause and not another.
//! - An answer that an official script alone makes wrong, since it changes the queries, counts as [`REWRITTEN`]: it is no fault
//!   of the system. Neither is [`TIED`].
//! - An answer without a sentence counts as [`UNCLEAR`], one that does not run as [`FAILED`] or [`SEVERAL`], one to a
//!   question without an answer as [`ANSWERED`], one that is not there as `missing`.
//! - An item that could not be looked at, since its database is gone or its engine is not SQLite, is in `without`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The cause of an answer that does not run.
pub const FAILED: &str = "does-not-run";

/// The cause of an answer with several statements. Engines refuse it; Spider's script runs the first.
pub const SEVERAL: &str = "several-statements";

/// The cause of an answer that is right as it is written, and wrong by what an official script makes of it and the gold.
pub const REWRITTEN: &str = "official-script";

/// The cause of an answer that permits the same results as the gold, as rows tie at the LIMIT.
pub const TIED: &str = "tie";

/// The cause of an answer whose columns stand in a different order; that of two queries has the same id.
pub(crate) const MOVED: &str = "output-order";

/// The cause of an answer to a question that has none.
pub const ANSWERED: &str = "answered-unanswerable";

/// The cause of an answer for which there is no sentence.
pub const UNCLEAR: &str = "unclear";

/// The wrong answers of a system by their causes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fixes {
    /// The metric by which answers are wrong.
    pub metric: String,
    /// Causes, the one that costs most first.
    pub causes: Vec<Fix>,
    /// Wrong answers that could not be looked at.
    pub without: usize,
}

/// A cause, and what it costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fix {
    /// Its id: `missing-condition`, …; or `official-script`, `tie`, `unclear`, `does-not-run`, `several-statements`,
    /// `answered-unanswerable`, `missing`.
    pub cause: String,
    /// Percentage points of the metric that its answers lose.
    pub points: f64,
    /// Wrong answers that count under it.
    pub items: usize,
    /// Those of them that have no other cause.
    pub alone: usize,
}

impl Fixes {
    /// The list of a system: its causes, the scores of the metric, in the order of the items.
    pub(crate) fn of<'a>(
        metric: &str,
        scores: &[f64],
        causes: impl Fn(usize) -> Option<&'a [String]>,
    ) -> Option<Self> {
        let applicable = scores.iter().filter(|score| score.is_finite()).count();
        let mut fixes = Self { metric: metric.to_owned(), ..Self::default() };
        let mut by_cause: BTreeMap<&str, Fix> = BTreeMap::new();
        for (row, score) in scores.iter().enumerate().filter(|(_, score)| **score < 1.0) {
            let Some([first, others @ ..]) = causes(row) else {
                fixes.without += 1;
                continue;
            };
            let fix = by_cause.entry(first).or_insert_with(|| Fix { cause: first.clone(), ..Fix::default() });
            fix.points += 100.0 * (1.0 - score) / applicable as f64;
            fix.items += 1;
            fix.alone += usize::from(others.is_empty());
        }
        fixes.causes = by_cause.into_values().collect();
        fixes.causes.sort_by(|a, b| b.points.total_cmp(&a.points).then_with(|| a.cause.cmp(&b.cause)));
        (!fixes.causes.is_empty()).then_some(fixes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_once_and_the_costliest_cause_is_first() {
        let causes: [&[&str]; 5] = [&["limit"], &["distinct", "order"], &["distinct"], &[], &["order"]];
        let causes: Vec<Vec<String>> =
            causes.iter().map(|list| list.iter().map(|id| (*id).to_owned()).collect()).collect();
        let scores = [1.0, 0.0, 0.0, 0.0, f64::NAN];
        let of = |row: usize| causes.get(row).filter(|list| !list.is_empty()).map(Vec::as_slice);
        let fixes = Fixes::of("ex@1", &scores, of).expect("there are wrong answers with causes");
        let distinct = Fix { cause: "distinct".to_owned(), points: 50.0, items: 2, alone: 1 };
        assert_eq!(fixes, Fixes { metric: "ex@1".to_owned(), causes: vec![distinct], without: 1 });
        assert_eq!(Fixes::of("ex@1", &[1.0], |_| None), None);
    }
}
