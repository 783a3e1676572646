//! An item whose details are still JSON. Decoding them is most of the work of reading a log, and who passes them on
//! need not.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sqlgauge_base::seed_of;
use sqlgauge_causes::DifferenceRecord;
use sqlgauge_verify::VerdictRecord;

use crate::details::RawDetails;

/// A line of the log, as [`crate::Item`] but for its details.
#[derive(Debug, Deserialize)]
#[allow(missing_docs, reason = "the fields of an item")]
pub struct RawItem<'a> {
    #[serde(borrow)]
    pub system: Cow<'a, str>,
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    pub index: usize,
    #[serde(borrow)]
    pub db_id: Cow<'a, str>,
    #[serde(borrow)]
    pub status: Cow<'a, str>,
    pub metrics: BTreeMap<String, Option<f64>>,
    #[serde(borrow)]
    pub details: RawDetails<'a>,
}

impl RawItem<'_> {
    /// A hash of what was asked: database and golds.
    pub fn asked(&self) -> u64 {
        let gold: Option<String> = decoded(self.details.gold);
        let golds = gold.map(|gold| vec![gold]).or_else(|| decoded(self.details.golds)).unwrap_or_default();
        let asked: Vec<&str> =
            std::iter::once(self.db_id.as_ref()).chain(golds.iter().map(String::as_str)).collect();
        seed_of(&asked.join("\0"))
    }

    /// As [`crate::Details::words`].
    pub fn words(&self) -> Option<DifferenceRecord> {
        let verdict: Option<VerdictRecord> = decoded(self.details.verdict);
        verdict.and_then(|verdict| verdict.words).or_else(|| decoded(self.details.difference))
    }
}

/// A detail; `None` where there is none, or one of another type.
fn decoded<T: DeserializeOwned>(detail: Option<&RawValue>) -> Option<T> {
    serde_json::from_str::<Option<T>>(detail?.get()).ok().flatten()
}
