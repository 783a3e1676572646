//! The records of a run directory: `run.json`, the lines of `items.jsonl`, `summary.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlgauge_engine::compare::Semantics;
use sqlgauge_metrics::{Metric, MetricKind, is_verify, lower_is_better, recorded, verify_semantics};

use crate::clusters::{Clusters, paired_test};
use crate::details::{Details, MetricDetail};
use crate::earlier::EarlierCounts;
use crate::fixes::Fixes;

/// The role of a file of pairs: they are not a sample of the questions of a benchmark.
pub const PAIRS: &str = "pairs";
/// Status of an item without a prediction.
pub const MISSING: &str = "missing";
/// Status of an item whose gold does not run.
pub const GOLD_FAILED: &str = "gold_failed";
/// Status of an item whose question has no answer: to abstain is right.
pub const UNANSWERABLE: &str = "unanswerable";

/// The option of a run that says, by system, by what its answers were paired with the questions. It follows from the inputs, so a run
/// that goes on keeps what it says.
pub const PAIRED_BY: &str = "paired_by";

/// What the details of an item say that it depends on where a query of it asks for the time.
pub(crate) const TIME: &str = "time";

/// How a line of `items.jsonl` begins, before the system's name.
pub(crate) const LINE_START: &str = r#"{"system":"#;

/// One line of `items.jsonl`: one system's answer to one example, scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    /// Name of the system.
    pub system: String,
    /// Id of the example.
    pub id: String,
    /// Position in the gold file, from 0.
    pub index: usize,
    /// Database of the example.
    pub db_id: String,
    /// Outcome of the prediction: `ok`, `syntax_error`, `missing`, …; `gold_failed` where the benchmark's own
    /// query does not run, `unanswerable` where the question has no answer.
    pub status: String,
    /// Metric id with version to score in [0, 1] (cost metrics: their unit); `None` (null) where the metric
    /// does not apply.
    pub metrics: BTreeMap<String, Option<f64>>,
    /// What explains the scores.
    pub details: Details,
}

/// Whether the golds of an item's example run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoldOutcome {
    /// Every metric that runs a gold could run one.
    Ran,
    /// A gold failed for some metrics; others follow a script that mends it.
    FailedForSome,
    /// No gold runs for any metric: the benchmark's failure.
    Failed,
}

impl Item {
    /// Whether the golds run. An item without an answer keeps the status `missing`, so that there the error of the gold
    /// tells, unless a metric says that it failed for it alone.
    pub(crate) fn gold_outcome(&self) -> GoldOutcome {
        let failed_for_some = self.details.metrics.values().any(MetricDetail::names_gold_failure);
        if self.status == GOLD_FAILED
            || (self.status == MISSING && !failed_for_some && self.details.gold_error.is_some())
        {
            GoldOutcome::Failed
        } else if failed_for_some {
            GoldOutcome::FailedForSome
        } else {
            GoldOutcome::Ran
        }
    }
}

/// The systems that texts of a user name: a text that is one of `all` is that name, any other is a list with commas. So every name
/// can be written, if need be in a text of its own.
pub fn systems_named(texts: &[String], all: &[String]) -> Vec<String> {
    let names = |text: &String| {
        if all.contains(text) {
            return vec![text.clone()];
        }
        text.split(',').map(|name| name.trim().to_owned()).collect()
    };
    texts.iter().flat_map(names).collect()
}

/// `run.json`: what was run, on what, by which version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// Version of sqlgauge.
    pub tool_version: String,
    /// Name and version of the database engine.
    pub engine: String,
    /// The command line as given.
    pub command: Vec<String>,
    /// Metric ids with versions, in the order asked for.
    pub metrics: Vec<String>,
    /// Names of the systems, in the order asked for.
    pub systems: Vec<String>,
    /// Every input file with its SHA-256 (hex).
    pub inputs: Vec<InputRecord>,
    /// Options that change results (limits, extraction of SQL from chatter, …), by name.
    pub options: BTreeMap<String, serde_json::Value>,
    /// Number of examples.
    pub examples: usize,
}

impl Manifest {
    /// When results are equal for the metric of that id that verifies. Its id says so; for one of an earlier version, an option.
    pub fn semantics_of(&self, metric: &str) -> Option<Semantics> {
        let recorded = || self.options.get("verify_semantics")?.as_str()?.parse().ok();
        verify_semantics(metric).or_else(|| recorded().filter(|_| is_verify(metric)))
    }

