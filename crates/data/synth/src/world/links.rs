//! Lists the joins: declared foreign keys, and keys that the values suggest.
//!
//! # Contract
//! A link is *declared* if a foreign key says so and both ends are there; whether its rows keep it does not matter for a
//! join. A link is *found* if no foreign key leaves the column, its name says that it names a row of the other table, the
//! other column is a key by declaration or in all rows, and every value that is not NULL is there.

use std::collections::{HashMap, HashSet};

use sqlgauge_engine::{Database, Engine};
use sqlgauge_sql::schema::{Schema, Table, TableId};

use super::profile::{ContentKind, TableProfile};

/// How a link is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkEvidence {
    /// By a foreign key.
    Declared,
    Found,
}

/// Columns of one table that name rows of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The table that refers, by its position among those that queries read.
    pub child: usize,
    pub child_columns: Vec<u32>,
    /// The table that is referred to.
    pub parent: usize,
    pub parent_columns: Vec<u32>,
    /// How it is known.
    pub evidence: LinkEvidence,
    /// Whether it is the only one from its child to its parent.
    pub is_only: bool,
}

pub(super) fn find(
    tables: &[TableProfile],
    schema: &Schema,
    database: &Database,
    engine: &dyn Engine,
) -> Vec<Link> {
    let mut links = declared(tables, schema);
    let mut covered: HashSet<(usize, u32)> = HashSet::new();
    for link in &links {
        covered.extend(link.child_columns.iter().map(|column| (link.child, *column)));
    }
    let targets = Targets::of(tables, schema);
    for (child, profile) in tables.iter().enumerate() {
        for (parent, column, target) in targets.of_table(child, profile, schema) {
            if covered.contains(&(child, column)) {
                continue;
            }
            if holds(profile, column, &tables[parent], target, (schema, database, engine)) {
                covered.insert((child, column));
                links.push(Link {
                    child,
                    child_columns: vec![column],
                    parent,
                    parent_columns: vec![target],
                    evidence: LinkEvidence::Found,
                    is_only: false,
                });
            }
        }
    }
    let mut counts: HashMap<(usize, usize), usize> = HashMap::new();
    links.iter().for_each(|link| *counts.entry((link.child, link.parent)).or_default() += 1);
    links.iter_mut().for_each(|link| link.is_only = counts[&(link.child, link.parent)] == 1);
    links
}

/// The keys of all tables by what a column that holds one may be called.
struct Targets(HashMap<String, Vec<(usize, u32)>>);

impl Targets {
    fn of(tables: &[TableProfile], schema: &Schema) -> Self {
        let mut targets: HashMap<String, Vec<(usize, u32)>> = HashMap::new();
        for (parent, profile) in tables.iter().enumerate() {
            let Some(table) = schema.table(profile.id) else { continue };
            for at in (0..).take(profile.columns.len()).filter(|&at| is_key(profile, at, table)) {
                let Some(key) = table.column(at) else { continue };
                let key = folded(&key.name);
                let with_table = format!("{}{key}", folded(&table.name));
                for name in [key, with_table] {
                    targets.entry(name).or_default().push((parent, at));
                }
            }
        }
        Self(targets)
    }

    /// For each other table and each column of one whose name says that it holds a key of that table: the first such key.
    /// In the order of tables and columns.
    fn of_table(&self, child: usize, profile: &TableProfile, schema: &Schema) -> Vec<(usize, u32, u32)> {
        let Some(table) = schema.table(profile.id) else { return Vec::new() };
        let holds_keys = |at: &u32| {
            profile.columns.get(*at as usize).is_some_and(|column| column.kind == ContentKind::Key)
                && !table.is_unique(&[*at])
        };
        let named = (0_u32..).take(profile.columns.len()).filter(holds_keys).flat_map(|column| {
            let name = table.column(column).map(|column| folded(&column.name)).unwrap_or_default();
            let keys = self.0.get(&name).map(Vec::as_slice).unwrap_or_default();
            keys.iter().map(move |(parent, key)| (*parent, column, *key))
        });
        let mut named: Vec<(usize, u32, u32)> = named.filter(|(parent, ..)| *parent != child).collect();
        named.sort_unstable();
        named.dedup_by_key(|(parent, column, _)| (*parent, *column));
        named
    }
}

fn declared(tables: &[TableProfile], schema: &Schema) -> Vec<Link> {
    let positions: HashMap<TableId, usize> = (0..).zip(tables).map(|(at, table)| (table.id, at)).collect();
    let mut links: Vec<Link> = Vec::new();
    for (child, profile) in tables.iter().enumerate() {
        let keys = schema.table(profile.id).map(|table| table.foreign_keys.as_slice()).unwrap_or_default();
        let first = links.len();
        for key in keys {
            let Some((id, parent_columns)) = schema.resolve_foreign_key(key) else { continue };
            let Some(&parent) = positions.get(&id) else { continue };
            let child_columns = key.columns.clone();
            let evidence = LinkEvidence::Declared;
            let link = Link { child, child_columns, parent, parent_columns, evidence, is_only: false };
            if !link.child_columns.is_empty() && !links[first..].contains(&link) {
                links.push(link);
            }
        }
    }
    links
}

fn is_key(profile: &TableProfile, column: u32, table: &Table) -> bool {
    let Some(content) = profile.columns.get(column as usize) else { return false };
    table.is_unique(&[column]) || (content.kind == ContentKind::Key && content.is_distinct)
}

fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether the key has every value of the column.
fn holds(
    profile: &TableProfile,
    column: u32,
    other: &TableProfile,
    target: u32,
    (schema, database, engine): (&Schema, &Database, &dyn Engine),
) -> bool {
    let name = |profile: &TableProfile, at: u32| {
        let table = schema.table(profile.id)?;
        Some((engine.quoted(&table.name), engine.quoted(&table.column(at)?.name)))
    };
    let (Some((child, column)), Some((parent, key))) = (name(profile, column), name(other, target)) else {
        return false;
    };
    let missing = format!(
        "SELECT 1 FROM {child} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT {key} FROM {parent} WHERE {key} IS NOT NULL) LIMIT 1"
    );
    engine.run(database, &missing).rows().is_some_and(|rows| rows.is_empty())
}
