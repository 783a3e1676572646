//! What a metric says about its score.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// What a metric says about its score: `reason` in words, and entries of its own (partial scores, …).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MetricDetail(Map<String, Value>);

/// Entry: the score of the same comparison over the texts as they are written, where a script's changes of the texts decide.
pub(crate) const AS_WRITTEN: &str = "as_written";

impl MetricDetail {
    /// The same with one entry more, or another value of it.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The same with the reason in words.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        self.with("reason", reason.into())
    }

    /// Why the metric gave its score, in words.
    pub fn reason(&self) -> Option<&str> {
        self.0.get("reason").and_then(Value::as_str)
    }

    /// Position, from 0, of the gold that gave the score, where there are several.
    pub fn gold(&self) -> Option<usize> {
        self.0.get("gold").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok())
    }

    /// Whether the metric could not run its gold.
    pub fn names_gold_failure(&self) -> bool {
        self.0.contains_key("gold_failed")
    }

    /// The score of the texts as they are written, where a script's changes of them decide.
    pub fn as_written(&self) -> Option<f64> {
        self.0.get(AS_WRITTEN).and_then(Value::as_f64)
    }

    /// Everything that it says.
    pub fn entries(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Without what the item says already: that no gold runs, or that the prediction does not (`prediction_status`).
    #[must_use]
    pub fn without_news_of_item(mut self, no_gold_runs: bool, prediction_status: &str) -> Self {
        let repeats_status = self.0.get("status").is_some_and(|status| *status == prediction_status);
        if repeats_status || (no_gold_runs && self.names_gold_failure()) {
            for key in ["reason", "status", "gold_failed", "gold"] {
                self.0.shift_remove(key);
            }
        }
        self
    }

    /// Of a missing answer: a metric can say only that its gold does not run.
    #[must_use]
    pub fn of_missing_answer(mut self, no_gold_runs: bool) -> Self {
        self.0.retain(|key, _| !no_gold_runs && key == "gold_failed");
        self
    }
}

impl<'de> Deserialize<'de> for MetricDetail {
    /// A text alone is the reason.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MetricVisitor)
    }
}

struct MetricVisitor;

impl<'de> Visitor<'de> for MetricVisitor {
    type Value = MetricDetail;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of what a metric says, or a reason")
    }

    fn visit_str<E: serde::de::Error>(self, reason: &str) -> Result<Self::Value, E> {
        Ok(MetricDetail::default().because(reason))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Map::deserialize(MapAccessDeserializer::new(map)).map(MetricDetail)
    }
}
