//! The search of one pair: one database after another, plain ones first.

use sqlgauge_base::Random;
use sqlgauge_engine::Value;
use sqlgauge_sql::schema::TableId;

use super::generate::{Kind, Rows, generate};
use super::load::Loader;
use super::minimise::Minimiser;
use super::needs::{FilledTables, needs};
use super::pair::{Difference, Pair, PairOutcome};
use super::plan::{Allowed, Plan, plan};
use super::replay::Replay;
use super::trace::trace;
use super::verdict::{DifferenceKind, Inapplicable, Refutation, SearchVerdict, Survived};
use super::{Prepared, Search};

/// Of so many databases the last one is odd: NULL in keys, values that are not of their column's type.
const ODD_SHARE: usize = 4;

/// Most databases that are replayed for a right query that permits more than the left one's only result.
const MAX_REPLAYS: usize = 24;

/// The search of one pair.
pub(super) struct Hunt<'h, 's> {
    search: &'s Search,
    prepared: &'h Prepared,
    plan: Plan,
    loader: Loader<'s>,
    pair: Pair<'s>,
    minimise: bool,
    /// The counterexample with the fewest needs so far.
    best: Option<Refutation>,
    /// One on which the right query permits more than the left one's only result.
    freer: Option<Refutation>,
    /// How often such a one may still be replayed.
    replays_left: usize,
    survived: Survived,
}

impl<'h, 's> Hunt<'h, 's> {
    /// The verdict on a pair.
    pub(super) fn over(
        search: &'s Search,
        prepared: &'h Prepared,
        databases: usize,
        minimise: bool,
    ) -> Result<SearchVerdict, Inapplicable> {
        search.create(prepared)?;
        let traces = [
            trace(&prepared.left.query),
            trace(&prepared.right.query),
            search.trace_checks(&prepared.tables),
        ];
        let mut plan = plan(&search.schema, &prepared.tables, &traces, Allowed::by(&search.options));
        if let Some(constraints) = &search.constraints {
            constraints.limit(&mut plan);
        }
        let loader = Loader::new(&search.sandbox, &search.schema, &plan.columns())
            .map_err(|error| Inapplicable::unsupported("schema", error.to_string()))?;
        let pair = prepared.pair(search)?;
        let survived = Survived::default();
        let mut hunt = Hunt {
            search,
            prepared,
            plan,
            loader,
            pair,
            minimise,
            best: None,
            freer: None,
            replays_left: if search.options.counts_choices { MAX_REPLAYS } else { 0 },
            survived,
        };
        hunt.run(databases)
    }

    fn run(&mut self, databases: usize) -> Result<SearchVerdict, Inapplicable> {
        // What the rows of a real database keep, is kept by plain ones alone.
        let odd = if self.search.constraints.is_some() { 0 } else { databases / ODD_SHARE };
        let plain = databases - odd;
        let [seed, left, right] = self.prepared.seed;
        for number in 0..databases {
            if self.spent().is_some() {
                break;
            }
            let mut random = Random::new([seed, left, right, number as u64]);
            let kind = if number < plain { Kind::Plain } else { Kind::Odd };
            let rows = generate(&self.plan, number, kind, &mut random);
            let Some(rows) = fill(&self.plan, &mut self.loader, rows) else {
                self.survived.failed += 1;
                continue;
            };
            if self.lacks_rows(&rows) {
                continue;
            }
            match self.pair.judge() {
                PairOutcome::Same => {
                    self.survived.databases += 1;
                    self.look_for_luck(&rows, number + 1);
                }
                PairOutcome::PermitsMore(difference) => {
                    self.count_undecided();
                    self.keep_freer(&rows, &difference, number + 1);
                }
                PairOutcome::Undecided => self.count_undecided(),
                PairOutcome::Failed => self.survived.failed += 1,
                PairOutcome::Different(difference) => self.keep_better(&rows, &difference, number + 1),
            }
            if self.best.as_ref().is_some_and(|best| best.needs().is_empty()) {
                break;
            }
        }
        match self.best.take().or(self.freer.take()) {
            Some(best) => Ok(SearchVerdict::Refuted(Box::new(best))),
            None => match self.spent() {
                Some(message) => Err(Inapplicable::too_complex(message)),
                None => Ok(SearchVerdict::Survived(std::mem::take(&mut self.survived))),
            },
        }
    }

