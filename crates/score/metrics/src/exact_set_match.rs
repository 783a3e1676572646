//! `esm@1`: Spider's exact set match.
//!
//! # Contract
//! Bit-compatible with `evaluation.py --etype match` of the test-suite repository: 1 if the clauses of gold
//! and prediction, read by Spider's own parser, agree as sets, values and outer DISTINCT ignored, columns
//! linked by foreign keys taken as one. A prediction that this parser cannot read counts as the empty query,
//! however valid it is. Where it is 0 the detail says whether the prediction could be read (`parsed`), and for each
//! of the official ten partial scores (`partial`) whether it matched, 1 or 0, and how many members gold and
//! prediction have, which decides whether it counts in the official averages. A gold that the parser cannot read
//! makes the score null.

use serde_json::json;
use sqlgauge_base::{budget, verb_for};

use crate::esm::{self, Switches, score_parsed};
use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;

/// Exact set match with the official switches.
pub(crate) struct Esm;

impl Metric for Esm {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "esm@1",
            "Official Spider exact set match: clauses agree as sets, values ignored.",
            MetricKind::Binary,
            Reads::NoRows,
        )
        .needs("the schema (foreign keys from tables.json, if given): runs nothing")
        .of_sqlite()
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
        let bytes = pair.gold().len().max(pair.prediction().len());
        let outcome =
            budget::analyse(bytes, || score_parsed(catalog, keys, gold, prediction, Switches::default()));
        let outcome = match outcome {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(failure)) => return Score::inapplicable(failure.to_string()),
            Err(too_complex) => return Score::too_complex(too_complex),
        };
        let mut differing: Vec<&str> =
            outcome.partial.iter().filter(|(_, part)| !part.matched).map(|(part, _)| part.part()).collect();
        differing.dedup();
        let reason = match (&outcome.unreadable, differing.is_empty()) {
            _ if outcome.exact => None,
            (Some(why), _) => Some(format!("Spider's script cannot read the prediction: {why}")),
            (None, true) => Some("the tables in FROM differ".to_owned()),
            (None, false) => Some(format!(
                "{} {} different",
                differing.join(", "),
                verb_for(&differing.len(), ["is", "are"])
            )),
        };
        let Some(reason) = reason else { return Score::binary(true) };
        // What a partial score says beyond right and wrong: how many elements each side has.
        let of_part = |(part, score): (esm::Component, esm::PartialScore)| {
            (part.as_str().to_owned(), json!([u8::from(score.matched), score.label_total, score.pred_total]))
        };
        let partial: serde_json::Map<_, _> = outcome.partial.iter().map(of_part).collect();
        Score::binary(false).because(reason).with("parsed", outcome.parsed()).with("partial", partial)
    }
}
