//! The kinds of change, one file each: what they propose for a schema.
//!
//! # Contract
//! A proposal is drawn from a generator that is seeded with the seed, the database and the kind, and from nothing else. It
//! leaves the meaning of the schema: names are free, keys stay with their tables, foreign keys follow. What the golds
//! need is given; a kind that must not touch it does not.

pub(crate) mod add_tables;
pub(crate) mod in_gold;

mod add_columns;
mod invent_tables;
mod merge_columns;
mod merge_tables;
mod remove_columns;
mod remove_tables;
mod rename_columns;
mod rename_tables;
mod split_columns;
mod split_tables;

use std::collections::HashSet;
use std::sync::Arc;

use sqlgauge_base::Random;
use sqlgauge_engine::{Database, Engine, ResultSet};
use sqlgauge_sql::schema::{Collation, Schema, Table, TableKind};

use crate::chain::Chain;
use crate::change::Change;
use crate::kind::ChangeKind;
use sqlgauge_names::{Convention, NamesInUse, Naming, Naturalness, SchemaNames, rename};

/// A database of which a proposal may ask something.
pub(crate) struct Probe<'a> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) database: Arc<Database>,
}

impl Probe<'_> {
    /// The rows of a query of ours, `None` where it fails.
    pub(crate) fn rows(&self, sql: &str) -> Option<Arc<ResultSet>> {
        self.engine.run(&self.database, sql).rows().cloned()
    }
}

/// What a proposal is made of.
pub(crate) struct Context<'a> {
    /// Tables and columns that golds read, as positions.
    pub(crate) needed: &'a Needed,
    /// The tables that matter, if not all do: the changes touch one of them.
    pub(crate) relevant: Option<&'a HashSet<usize>>,
    /// The share of what could be changed that is changed at most.
    pub(crate) intensity: f64,
    /// How readable new names shall be.
    pub(crate) naturalness: Naturalness,
    /// Names in place of the lexicon's.
    pub(crate) names: Option<&'a SchemaNames>,
    /// The database with the schema that the chain begins with.
    pub(crate) probe: &'a Probe<'a>,
}

/// Tables and columns that golds read, by position.
#[derive(Debug, Clone, Default)]
pub(crate) struct Needed {
    pub(crate) tables: HashSet<usize>,
    pub(crate) columns: HashSet<(usize, u32)>,
    /// A rowid or an index by its name, too.
    pub(crate) beyond_views: bool,
}

/// Pushes the changes of a kind onto a chain, which has none.
pub(crate) fn propose(kind: ChangeKind, context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    match kind {
        ChangeKind::RenameColumns => rename_columns::propose(context, chain, random),
        ChangeKind::RenameTables => rename_tables::propose(context, chain, random),
        ChangeKind::RemoveColumns => remove_columns::propose(context, chain, random),
        ChangeKind::RemoveTables => remove_tables::propose(context, chain, random),
        ChangeKind::SplitTables => split_tables::propose(context, chain, random),
        ChangeKind::MergeTables => merge_tables::propose(context, chain, random),
        ChangeKind::AddColumns => add_columns::propose(context, chain, random),
        ChangeKind::InventTables => invent_tables::propose(context, chain, random),
        ChangeKind::SplitColumns => split_columns::propose(context, chain, random),
        ChangeKind::MergeColumns => merge_columns::propose(context, chain, random),
        ChangeKind::AddTables | ChangeKind::RemoveColumnsInGold | ChangeKind::RemoveTablesInGold => {}
    }
}

