//! Reduces an item to what a summary needs: how it counts, and in which groups.

use serde::{Deserialize, Serialize};
use sqlgauge_engine::FailureKind;

use crate::clusters::gold_key;
use crate::earlier::EarlierCounts;
use crate::fixes;
use crate::record::{GoldOutcome, Item, MISSING, UNANSWERABLE};

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
    /// Position of a metric, and the score of the texts as they are written where it is another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) as_written: Vec<(usize, f64)>,
    /// What an answer without a result counts under in the list of what to fix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<String>,
    /// What a transcript did before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) earlier: Option<EarlierCounts>,
}

/// Where an item counts; mostly the same for all systems.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Labels {
    /// Dimension and name.
    pub(crate) groups: Vec<(String, String)>,
    pub(crate) interaction: Option<u64>,
    pub(crate) gold: GoldState,
    /// What is the same for questions with one gold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gold_key: Option<u64>,
}

/// What the golds of an example are worth.
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct GoldState {
    pub(crate) failed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unanswerable: bool,
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
    /// The verdict on an item in a run of those metrics. A score that is not finite does not count, as in the log.
    pub(crate) fn of<'a>(item: &Item, metrics: impl IntoIterator<Item = &'a String> + Clone) -> Self {
        let finite = |score: Option<f64>| score.filter(|score| score.is_finite());
        let score = |id: &String| item.metrics.get(id).copied().and_then(finite);
        let as_written = |id: &String| item.details.metrics.get(id)?.as_written();
        Self {
            status: item.status.clone(),
            scored: item.metrics.values().copied().any(|score| finite(score).is_some()),
            gold_failed: item.gold_outcome() != GoldOutcome::Ran,
            volatile: !item.details.depends_on.is_empty(),
            scores: metrics.clone().into_iter().map(score).collect(),
            earlier: EarlierCounts::of(item, metrics.clone()),
            as_written: metrics
                .into_iter()
                .enumerate()
                .filter_map(|(metric, id)| Some((metric, as_written(id)?)))
                .collect(),
            causes: causes_without_result(item),
        }
    }
}

/// What an answer without a result counts under in the list of what to fix.
pub(crate) fn causes_without_result(item: &Item) -> Vec<String> {
    if item.status == MISSING {
        return vec![MISSING.to_owned()];
    }
    if item.status == UNANSWERABLE {
        return vec![fixes::ANSWERED.to_owned()];
    }
    if item.details.error.is_some() {
        let is_several = item.status == FailureKind::MultipleStatements.as_str();
        return vec![if is_several { fixes::SEVERAL } else { fixes::FAILED }.to_owned()];
    }
    Vec::new()
}

impl Labels {
    pub(crate) fn of(item: &Item) -> Self {
        let details = &item.details;
        let mut groups = vec![("db_id".to_owned(), item.db_id.clone())];
        let named = [("hardness", &details.hardness), ("difficulty", &details.difficulty)];
        groups.extend(named.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?))));
        groups.extend(details.features.iter().map(|feature| ("feature".to_owned(), feature.clone())));
        // The buckets of SParC's and CoSQL's official table.
        let bucket = |turn: u64| if turn > 4 { ">4".to_owned() } else { turn.to_string() };
        groups.extend(details.turn.map(|place| ("turn".to_owned(), bucket(place.turn))));
        let gold = GoldState {
            failed: item.gold_outcome() == GoldOutcome::Failed,
            unanswerable: item.status == UNANSWERABLE,
            empty: details.gold_empty,
            on_empty_database: details.database_empty,
        };
        let interaction = details.turn.map(|place| place.interaction);
        Self { groups, interaction, gold, gold_key: gold_key(&item.db_id, details.golds()) }
    }
}