    /// Whether it is a run over a file of pairs ([`PAIRS`]).
    pub fn is_of_pairs(&self) -> bool {
        self.inputs.iter().any(|input| input.role == PAIRS)
    }

    /// Items of the whole run. A count that no run can have, in a damaged file, is one that no log reaches.
    pub fn total(&self) -> usize {
        self.examples.saturating_mul(self.systems.len())
    }
}

/// One input file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputRecord {
    /// What it was read as: `gold`, `predictions:DAIL`, `tables`, `database:concert_singer`.
    pub role: String,
    /// Path as given.
    pub path: String,
    /// SHA-256 of the bytes, hex.
    pub sha256: String,
}

/// `summary.json`: scores per system with intervals, and their breakdown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Metric ids with versions, in the order asked for.
    pub metrics: Vec<String>,
    /// What the golds of the run are worth.
    #[serde(default)]
    pub golds: GoldCounts,
    /// One entry per system, in the order asked for.
    pub systems: Vec<SystemSummary>,
    /// Paired comparisons of every two systems on every metric.
    pub comparisons: Vec<Comparison>,
}

/// How many examples have golds that a prediction can be wrong about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoldCounts {
    /// Examples seen, whatever the number of systems.
    pub examples: usize,
    /// Examples without a gold that runs, as it is written or as an official script mends it.
    pub failed: usize,
    /// Examples whose question has no answer: to abstain is right there, and every answer wrong.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswerable: usize,
    /// Examples whose golds return no row: every prediction that returns none agrees with them.
    pub empty: usize,
    /// Databases without a row, where most queries agree.
    pub empty_databases: Vec<String>,
    /// Examples on those databases.
    pub on_empty_databases: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One system's scores.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemSummary {
    /// Name of the system.
    pub system: String,
    /// By what its answers were paired with the questions, where the run says so: `column ID`, `key`, `question`, `position`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired_by: Option<String>,
    /// The denominators.
    pub counts: Counts,
    /// Number of items per prediction status.
    pub statuses: BTreeMap<String, usize>,
    /// By metric id.
    pub scores: BTreeMap<String, ScoreSummary>,
    /// By metric id, where a script's changes of the texts decide scores.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub as_written: BTreeMap<String, AsWritten>,
    /// Why answers are wrong, where the items say why answers are wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixes: Option<Fixes>,
    /// What the answers that are transcripts did before their final queries, where there are such answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<EarlierCounts>,
    /// Breakdown: dimension (`hardness`, `db_id`, `difficulty`, `feature`, `turn`) to group to metric to score.
    pub breakdown: BTreeMap<String, BTreeMap<String, BTreeMap<String, ScoreSummary>>>,
}

/// What a metric gives where the texts are compared as they are written, and not as its script changes them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AsWritten {
    /// Items with another score.
    pub items: usize,
    /// Those of them with a higher one; absent in a summary of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gained: Option<usize>,
    /// Mean over the items to which the metric applies.
    pub mean: f64,
}

/// The denominators of a system's scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Examples in the benchmark.
    pub requested: usize,
    /// Items scored (missing predictions included: they score 0).
    pub scored: usize,
    /// Examples without a prediction.
    pub missing: usize,
    /// Examples whose gold failed for at least one metric: the benchmark's failure, left out of that metric.
    pub gold_failed: usize,
    /// Items whose gold or prediction depends on the time that the run takes for now, or on random numbers.
    #[serde(default)]
    pub volatile: usize,
}

/// A mean score with its 95 % interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreSummary {
    /// Mean over the items to which the metric applies; `None` if there are none.
    pub mean: Option<f64>,
    /// Lower end of the 95 % interval, by `clusters` where there are any.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Items to which the metric applies.
    pub count: usize,
    /// What the interval takes together; `None` in a summary of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Clusters>,
    /// The interval if every item stood for itself (Wilson for 0/1 metrics, bootstrap otherwise), where there are clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<[f64; 2]>,
}

