//! Witnesses of one question tried against other predictions for it (SpotIt+: "Cross-Framework Counterexample Reuse").
//!
//! All databases are loaded into one sandbox in which the two queries are compiled once; only the one that tells them apart is
//! replayed on a fresh SQLite.

use super::Search;
use super::load::Loader;
use super::needs::FilledTables;
use super::pair::PairOutcome;
use super::verdict::Refutation;
use super::witness::Witness;

impl Search {
    /// The first of the databases on which the queries return different results, by its place, and the refutation that
    /// its replay made. A table that a database lacks is empty.
    pub fn refute_with<'w>(
        &self,
        databases: impl IntoIterator<Item = &'w Witness>,
        left: &str,
        right: &str,
    ) -> Option<(usize, Refutation)> {
        self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            self.create(&prepared).ok()?;
            let columns = prepared.tables.iter().map(|&id| {
                let table = self.schema.table(id)?;
                Some((id, table.stored_columns()))
            });
            let columns: Vec<_> = columns.collect::<Option<_>>()?;
            let mut loader = Loader::new(&self.sandbox, &self.schema, &columns).ok()?;
            let mut pair = prepared.pair(self).ok()?;
            databases.into_iter().enumerate().find_map(|(place, database)| {
                let filled = FilledTables::of(database, &self.schema, &prepared.tables)?;
                let is_loaded = filled.rows.iter().enumerate().all(|(at, rows)| loader.load(at, rows));
                let Some(PairOutcome::Different(_)) = is_loaded.then(|| pair.judge()) else { return None };
                Some((place, prepared.replay(self).run(&filled)?))
            })
        })
    }
}
