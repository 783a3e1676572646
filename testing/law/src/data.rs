//! Rows that tell alike queries apart: NULL, numbers of all classes, case variants, ties, duplicates.

use std::fmt::Write as _;

use rusqlite::Connection;
use sqlgauge_sql::schema::{Affinity, Schema, Table, TableKind};

use sqlgauge_search::conversions;

use crate::dice::Dice;
use crate::shape::quoted;

const INTEGERS: [&str; 14] = [
    "0",
    "1",
    "1",
    "1",
    "2",
    "2",
    "3",
    "3",
    "5",
    "-1",
    "10",
    "20",
    "9223372036854775807",
    "9007199254740993",
];
const REALS: [&str; 8] = ["1.0", "2.0", "0.5", "1.5", "-1.0", "3.0", "1e300", "-0.0"];
const TEXTS: [&str; 20] = [
    "'a'",
    "'A'",
    "'b'",
    "'a '",
    "'B'",
    "'x'",
    "'x'",
    "'X'",
    "'1'",
    "'1.0'",
    "'01'",
    "''",
    "'ab'",
    "'Ab%'",
    "'5'",
    "'2020-01-01'",
    "'2020-1-1'",
    "'é'",
    "'abcd'",
    "'Al'",
];
const BLOBS: [&str; 3] = ["x'61'", "x'31'", "x''"];

/// A constant as SQL text, of any class.
pub fn any_value(dice: &mut Dice) -> &'static str {
    if dice.chance(25) {
        return dice.pick_any(&conversions::literals()).copied().unwrap_or("NULL");
    }
    match dice.below(10) {
        0 => "NULL",
        1..=4 => dice.word(&INTEGERS),
        5 | 6 => dice.word(&REALS),
        7..=8 => dice.word(&TEXTS),
        _ if dice.chance(30) => dice.word(&BLOBS),
        _ => dice.word(&TEXTS),
    }
}

/// A constant that suits a column of that affinity, mostly.
pub(crate) fn value_for(affinity: Affinity, dice: &mut Dice) -> &'static str {
    if dice.chance(16) {
        return "NULL";
    }
    let small = if dice.chance(70) { 9 } else { INTEGERS.len() };
    let texts = if dice.chance(60) { &TEXTS[..8] } else { &TEXTS[..] };
    let numbers = if dice.chance(50) { &REALS[..] } else { &INTEGERS[..small] };
    match (affinity, dice.chance(80)) {
        (Affinity::Text, true) => dice.word(texts),
        (Affinity::Integer | Affinity::Numeric, true) => dice.word(&INTEGERS[..small]),
        (Affinity::Real, true) => dice.word(numbers),
        _ => any_value(dice),
    }
}

/// Fills the tables of an empty database with rows that satisfy its constraints, foreign keys too if they are to hold.
///
/// # Errors
/// When SQLite cannot read its own catalog.
pub fn fill(
    connection: &Connection,
    schema: &Schema,
    rows: usize,
    keys_hold: bool,
    dice: &mut Dice,
) -> rusqlite::Result<()> {
    let mut tables: Vec<&Table> = schema.tables().iter().collect();
    tables.sort_by_key(|table| table.foreign_keys.len());
    for table in tables {
        if table.kind == TableKind::Virtual {
            continue;
        }
        let stored = stored_name(connection, table)?;
        let Some(stored) = stored else { continue };
        let count = if dice.chance(8) { 0 } else { 1 + dice.below(rows) };
        for _ in 0..count {
            insert(connection, schema, table, &stored, dice);
        }
    }
    if keys_hold {
        let mut left = 6;
        while left > 0 && remove_orphans(connection, schema) > 0 {
            left -= 1;
        }
    }
    Ok(())
}

