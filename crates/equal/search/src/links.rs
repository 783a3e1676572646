//! Foreign keys as queries that say what SQLite's own check says.
//!
//! # Contract
//! The check gives a reference the affinity of the key's column, and compares by that column's collation. A comparison does the
//! same where the reference stands on the right behind a plus sign, which takes its affinity away.

use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{ForeignKey, Schema, Table, TableId};

/// For each foreign key of a table the query that returns a row where it does not hold; `None` for one that refers to
/// a table outside of `tables`. A key that SQLite cannot enforce limits nothing: its
/// table is missing, or its columns are not unique there.
pub(super) fn foreign_key_texts(
    schema: &Schema,
    id: TableId,
    tables: &[TableId],
) -> impl Iterator<Item = Option<String>> {
    let table = schema.table(id);
    table.into_iter().flat_map(move |table| {
        table.foreign_keys.iter().filter_map(move |key| {
            let (target, columns) = schema.enforced_foreign_key(key)?;
            let target = schema.table(target).filter(|_| tables.contains(&target));
            Some(target.map(|target| text(table, key, (target, &columns))))
        })
    })
}

fn text(table: &Table, key: &ForeignKey, (target, columns): (&Table, &[u32])) -> String {
    let name = |of: &Table, at: u32| of.column(at).map(|column| quoted(&column.name));
    let pairs = key.columns.iter().zip(columns).filter_map(|(&child, &parent)| {
        Some((format!("c.{}", name(table, child)?), format!("p.{}", name(target, parent)?)))
    });
    let pairs: Vec<(String, String)> = pairs.collect();
    let not_null: Vec<String> = pairs.iter().map(|(child, _)| format!("{child} IS NOT NULL")).collect();
    let equal: Vec<String> = pairs.iter().map(|(child, parent)| format!("{parent} = +{child}")).collect();
    format!(
        "SELECT 1 FROM {} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS p WHERE {})",
        quoted(&table.name),
        not_null.join(" AND "),
        quoted(&target.name),
        equal.join(" AND ")
    )
}
