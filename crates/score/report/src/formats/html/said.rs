//! The parts of an item that a page carries, copied from its JSON in the log.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use sqlgauge_run::{DetailOf, RawDetails, RawItem, Reason};

/// Rows of a result that a page carries per query.
const MAX_RESULT_ROWS: usize = 50;

/// What does not depend on the system.
#[derive(Serialize)]
pub(super) struct Example<'a> {
    id: &'a str,
    i: usize,
    db: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    h: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    f: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    g: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r: Option<FirstRows<'a>>,
}

/// Question, evidence, golds.
#[derive(Serialize)]
struct Texts<'a> {
    q: Option<&'a RawValue>,
    e: Option<&'a RawValue>,
    g: Vec<&'a RawValue>,
}

#[derive(Serialize)]
struct FirstRows<'a> {
    columns: &'a RawValue,
    rows: Vec<&'a RawValue>,
    total: usize,
    /// Whether the query was stopped, so that it has at least that many rows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    least: bool,
}

/// What a system's answer came to, other than its scores.
#[derive(Serialize)]
struct Extra<'a> {
    /// Reasons, by the position of the metric.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    m: BTreeMap<usize, &'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    g: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r: Option<FirstRows<'a>>,
    /// What makes the answer wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    w: Option<Reason>,
    #[serde(skip_serializing_if = "Fields::is_empty")]
    o: Fields<'a>,
}

/// Details that a page shows as they are.
struct Fields<'a>(Vec<(&'a str, &'a RawValue)>);

impl Fields<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

impl<'a> Example<'a> {
    pub(super) fn of(item: &'a RawItem<'a>) -> Self {
        let details = &item.details;
        Self {
            id: &item.id,
            i: item.index,
            db: &item.db_id,
            h: text(details.hardness),
            d: text(details.difficulty),
            f: details.features.map(texts).unwrap_or_default(),
            t: details.turn.filter(|turn| turn.get() != "null"),
            q: text(details.question),
            e: text(details.evidence).filter(|evidence| evidence.get() != "\"\""),
            g: golds(details),
            r: None,
        }
    }

    /// With the result of the gold, for a page that has it with the example.
    pub(super) fn with_result(self, item: &RawItem<'a>) -> Self {
        Self { r: rows(item.details.gold_result), ..self }
    }

    /// The example without its texts, and its texts alone.
    pub(super) fn in_two(self) -> Result<(Box<RawValue>, Box<RawValue>), serde_json::Error> {
        let texts = Texts { q: self.q, e: self.e, g: self.g };
        let labels = Self { q: None, e: None, g: Vec::new(), ..self };
        Ok((to_raw_value(&labels)?, to_raw_value(&texts)?))
    }
}

/// The prediction as the system gave it.
pub(super) fn prediction<'a>(item: &RawItem<'a>) -> Option<&'a RawValue> {
    text(item.details.prediction)
}

/// Reasons by metric, errors, result and what else there is; `None` if there is nothing.
pub(super) fn extra(
    item: &RawItem<'_>,
    metrics: &[&str],
    reason: Option<Reason>,
) -> Result<Option<Box<RawValue>>, serde_json::Error> {
    let details = &item.details;
    let reasons: BTreeMap<Cow<'_, str>, &RawValue> =
        details.metrics.and_then(|metrics| serde_json::from_str(metrics.get()).ok()).unwrap_or_default();
    let of_metric = |(at, metric): (usize, &&str)| Some((at, *reasons.get(*metric)?));
    let more = details.entries().filter(|(_, _, of)| *of == DetailOf::More);
    let extra = Extra {
        m: metrics.iter().enumerate().filter_map(of_metric).collect(),
        e: text(details.error),
        g: text(details.gold_error),
        r: rows(details.prediction_result),
        w: reason,
        o: Fields(more.map(|(name, value, _)| (name, value)).collect()),
    };
    let is_empty = extra.m.is_empty()
        && extra.e.is_none()
        && extra.g.is_none()
        && extra.r.is_none()
        && extra.w.is_none()
        && extra.o.is_empty();
    if is_empty { Ok(None) } else { to_raw_value(&extra).map(Some) }
}

fn is_text(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

fn text(value: Option<&RawValue>) -> Option<&RawValue> {
    value.filter(|value| is_text(value))
}

fn texts(list: &RawValue) -> Vec<&RawValue> {
    let mut texts: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
    texts.retain(|value| is_text(value));
    texts
}

fn golds<'a>(details: &RawDetails<'a>) -> Vec<&'a RawValue> {
    match details.golds.or(details.gold) {
        Some(text) if is_text(text) => vec![text],
        Some(list) => texts(list),
        None => Vec::new(),
    }
}

fn rows(result: Option<&RawValue>) -> Option<FirstRows<'_>> {
    #[derive(Deserialize)]
    struct RawTable<'a> {
        #[serde(borrow)]
        columns: &'a RawValue,
        #[serde(borrow)]
        rows: Vec<&'a RawValue>,
        #[serde(borrow)]
        total_rows: Option<&'a RawValue>,
        #[serde(borrow)]
        beginning: Option<&'a RawValue>,
    }
    let mut table: RawTable<'_> = serde_json::from_str(result?.get()).ok()?;
    let total = table.total_rows.and_then(|total| total.get().parse().ok()).unwrap_or(table.rows.len());
    table.rows.truncate(MAX_RESULT_ROWS);
    let least = table.beginning.is_some_and(|beginning| beginning.get() == "true");
    table.columns.get().starts_with('[').then_some(FirstRows {
        columns: table.columns,
        rows: table.rows,
        total,
        least,
    })
}
