//! The results that SQLite returns for a query on one database in several layouts of the same rows.
//!
//! # What it shows
//! Where the left query, the gold, permits one result alone on a database (no check of [`super::freedom`] finds a choice), a
//! right query that returns another result in any layout permits what the gold does not: it is wrong there, whatever it returns in
//! the others. A layout changes nothing that SQL speaks of: the rows are put in from the first to the last or the other way round,
//! rows without an order are read forwards or backwards, no column has an index, or each has one, or each has one that
//! goes on with the other columns from the last value to the first; and all of it once more with what ANALYZE tells the planner. The gold must return
//! its result in each layout that was looked at; a gold that does not is taken for one that permits several.

use sqlgauge_engine::{ResultSet, Sandbox};
use sqlgauge_sql::quote::name as quoted;

use super::load::Loader;
use super::needs::FilledTables;
use super::pair::{Difference, Pair};
use super::replay::{Replay, fill};
use super::verdict::DifferenceKind;

impl Replay<'_> {
    /// A result of the right query that is not the only result of the left one, and another result of the right query if a
    /// layout shows one. `None` if choices do not count, the left query permits several results, or no layout shows a
    /// difference.
    pub(super) fn sometimes_different(
        &self,
        sandbox: &Sandbox,
        loader: &mut Loader<'_>,
        database: &FilledTables,
    ) -> Option<(Difference, DifferenceKind)> {
        if !self.counts_choices {
            return None;
        }
        let mut tally = Shown::default();
        let plain = Indexes::ALL.map(|indexes| (indexes, false));
        for (indexes, is_analysed) in plain.into_iter().chain(Indexes::ALL.map(|indexes| (indexes, true))) {
            self.create_indexes(sandbox, database, indexes)?;
            for is_reversed in [false, true] {
                fill(loader, database, is_reversed)?;
                if is_analysed {
                    sandbox.create("ANALYZE").ok()?;
                }
                for reads_backwards in [false, true] {
                    sandbox.reverse_unordered(reads_backwards).ok()?;
                    tally.look(&mut self.compiled(sandbox)?)?;
                    if tally.is_complete() {
                        return tally.finished();
                    }
                }
            }
        }
        tally.finished()
    }

    /// Creates them in place of those of the layout before.
    fn create_indexes(&self, sandbox: &Sandbox, database: &FilledTables, indexes: Indexes) -> Option<()> {
        let mut number = 0;
        for (id, columns) in &database.columns {
            let table = self.schema.table(*id)?;
            let names = columns.iter().filter_map(|&at| table.column(at)).map(|column| quoted(&column.name));
            let names: Vec<String> = names.take(MOST_INDEXES).collect();
            for first in &names {
                number += 1;
                let name = index_name(number);
                sandbox.create(&format!("DROP INDEX IF EXISTS {name}")).ok()?;
                let others = names.iter().filter(|name| *name != first);
                let on = match indexes {
                    Indexes::None => continue,
                    Indexes::Single => first.clone(),
                    Indexes::Descending => {
                        others.fold(first.clone(), |on, name| format!("{on}, {name} DESC"))
                    }
                };
                sandbox.create(&format!("CREATE INDEX {name} ON {} ({on})", quoted(&table.name))).ok()?;
            }
        }
        Some(())
    }
}

fn index_name(number: usize) -> String {
    quoted(&format!("sqlgauge layout {number}"))
}

/// Most indexes of a table in one layout.
const MOST_INDEXES: usize = 12;

#[derive(Debug, Clone, Copy)]
enum Indexes {
    None,
    /// On each column.
    Single,
    /// On each column, and behind it on the others in descending order.
    Descending,
}

impl Indexes {
    const ALL: [Self; 3] = [Self::None, Self::Single, Self::Descending];
}

/// What the layouts so far have shown.
#[derive(Default)]
struct Shown {
    gold: Option<ResultSet>,
    /// The first result of the right query that differs from the gold's.
    different: Option<Difference>,
    /// Another result of the right query.
    other: Option<ResultSet>,
    /// The first result of the right query that is the gold's.
    equal: Option<ResultSet>,
}

impl Shown {
    /// Looks at the results in one layout; `None` if the left query does not permit its result alone.
    fn look(&mut self, pair: &mut Pair<'_>) -> Option<()> {
        let [left, right] = pair.results_of_settled()?;
        let gold = self.gold.get_or_insert_with(|| left.clone());
        if pair.difference_of(gold, &left).is_some() {
            return None;
        }
        match (pair.difference_of(gold, &right), &self.different) {
            (None, _) => self.equal = self.equal.take().or(Some(right)),
            (Some(reason), None) => self.different = Some(Difference { left, right, reason }),
            (Some(_), Some(first)) => {
                if self.other.is_none() && pair.difference_of(&first.right, &right).is_some() {
                    self.other = Some(right);
                }
            }
        }
        Some(())
    }

    fn is_complete(&self) -> bool {
        self.different.is_some() && self.equal.is_some()
    }

    fn finished(self) -> Option<(Difference, DifferenceKind)> {
        let kind = self
            .equal
            .or(self.other)
            .map_or(DifferenceKind::PermitsAnother, |other| DifferenceKind::PermitsMore(Box::new(other)));
        Some((self.different?, kind))
    }
}
