//! `spider2@1`: the official comparison of Spider 2 (snow, lite).
//!
//! # Contract
//! Equal, item by item, to `compare_multi_pandas_table` of the official evaluator on CSV files read by pandas 3:
//! - Both files become data frames by pandas' rules of guessing types ([`crate::frame`]); a frame of different numbers is one of
//!   reals. A file that pandas cannot read scores 0.
//! - A missing value is the integer 0.
//! - Every gold column (of `condition_cols`, where that is not empty) must equal some column of the prediction, one that is taken
//!   already too. Rows are not looked at: each column is compared alone.
//! - With `ignore_order`, both columns are sorted as Python's `str` of the values, so 10 comes before 9.
//! - Numbers, true and false among them, are equal within 0.01 or a billionth of the larger; other values if they are the same.
//! - A gold `ID.csv` is the only one. Otherwise one of `ID_a.csv`, `ID_b.csv`, … must agree, looked at in that order; a list of lists
//!   in `condition_cols` has a list for each. A column number that the gold lacks, or a missing list, ends the item with 0, unless an
//!   earlier gold agreed.
//!
//! Source: xlang-ai/Spider2, `spider2-snow/evaluation_suite/evaluate.py`, from the version on that scores a missing value as 0.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value as Json;
use sqlgauge_engine::compare::pyeq::float_repr;

use super::{ResultComparison, ResultMetric, ResultVerdict};
use crate::error::Unreadable;
use crate::frame::{FrameColumn, Kind, frame, make_real};
use crate::golds::Gold;
use crate::table::{ResultFile, Value};

/// The official comparison.
pub(super) struct Spider2;

const ABSOLUTE: f64 = 1e-2;
const RELATIVE: f64 = 1e-9;

impl ResultMetric for Spider2 {
    fn id(&self) -> &'static str {
        "spider2@1"
    }

    fn score(&self, comparison: &ResultComparison<'_>) -> ResultVerdict {
        let prediction = match comparison.prediction {
            Ok(prediction) => prediction,
            Err(error) => return ResultVerdict::of_unreadable(error),
        };
        if let Some(row) = prediction.overlong {
            return ResultVerdict::wrong(format!(
                "line {} has {} fields, more than the rows before it",
                row.line, row.fields
            ));
        }
        let golds = official(comparison.golds);
        if golds.is_empty() {
            return ResultVerdict::wrong("no gold result");
        }
        let mut tables = Vec::new();
        for gold in golds {
            match &gold.table {
                Ok(table) if table.overlong.is_none() => tables.push(table),
                Ok(_) => {
                    return ResultVerdict::wrong(format!(
                        "the script fails: gold {} has a row that is too long",
                        gold.name
                    ));
                }
                Err(
                    error
                    @ (Unreadable::TooLarge { .. } | Unreadable::Refused(_) | Unreadable::NotBuiltIn(_)),
                ) => {
                    return ResultVerdict::unknown(format!("gold {} {error}", gold.name));
                }
                Err(error) => {
                    return ResultVerdict::wrong(format!("the script fails: gold {} {error}", gold.name));
                }
            }
        }
        compare(
            prediction,
            &tables,
            golds[0].is_single,
            comparison.config.condition_cols(),
            comparison.config.ignore_order,
        )
    }
}

/// The golds that the script looks at.
fn official(golds: &[Gold]) -> &[Gold] {
    golds.iter().position(|gold| gold.is_single).map_or(golds, |at| &golds[at..=at])
}

fn compare(
    prediction: &ResultFile,
    golds: &[&ResultFile],
    is_single: bool,
    columns: &Json,
    ignore_order: bool,
) -> ResultVerdict {
    let prediction = Vectors::of(frame(prediction), ignore_order);
    for (at, gold) in golds.iter().enumerate() {
        let chosen = if is_single { Some(columns) } else { columns_of(columns, at, golds.len()) };
        let frame = frame(gold);
        let Some(chosen) = chosen.and_then(|chosen| positions(chosen, frame.len())) else {
            return ResultVerdict::wrong("the script fails: `condition_cols` does not fit the gold");
        };
        let columns = match chosen {
            ChosenColumns::All => frame,
            ChosenColumns::These(places) => places.iter().map(|at| frame[*at].clone()).collect(),
        };
        let gold = Vectors::of(columns, ignore_order);
        if gold.columns.iter().all(|column| prediction.columns.iter().any(|other| agree(column, other))) {
            return ResultVerdict::right(at);
        }
    }
    ResultVerdict::wrong("a gold column equals no column of the result")
}

const ALL_COLUMNS: &Json = &Json::Null;

