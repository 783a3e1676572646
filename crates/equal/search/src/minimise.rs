//! Makes a counterexample smaller: fewer rows, then plainer values, as long as the results differ and the schema is
//! satisfied.
//!
//! All of it happens in the sandbox at hand, on queries that are compiled once. What it accepts is a candidate like any other:
//! a [`Replay`](super::replay::Replay) has the last word.
//!
//! A search makes its databases small quickly, with few trials. The counterexample that is shown is made smaller thoroughly
//! ([`Search::plainest`](super::Search::plainest)): every row and every plainer value is tried until nothing changes.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Instant;

use rusqlite::Statement;
use sqlgauge_engine::{Sandbox, Value};
use sqlgauge_sql::schema::{Affinity, Schema, Table, TableId};

use super::declared::DeclaredColumns;
use super::links::foreign_key_texts;
use super::load::Loader;
use super::needs::{FilledTables, Need, is_of_type, needs};
use super::pair::{Difference, Pair, PairOutcome};
use super::realistic::Likeness;
use super::trace::ColumnKey;
use super::values::date_part;

/// Most databases that are tried for plainer values. Rows have no such bound: each that goes leaves fewer to try.
const MAX_VALUE_TRIALS: usize = 96;

/// Tables of at least as many rows are halved before single rows are tried.
const HALVED_ROWS: usize = 6;

/// Databases that are tried where all rows and plainer values are.
const MAX_THOROUGH_TRIALS: usize = 4_000;

/// Databases that are tried where only a replay can say whether the queries differ.
const MAX_REPLAYS: usize = 400;

/// What a fresh SQLite says of a database: its needs, `None` where the queries do not differ.
pub(super) type Confirms<'m> = dyn Fn(&FilledTables) -> Option<Vec<Need>> + 'm;

/// How small a counterexample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Minimality {
    /// [`Minimality::Local`], and it is known that every database that satisfies the schema and tells the queries apart has as many
    /// rows.
    Fewest,
    /// Every row was left out and every value made plainer (0, 1, `'a'`; NULL where no query reads the column), one at a time. Each
    /// time the queries no longer differed, or the schema was violated, or the database lost what it keeps of the given rows, or it
    /// needed more of what real ones lack ([`Need`]).
    Local,
    /// Not all was tried.
    Unfinished(Shortage),
}

/// What ended the trials of smaller counterexamples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shortage {
    /// There may be no more of them.
    Trials,
    /// The queries took the virtual-machine steps that they may.
    Steps,
    /// The time for the pair was over.
    Time,
}

impl Minimality {
    pub const ALL: [Self; 5] = [
        Self::Fewest,
        Self::Local,
        Self::Unfinished(Shortage::Trials),
        Self::Unfinished(Shortage::Steps),
        Self::Unfinished(Shortage::Time),
    ];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fewest => "fewest",
            Self::Local => "locally",
            Self::Unfinished(Shortage::Trials) => "unfinished:trials",
            Self::Unfinished(Shortage::Steps) => "unfinished:steps",
            Self::Unfinished(Shortage::Time) => "unfinished:time",
        }
    }
}

/// In a sentence.
impl fmt::Display for Minimality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fewest => "This is the smallest such database.",
            Self::Local => "No single row can be left out; a smaller database may still exist.",
            Self::Unfinished(Shortage::Trials) => {
                "A smaller counterexample may exist: the trials that a pair may have were used up."
            }
            Self::Unfinished(Shortage::Steps) => {
                "A smaller counterexample may exist: the steps that the queries may take were used up."
            }
            Self::Unfinished(Shortage::Time) => {
                "A smaller counterexample may exist: the time for the pair was over; give it more with --pair-timeout."
            }
        })
    }
}

