//! An item whose details are still JSON. Decoding them is most of the work of reading a log, and who passes them on
//! need not.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

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
