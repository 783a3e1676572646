//! Which constraints of the schema a match rests on.
//!
//! A match holds for every database that keeps the constraints that its rules used. They are found from the outside:
//! constraints are taken out of the schema, one by one, as long as the queries still match. What is left is enough
//! for the proof, and nothing in it can be spared.

use std::collections::BTreeSet;
use std::fmt;

use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Schema, Table, TableKind};
use sqlgauge_sql::tree::{Relation, RelationSource};
use sqlgauge_sql::visit::{Visitor, walk_query};

/// A constraint that a match rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumption {
    /// What it forbids.
    pub kind: AssumptionKind,
    /// The constraint in words: `u(t_id) REFERENCES t(id)`, `t.name`, `t(code)`.
    pub constraint: String,
    table: usize,
    place: usize,
}

/// What a constraint forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssumptionKind {
    /// A value that refers to nothing. SQLite enforces it only where a connection asks for it.
    ForeignKey,
    /// NULL.
    NotNull,
    /// Two rows that agree in UNIQUE columns.
    Unique,
    /// Two rows that agree in the primary key.
    PrimaryKey,
}

impl AssumptionKind {
    /// SQL's name of the constraint.
    pub fn name(self) -> &'static str {
        match self {
            Self::ForeignKey => "FOREIGN KEY",
            Self::NotNull => "NOT NULL",
            Self::Unique => "UNIQUE",
            Self::PrimaryKey => "PRIMARY KEY",
        }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.constraint)
    }
}

/// The constraints without which the queries do not match. `matches` tells whether they do over a schema.
pub(crate) fn assumptions(
    schema: &Schema,
    texts: [&str; 2],
    matches: &dyn Fn(&Schema) -> bool,
) -> Vec<Assumption> {
    let candidates = candidates(schema, texts);
    if candidates.is_empty() || matches(&without(schema, &candidates)) {
        return Vec::new();
    }
    let mut spared: Vec<Assumption> = Vec::new();
    let mut needed = Vec::new();
    for candidate in candidates {
        spared.push(candidate);
        if !matches(&without(schema, &spared)) {
            needed.extend(spared.pop());
        }
    }
    needed
}

/// The constraints of the tables that the queries read, those that matter least often first.
fn candidates(schema: &Schema, texts: [&str; 2]) -> Vec<Assumption> {
    let mut read = Tables { schema, indices: BTreeSet::new() };
    for query in texts.iter().filter_map(|text| resolve(text, schema).ok()) {
        walk_query(&mut read, &query);
    }
    let mut all: Vec<Assumption> = Vec::new();
    for table in read.indices {
        let definition = &schema.tables()[table];
        if definition.kind == TableKind::Table {
            all.extend(of_table(definition, table));
        }
    }
    all.sort_by_key(|assumption| assumption.kind);
    all
}

fn of_table(definition: &Table, table: usize) -> Vec<Assumption> {
    let make = |kind, constraint, place| Assumption { kind, constraint, table, place };
    let name = &definition.name;
    let keys = definition.foreign_keys.iter().enumerate();
    let mut all: Vec<Assumption> =
        keys.map(|(place, key)| make(AssumptionKind::ForeignKey, key.describe(definition), place)).collect();
    // An alias of the rowid cannot but be there and be unique.
    let alias = definition.rowid_alias();
    all.extend((0..).zip(&definition.columns).enumerate().filter_map(|(place, (at, column))| {
        let stated = column.not_null && alias != Some(at);
        stated.then(|| make(AssumptionKind::NotNull, format!("{name}.{}", column.name), place))
    }));
    let unique = definition.unique.iter().enumerate();
    all.extend(unique.map(|(place, columns)| {
        make(AssumptionKind::Unique, format!("{name}({})", definition.names(columns)), place)
    }));
    if alias.is_none() && !definition.primary_key.is_empty() {
        all.push(make(
            AssumptionKind::PrimaryKey,
            format!("{name}({})", definition.names(&definition.primary_key)),
            0,
        ));
    }
    all
}

struct Tables<'s> {
    schema: &'s Schema,
    indices: BTreeSet<usize>,
}

impl Visitor for Tables<'_> {
    fn relation(&mut self, relation: &Relation) {
        let RelationSource::Table(id) = relation.source else { return };
        if !self.indices.insert(id.index()) {
            return;
        }
        if let Some(view) = self.schema.definition(id).and_then(|definition| definition.view.as_ref()) {
            walk_query(self, view);
        }
    }
}

/// The schema without those constraints; nothing about it resolves otherwise.
fn without(schema: &Schema, spared: &[Assumption]) -> Schema {
    let mut tables = schema.tables().to_vec();
    for (table, definition) in tables.iter_mut().enumerate() {
        let is_spared = |kind: AssumptionKind, place: usize| {
            spared.iter().any(|other| (other.kind, other.table, other.place) == (kind, table, place))
        };
        for (place, column) in definition.columns.iter_mut().enumerate() {
            column.not_null &= !is_spared(AssumptionKind::NotNull, place);
        }
        retain(&mut definition.foreign_keys, |place| !is_spared(AssumptionKind::ForeignKey, place));
        retain(&mut definition.unique, |place| !is_spared(AssumptionKind::Unique, place));
        // The columns stay the key that foreign keys without columns refer to; only that it is unique is forgotten.
        definition.key_is_finer |= is_spared(AssumptionKind::PrimaryKey, 0);
    }
    Schema::new(tables)
}

fn retain<T>(list: &mut Vec<T>, keep: impl Fn(usize) -> bool) {
    let mut place = 0;
    list.retain(|_| {
        place += 1;
        keep(place - 1)
    });
}
