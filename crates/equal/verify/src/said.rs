//! What makes the answer of a counterexample wrong, and for which rows.

use std::sync::Arc;

use serde_json::Value;
use sqlgauge_base::{counted, listed};
use sqlgauge_causes::{DifferenceRecord, Explainer, Judge, Proofs};
use sqlgauge_search::{Refutation, Search, SearchVerdict};
use sqlgauge_sql::schema::Schema;

use crate::json::{NamedTable, ResultTable, VerdictRecord};

/// Databases on which a query is compared with the same query with a slip more or less.
const MORE_DATABASES: usize = 40;

/// Most tables of which the rows are counted.
const MAX_TABLES: usize = 3;

/// Longest text that stands in the sentence, in characters.
const MAX_TEXT: usize = 40;

pub(crate) fn in_words(
    search: &Search,
    schema: &Arc<Schema>,
    refutation: &Refutation,
    tables: &[NamedTable],
    [left, right]: [&str; 2],
) -> DifferenceRecord {
    let judge = OnWitness { proofs: Proofs::over(schema), search, refutation };
    let explained = Explainer::of(Arc::clone(schema)).explain(left, right, &judge);
    let [gold, prediction] = [refutation.left(), refutation.right()].map(ResultTable::of);
    DifferenceRecord::of(&explained, Some(&sentence(tables, &gold, &prediction)))
}

/// Knows what is proved, and what the counterexample shows.
struct OnWitness<'a> {
    proofs: Proofs<'a>,
    search: &'a Search,
    refutation: &'a Refutation,
}

impl Judge for OnWitness<'_> {
    /// Proved, or told apart neither by the counterexample nor by some databases more.
    fn same(&self, query: &str, other: &str) -> Option<bool> {
        if let Some(proved) = self.proofs.same(query, other) {
            return Some(proved);
        }
        let agrees = self.search.agree(self.refutation.database(), query, other)?;
        let more = || self.search.refute_within(query, other, MORE_DATABASES);
        Some(agrees && matches!(more(), SearchVerdict::Survived(_)))
    }
}

impl VerdictRecord {
    /// What the counterexample shows: ``On a database with 1 row in `singer`, the prediction gives 2, the gold 1``. `None` without a
    /// counterexample.
    pub fn differ_on(&self) -> Option<String> {
        let (gold, prediction) = (self.left_result.as_ref()?, self.right_result.as_ref()?);
        Some(sentence(&self.shown_tables(), gold, prediction))
    }
}

fn sentence(tables: &[NamedTable], gold: &ResultTable, prediction: &ResultTable) -> String {
    let results = results(gold, prediction).unwrap_or_else(|| "the results differ".to_owned());
    format!("{}, {results}", rows(tables))
}

/// ``On a database with 1 row in `singer` and 2 rows in `concert` ``.
fn rows(tables: &[NamedTable]) -> String {
    let filled = tables.iter().filter(|table| !table.rows.rows.is_empty()).count();
    if filled == 0 {
        return "On a database without rows".to_owned();
    }
    if tables.len() > MAX_TABLES {
        let all: usize = tables.iter().map(|table| table.rows.rows.len()).sum();
        return format!("On a database with {} in {}", counted(all, "row"), counted(filled, "table"));
    }
    let counts: Vec<String> = tables
        .iter()
        .map(|table| match table.rows.rows.len() {
            0 => format!("no row in `{}`", table.name),
            count => format!("{} in `{}`", counted(count, "row"), table.name),
        })
        .collect();
    format!("On a database with {}", listed(&counts))
}

/// What both return, where that is short.
fn results(gold: &ResultTable, prediction: &ResultTable) -> Option<String> {
    if let (Some(gold), Some(prediction)) = (single(gold), single(prediction)) {
        return (gold != prediction).then(|| format!("the prediction gives {prediction}, the gold {gold}"));
    }
    let count = |result: &ResultTable| result.total_rows.unwrap_or(result.rows.len());
    let rows = |result: &ResultTable| match count(result) {
        0 => "none".to_owned(),
        count => counted(count, "row"),
    };
    let differ = count(gold) != count(prediction);
    let of_prediction = if count(prediction) == 0 { "no row".to_owned() } else { rows(prediction) };
    differ.then(|| format!("the prediction returns {of_prediction}, the gold {}", rows(gold)))
}

/// The only value of a result, where that is short. A text that may stand for something that JSON has no words for is none.
fn single(result: &ResultTable) -> Option<String> {
    let [row] = result.rows.as_slice() else { return None };
    let [value] = row.as_slice() else { return None };
    match value {
        Value::Null => Some("NULL".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.contains('\'') && text.chars().nth(MAX_TEXT).is_none() => {
            Some(format!("'{text}'"))
        }
        _ => None,
    }
}
