//! What a summary takes of an item: what it counts as, and where.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::Item;
use crate::scorer::{DATABASE_EMPTY, DEPENDS_ON, GOLD_EMPTY, GOLD_FAILED, MISSING};

/// What an item counts as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) status: String,
    /// Whether a metric applies.
    pub(crate) scored: bool,
    pub(crate) gold_failed: bool,
    /// Whether it depends on more than texts and database.
    pub(crate) volatile: bool,
    /// In the order of the run's metrics.
    pub(crate) scores: Vec<Option<f64>>,
}

/// Where an item counts; mostly the same for all systems.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Labels {
    /// Dimension and name.
    pub(crate) groups: Vec<(String, String)>,
    pub(crate) interaction: Option<u64>,
    pub(crate) gold: GoldState,
}

/// What the golds of an example are worth.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct GoldState {
    pub(crate) failed: bool,
    pub(crate) empty: bool,
    pub(crate) on_empty_database: bool,
}

/// Verdict and labels as JSON: equal texts are equal facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Encoded {
    pub(crate) verdict: String,
    pub(crate) labels: String,
}

impl Encoded {
    /// The facts of an item in a run of those metrics.
    pub(crate) fn of(item: &Item, metrics: &[String]) -> Self {
        // Cannot fail: neither has a map, and scores are finite.
        let json = "facts serialise";
        Self {
            verdict: serde_json::to_string(&Verdict::of(item, metrics)).expect(json),
            labels: serde_json::to_string(&Labels::of(item)).expect(json),
        }
    }
}

impl Verdict {
    /// The verdict on an item in a run of those metrics. A score that is not finite is none, as in the log.
    pub(crate) fn of<'a>(item: &Item, metrics: impl IntoIterator<Item = &'a String>) -> Self {
        let finite = |score: Option<f64>| score.filter(|score| score.is_finite());
        let score = |id: &String| item.metrics.get(id).copied().and_then(finite);
        Self {
            status: item.status.clone(),
            scored: item.metrics.values().copied().any(|score| finite(score).is_some()),
            gold_failed: gold_is_lost(item) || names_gold_failure(item),
            volatile: item.details.contains_key(DEPENDS_ON),
            scores: metrics.into_iter().map(score).collect(),
        }
    }
}

impl Labels {
    pub(crate) fn of(item: &Item) -> Self {
        let text = |key: &str| item.details.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut groups = vec![("db_id".to_owned(), item.db_id.clone())];
        let named = ["hardness", "difficulty"].into_iter();
        groups.extend(named.filter_map(|key| Some((key.to_owned(), text(key)?))));
        let features = item.details.get("features").and_then(Value::as_array);
        let features = features.into_iter().flatten().filter_map(Value::as_str);
        groups.extend(features.map(|feature| ("feature".to_owned(), feature.to_owned())));
        let place = |key: &str| item.details.get("turn")?.get(key)?.as_u64();
        // The buckets of SParC's and CoSQL's official table.
        let bucket = |turn: u64| if turn > 4 { ">4".to_owned() } else { turn.to_string() };
        groups.extend(place("turn").map(|turn| ("turn".to_owned(), bucket(turn))));
        let is = |key: &str| item.details.get(key).and_then(Value::as_bool) == Some(true);
        let gold = GoldState {
            failed: gold_is_lost(item),
            empty: is(GOLD_EMPTY),
            on_empty_database: is(DATABASE_EMPTY),
        };
        Self { groups, interaction: place("interaction"), gold }
    }
}

/// Whether no gold of the item runs for any metric.
fn gold_is_lost(item: &Item) -> bool {
    let has_gold_error = || item.details.contains_key("gold_error");
    item.status == GOLD_FAILED || (item.status == MISSING && !names_gold_failure(item) && has_gold_error())
}

/// Whether the gold failed for a metric of the item. A gold that does not run as it is written may still run for a
/// metric that follows a script which mends it; such an item names the metrics for which it failed.
fn names_gold_failure(item: &Item) -> bool {
    let metrics = item.details.get("metrics").and_then(Value::as_object);
    metrics.is_some_and(|metrics| metrics.values().any(|detail| detail.get("gold_failed").is_some()))
}
