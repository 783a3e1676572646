//! An item whose details are still JSON. Decoding them is most of the work of reading a log, and who passes them on
//! need not.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sqlgauge_base::seed_of;
use sqlgauge_verify::VerdictRecord;

use crate::details::{Details, RawDetails};
use crate::record::{Item, TIME};

/// A line of the log, as [`crate::Item`] but for its details.
#[derive(Debug, Deserialize)]
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
    ///
    /// # Errors
    /// When the golds are no texts.
    pub fn asked(&self) -> serde_json::Result<u64> {
        let gold: Option<String> = decoded(self.details.gold)?;
        let golds = match gold {
            Some(gold) => vec![gold],
            None => decoded(self.details.golds)?,
        };
        let texts: Vec<&str> =
            std::iter::once(self.db_id.as_ref()).chain(golds.iter().map(String::as_str)).collect();
        Ok(seed_of(&texts.join("\0")))
    }

    /// Whether a query of the item asks for the time.
    ///
    /// # Errors
    /// When the detail has another type than [`Details`] says.
    pub fn asks_time(&self) -> serde_json::Result<bool> {
        let on: Vec<String> = decoded(self.details.depends_on)?;
        Ok(on.iter().any(|what| what == TIME))
    }

    /// The item without its answer, its other texts and its results: all that a summary reads.
    ///
    /// # Errors
    /// When a detail has another type than written here.
    pub fn without_texts(&self) -> serde_json::Result<Item> {
        let raw = &self.details;
        let details = Details {
            gold: decoded(raw.gold)?,
            golds: decoded(raw.golds)?,
            hardness: decoded(raw.hardness)?,
            features: decoded(raw.features)?,
            difficulty: decoded(raw.difficulty)?,
            turn: decoded(raw.turn)?,
            error: decoded(raw.error)?,
            gold_error: decoded(raw.gold_error)?,
            prediction_status: decoded(raw.prediction_status)?,
            gold_empty: decoded(raw.gold_empty)?,
            database_empty: decoded(raw.database_empty)?,
            metrics: decoded(raw.metrics)?,
            depends_on: decoded(raw.depends_on)?,
            earlier_queries: decoded(raw.earlier_queries)?,
            ..Details::default()
        };
        Ok(Item {
            system: self.system.clone().into_owned(),
            id: self.id.clone().into_owned(),
            index: self.index,
            db_id: self.db_id.clone().into_owned(),
            status: self.status.clone().into_owned(),
            metrics: self.metrics.clone(),
            details,
        })
    }

    /// The item's details as far as they say what was compared.
    ///
    /// # Errors
    /// When a detail has another type than [`Details`] says.
    pub(crate) fn pair(&self) -> serde_json::Result<Details> {
        let raw = &self.details;
        Ok(Details {
            gold: decoded(raw.gold)?,
            golds: decoded(raw.golds)?,
            prediction: decoded(raw.prediction)?,
            prediction_bytes: decoded(raw.prediction_bytes)?,
            result: decoded(raw.result)?,
            letter_case: decoded(raw.letter_case)?,
            tied: decoded(raw.tied)?,
            verdict: decoded::<Option<VerdictRecord>>(raw.verdict)?,
            metrics: decoded(raw.metrics)?,
            ..Details::default()
        })
    }
}

/// A detail, or what stands for none.
fn decoded<T: DeserializeOwned + Default>(detail: Option<&RawValue>) -> serde_json::Result<T> {
    let value = detail.map(|detail| serde_json::from_str::<Option<T>>(detail.get())).transpose()?;
    Ok(value.flatten().unwrap_or_default())
}
