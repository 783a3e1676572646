//! One item as a reader sees it: the texts, labels, reasons and results that its details hold.

use sqlgauge_run::{Details, EarlierRecord, GOLD_FAILED, Item, MISSING, MetricDetail};
use sqlgauge_verify::{ResultTable, TIE};

/// The metric whose matches are proofs.
const SOUND_MATCH: &str = "etm@1";

/// The metric that compares the rows as they are.
const ROWS: &str = "ex@1";

/// A reader's view of one item.
#[derive(Debug, Clone, Copy)]
pub struct ItemView<'a> {
    /// The item itself.
    pub item: &'a Item,
}

impl<'a> ItemView<'a> {
    pub fn new(item: &'a Item) -> Self {
        Self { item }
    }

    fn details(self) -> &'a Details {
        &self.item.details
    }

    /// The question in words.
    pub fn question(self) -> Option<&'a str> {
        self.details().question.as_deref()
    }

    /// External knowledge given with the question (BIRD).
    pub fn evidence(self) -> Option<&'a str> {
        self.details().evidence.as_deref().filter(|text| !text.is_empty())
    }

    /// The accepted gold queries.
    pub fn golds(self) -> Vec<&'a str> {
        self.details().golds().iter().map(String::as_str).collect()
    }

    /// The prediction as the system gave it.
    pub fn prediction(self) -> Option<&'a str> {
        self.details().prediction.as_deref()
    }

    /// The queries before the prediction, where it is the last of a transcript.
    pub fn earlier_queries(self) -> Option<&'a EarlierRecord> {
        self.details().earlier_queries.as_ref()
    }

    /// Spider hardness: easy, medium, hard, extra.
    pub fn hardness(self) -> Option<&'a str> {
        self.details().hardness.as_deref()
    }

    /// The benchmark's own difficulty label.
    pub fn difficulty(self) -> Option<&'a str> {
        self.details().difficulty.as_deref()
    }

    /// What the result of gold or prediction depends on besides texts and database: `time`, `chance`.
    pub fn depends_on(self) -> Vec<&'a str> {
        self.details().depends_on.iter().map(String::as_str).collect()
    }

    /// What the engine said about a prediction that failed.
    pub fn error(self) -> Option<&'a str> {
        self.details().error.as_deref()
    }

    /// What the engine said about a gold query that failed.
    pub fn gold_error(self) -> Option<&'a str> {
        self.details().gold_error.as_deref()
    }

    /// What a metric says about its score.
    pub(crate) fn metric_detail(self, metric: &str) -> Option<&'a MetricDetail> {
        self.details().metrics.get(metric)
    }

    /// Why a metric gave its score, as one sentence; `None` where nobody said why.
    pub fn reason(self, metric: &str) -> Option<String> {
        let reason = self.metric_detail(metric).and_then(MetricDetail::reason).map(str::to_owned);
        let reason = reason.or_else(|| self.is_tie(metric).then(|| format!("equal by rules: {TIE}")));
        reason.or_else(|| {
            let score = self.score(metric);
            // A metric may run what does not run as it is written, or run nothing.
            let is_own = score.is_some_and(|score| score > 0.0)
                || (self.item.status == GOLD_FAILED && score.is_some());
            if is_own { None } else { self.reason_of_status() }
        })
    }

    /// Whether a metric knows by proof that both queries are right, though `ex@1` saw other results.
    fn is_tie(self, metric: &str) -> bool {
        let is_right = |metric| self.score(metric).map(|score| score > 0.0);
        metric == SOUND_MATCH
            && self.item.status == "ok"
            && is_right(metric) == Some(true)
            && is_right(ROWS) == Some(false)
    }

    fn reason_of_status(self) -> Option<String> {
        let because = |message: Option<&str>| message.map(|text| format!(": {text}")).unwrap_or_default();
        match self.item.status.as_str() {
            "ok" => None,
            MISSING => Some("the system gave no prediction".to_owned()),
            GOLD_FAILED => Some(format!("the gold query itself does not run{}", because(self.gold_error()))),
            "timeout" => {
                Some(format!("the prediction was stopped at its time limit{}", because(self.error())))
            }
            status => {
                let status = status.replace('_', " ");
                Some(format!("the prediction does not run ({status}){}", because(self.error())))
            }
        }
    }

    /// The gold query's result, if the details carry it.
    pub fn gold_result(self) -> Option<&'a ResultTable> {
        self.details().gold_result.as_ref()
    }

    /// The prediction's result, if the details carry it.
    pub fn prediction_result(self) -> Option<&'a ResultTable> {
        self.details().prediction_result.as_ref()
    }

    pub fn score(self, metric: &str) -> Option<f64> {
        self.item.metrics.get(metric).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_rules_prove_though_the_rows_differ_is_a_tie() {
        let reason = |proved: f64, rows: f64, status: &str| {
            let metrics = json!({SOUND_MATCH: proved, ROWS: rows});
            let item = json!({
                "system": "a", "id": "0", "index": 0, "db_id": "d", "status": status, "metrics": metrics, "details": {},
            });
            ItemView::new(&serde_json::from_value(item).unwrap()).reason(SOUND_MATCH)
        };
        assert_eq!(reason(1.0, 0.0, "ok").unwrap(), format!("equal by rules: {TIE}"));
        assert_eq!(reason(1.0, 1.0, "ok"), None);
        assert_eq!(reason(0.0, 0.0, "ok"), None);
        assert_eq!(reason(1.0, 0.0, "timeout"), None);
    }
}
