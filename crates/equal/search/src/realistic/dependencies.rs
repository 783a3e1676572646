//! Functional dependencies between two columns of a table: rows that agree in the one agree in the other.

use std::collections::HashMap;

use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::Table;

use super::Source;
use crate::observed::Counts;

/// Columns of a table among which dependencies are looked for; what they are looked for in grows with the square of them.
const MAX_COLUMNS: usize = 64;

/// Rows that must agree with an earlier one before a dependency is believed.
const MIN_REPEATS: i64 = 10;

/// Rows that agree in one column agree in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The dependencies that all rows of a table keep. A column that repeats no value determines everything, and a single value
/// depends on everything: neither says anything.
pub(super) fn mine(table: &Table, counts: &Counts, source: Source<'_>) -> Vec<Dependency> {
    let says_something = |&(at, _): &(u32, _)| {
        let column = &counts.columns[at as usize];
        column.distinct > 1 && column.distinct < column.present
    };
    let columns: Vec<(u32, String)> = (0..)
        .zip(&table.columns)
        .map(|(at, column)| (at, quoted(&column.name)))
        .filter(says_something)
        .take(MAX_COLUMNS)
        .collect();
    if columns.len() < 2 {
        return Vec::new();
    }
    let names: Vec<&str> = columns.iter().map(|(_, name)| name.as_str()).collect();
    let sql = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name));
    let Some(rows) = source.rows(&sql) else { return Vec::new() };
    let classes: Vec<Vec<Option<usize>>> = (0..columns.len()).map(|at| classes(&rows, at)).collect();
    let pairs = (0..columns.len()).flat_map(|from| (0..columns.len()).map(move |to| (from, to)));
    let is_kept = |&(from, to): &(usize, usize)| {
        let column = &counts.columns[columns[from].0 as usize];
        from != to
            && column.present - column.distinct >= MIN_REPEATS
            && determines(&classes[from], &classes[to])
    };
    let dependencies = pairs.filter(is_kept);
    dependencies.map(|(from, to)| Dependency { from: columns[from].0, to: columns[to].0 }).collect()
}

/// For each row the number of its value in that column, `None` for NULL.
fn classes(rows: &ResultSet, column: usize) -> Vec<Option<usize>> {
    let mut numbers: HashMap<&Value, usize> = HashMap::new();
    rows.rows()
        .map(|row| match row.get(column)? {
            Value::Null => None,
            value => {
                let next = numbers.len();
                Some(*numbers.entry(value).or_insert(next))
            }
        })
        .collect()
}

/// Whether rows of one class in the first column are of one class, or all NULL, in the second.
fn determines(from: &[Option<usize>], to: &[Option<usize>]) -> bool {
    let mut partners: Vec<Option<Option<usize>>> = Vec::new();
    from.iter().zip(to).all(|(&from, &to)| {
        let Some(from) = from else { return true };
        if partners.len() <= from {
            partners.resize(from + 1, None);
        }
        *partners[from].get_or_insert(to) == to
    })
}