/// A paired comparison of two systems on one metric, over the items that both were scored on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Metric id with version.
    pub metric: String,
    /// First system.
    pub first: String,
    /// Second system.
    pub second: String,
    /// Items scored for both.
    pub count: usize,
    /// Mean of the first over those items; `None` in a summary of an earlier version.
    #[serde(default)]
    pub first_mean: Option<f64>,
    /// Mean of the second over those items.
    #[serde(default)]
    pub second_mean: Option<f64>,
    /// Mean of first minus mean of second over those items.
    pub difference: f64,
    /// 95 % interval of the difference, paired by item, by `clusters` where there are any.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Two-sided p-value, by `clusters` where there are any.
    pub p_value: f64,
    /// Items that only the first got right (0/1 metrics) or on which it scored higher.
    pub only_first: usize,
    /// Items that only the second got right or on which it scored higher.
    pub only_second: usize,
    /// What interval and test take together; `None` in a summary of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Clusters>,
    /// Interval and test if every item stood for itself, where there are clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain: Option<PlainDifference>,
}

/// Interval and test of a difference if every item stood for itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlainDifference {
    /// 95 % interval: of 0/1 metrics that of the test of `p_value`, else a bootstrap.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Exact two-sided `McNemar` p-value for 0/1 metrics, paired sign-flip permutation test otherwise.
    pub p_value: f64,
}

impl Comparison {
    /// The test behind `p_value`, in words.
    pub fn test(&self) -> String {
        let kind = recorded(&self.metric).map_or(MetricKind::Fraction, Metric::kind);
        paired_test(kind, self.clusters, self.count)
    }

    /// On how many items the first system is better, and on how many the second: by some metrics less is better.
    pub fn in_favour(&self) -> (usize, usize) {
        let (first, second) = (self.only_first, self.only_second);
        if lower_is_better(&self.metric) { (second, first) } else { (first, second) }
    }

    /// Whether the interval excludes 0 and the test takes the difference for chance, or the other way round: a bootstrap and a
    /// permutation test may, close to their common bar.
    pub fn is_torn(&self) -> bool {
        (self.low > 0.0 || self.high < 0.0) != (self.p_value < 0.05)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_with_a_comma_is_one_name_and_other_texts_are_lists() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
        let all = texts(&["a", "b", "a, b"]);
        for (written, names) in [
            (&["a,b"][..], &["a", "b"][..]),
            (&["a, b"], &["a, b"]),
            (&["b", "a, b"], &["b", "a, b"]),
            (&["a, c"], &["a", "c"]),
            (&[], &[]),
        ] {
            assert_eq!(systems_named(&texts(written), &all), names, "{written:?}");
        }
    }

    #[test]
    fn the_id_says_when_results_are_equal_or_an_option() {
        let manifest = |options: serde_json::Value| -> Manifest {
            serde_json::from_value(json!({
                "tool_version": "", "engine": "", "command": [], "metrics": [], "systems": [], "inputs": [],
                "options": options, "examples": 0,
            }))
            .unwrap()
        };
        let (earlier, present) = (manifest(json!({"verify_semantics": "set"})), manifest(json!({})));
        assert_eq!(earlier.semantics_of("verify@2"), Some(Semantics::Set));
        assert_eq!(present.semantics_of("verify@2"), None);
        assert_eq!(present.semantics_of("verify-bag@3"), Some(Semantics::Bag));
        assert_eq!(earlier.semantics_of("verify@3"), Some(Semantics::Ex));
        assert_eq!(earlier.semantics_of("ex@1"), None);
    }

    #[test]
    fn the_status_the_metrics_and_the_error_tell_whether_a_gold_ran() {
        use GoldOutcome::{Failed, FailedForSome, Ran};
        let mended = json!({"gold_error": "e", "metrics": {"ex@1": {"gold_failed": "syntax_error"}}});
        for (status, details, outcome) in [
            ("ok", json!({}), Ran),
            ("ok", json!({"gold_error": "e"}), Ran),
            ("ok", mended.clone(), FailedForSome),
            ("gold_failed", json!({"gold_error": "e"}), Failed),
            ("missing", json!({}), Ran),
            ("missing", json!({"gold_error": "e"}), Failed),
            ("missing", mended, FailedForSome),
        ] {
            let item: Item = serde_json::from_value(json!({
                "system": "s", "id": "0", "index": 0, "db_id": "d", "status": status, "metrics": {},
                "details": details,
            }))
            .unwrap();
            assert_eq!(item.gold_outcome(), outcome, "{status} {details}");
        }
    }
}
