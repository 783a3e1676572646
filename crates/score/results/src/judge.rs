//! The verdicts of all metrics on one result of an item.

use crate::error::Unreadable;
use crate::golds::{Gold, ItemConfig};
use crate::metrics::{FairRules, METRICS, ResultComparison, ResultVerdict};
use crate::table::ResultFile;

/// The status of an item without a result.
pub const MISSING: &str = "missing";

/// What became of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultJudgement {
    /// `ok`, `missing`, or what is wrong with the result or with every gold.
    pub status: &'static str,
    /// One verdict per metric of [`METRICS`].
    pub verdicts: Vec<ResultVerdict>,
}

/// The most rows of a result that need be read: one more than the largest gold that can be read has.
pub fn most_rows(golds: &[Gold]) -> usize {
    golds.iter().filter_map(|gold| gold.table.as_ref().ok()).map(|table| table.rows).max().unwrap_or(0)
}

/// Scores a result, or that there is none.
pub fn judge(
    prediction: Option<Result<ResultFile, Unreadable>>,
    golds: &[Gold],
    config: &ItemConfig,
    rules: FairRules,
) -> ResultJudgement {
    let has_gold = golds.iter().any(|gold| gold.table.is_ok());
    let Some(prediction) = prediction else {
        let value = has_gold.then_some(0.0);
        let missing = ResultVerdict { value, reason: Some("no result".to_owned()), gold: None };
        return ResultJudgement { status: MISSING, verdicts: vec![missing; METRICS.len()] };
    };
    let status = match &prediction {
        _ if !has_gold => "gold_failed",
        Ok(table) if table.ragged.is_some() => "ragged",
        Ok(_) => "ok",
        Err(error) => error.status(),
    };
    let comparison = ResultComparison { prediction: &prediction, golds, config, rules };
    ResultJudgement { status, verdicts: METRICS.iter().map(|metric| metric.score(&comparison)).collect() }
}
