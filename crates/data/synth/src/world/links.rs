//! What may be joined: declared foreign keys, and keys that are found.
//!
//! # Contract
//! A link is *declared* if a foreign key says so and both ends are there; whether its rows keep it does not matter for a
//! join. A link is *found* if no foreign key leaves the column, its name says that it names a row of the other table, the
//! other column is a key by declaration or in all rows, and every value that is not NULL is there.

use sqlgauge_engine::{Database, Engine};
use sqlgauge_sql::Dialect;
use sqlgauge_sql::schema::{Schema, Table};

use super::profile::{Kind, TableProfile};

/// How a link is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// By a foreign key.
    Declared,
    /// By names and values.
    Found,
}

/// Columns of one table that name rows of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The table that refers, by its position among those that queries read.
    pub child: usize,
    /// Its columns.
    pub child_columns: Vec<u32>,
    /// The table that is referred to.
    pub parent: usize,
    /// Its columns.
    pub parent_columns: Vec<u32>,
    /// How it is known.
    pub evidence: Evidence,
}

pub(super) fn find(
    tables: &[TableProfile],
    schema: &Schema,
    database: &Database,
    engine: &dyn Engine,
) -> Vec<Link> {
    let mut links = declared(tables, schema);
    let is_covered = |links: &[Link], child: usize, column: u32| {
        links.iter().any(|link| link.child == child && link.child_columns.contains(&column))
    };
    for (child, own) in tables.iter().enumerate() {
        for (parent, other) in tables.iter().enumerate() {
            for column in (0_u32..).take(own.columns.len()) {
                if child == parent || is_covered(&links, child, column) {
                    continue;
                }
                let Some(target) = target(own, column, other, schema) else { continue };
                if holds(own, column, other, target, (schema, database, engine)) {
                    links.push(Link {
                        child,
                        child_columns: vec![column],
                        parent,
                        parent_columns: vec![target],
                        evidence: Evidence::Found,
                    });
                }
            }
        }
    }
    links
}

fn declared(tables: &[TableProfile], schema: &Schema) -> Vec<Link> {
    let position = |id| tables.iter().position(|table| table.id == id);
    let mut links: Vec<Link> = Vec::new();
    for (child, profile) in tables.iter().enumerate() {
        let keys = schema.table(profile.id).map(|table| table.foreign_keys.as_slice()).unwrap_or_default();
        for key in keys {
            let Some((id, parent_columns)) = schema.resolve_foreign_key(key) else { continue };
            let Some(parent) = position(id) else { continue };
            let child_columns = key.columns.clone();
            let link = Link { child, child_columns, parent, parent_columns, evidence: Evidence::Declared };
            if !link.child_columns.is_empty() && !links.contains(&link) {
                links.push(link);
            }
        }
    }
    links
}

/// The key of the other table that the column's name says it holds.
fn target(own: &TableProfile, column: u32, other: &TableProfile, schema: &Schema) -> Option<u32> {
    let (own_table, other_table) = (schema.table(own.id)?, schema.table(other.id)?);
    let profile = own.columns.get(column as usize)?;
    if profile.kind != Kind::Key || own_table.is_unique(&[column]) {
        return None;
    }
    let name = folded(&own_table.column(column)?.name);
    let is_named = |key: &&u32| {
        let Some(target) = other_table.column(**key) else { return false };
        let target = folded(&target.name);
        name == target || name == format!("{}{target}", folded(&other_table.name))
    };
    let keys: Vec<u32> =
        (0..).take(other.columns.len()).filter(|&at| is_key(other, at, other_table)).collect();
    keys.iter().find(is_named).copied()
}

fn is_key(profile: &TableProfile, column: u32, table: &Table) -> bool {
    let Some(own) = profile.columns.get(column as usize) else { return false };
    table.is_unique(&[column]) || (own.kind == Kind::Key && own.is_distinct)
}

fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether every value of the column is there.
fn holds(
    own: &TableProfile,
    column: u32,
    other: &TableProfile,
    target: u32,
    (schema, database, engine): (&Schema, &Database, &dyn Engine),
) -> bool {
    let name = |profile: &TableProfile, at: u32| {
        let table = schema.table(profile.id)?;
        let identifier = |name: &str| Dialect::Sqlite.identifier(name);
        Some((identifier(&table.name), identifier(&table.column(at)?.name)))
    };
    let (Some((child, own)), Some((parent, key))) = (name(own, column), name(other, target)) else {
        return false;
    };
    let missing = format!(
        "SELECT 1 FROM {child} WHERE {own} IS NOT NULL AND {own} NOT IN (SELECT {key} FROM {parent} WHERE {key} IS NOT NULL) LIMIT 1"
    );
    engine.run(database, &missing).rows().is_some_and(|rows| rows.is_empty())
}