/// A counterexample that is being made smaller.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
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
    /// Databases that may still be tried for plainer values, or for anything where the trials are thorough.
    trials: usize,
    is_thorough: bool,
    deadline: Option<Instant>,
    shortage: Option<Shortage>,
    /// What is to be kept of the rows of a given database.
    likeness: Option<Likeness<'m>>,
    /// The columns that hold what they declare.
    declared: DeclaredColumns,
    /// The needs of a database on which a fresh SQLite shows the difference too.
    confirms: Option<&'m Confirms<'m>>,
    /// The places of columns that refer to others, or are referred to.
    linked: BTreeSet<(usize, usize)>,
    /// The columns that a reader sees: there NULL is not plain.
    read: BTreeSet<ColumnKey>,
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
            trials: MAX_VALUE_TRIALS,
            is_thorough: false,
            deadline: None,
            shortage: None,
            likeness: None,
            declared: DeclaredColumns::None,
            confirms: None,
            linked: BTreeSet::new(),
            read: BTreeSet::new(),
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

    /// Tries every row and every plainer value until nothing changes, or until that moment. The queries read those columns.
    pub(super) fn thorough(self, deadline: Option<Instant>, read: BTreeSet<ColumnKey>) -> Self {
        let linked = linked(self.schema, &self.smallest);
        Self { is_thorough: true, trials: MAX_THOROUGH_TRIALS, deadline, linked, read, ..self }
    }

    /// Loses nothing of what the database keeps of the rows of a given one.
    pub(super) fn keeping_likeness(self, likeness: Option<Likeness<'m>>) -> Self {
        Self { likeness, ..self }
    }

    /// Leaves those columns with what they declare.
    pub(super) fn holding(self, declared: DeclaredColumns) -> Self {
        Self { declared, ..self }
    }

    /// Goes on from that database with those needs, and takes only what is confirmed.
    pub(super) fn go_on(
        &mut self,
        from: FilledTables,
        needs: &[Need],
        confirms: &'m Confirms<'m>,
    ) -> Vec<FilledTables> {
        if self.counts_choices {
            self.trials = self.trials.min(MAX_REPLAYS);
        }
        (self.smallest, self.needs, self.confirms) = (from, needs.to_vec(), Some(confirms));
        self.run_thoroughly()
    }

    /// How small the smallest is.
    pub(super) fn minimality(&self) -> Minimality {
        self.shortage.map_or(Minimality::Local, Minimality::Unfinished)
    }

    /// [`Minimiser::run`] until nothing changes.
    pub(super) fn run_thoroughly(&mut self) -> Vec<FilledTables> {
        let mut accepted = vec![self.smallest.clone()];
        loop {
            let before = accepted.len();
            self.remove_rows(&mut accepted);
            self.simplify_values(&mut accepted);
            if accepted.len() == before || self.shortage.is_some() {
                return accepted;
            }
        }
    }

    /// Whether another database may be tried; if not, it is known why.
    fn may_try(&mut self) -> bool {
        if !self.is_thorough {
            return true;
        }
        self.shortage = self.shortage.or_else(|| {
            let is_late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if self.trials == 0 {
                Some(Shortage::Trials)
            } else if self.sandbox.left_in_total() == 0 || self.sandbox.own_left_in_total() == 0 {
                Some(Shortage::Steps)
            } else {
                is_late().then_some(Shortage::Time)
            }
        });
        self.trials = self.trials.saturating_sub(1);
        self.shortage.is_none()
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
        if !self.may_try() {
            return false;
        }
        // What a choice of SQLite's shows is seen in other layouts of the rows alone.
        let is_judged = !(self.is_thorough && self.counts_choices);
        let judged = if is_judged { self.judged(&candidate) } else { Some(self.needs.clone()) };
        let is_like = self.likeness.as_ref().is_none_or(|likeness| likeness.is_kept_by(&candidate));
        let Some(needs) = judged.filter(|_| is_like) else { return false };
        if !needs.is_empty() && !self.declared.allow(self.schema, &candidate) {
            return false;
        }
        let confirmed = self.confirms.map_or(Some(needs), |confirms| confirms(&candidate));
        let Some(needs) = confirmed.filter(|needs| needs.iter().all(|need| self.needs.contains(need))) else {
            return false;
        };
        self.needs = needs;
        accepted.push(candidate.clone());
        self.smallest = candidate;
        true
    }

    /// The needs of a database on which the queries differ, and which violates no foreign key.
    fn judged(&mut self, candidate: &FilledTables) -> Option<Vec<Need>> {
        let is_loaded = self.load(candidate);
        let difference = match is_loaded.then(|| self.pair.judge()) {
            Some(PairOutcome::Different(difference)) => difference,
            Some(PairOutcome::PermitsMore(difference)) if self.counts_choices => difference,
            _ => return None,
        };
        let needs = needs(self.schema, candidate, &difference.left, &difference.right);
        let is_plain = needs.iter().all(|need| self.needs.contains(need));
        let is_whole = is_plain && self.dangling.iter_mut().all(|query| is_empty(self.sandbox, query));
        is_whole.then_some(needs)
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
        for table in 0..self.smallest.rows.len() {
            for row in 0..self.smallest.rows[table].len() {
                for cell in 0..self.smallest.rows[table][row].len() {
                    if !self.simplify((table, row, cell), accepted) {
                        return accepted.len() > before;
                    }
                }
            }
        }
        accepted.len() > before
    }

    /// Puts the plainest value that does in one place; false where no more may be tried.
    fn simplify(&mut self, at: (usize, usize, usize), accepted: &mut Vec<FilledTables>) -> bool {
        let (table, row, cell) = at;
        let plainer = if self.is_thorough { self.all_plainer(at) } else { self.plainer(at) };
        for plain in plainer {
            if self.is_thorough {
                if self.shortage.is_some() {
                    return false;
                }
            } else if self.trials == 0 {
                return false;
            } else {
                self.trials -= 1;
            }
            let together = self.with_linked(at, &plain);
            let mut candidate = self.smallest.clone();
            candidate.rows[table][row][cell] = plain;
            if self.accept(candidate, accepted)
                || together.is_some_and(|candidate| self.accept(candidate, accepted))
            {
                break;
            }
        }
        true
    }

    /// The database with a key and all references to it, or all NULLs of a column, made plain together; `None` where the value stands in
    /// one place only.
    fn with_linked(&self, (table, row, cell): (usize, usize, usize), plain: &Value) -> Option<FilledTables> {
        let old = &self.smallest.rows[table][row][cell];
        let is_linked = *old != Value::Null && self.linked.contains(&(table, cell));
        if *plain == Value::Null || !(is_linked || *old == Value::Null) {
            return None;
        }
        let column = BTreeSet::from([(table, cell)]);
        let mut candidate = self.smallest.clone();
        let mut changed = 0;
        for &(table, cell) in if is_linked { &self.linked } else { &column } {
            for value in candidate.rows[table].iter_mut().filter_map(|row| row.get_mut(cell)) {
                if value == old {
                    value.clone_from(plain);
                    changed += 1;
                }
            }
        }
        (changed > 1).then_some(candidate)
    }

    /// All values that are plainer than one, the plainest first: 0, 1, `'a'`, then the number of its row. Where no query reads the
    /// column NULL is the plainest, else any of them is plainer than NULL.
    fn all_plainer(&self, at: (usize, usize, usize)) -> Vec<Value> {
        let (table, row, cell) = at;
        let value = &self.smallest.rows[table][row][cell];
        let (id, columns) = &self.smallest.columns[table];
        let (Some(of), Some(&index)) = (self.schema.table(*id), columns.get(cell)) else { return Vec::new() };
        let is_key = of.primary_key.contains(&index);
        if *value == Value::Null {
            return self.plainer(at);
        }
        let number = i64::try_from(row + 1).unwrap_or(1);
        let typed = match value {
            Value::Text(_) => vec![Value::text("a"), Value::text(&format!("a{number}"))],
            Value::Real(_) => vec![Value::Real(0.0), Value::Real(1.0), Value::Real(number as f64)],
            _ => vec![Value::Integer(0), Value::Integer(1), Value::Integer(number)],
        };
        let may_be_null = !is_key && !self.read.contains(&(*id, index));
        let all = may_be_null.then_some(Value::Null).into_iter().chain(typed);
        let may_stand = |plain: &Value| {
            self.likeness.as_ref().is_none_or(|likeness| likeness.may_hold(*id, index, plain))
        };
        // A value only ever becomes a smaller row number. Otherwise two rows could exchange theirs for ever.
        let is_less =
            |plain: &Value| numbered(plain).is_none_or(|new| numbered(value).is_none_or(|old| new < old));
        all.take_while(|plain| plain != value).filter(is_less).filter(may_stand).collect()
    }

    /// Values to try in place of one, the plainest first; none for a plain one, and for those of foreign keys, which
    /// cannot be changed alone.
    fn plainer(&self, (table, row, cell): (usize, usize, usize)) -> Vec<Value> {
        let value = &self.smallest.rows[table][row][cell];
        let (id, columns) = &self.smallest.columns[table];
        let (Some(table), Some(&at)) = (self.schema.table(*id), columns.get(cell)) else { return Vec::new() };
        let is_read = self.read.contains(&(*id, at));
        if is_linked(table, at) && !matches!(value, Value::Null) {
            return Vec::new();
        }
        let Some(column) = table.column(at) else { return Vec::new() };
        let is_key = table.primary_key.contains(&at);
        let number = i64::try_from(row + 1).unwrap_or(1);
        let plain = match value {
            Value::Null if !is_key && !is_read => return Vec::new(),
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

/// The number in a value: 3 in 3, 3.0 and `'a3'`.
#[expect(clippy::cast_possible_truncation, reason = "a whole number below 10^15")]
fn numbered(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number).filter(|number| *number >= 0),
        Value::Real(number) => {
            (number.fract() == 0.0 && (0.0..1e15).contains(number)).then_some(*number as i64)
        }
        Value::Text(_) => value.as_str()?.strip_prefix('a')?.parse().ok(),
        _ => None,
    }
}

/// The places of the columns of foreign keys, and of those that they refer to.
fn linked(schema: &Schema, filled: &FilledTables) -> BTreeSet<(usize, usize)> {
    let place = |id: TableId, column: u32| {
        let table = filled.columns.iter().position(|(other, _)| *other == id)?;
        Some((table, filled.columns[table].1.iter().position(|other| *other == column)?))
    };
    let mut places = BTreeSet::new();
    for (id, _) in &filled.columns {
        for key in schema.table(*id).into_iter().flat_map(|table| &table.foreign_keys) {
            let Some((target, columns)) = schema.resolve_foreign_key(key) else { continue };
            places.extend(key.columns.iter().filter_map(|&column| place(*id, column)));
            places.extend(columns.iter().filter_map(|&column| place(target, column)));
        }
    }
    places
}

/// Whether a column belongs to a foreign key.
fn is_linked(table: &Table, column: u32) -> bool {
    table.foreign_keys.iter().any(|key| key.columns.contains(&column))
}

fn is_empty(sandbox: &Sandbox, query: &mut Statement<'_>) -> bool {
    sandbox.run(query).is_ok_and(|rows| rows.is_empty())
}
