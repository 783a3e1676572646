//! Makes a counterexample smaller: fewer rows, then plainer values, as long as the results differ and the schema is
//! satisfied.
//!
//! All of it happens in the sandbox at hand, on queries that are compiled once. What it accepts is a candidate like any other:
//! a [`Replay`](super::replay::Replay) has the last word.

use rusqlite::Statement;
use sqlgauge_engine::{Sandbox, Value};
use sqlgauge_sql::schema::{Affinity, Schema, Table, TableId};

use super::links::foreign_key_texts;
use super::load::Loader;
use super::needs::{FilledTables, Need, is_of_type, needs};
use super::pair::{Difference, Pair, PairOutcome};
use super::values::date_part;

/// Most databases that are tried for plainer values. Rows have no such bound: each that goes leaves fewer to try.
const MAX_VALUE_TRIALS: usize = 96;

/// Tables of at least as many rows are halved before single rows are tried.
const HALVED_ROWS: usize = 6;

/// A counterexample that is being made smaller.
pub(super) struct Minimiser<'m, 's> {
    schema: &'m Schema,
    loader: &'m mut Loader<'s>,
    pair: &'m mut Pair<'s>,
    /// Queries that return a row where a foreign key does not hold.
    dangling: Vec<Statement<'s>>,
    sandbox: &'s Sandbox,
    smallest: FilledTables,
    needs: Vec<Need>,
    keeps_values: bool,
    keeps_tables: bool,
    /// Whether a right query that only permits more than the left one counts as different.
    counts_choices: bool,
    /// What the tables hold, where it is known.
    holds: Vec<Option<Vec<Vec<Value>>>>,
}

impl<'m, 's> Minimiser<'m, 's> {
    /// For a database on which the queries differ as `difference` says. `None` if the sandbox lacks its tables.
    pub(super) fn new(
        (sandbox, schema): (&'s Sandbox, &'m Schema),
        loader: &'m mut Loader<'s>,
        pair: &'m mut Pair<'s>,
        start: FilledTables,
        difference: &Difference,
    ) -> Option<Self> {
        let tables: Vec<TableId> = start.columns.iter().map(|(id, _)| *id).collect();
        let texts = tables.iter().flat_map(|&id| foreign_key_texts(schema, id, &tables));
        let dangling = texts.map(|text| sandbox.prepare_own(&text?).ok()).collect::<Option<_>>()?;
        let needs = needs(schema, &start, &difference.left, &difference.right);
        let holds = vec![None; tables.len()];
        Some(Self {
            schema,
            loader,
            pair,
            dangling,
            sandbox,
            smallest: start,
            needs,
            keeps_values: false,
            keeps_tables: false,
            counts_choices: false,
            holds,
        })
    }

    /// Leaves every value as it is, so that the rows stay those of the database that they are from.
    pub(super) fn keeping_values(self) -> Self {
        Self { keeps_values: true, ..self }
    }

    /// Leaves a row in every table that has one.
    pub(super) fn keeping_tables(self, keeps_tables: bool) -> Self {
        Self { keeps_tables, ..self }
    }

    /// Goes on as long as the right query permits a result besides the left one's only result.
    pub(super) fn counting_choices(self, counts_choices: bool) -> Self {
        Self { counts_choices, ..self }
    }

    /// Takes away what is not needed, and returns every database that was accepted on the way, the smallest last.
    pub(super) fn run(mut self) -> Vec<FilledTables> {
        let mut accepted = vec![self.smallest.clone()];
        self.remove_rows(&mut accepted);
        if !self.keeps_values && self.simplify_values(&mut accepted) {
            self.remove_rows(&mut accepted);
        }
        accepted
    }

    /// Whether the queries differ on the candidate, which has no need that the smallest so far has not; if so, it is
    /// the smallest.
    fn accept(&mut self, candidate: FilledTables, accepted: &mut Vec<FilledTables>) -> bool {
        let is_loaded = self.load(&candidate);
        let found = match is_loaded.then(|| self.pair.judge()) {
            Some(PairOutcome::Different(found)) => found,
            Some(PairOutcome::PermitsMore(found)) if self.counts_choices => found,
            _ => return false,
        };
        let needs = needs(self.schema, &candidate, &found.left, &found.right);
        let is_plain = needs.iter().all(|need| self.needs.contains(need));
        if !is_plain || !self.dangling.iter_mut().all(|query| is_empty(self.sandbox, query)) {
            return false;
        }
        self.needs = needs;
        accepted.push(candidate.clone());
        self.smallest = candidate;
        true
    }