/// What the configuration says of one of several golds; `None` where the script fails.
fn columns_of(columns: &Json, at: usize, golds: usize) -> Option<&Json> {
    let is_empty = |json: &Json| json.is_null() || json.as_array().is_some_and(Vec::is_empty);
    if is_empty(columns) || columns.as_array().is_some_and(|lists| lists.len() == 1 && is_empty(&lists[0])) {
        return Some(ALL_COLUMNS);
    }
    let lists = columns.as_array()?;
    if golds > 1 && !lists.iter().all(Json::is_array) { Some(columns) } else { lists.get(at) }
}

enum ChosenColumns {
    All,
    These(Vec<usize>),
}

/// The chosen columns; `None` where the script fails.
fn positions(chosen: &Json, width: usize) -> Option<ChosenColumns> {
    let is_false = match chosen {
        Json::Null | Json::Bool(false) => true,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => text.is_empty(),
        Json::Array(list) => list.is_empty(),
        Json::Object(map) => map.is_empty(),
        Json::Bool(true) => false,
    };
    if is_false {
        return Some(ChosenColumns::All);
    }
    let list = chosen.as_array().map_or(std::slice::from_ref(chosen), Vec::as_slice);
    if let Some(mask) = list.iter().map(Json::as_bool).collect::<Option<Vec<bool>>>() {
        // One truth value per column chooses those that are true.
        let chosen = mask.iter().enumerate().filter(|(_, is_chosen)| **is_chosen).map(|(at, _)| at);
        return (mask.len() == width).then(|| ChosenColumns::These(chosen.collect()));
    }
    let width = i64::try_from(width).ok()?;
    let position = |json: &Json| {
        let at = json.as_i64()?;
        usize::try_from(if at < 0 { at + width } else { at }).ok().filter(|_| at < width)
    };
    list.iter().map(position).collect::<Option<_>>().map(ChosenColumns::These)
}

/// The columns as the script compares them.
struct Vectors<'a> {
    columns: Vec<Vec<Value<'a>>>,
}

impl<'a> Vectors<'a> {
    fn of(mut frame: Vec<FrameColumn<'a>>, sorted: bool) -> Self {
        let has = |kind| frame.iter().any(|column| column.kind == kind);
        let is_mixed = has(Kind::Float) || (has(Kind::Signed) && has(Kind::Unsigned));
        if is_mixed && !has(Kind::Object) && !has(Kind::Bool) {
            frame.iter_mut().flat_map(|column| &mut column.values).for_each(make_real);
        }
        let columns =
            frame.into_iter().map(|column| column.values.into_iter().map(zero_for_missing).collect());
        let mut columns: Vec<Vec<Value<'a>>> = columns.collect();
        if sorted {
            columns.iter_mut().for_each(|column| sort(column));
        }
        Self { columns }
    }
}

fn zero_for_missing(value: Value<'_>) -> Value<'_> {
    if value == Value::Null { Value::Int(0) } else { value }
}

/// Up to this number of values the texts are kept while sorting.
const FEW: usize = 200_000;

fn sort(column: &mut [Value<'_>]) {
    if column.iter().all(|value| matches!(value, Value::Text(_))) {
        column.sort_by(order);
    } else if column.len() <= FEW {
        column.sort_by_cached_key(|value| (text(value).into_owned(), !matches!(value, Value::Text(_))));
    } else {
        column.sort_by(order);
    }
}

fn order(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    let is_number = |value: &Value<'_>| !matches!(value, Value::Text(_));
    text(a).cmp(&text(b)).then_with(|| is_number(a).cmp(&is_number(b)))
}

/// Python's `str` of a value.
fn text<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::Null => Cow::Borrowed("0"),
        Value::Bool(true) => Cow::Borrowed("True"),
        Value::Bool(false) => Cow::Borrowed("False"),
        Value::Int(integer) => Cow::Owned(integer.to_string()),
        Value::Float(real) => Cow::Owned(float_repr(*real)),
        Value::Huge(text) | Value::Text(text) => Cow::Borrowed(text),
    }
}

fn agree(gold: &[Value<'_>], prediction: &[Value<'_>]) -> bool {
    gold.len() == prediction.len() && gold.iter().zip(prediction).all(|(a, b)| equal(a, b))
}

fn equal(a: &Value<'_>, b: &Value<'_>) -> bool {
    let number = |value: &Value<'_>| match value {
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        value => value.number(),
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => is_close(a, b),
        _ => a == b,
    }
}

/// Python's `math.isclose` with the script's tolerance.
#[expect(clippy::float_cmp, reason = "equal infinities are close")]
fn is_close(a: f64, b: f64) -> bool {
    if a == b {
        return true;
    }
    a.is_finite() && b.is_finite() && (a - b).abs() <= (RELATIVE * a.abs().max(b.abs())).max(ABSOLUTE)
}
