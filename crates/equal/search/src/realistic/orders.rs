//! Orders between two columns of a table: in no row is the one above the other.
//!
//! Columns that have nothing to do with each other may keep an order by accident, or because their ranges lie apart. So an order is
//! believed only where values of different rows break it often: if the values of one column were shuffled, at least
//! [`EXPECTED_BREAKS`] rows would break it. Values that say which row is meant are not compared: that a row was given its number before
//! another says nothing.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use sqlgauge_engine::Value;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::Table;

use super::{ColumnConstraint, Source, is_below};

/// Columns of a table among which orders are looked for; what they are looked for in grows with the square of them.
const MAX_COLUMNS: usize = 64;

/// How many rows would break an order if it were an accident: that none does then happens once in a thousand times.
const EXPECTED_BREAKS: f64 = 7.0;

/// No row has a value in the first column that is above its value in the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) low: u32,
    pub(super) high: u32,
}

/// The orders that all rows of a table keep, between two columns of numbers or two of dates, none of which is a key or refers
/// to one by itself.
pub(super) fn mine(table: &Table, constraints: &[ColumnConstraint], source: Source<'_>) -> Vec<Order> {
    let foreign = table.foreign_keys.iter().map(|key| &key.columns);
    let keys = table.unique.iter().chain([&table.primary_key]).chain(foreign);
    let keys: BTreeSet<u32> = keys.filter(|key| key.len() == 1).flatten().copied().collect();
    let columns: Vec<(u32, String, bool)> = (0..)
        .zip(table.columns.iter().zip(constraints))
        .filter_map(|(at, (column, constraint))| {
            let (low, _) = constraint.range.as_ref().filter(|_| !keys.contains(&at))?;
            Some((at, quoted(&column.name), low.as_str().is_some()))
        })
        .take(MAX_COLUMNS)
        .collect();
    if columns.len() < 2 {
        return Vec::new();
    }
    let names: Vec<&str> = columns.iter().map(|(_, name, _)| name.as_str()).collect();
    let sql = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name));
    let Some(rows) = source.rows(&sql) else { return Vec::new() };
    let rows: Vec<&[Value]> = rows.rows().collect();
    let pairs = (0..columns.len()).flat_map(|low| (0..columns.len()).map(move |high| (low, high)));
    let is_kept = |&(low, high): &(usize, usize)| {
        low != high && columns[low].2 == columns[high].2 && keeps(&rows, low, high)
    };
    let is_no_accident = |&(low, high): &(usize, usize)| expected_breaks(&rows, low, high) >= EXPECTED_BREAKS;
    let orders = pairs.filter(is_kept).filter(is_no_accident);
    orders.map(|(low, high)| Order { low: columns[low].0, high: columns[high].0 }).collect()
}

/// The values of two columns in the rows that have both.
fn both<'r>(rows: &'r [&[Value]], low: usize, high: usize) -> impl Iterator<Item = (&'r Value, &'r Value)> {
    let pairs = rows.iter().filter_map(move |row| Some((row.get(low)?, row.get(high)?)));
    pairs.filter(|(low, high)| **low != Value::Null && **high != Value::Null)
}

fn keeps(rows: &[&[Value]], low: usize, high: usize) -> bool {
    both(rows, low, high).all(|(low, high)| !is_below(high, low))
}

/// How many rows would break the order if the values of one column were shuffled among the rows.
fn expected_breaks(rows: &[&[Value]], low: usize, high: usize) -> f64 {
    let order = |left: &&Value, right: &&Value| match (is_below(left, right), is_below(right, left)) {
        (true, _) => Ordering::Less,
        (_, true) => Ordering::Greater,
        _ => Ordering::Equal,
    };
    let (mut lows, mut highs): (Vec<&Value>, Vec<&Value>) = both(rows, low, high).unzip();
    lows.sort_by(order);
    highs.sort_by(order);
    let (mut below, mut breaks) = (0_usize, 0_usize);
    for low in &lows {
        while highs.get(below).is_some_and(|high| is_below(high, low)) {
            below += 1;
        }
        breaks += below;
    }
    if lows.is_empty() { 0.0 } else { breaks as f64 / lows.len() as f64 }
}