impl Context<'_> {
    /// How many of so many are changed: at least one, at most the share that the intensity gives.
    fn count(&self, of: usize, random: &mut Random) -> usize {
        if of == 0 {
            return 0;
        }
        1 + random.below(self.most(of))
    }

    /// The share of so many that is changed at most: one, if there is one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count of columns"
    )]
    fn most(&self, of: usize) -> usize {
        ((of as f64 * self.intensity).ceil() as usize).clamp(of.min(1), of)
    }

    /// Some of the items, in their order: as many as [`Context::count`] says.
    fn some<T>(&self, items: Vec<T>, random: &mut Random) -> Vec<T> {
        let count = self.count(items.len(), random);
        let chosen = random.distinct(count, items.len());
        items.into_iter().enumerate().filter(|(at, _)| chosen.contains(at)).map(|(_, item)| item).collect()
    }

    /// The tables that matter and can be changed.
    fn tables<'s>(&self, schema: &'s Schema) -> impl Iterator<Item = (usize, &'s Table)> {
        tables(schema).filter(|(at, _)| self.relevant.is_none_or(|relevant| relevant.contains(at)))
    }

    /// Of changes with whether golds read what they change, pushes the share that the intensity gives: those that golds read
    /// before the others, else at random.
    fn push_needed_first(&self, mut changes: Vec<(bool, Change)>, chain: &mut Chain, random: &mut Random) {
        random.shuffle(&mut changes);
        changes.sort_by_key(|(is_needed, _)| !is_needed);
        let count = self.most(changes.len());
        for (_, change) in changes.into_iter().take(count) {
            // A change that does not fit is left out.
            let _ = chain.push(change);
        }
    }

    /// A new name for a table, or a column of the table `owner`.
    fn name(
        &self,
        (identifier, owner): (&str, Option<&str>),
        schema: &Schema,
        in_use: &NamesInUse,
        random: &mut Random,
    ) -> Option<String> {
        if let Some(names) = self.names {
            return names.choose((identifier, owner), in_use, random);
        }
        let convention = Convention::of(all_names(schema));
        let naming = Naming { identifier, owner, convention, naturalness: self.naturalness };
        rename(&naming, in_use, random)
    }
}

fn all_names(schema: &Schema) -> impl Iterator<Item = &str> {
    schema.tables().iter().flat_map(names_of)
}

fn names_of(table: &Table) -> impl Iterator<Item = &str> {
    std::iter::once(table.name.as_str()).chain(table.columns.iter().map(|column| column.name.as_str()))
}

/// All names of the schema: a new one equals none of them.
fn names_in_use(schema: &Schema) -> NamesInUse {
    NamesInUse::new(all_names(schema))
}

/// Whether a column is no part of a key, refers to nothing, is referred to by nothing, is not computed, and compares by
/// `BINARY`, so that what takes its place compares alike.
fn is_apart(schema: &Schema, table: &Table, place: u32) -> bool {
    let Some(column) = table.column(place) else { return false };
    let refers = table.foreign_keys.iter().any(|key| key.columns.contains(&place));
    let is_referred_to = schema.tables().iter().flat_map(|other| &other.foreign_keys).any(|key| {
        key.referenced_table.eq_ignore_ascii_case(&table.name)
            && key.referenced_columns.iter().any(|name| name.eq_ignore_ascii_case(&column.name))
    });
    let is_key = table.primary_key.contains(&place) || table.unique.iter().any(|key| key.contains(&place));
    !(refers || is_referred_to || is_key || column.generated || column.hidden)
        && column.collation == Collation::Binary
}

/// The tables that can be changed.
fn tables(schema: &Schema) -> impl Iterator<Item = (usize, &Table)> {
    schema.tables().iter().enumerate().filter(|(_, table)| table.kind == TableKind::Table)
}

/// Words put together as the name of a table.
fn compound(first: &str, second: &str) -> String {
    let upper = |text: &str| text.chars().next().is_some_and(char::is_uppercase);
    if first.contains(' ') || second.contains(' ') {
        format!("{first} {second}")
    } else if upper(first) && !first.contains('_') {
        let mut letters = second.chars();
        let start: String = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        format!("{first}{start}{}", letters.as_str())
    } else {
        format!("{first}_{second}")
    }
}