    fn count_undecided(&mut self) {
        self.survived.undecided += 1;
        if self.survived.open.is_empty() {
            self.survived.open = self.pair.open_places();
        }
    }

    /// Whether another replay may bring a counterexample on which the right query permits more, or a better one.
    fn wants_freer(&self) -> bool {
        let is_shown = |refutation: &Refutation| {
            matches!(refutation.kind(), DifferenceKind::PermitsMore(_)) && refutation.needs().is_empty()
        };
        self.replays_left > 0 && self.best.is_none() && !self.freer.as_ref().is_some_and(is_shown)
    }

    /// Keeps a database on which the right query permits more than the left one's only result.
    fn keep_freer(&mut self, rows: &Rows, difference: &Difference, databases: usize) {
        if !self.wants_freer() {
            return;
        }
        self.replays_left -= 1;
        let filled = self.plan.filled(rows);
        let replay = self.prepared.replay(self.search);
        let refutation = if self.minimise {
            let accepted = self.minimised(filled, difference, true);
            accepted.iter().rev().find_map(|filled| replay.run(filled))
        } else {
            replay.run(&filled)
        };
        let refutation = refutation.filter(|refutation| self.is_declared(refutation));
        self.freer = self.freer.take().or(refutation.map(|refutation| refutation.after(databases)));
    }

    /// Whether a counterexample holds what its columns declare, where they are to; one that does not is kept apart.
    fn is_declared(&mut self, refutation: &Refutation) -> bool {
        let is_declared = self.search.is_declared(refutation);
        if !is_declared && self.survived.undeclared.is_none() {
            self.survived.undeclared = Some(Box::new(refutation.clone()));
        }
        is_declared
    }

    /// On a database on which the results are equal, whether they are so by a choice of SQLite's for the right query.
    fn look_for_luck(&mut self, rows: &Rows, databases: usize) {
        // Databases on which they differ show more, so half of the replays are kept for them.
        let may_replay = self.replays_left > MAX_REPLAYS / 2 && self.freer.is_none() && self.wants_freer();
        if !may_replay || !self.pair.is_right_free_alone() {
            return;
        }
        self.replays_left -= 1;
        let filled = self.plan.filled(rows);
        let replay = self.prepared.replay(self.search);
        // What the rows of a real database keep, fewer rows may not.
        let minimises = self.minimise && self.search.constraints.is_none();
        let refutation = replay.run(&filled);
        let refutation = refutation
            .map(|refutation| if minimises { without_rows(&replay, filled, refutation) } else { refutation });
        let refutation = refutation.filter(|refutation| self.is_declared(refutation));
        self.freer = refutation.map(|refutation| refutation.after(databases));
    }

    /// Whether a table is empty that has rows in the database whose constraints are kept.
    fn lacks_rows(&self, rows: &Rows) -> bool {
        let Some(constraints) = &self.search.constraints else { return false };
        let mut tables = self.plan.tables.iter().zip(&rows.tables);
        tables.any(|(table, rows)| rows.is_empty() && constraints.has_rows(table.id))
    }

