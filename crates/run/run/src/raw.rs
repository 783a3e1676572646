//! An item whose details are still JSON, for whoever passes them on: decoding them is most of the work of reading a log.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

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

/// The details of an item in the order of the log, each as JSON.
#[derive(Debug)]
pub struct RawDetails<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawDetails<'a> {
    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> + Clone + '_ {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// The value of that name.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.iter().find(|(own, _)| *own == key).map(|(_, value)| value)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawDetails<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Details).map(RawDetails)
    }
}

struct Details;

/// A name; borrowed, unless it has an escape.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Details {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of details")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::with_capacity(16);
        while let Some((Key(key), value)) = map.next_entry()? {
            all.push((key, value));
        }
        Ok(all)
    }
}
