//! Columns whose values are all in a key of another table although no foreign key says so, and pairs of foreign keys that
//! occur once, as in a table of links.

use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Schema, Table};

use super::{Constraints, Source, TableConstraints, repeated};

/// Most pairs of columns that are asked about in a database.
const MAX_CANDIDATES: usize = 256;

/// Most foreign keys of a table of which pairs are looked at.
const MAX_LINKS: usize = 6;

/// A column whose values are all in a key of another table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inclusion {
    pub(super) column: u32,
    /// Place of the other table in the schema.
    pub(super) table: usize,
    pub(super) target: u32,
}

impl Constraints {
    /// The inclusions that all rows keep, each with the place of its table. Candidates are columns with the name of another table's key.
    /// An INTEGER PRIMARY KEY is not one of them: SQLite numbers rows by itself.
    pub(super) fn inclusions(&self, schema: &Schema, source: Source<'_>) -> Vec<(usize, Inclusion)> {
        let keys = self.keys(schema);
        let mut candidates = Vec::new();
        for (from, table) in self.rows().filter_map(|(at, _)| Some((at, schema.tables().get(at)?))) {
            let is_free = |&at: &u32| {
                table.rowid_alias() != Some(at)
                    && !table.foreign_keys.iter().any(|key| key.columns.contains(&at))
            };
            for column in (0..).take(table.columns.len()).filter(is_free) {
                let Some(name) = table.column(column).map(|column| column.name.to_lowercase()) else {
                    continue;
                };
                let of_name = keys.iter().filter(|(key_name, _)| *key_name == name).map(|(_, key)| *key);
                let targets = of_name.filter(|&(to, _)| to != from);
                candidates.extend(targets.map(|(table, target)| (from, Inclusion { column, table, target })));
            }
        }
        let mut inclusions: Vec<(usize, Inclusion)> = Vec::new();
        for (from, inclusion) in candidates.into_iter().take(MAX_CANDIDATES) {
            let is_new = |&(other, earlier): &(usize, Inclusion)| {
                // One key for a column, and never both ways: that would be a circle without a first row.
                let is_same_column = other == from && earlier.column == inclusion.column;
                let is_way_back = other == inclusion.table && earlier.table == from;
                !is_same_column && !is_way_back
            };
            if inclusions.iter().all(is_new) && holds(schema, from, inclusion, source) {
                inclusions.push((from, inclusion));
            }
        }
        inclusions
    }

    /// The columns that repeat no value, by the schema or by the rows, with their names.
    fn keys(&self, schema: &Schema) -> Vec<(String, (usize, u32))> {
        let mut keys = Vec::new();
        for (at, constraints) in self.rows() {
            let Some(table) = schema.tables().get(at) else { continue };
            let declared = std::iter::once(&table.primary_key).chain(&table.unique);
            for key in declared.chain(&constraints.unique) {
                if let [column] = key.as_slice()
                    && let Some(name) = table.column(*column).map(|column| column.name.to_lowercase())
                {
                    keys.push((name, (at, *column)));
                }
            }
        }
        keys
    }
}

/// Whether every value of the column is one of the key.
fn holds(schema: &Schema, from: usize, inclusion: Inclusion, source: Source<'_>) -> bool {
    let named = |table: usize, column: u32| {
        let table = schema.tables().get(table)?;
        Some((quoted(&table.name), quoted(&table.column(column)?.name)))
    };
    let pair = (named(from, inclusion.column), named(inclusion.table, inclusion.target));
    let (Some((table, column)), Some((target_table, target))) = pair else { return false };
    let outside = format!(
        "SELECT 1 FROM {table} WHERE {column} IS NOT NULL AND {column} NOT IN \
         (SELECT {target} FROM {target_table} WHERE {target} IS NOT NULL) LIMIT 1"
    );
    let some = format!("SELECT 1 FROM {table} WHERE {column} IS NULL LIMIT 1");
    source.is_empty(&outside) && source.is_empty(&some)
}

/// The pairs of foreign keys of a table that occur once, where the schema does not say so.
pub(super) fn unique_pairs(
    table: &Table,
    constraints: &TableConstraints,
    source: Source<'_>,
) -> Vec<Vec<u32>> {
    let declared = table.foreign_keys.iter().filter_map(|key| match key.columns.as_slice() {
        [column] => Some(*column),
        _ => None,
    });
    let mut links: Vec<u32> =
        declared.chain(constraints.inclusions.iter().map(|inclusion| inclusion.column)).collect();
    links.sort_unstable();
    links.dedup();
    let is_known = |key: &[u32]| {
        table.is_unique(key)
            || constraints.unique.iter().any(|unique| unique.iter().all(|at| key.contains(at)))
    };
    let links = &links[..links.len().min(MAX_LINKS)];
    let pairs =
        links.iter().enumerate().flat_map(|(at, &a)| links[at + 1..].iter().map(move |&b| vec![a, b]));
    pairs.filter(|pair| !is_known(pair) && source.is_empty(&repeated(table, pair))).collect()
}
