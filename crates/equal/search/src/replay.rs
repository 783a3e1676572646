//! Replays a database on a fresh SQLite: the only way to a [`Refutation`].

use sqlgauge_engine::compare::GoldOrder;
use sqlgauge_engine::{QueryBudget, Sandbox, Value};
use sqlgauge_sql::schema::{Schema, TableId};

use super::contract::Contract;
use super::ddl::{create_definitions, create_table};
use super::links::foreign_key_texts;
use super::load::{Loader, read};
use super::needs::{FilledTables, needs};
use super::pair::{Difference, Pair, PairOutcome, Resolved, SortKeys};
use super::verdict::{DifferenceKind, Refutation};

/// Everything that a replay needs besides the database.
pub(super) struct Replay<'a> {
    pub(super) schema: &'a Schema,
    pub(super) tables: &'a [TableId],
    /// The views that the queries read.
    pub(super) views: &'a [TableId],
    pub(super) pair: (&'a Resolved, &'a Resolved),
    pub(super) contract: Contract,
    pub(super) budget: QueryBudget,
    /// Whether a right query that permits a result besides the left one's only result counts as different.
    pub(super) counts_choices: bool,
}

impl Replay<'_> {
    /// Builds the database anew, checks that it satisfies the schema, and runs both queries: on the rows as they are, with
    /// the order of unordered rows reversed, and on rows that were put in from the last to the first. `None` if any of it
    /// fails or the results do not differ each time.
    ///
    /// Where choices count, and the left query permits one result alone, it is enough that the right one returns another in one of
    /// these layouts (see [`super::layouts`]).
    pub(super) fn run(&self, database: &FilledTables) -> Option<Refutation> {
        let sandbox = Sandbox::new(self.budget).ok()?;
        for &id in self.tables {
            sandbox.create(&create_table(self.schema, self.schema.table(id)?)).ok()?;
        }
        for definition in create_definitions(self.schema, self.tables, self.views) {
            sandbox.create(&definition).ok()?;
        }
        sandbox.begin_transaction().ok()?;
        let mut loader = Loader::new(&sandbox, self.schema, &database.columns).ok()?;
        fill(&mut loader, database, false)?;
        let witness = read(&sandbox, self.schema, (self.tables, self.views)).ok()?;
        if !self.is_sound(&sandbox) {
            return None;
        }
        let (difference, kind) = match self.always_different(&sandbox, &mut loader, database) {
            Some(difference) if !self.is_free_in_order(&sandbox, &difference) => {
                (difference, DifferenceKind::PermitsNone)
            }
            _ => self.sometimes_different(&sandbox, &mut loader, database)?,
        };
        let uses_clock = self.pair.0.uses_clock() || self.pair.1.uses_clock();
        let needs = needs(self.schema, database, &difference.left, &difference.right);
        let results = (difference.left, difference.right);
        Some(Refutation::new(witness, results, difference.reason, needs, uses_clock).of_kind(kind))
    }

    /// A difference that shows in every layout, and for which no choice can be the reason.
    fn always_different(
        &self,
        sandbox: &Sandbox,
        loader: &mut Loader<'_>,
        database: &FilledTables,
    ) -> Option<Difference> {
        sandbox.reverse_unordered(true).ok()?;
        let reversed = difference(&mut self.compiled(sandbox)?);
        sandbox.reverse_unordered(false).ok()?;
        reversed?;
        let mut pair = self.compiled(sandbox)?;
        let first = difference(&mut pair)?;
        if database.rows.iter().any(|rows| rows.len() > 1) {
            fill(loader, database, true)?;
            difference(&mut pair)?;
        }
        Some(first)
    }

    /// Whether choices count, the results differ in the order of rows alone, and the right query permits the left one's order too.
    fn is_free_in_order<'s>(&self, sandbox: &'s Sandbox, difference: &Difference) -> bool {
        let unordered = &GoldOrder::Unordered;
        let (left, right) = (&difference.left, &difference.right);
        if !self.counts_choices || self.contract.difference((left, unordered), (right, unordered)).is_some() {
            return false;
        }
        let permits = |mut keys: SortKeys<'s>| {
            let order = keys.order(sandbox);
            order.is_ok_and(|order| self.contract.difference((right, &order), (left, unordered)).is_none())
        };
        SortKeys::new(self.pair.1, self.schema, true).is_ok_and(|keys| keys.is_none_or(permits))
    }

    /// Both queries, compiled for the order of unordered rows that the sandbox has now.
    pub(super) fn compiled<'s>(&'s self, sandbox: &'s Sandbox) -> Option<Pair<'s>> {
        Pair::new(sandbox, self.schema, self.pair, self.contract).ok()
    }

    /// Whether SQLite finds the database sound and every foreign key holds.
    fn is_sound(&self, sandbox: &Sandbox) -> bool {
        let says =
            |sql: &str, expected: &[Value]| sandbox.rows_own(sql).is_ok_and(|rows| rows.values() == expected);
        let mut texts = self.tables.iter().flat_map(|&id| foreign_key_texts(self.schema, id, self.tables));
        says("PRAGMA integrity_check", &[Value::text("ok")])
            && says("PRAGMA foreign_key_check", &[])
            && texts.all(|text| text.is_some_and(|text| says(&text, &[])))
    }
}

fn difference(pair: &mut Pair<'_>) -> Option<Difference> {
    match pair.judge() {
        PairOutcome::Different(difference) => Some(*difference),
        PairOutcome::PermitsMore(_) | PairOutcome::Same | PairOutcome::Undecided | PairOutcome::Failed => {
            None
        }
    }
}

pub(super) fn fill(loader: &mut Loader<'_>, database: &FilledTables, reversed: bool) -> Option<()> {
    for (at, rows) in database.rows.iter().enumerate() {
        let is_filled = if reversed { loader.load(at, rows.iter().rev()) } else { loader.load(at, rows) };
        if !is_filled {
            return None;
        }
    }
    Some(())
}