/// The table itself, or the table behind a view of ours.
fn stored_name(connection: &Connection, table: &Table) -> rusqlite::Result<Option<String>> {
    let mut exists =
        connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
    for name in [table.name.clone(), format!("{}_stored", table.name)] {
        if exists.exists([&name])? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn insert(connection: &Connection, schema: &Schema, table: &Table, stored: &str, dice: &mut Dice) {
    let mut names = Vec::new();
    let mut values = Vec::new();
    let mut keys = schema.tables().iter().flat_map(|table| &table.foreign_keys);
    let is_referred_to = keys.any(|key| key.referenced_table.eq_ignore_ascii_case(&table.name));
    for (index, column) in (0..).zip(&table.columns) {
        if column.generated {
            continue;
        }
        let parent = table.foreign_keys.iter().find(|key| key.columns.contains(&index));
        let referred = parent.and_then(|key| {
            let (parent, columns) = schema.resolve_foreign_key(key)?;
            let place = key.columns.iter().position(|column| *column == index)?;
            let parent = schema.table(parent)?;
            let target = parent.column(columns[place])?;
            Some(format!("SELECT {} FROM {}", quoted(&target.name), quoted(&parent.name)))
        });
        names.push(quoted(&column.name));
        values.push(match referred {
            Some(query) if dice.chance(85) => spelt(one_of(connection, &query, dice), dice),
            _ if is_referred_to && dice.chance(40) => key_value(dice).to_owned(),
            _ => value_for(column.affinity, dice).to_owned(),
        });
    }
    let sql = format!(
        "INSERT OR IGNORE INTO {} ({}) VALUES ({})",
        quoted(stored),
        names.join(", "),
        values.join(", ")
    );
    // A row that breaks a constraint, or does not fit into a STRICT table, is not there: that is all.
    let _ = connection.execute(&sql, []);
}

/// One of the values that a query returns, chosen by the dice.
fn one_of(connection: &Connection, query: &str, dice: &mut Dice) -> String {
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare(query)?;
        let rows = statement.query_map([], |row| row.get::<_, rusqlite::types::Value>(0))?;
        rows.map(|value| value.map(|value| literal(&value))).collect()
    };
    let values = read().unwrap_or_default();
    dice.pick_any(&values).cloned().unwrap_or_else(|| "NULL".to_owned())
}

/// A value that a reference may have in another form.
fn key_value(dice: &mut Dice) -> &'static str {
    dice.pick_any(&conversions::key_literals()).copied().unwrap_or("NULL")
}

/// The value, or now and then another that some mechanism of SQLite takes for it: the number of a text, or its text.
fn spelt(literal: String, dice: &mut Dice) -> String {
    if !dice.chance(30) {
        return literal;
    }
    if let Some(other) = conversions::counterpart(&literal).filter(|_| dice.chance(50)) {
        return other.to_owned();
    }
    let inside = literal.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    match inside {
        Some(text) if text.parse::<i64>().is_ok() || text.parse::<f64>().is_ok_and(f64::is_finite) => {
            text.to_owned()
        }
        Some(text) => format!("'{}'", text.to_ascii_uppercase()),
        None if literal.parse::<f64>().is_ok_and(f64::is_finite) => format!("'{literal}'"),
        None => literal,
    }
}

/// A value as SQL text.
pub fn literal(value: &rusqlite::types::Value) -> String {
    use rusqlite::types::Value;
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(n) => n.to_string(),
        Value::Real(x) if x.is_infinite() => if *x > 0.0 { "9e999" } else { "-9e999" }.to_owned(),
        Value::Real(x) => format!("{x:?}"),
        Value::Text(text) => sqlgauge_sql::quote::text(text),
        Value::Blob(bytes) => {
            let mut out = "x'".to_owned();
            for byte in bytes {
                let _ = write!(out, "{byte:02x}");
            }
            out + "'"
        }
    }
}

/// Deletes the rows of a table that SQLite's own check finds; `None` where it cannot check, or names no rows.
fn remove_found(connection: &Connection, table: &str) -> Option<usize> {
    let broken =
        format!("SELECT \"rowid\" FROM pragma_foreign_key_check({})", sqlgauge_sql::quote::text(table));
    let mut statement = connection.prepare(&broken).ok()?;
    let rows = statement.query_map([], |row| row.get::<_, Option<i64>>(0)).ok()?;
    let rows: Vec<i64> = rows.collect::<rusqlite::Result<Option<Vec<i64>>>>().ok()??;
    let delete =
        |row: i64| connection.execute(&format!("DELETE FROM {} WHERE rowid = {row}", quoted(table)), []).ok();
    rows.into_iter().map(delete).sum()
}

/// Deletes rows that refer to nothing, as SQLite compares keys: by the parent's affinity and collation.
pub(crate) fn remove_orphans(connection: &Connection, schema: &Schema) -> usize {
    let mut removed = 0;
    for table in schema.tables() {
        for key in &table.foreign_keys {
            let Some((parent, targets)) = schema.resolve_foreign_key(key) else { continue };
            let Some(parent) = schema.table(parent) else { continue };
            let Ok(Some(stored)) = stored_name(connection, table) else { continue };
            if let Some(count) = remove_found(connection, &stored) {
                removed += count;
                continue;
            }
            let child_name = |index: &u32| table.column(*index).map(|c| quoted(&c.name)).unwrap_or_default();
            let name = quoted(&stored);
            let present: Vec<String> =
                key.columns.iter().map(|c| format!("{name}.{} IS NOT NULL", child_name(c))).collect();
            let equal: Vec<String> = key
                .columns
                .iter()
                .zip(&targets)
                .map(|(child, target)| {
                    let target = parent.column(*target).map(|c| quoted(&c.name)).unwrap_or_default();
                    format!("p.{target} = +{name}.{}", child_name(child))
                })
                .collect();
            let sql = format!(
                "DELETE FROM {name} WHERE {} AND NOT EXISTS (SELECT 1 FROM {} p WHERE {})",
                present.join(" AND "),
                quoted(&parent.name),
                equal.join(" AND ")
            );
            removed += connection.execute(&sql, []).unwrap_or(0);
        }
    }
    removed
}