    fn load(&mut self, candidate: &FilledTables) -> bool {
        for (at, rows) in candidate.rows.iter().enumerate() {
            if self.holds[at].as_ref() != Some(rows) {
                self.holds[at] = None;
                if !self.loader.load(at, rows) {
                    return false;
                }
                self.holds[at] = Some(rows.clone());
            }
        }
        true
    }

    /// Takes away rows until none can go; tables that others refer to come last.
    fn remove_rows(&mut self, accepted: &mut Vec<FilledTables>) {
        let mut is_smaller = true;
        while is_smaller {
            is_smaller = false;
            for at in (0..self.smallest.rows.len()).rev() {
                is_smaller |= self.remove_rows_of(at, accepted);
            }
        }
    }

    fn remove_rows_of(&mut self, table: usize, accepted: &mut Vec<FilledTables>) -> bool {
        let count = self.smallest.rows[table].len();
        let mut length = if count >= HALVED_ROWS { count.div_ceil(2) } else { 1 };
        loop {
            let mut from = self.smallest.rows[table].len();
            while from > 0 {
                let to = from;
                from = from.saturating_sub(length);
                let mut candidate = self.smallest.clone();
                candidate.rows[table].drain(from..to);
                if !(self.keeps_tables && candidate.rows[table].is_empty()) {
                    self.accept(candidate, accepted);
                }
            }
            if length == 1 {
                return self.smallest.rows[table].len() < count;
            }
            length = length.div_ceil(2);
        }
    }

    /// Puts plainer values in place of those that the difference does not depend on.
    fn simplify_values(&mut self, accepted: &mut Vec<FilledTables>) -> bool {
        let before = accepted.len();
        let mut trials = MAX_VALUE_TRIALS;
        for table in 0..self.smallest.rows.len() {
            for row in 0..self.smallest.rows[table].len() {
                for cell in 0..self.smallest.rows[table][row].len() {
                    for plainer in self.plainer(table, row, cell) {
                        if trials == 0 {
                            return accepted.len() > before;
                        }
                        trials -= 1;
                        let mut candidate = self.smallest.clone();
                        candidate.rows[table][row][cell] = plainer;
                        if self.accept(candidate, accepted) {
                            break;
                        }
                    }
                }
            }
        }
        accepted.len() > before
    }

    /// Values to try in place of one, the plainest first; none for a plain one, and for those of foreign keys, which
    /// cannot be changed alone.
    fn plainer(&self, table: usize, row: usize, cell: usize) -> Vec<Value> {
        let value = &self.smallest.rows[table][row][cell];
        let (id, columns) = &self.smallest.columns[table];
        let (Some(table), Some(&at)) = (self.schema.table(*id), columns.get(cell)) else { return Vec::new() };
        if is_linked(table, at) && !matches!(value, Value::Null) {
            return Vec::new();
        }
        let Some(column) = table.column(at) else { return Vec::new() };
        let is_key = table.primary_key.contains(&at);
        let number = i64::try_from(row + 1).unwrap_or(1);
        let plain = match value {
            Value::Null if !is_key => return Vec::new(),
            Value::Text(_) if value.as_str().is_none_or(|text| date_part(text).is_some()) => {
                return Vec::new();
            }
            Value::Text(_) => vec![Value::text("a"), Value::text(&format!("a{number}"))],
            _ => match column.affinity {
                Affinity::Text => vec![Value::text("a"), Value::text(&format!("a{number}"))],
                Affinity::Real => vec![Value::Real(1.0), Value::Real(number as f64)],
                _ => vec![Value::Integer(1), Value::Integer(number)],
            },
        };
        let plain = plain.into_iter().filter(|plain| is_of_type(plain, column));
        plain.take_while(|plain| plain != value).take(2).collect()
    }
}

/// Whether a column belongs to a foreign key.
fn is_linked(table: &Table, column: u32) -> bool {
    table.foreign_keys.iter().any(|key| key.columns.contains(&column))
}

fn is_empty(sandbox: &Sandbox, query: &mut Statement<'_>) -> bool {
    sandbox.run(query).is_ok_and(|rows| rows.is_empty())
}
