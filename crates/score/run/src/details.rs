//! The `details` of a line of `items.jsonl`: everything but the scores. Only these types write and read them.
//!
//! # Contract
//! - [`Details`] has a field for each name; the order of the fields is the order in the log, and what is absent is left out.
//! - [`RawDetails`] has the same fields as JSON that is not decoded, for whoever passes items on.
//! - A name that no field has, from a later version, is kept in `other` and written again; inside of a field it is not.
//! - `difference`, and the words of a verdict, which earlier versions wrote, are passed over: [`crate::Reasons`] makes them anew.
//! - null stands for what is absent, as earlier versions wrote it.
//! - A field of another type than written here makes the line unreadable, with an error that names it.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sqlgauge_engine::{Fingerprint, ResultSet};
pub use sqlgauge_metrics::MetricDetail;
use sqlgauge_metrics::is_verify;
use sqlgauge_verify::{ResultTable, VerdictRecord};

use crate::record::is_zero;

/// What a detail belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetailOf {
    /// The example: the same for every system.
    Example,
    /// The answer and its scores; reports have a place of their own for it.
    Answer,
    /// All else; reports list it by its name.
    More,
}

/// The sentence on a wrong answer, which earlier versions wrote; see [`crate::Reasons`].
const DIFFERENCE: &str = "difference";

macro_rules! details {
    ($($(#[doc = $text:literal])+ $of:ident $name:ident: $type:ty, $skip:literal;)*) => {
        /// What explains the scores of an item.
        #[derive(Debug, Clone, Default, PartialEq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct Details {
            $(
                $(#[doc = $text])+
                #[serde(default, skip_serializing_if = $skip)]
                pub $name: $type,
            )*
            /// What a later version wrote beside these.
            #[serde(flatten)]
            #[cfg_attr(feature = "schema", schemars(skip))]
            pub other: Map<String, Value>,
        }

        // Derived, the flattened rest makes serde hold each field a second time before it is read.
        impl Details {
            fn read<'de, A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
                match name.as_ref() {
                    $(stringify!($name) => self.$name = map.next_value::<Option<$type>>()?.unwrap_or_default(),)*
                    DIFFERENCE => {
                        map.next_value::<IgnoredAny>()?;
                    }
                    _ => {
                        self.other.insert(name.into_owned(), map.next_value()?);
                    }
                }
                Ok(())
            }
        }

        /// The details of an item, each as its JSON in the log.
        #[derive(Debug, Default)]
        pub struct RawDetails<'a> {
            $(
                $(#[doc = $text])+
                pub $name: Option<&'a RawValue>,
            )*
            /// What a later version wrote beside these.
            pub other: Vec<(Cow<'a, str>, &'a RawValue)>,
        }

        impl<'a> RawDetails<'a> {
            /// Name and value of each that is there and is not null, and what it belongs to, in the order of [`Details`].
            pub fn entries(&self) -> impl Iterator<Item = (&str, &'a RawValue, DetailOf)> + Clone {
                let fields = [$((stringify!($name), self.$name, DetailOf::$of)),*];
                let fields = fields.into_iter().filter_map(|(name, value, of)| Some((name, value?, of)));
                let other = self.other.iter().map(|(name, value)| (name.as_ref(), *value, DetailOf::More));
                fields.chain(other).filter(|(_, value, _)| value.get() != "null")
            }

            fn set(&mut self, name: Cow<'a, str>, value: &'a RawValue) {
                match name.as_ref() {
                    $(stringify!($name) => self.$name = Some(value),)*
                    DIFFERENCE => {}
                    _ => self.other.push((name, value)),
                }
            }
        }
    };
}

details! {
    /// The question in words.
    Example question: Option<String>, "Option::is_none";
    /// External knowledge given with the question (BIRD).
    Example evidence: Option<String>, "Option::is_none";
    /// The gold query, where there is one.
    Example gold: Option<String>, "Option::is_none";
    /// The accepted gold queries, where there is not one.
    Example golds: Option<Vec<String>>, "Option::is_none";
    /// The prediction as the system gave it; a long one is cut and ends in `…`.
    Answer prediction: Option<String>, "Option::is_none";
    /// Bytes of a prediction that was cut.
    More prediction_bytes: Option<usize>, "Option::is_none";
    /// The system's own confidence, where it gave one.
    More confidence: Option<f64>, "Option::is_none";
    /// Spider's hardness of the first gold: `easy`, `medium`, `hard`, `extra`.
    Example hardness: Option<String>, "Option::is_none";
    /// SQL features of the first gold.
    Example features: Vec<String>, "Vec::is_empty";
    /// The benchmark's own difficulty label.
    Example difficulty: Option<String>, "Option::is_none";
    /// Place in a conversation.
    Example turn: Option<TurnRecord>, "Option::is_none";
    /// What the engine said about a prediction that failed.
    Answer error: Option<String>, "Option::is_none";
    /// The prediction's result in short.
    More result: Option<ResultDigest>, "Option::is_none";
    /// What the engine said about a gold that failed.
    Answer gold_error: Option<String>, "Option::is_none";
    /// Outcome of the prediction, where the item's status is that no gold runs.
    More prediction_status: Option<String>, "Option::is_none";
    /// Whether every gold that runs returns no row: agreement says little there.
    More gold_empty: bool, "std::ops::Not::not";
    /// Whether the database has no row: agreement says little there.
    More database_empty: bool, "std::ops::Not::not";
    /// What the first metric of the run that verifies says of the pair. How long it took is not here: the log is the same whenever
    /// it is written.
    More verdict: Option<VerdictRecord>, "Option::is_none";
    /// What further metrics that verify say of it, by metric id.
    More verdicts: IndexMap<String, VerdictRecord>, "IndexMap::is_empty";
    /// Whether an answer is right, by the first metric of rows that calls it wrong, once its texts are in the gold's letter case.
    More letter_case: bool, "std::ops::Not::not";
    /// Rows tied at LIMIT, where a wrong prediction permits the same results as the gold.
    More tied: Option<usize>, "Option::is_none";
    /// What each metric says about its score, by metric id.
    Answer metrics: IndexMap<String, MetricDetail>, "IndexMap::is_empty";
    /// What a result depends on besides texts and database: `time` (what the run takes for now, and the time zone), `chance`.
    More depends_on: Vec<String>, "Vec::is_empty";
    /// The queries before the prediction, where it is the last of a transcript.
    More earlier_queries: Option<EarlierRecord>, "Option::is_none";
    /// The first rows of the gold's result, where a metric of 0 and 1 is not 1.
    Answer gold_result: Option<ResultTable>, "Option::is_none";
    /// The first rows of the prediction's result, likewise.
    Answer prediction_result: Option<ResultTable>, "Option::is_none";
}

/// Place in a conversation (`SParC`, `CoSQL`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnRecord {
    /// Number of the conversation.
    pub interaction: u64,
    /// Number of the question in it, from 1.
    pub turn: u64,
}

