//! Counts what transcripts did before the query that is scored.

use serde::{Deserialize, Serialize};
use sqlgauge_metrics::is_execution_accuracy;

use crate::record::Item;

/// The answers that are transcripts of more than one query, and what became of their earlier ones. Of an answer with very many only
/// the last were run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierCounts {
    /// Answers with more than one query.
    pub answers: usize,
    /// The queries of these answers, the final ones among them.
    pub queries: usize,
    /// Earlier queries that failed.
    pub failed: usize,
    /// Earlier queries that failed and whose answer's final query runs.
    pub repaired: usize,
    /// Answers wrong by the first execution metric of the run that had a right query before.
    pub right_before: usize,
}

impl EarlierCounts {
    /// The counts of one answer in a run of those metrics; `None` if it is not one of several queries.
    pub(crate) fn of<'a>(item: &Item, metrics: impl IntoIterator<Item = &'a String>) -> Option<Self> {
        let earlier = item.details.earlier_queries.as_ref()?;
        let runs = item.details.prediction_status.as_ref().unwrap_or(&item.status) == RAN;
        let failed = earlier.last.iter().filter(|query| query.status != RAN).count();
        let metric = metrics.into_iter().find(|metric| is_execution_accuracy(metric));
        let score = metric.and_then(|metric| item.metrics.get(metric).copied().flatten());
        let is_wrong = score.is_some_and(|score| score < 1.0);
        let had_right = earlier.last.iter().any(|query| query.right == Some(true));
        Some(Self {
            answers: 1,
            queries: earlier.omitted + earlier.last.len() + 1,
            failed,
            repaired: if runs { failed } else { 0 },
            right_before: usize::from(is_wrong && had_right),
        })
    }

    /// The sum of all, `None` if there are none.
    pub(crate) fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        all.into_iter().copied().reduce(|sum, counts| Self {
            answers: sum.answers + counts.answers,
            queries: sum.queries + counts.queries,
            failed: sum.failed + counts.failed,
            repaired: sum.repaired + counts.repaired,
            right_before: sum.right_before + counts.right_before,
        })
    }
}

/// The status of a query that ran.
const RAN: &str = "ok";
