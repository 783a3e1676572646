//! `esm@1`: Spider's exact set match as a metric; [`crate::esm`] is what computes it.
//!
//! # Contract
//! Bit-compatible with `evaluation.py --etype match` of the test-suite repository: 1 if the clauses of gold
//! and prediction, read by Spider's own parser, agree as sets, values and outer DISTINCT ignored, columns
//! linked by foreign keys taken as one. A prediction that this parser cannot read counts as the empty query,
//! however valid it is. The detail carries the hardness of the gold, whether the prediction could be read
//! (`parsed`), and the official ten partial scores: for each `matched`, and the members on both sides that
//! decide whether the item counts in the official averages. A gold that the parser cannot read makes the
//! score null.

use serde_json::json;

use crate::esm::{Switches, score_parsed};
use crate::metric::{Metric, MetricKind, Score};
use crate::pair::Pair;

/// Exact set match with the official switches.
pub(crate) struct Esm;

impl Metric for Esm {
    fn id(&self) -> &'static str {
        "esm@1"
    }

    fn summary(&self) -> &'static str {
        "Official Spider exact set match: clauses agree as sets, values ignored."
    }

    fn kind(&self) -> MetricKind {
        MetricKind::Binary
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        let gold = match pair.gold_legacy() {
            Ok(gold) => gold,
            Err(failure) => {
                return Score::inapplicable(format!("Spider's parser cannot read the gold: {failure}"));
            }
        };
        let (catalog, keys) = (pair.target().catalog(), pair.target().foreign_keys());
        let prediction = pair.prediction_legacy().map_err(Clone::clone);
        let outcome = match score_parsed(catalog, keys, gold, prediction, Switches::default()) {
            Ok(outcome) => outcome,
            Err(failure) => return Score::inapplicable(failure.to_string()),
        };
        let differing: Vec<&str> =
            outcome.partial.iter().filter(|(_, part)| !part.matched).map(|(part, _)| part.as_str()).collect();
        let reason = match (&outcome.unreadable, differing.is_empty()) {
            _ if outcome.exact => None,
            (Some(why), _) => Some(format!("Spider's script cannot read the prediction: {why}")),
            (None, true) => Some("the tables in FROM differ".to_owned()),
            (None, false) => Some(format!("these differ: {}", differing.join(", "))),
        };
        let partial: serde_json::Map<_, _> = outcome
            .partial
            .iter()
            .map(|(component, part)| {
                let numbers = json!({
                    "matched": part.matched,
                    "label_total": part.label_total,
                    "pred_total": part.pred_total,
                });
                (component.as_str().to_owned(), numbers)
            })
            .collect();
        let score = Score::binary(outcome.exact)
            .with("hardness", outcome.hardness.as_str())
            .with("parsed", outcome.parsed())
            .with("partial", partial);
        reason.map_or(score.clone(), |reason| score.because(reason))
    }
}