/// The queries of a transcript before the one that is scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierRecord {
    /// The last of them, in their order.
    pub last: Vec<EarlierQuery>,
    /// How many more there are before those; they are not run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: usize,
}

/// An earlier query of a transcript, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierQuery {
    /// The query; a long one is cut and ends in `…`.
    pub sql: String,
    /// Its outcome, as the status of a prediction: `ok`, `syntax_error`, ….
    pub status: String,
    /// Whether it is right by the first execution metric of the run; absent where that does not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<bool>,
}

/// A result in short, enough to tell which answers agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultDigest {
    /// Number of rows.
    pub rows: usize,
    /// Hash of the set of rows, as 16 hex digits.
    pub set: String,
    /// Whether the query was stopped, so that it has at least these rows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beginning: bool,
}

impl ResultDigest {
    pub fn of(rows: &ResultSet) -> Self {
        let Fingerprint { rows: count, set } = rows.fingerprint();
        Self { rows: count, set: format!("{set:016x}"), beginning: rows.is_beginning() }
    }

    /// The same as a number; `None` if `set` is not 16 hex digits.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        Some(Fingerprint { rows: self.rows, set: u64::from_str_radix(&self.set, 16).ok()? })
    }
}

impl Details {
    /// The accepted gold queries.
    pub fn golds(&self) -> &[String] {
        self.gold.as_ref().map(std::slice::from_ref).or(self.golds.as_deref()).unwrap_or_default()
    }

    /// What a metric of the run says of the pair; `metrics` are all of the run, in its order.
    pub fn verdict_by(&self, metric: &str, metrics: &[String]) -> Option<&VerdictRecord> {
        let first = metrics.iter().find(|id| is_verify(id));
        if first.is_some_and(|first| first == metric) {
            self.verdict.as_ref()
        } else {
            self.verdicts.get(metric)
        }
    }

    /// The prediction, if it stands here whole.
    pub fn whole_prediction(&self) -> Option<&str> {
        self.prediction.as_deref().filter(|_| self.prediction_bytes.is_none())
    }

    /// The answer, an empty text where it is missing; `None` where only its beginning stands here.
    pub fn whole_answer(&self) -> Option<&str> {
        self.prediction_bytes.is_none().then(|| self.prediction.as_deref().unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Details {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DetailsVisitor)
    }
}

struct DetailsVisitor;

impl<'de> Visitor<'de> for DetailsVisitor {
    type Value = Details;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of details")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut details = Details::default();
        while let Some(Name(name)) = map.next_key()? {
            details.read(name, &mut map)?;
        }
        // Of an earlier version, as `difference`.
        if let Some(verdict) = &mut details.verdict {
            verdict.words = None;
        }
        Ok(details)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawDetails<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RawVisitor)
    }
}