    /// What has taken all that it may.
    fn spent(&self) -> Option<&'static str> {
        let sandbox = &self.search.sandbox;
        if sandbox.left_in_total() == 0 {
            Some("the queries take more virtual-machine steps than a search may")
        } else if sandbox.own_left_in_total() == 0 {
            Some("the CHECKs of the tables take more virtual-machine steps than a search may")
        } else {
            self.search.is_late().then_some("the search takes longer than the pair may")
        }
    }

    /// Replays a counterexample if it may have fewer needs than the best so far.
    fn keep_better(&mut self, rows: &Rows, difference: &Difference, databases: usize) {
        let filled = self.plan.filled(rows);
        let needs = needs(&self.search.schema, &filled, &difference.left, &difference.right);
        let fewest = self.best.as_ref().map(|best| best.needs().len());
        let is_better = |needs: usize| fewest.is_none_or(|fewest| needs < fewest);
        let is_known = !needs.is_empty() && self.survived.undeclared.is_some() && {
            let declared = self.search.declared.borrow();
            !declared.allow(&self.search.schema, &filled)
        };
        if is_known || !is_better(needs.len()) {
            return;
        }
        let replay = self.prepared.replay(self.search);
        let refutation = if self.minimise {
            let accepted = self.minimised(filled, difference, false);
            accepted.iter().rev().find_map(|filled| replay.run(filled))
        } else {
            replay.run(&filled)
        };
        match refutation {
            Some(refutation) if !self.is_declared(&refutation) => {}
            Some(refutation) if is_better(refutation.needs().len()) => {
                self.best = Some(refutation.after(databases));
            }
            Some(_) => {}
            None => self.survived.undecided += 1,
        }
    }

    /// Ever smaller databases on which the queries differ.
    fn minimised(
        &mut self,
        filled: FilledTables,
        difference: &Difference,
        counts_choices: bool,
    ) -> Vec<FilledTables> {
        let on = (&self.search.sandbox, &*self.search.schema);
        Minimiser::new(on, &mut self.loader, &mut self.pair, filled, difference)
            .map(|minimiser| minimiser.counting_choices(counts_choices))
            .map(|minimiser| match self.search.constraints {
                // A plainer value may not keep them.
                Some(_) => minimiser.keeping_values().keeping_tables(true).run(),
                None => minimiser.run(),
            })
            .unwrap_or_default()
    }
}

/// The refutation without the rows that a replay shows to be unneeded.
fn without_rows(replay: &Replay<'_>, mut filled: FilledTables, mut refutation: Refutation) -> Refutation {
    for table in (0..filled.rows.len()).rev() {
        for row in (0..filled.rows[table].len()).rev() {
            let mut candidate = filled.clone();
            candidate.rows[table].remove(row);
            if let Some(smaller) =
                replay.run(&candidate).filter(|smaller| smaller.needs().len() <= refutation.needs().len())
            {
                (filled, refutation) = (candidate, smaller);
            }
        }
    }
    refutation
}

impl Plan {
    /// The tables with the columns that get values.
    pub(super) fn columns(&self) -> Vec<(TableId, Vec<u32>)> {
        let columns =
            |table: &super::plan::TablePlan| table.columns.iter().map(|column| column.index).collect();
        self.tables.iter().map(|table| (table.id, columns(table))).collect()
    }

    fn filled(&self, rows: &Rows) -> FilledTables {
        let tables = self.tables.iter().zip(&rows.tables);
        let rows = tables.map(|(table, rows)| {
            let values = |row: &Vec<u32>| -> Vec<Value> {
                table.columns.iter().zip(row).map(|(column, &cell)| column.value(cell).clone()).collect()
            };
            rows.iter().map(values).collect()
        });
        FilledTables { rows: rows.collect(), columns: self.columns() }
    }
}

/// Loads the rows; one that SQLite refuses (a CHECK, most often) is taken out with those that refer to it. The rows
/// that are left, `None` if a table cannot be emptied.
pub(super) fn fill(plan: &Plan, loader: &mut Loader<'_>, mut rows: Rows) -> Option<Rows> {
    'again: loop {
        for (at, table) in plan.tables.iter().enumerate() {
            if !loader.empty(at) {
                return None;
            }
            let mut count = 0;
            while let Some(row) = rows.tables[at].get(count) {
                let values = table.columns.iter().zip(row).map(|(column, &cell)| column.value(cell));
                if loader.add(at, values) {
                    count += 1;
                    continue;
                }
                let before = rows.count();
                rows.remove(plan, at, count);
                if rows.count() + 1 < before {
                    // Rows that are loaded already may be among those that went with it.
                    continue 'again;
                }
            }
        }
        return Some(rows);
    }
}