struct RawVisitor;

/// A name; borrowed, unless it has an escape.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for RawVisitor {
    type Value = RawDetails<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of details")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut details = RawDetails::default();
        while let Some((Name(name), value)) = map.next_entry()? {
            details.set(name, value);
        }
        Ok(details)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LINES: [&str; 5] = [
        "{}",
        r#"{"question":"q","evidence":"e","gold":"SELECT 1","prediction":"SELECT 2","prediction_bytes":9000,"confidence":0.5,"hardness":"easy","features":["join"],"difficulty":"simple","turn":{"interaction":0,"turn":2},"result":{"rows":1,"set":"00000000000000ff","beginning":true},"gold_empty":true,"database_empty":true,"verdict":{"verdict":"unknown","stage":"search","reason":"timeout","message":"m"},"metrics":{"esm@1":{"reason":"r","partial":{"a":1}},"ex@1":{"gold":1}},"depends_on":["time"],"earlier_queries":{"last":[{"sql":"SELECT 3","status":"ok","right":true},{"sql":"SELECT","status":"syntax_error"}],"omitted":4},"gold_result":{"columns":["a"],"rows":[[1],[null]],"total_rows":2},"prediction_result":{"columns":[],"rows":[],"total_rows":0,"beginning":true}}"#,
        r#"{"golds":["SELECT 1","SELECT 2"],"error":"no such column","gold_error":"g","prediction_status":"ok"}"#,
        r#"{"golds":[],"metrics":{"ex@1":{}}}"#,
        r#"{"question":"q","of_a_later_version":[1,{"b":null}]}"#,
    ];

    #[test]
    fn a_line_is_written_as_it_was_read() {
        for line in LINES {
            let details: Details = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&details).unwrap(), line);
        }
    }

    #[test]
    fn what_is_not_decoded_has_the_same_entries() {
        for line in LINES {
            let raw: RawDetails<'_> = serde_json::from_str(line).unwrap();
            let entries: Vec<(&str, &str)> =
                raw.entries().map(|(name, value, _)| (name, value.get())).collect();
            let whole: Map<String, Value> = serde_json::from_str(line).unwrap();
            let expected: Vec<(&str, String)> =
                whole.iter().map(|(name, value)| (name.as_str(), value.to_string())).collect();
            assert_eq!(
                entries,
                expected.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn sentences_of_earlier_versions_are_passed_over() {
        let line = r#"{"prediction":"p","verdict":{"verdict":"different","stage":"search","words":{"sentence":"Yours …"}},"difference":{"sentence":"Yours …","causes":["limit"]}}"#;
        let details: Details = serde_json::from_str(line).unwrap();
        let text = serde_json::to_string(&details).unwrap();
        assert!(!text.contains("Yours") && text.contains("different") && details.other.is_empty(), "{text}");
        let raw: RawDetails<'_> = serde_json::from_str(line).unwrap();
        assert_eq!(raw.entries().map(|(name, ..)| name).collect::<Vec<_>>(), ["prediction", "verdict"]);
    }

    #[test]
    fn null_is_absent_and_another_type_is_refused() {
        let details: Details =
            serde_json::from_str(r#"{"question":null,"features":null,"metrics":null,"gold_empty":null}"#)
                .unwrap();
        assert_eq!(details, Details::default());
        let error = serde_json::from_str::<Details>(r#"{"features":"join"}"#).unwrap_err().to_string();
        assert!(error.contains("expected a sequence"), "{error}");
    }

    #[test]
    fn a_reason_may_stand_alone() {
        let details: Details = serde_json::from_value(json!({"metrics": {"ex@1": "why"}})).unwrap();
        assert_eq!(details.metrics["ex@1"].reason(), Some("why"));
    }

    #[test]
    fn the_verdict_of_a_pair_stands_behind_the_metrics() {
        let verdict = VerdictRecord { verdict: "different".to_owned(), ..VerdictRecord::default() };
        let mut details = Details::default();
        details.other.insert("verdict".to_owned(), serde_json::to_value(&verdict).unwrap());
        details.metrics.insert("verify@3".to_owned(), MetricDetail::default());
        let text = serde_json::to_string(&details).unwrap();
        assert!(text.starts_with(r#"{"metrics":{"verify@3":{}},"verdict":{"#), "{text}");
        assert_eq!(serde_json::from_str::<Details>(&text).unwrap().verdict, Some(verdict));
    }
}
