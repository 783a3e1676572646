//! Looks for a counterexample: a small database on which two queries return different results.
//!
//! A search makes databases that satisfy the schema (keys, NOT NULL, CHECK, foreign keys), with values taken from the
//! queries' own constants and their neighbours, runs both queries on in-memory SQLite and compares the results as
//! `ex@1` does (see [`Contract`]). A database on which they differ is replayed on a fresh SQLite before it counts:
//! [`Refutation`] has no other maker.
//!
//! A search is deterministic: the databases follow from [`SearchOptions::seed`] and the two texts alone.

mod contract;
pub mod conversions;
mod ddl;
mod declared;
mod exercise;
mod freedom;
mod generate;
mod guide;
mod hunt;
mod layouts;
mod least;
mod links;
mod load;
mod minimise;
pub mod mutation;
mod near;
mod needs;
mod observed;
mod pair;
mod permits;
mod plan;
mod realistic;
mod replay;
mod samples;
mod shape;
mod shown;
mod signature;
mod slice;
mod stand;
pub mod suite;
mod trace;
mod values;
mod verdict;
mod witness;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlgauge_base::{budget, on_deep_stack, seed_of};
use sqlgauge_engine::compare::Semantics;
use sqlgauge_engine::{QueryBudget, Sandbox};
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Schema, TableId};

use self::ddl::{create_indexes, create_view};
use self::freedom::{rows_with_keys, without_order};
use self::hunt::Hunt;
use self::load::Loader;
use self::minimise::Minimiser;
use self::needs::FilledTables;
use self::pair::{Difference, Pair, PairOutcome, Resolved};
use self::realistic::Likeness;
use self::replay::Replay;
use self::trace::{Trace, trace};
use self::verdict::TOO_MANY_STEPS;

pub use self::ddl::{create_definitions, create_table};
pub use self::declared::DeclaredColumns;
pub use self::plan::{tables_of, tables_under, with_targets};

pub use self::contract::{ColumnOrder, Contract, Equality};
pub use self::exercise::{Event, Unexercised};
pub use self::freedom::{Choice, OpenPlace};
pub use self::minimise::{Minimality, Shortage};
pub use self::near::near_schema;
pub use self::needs::Need;
pub use self::observed::Observed;
pub use self::permits::rows_tied_for_both;
pub use self::realistic::{Constraints, Mined, Resemblance, RowConstraint};
pub use self::signature::Signature;
pub use self::stand::Objection;
pub use self::values::{date_of, is_time_text};
pub use self::verdict::{
    DifferenceKind, Inapplicable, Refutation, SearchReason, SearchVerdict, Side, Survived,
};
pub use self::witness::{Witness, WitnessTable, literal};

/// Virtual-machine steps of all queries of one search; the largest of BIRD's pairs takes less than a tenth of it.
const VM_STEPS: u64 = 8_000_000;

/// Virtual-machine steps of filling all databases of one search, and of all searches of one pair: what CHECKs of benchmarks take
/// is less than a hundredth of it.
const OWN_VM_STEPS: u64 = 20_000_000;
const OWN_VM_STEPS_OF_PAIR: u64 = 40_000_000;

/// Most tables of one counterexample: making and minimising it takes time with the square of them.
const MAX_TABLES: usize = 500;

#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchOptions {
    /// Where the random numbers begin.
    pub seed: u64,
    /// Most databases that are tried for one pair.
    pub databases: usize,
    /// Virtual-machine steps that one query may take on one database.
    pub vm_steps_per_query: u64,
    /// Processor time that one query may take on one database, in case a step takes long.
    pub time_limit_per_query: Duration,
    /// When two results count as equal.
    pub contract: Contract,
    /// Whether a column of a primary key may be NULL where SQLite lets it be (other than INTEGER PRIMARY KEY,
    /// WITHOUT ROWID and STRICT).
    pub null_in_primary_key: bool,
    /// Whether a text that refers to a number may be another spelling of it: `'01'` or `'1.0'` for 1.
    pub other_spellings: bool,
    /// Whether queries differ where the left one, the gold, permits one result alone and the right one permits another too.
    pub counts_choices: bool,
    /// Whether a database on which the left query permits several results says something against a right query that permits none of them
    /// there ([`Search::told`]).
    pub tells_open_golds: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            databases: 800,
            vm_steps_per_query: 500_000,
            time_limit_per_query: Duration::from_millis(500),
            contract: Contract::default(),
            null_in_primary_key: true,
            other_spellings: true,
            counts_choices: false,
            tells_open_golds: false,
        }
    }
}

/// Why a search could not begin: SQLite gave no in-memory database.
#[derive(Debug, thiserror::Error)]
#[error("SQLite could not open a database in memory ({0}); free memory and try again")]
pub struct SearchError(#[from] rusqlite::Error);

/// A search over one schema; it keeps its connection for pair after pair.
#[derive(Debug)]
pub struct Search {
    schema: Arc<Schema>,
    options: SearchOptions,
    sandbox: Sandbox,
    /// The tables that the sandbox has, and what SQLite said of those that it could not make.
    created: RefCell<Created>,
    /// What the databases keep besides the schema.
    constraints: Option<Constraints>,
    /// The columns that hold what they declare in a counterexample.
    declared: RefCell<DeclaredColumns>,
    /// The left query of the last pair: a gold comes with one query after another.
    last_left: RefCell<Option<LeftQuery>>,
    /// When a search ends, whatever it has found.
    deadline: Cell<Option<Instant>>,
    /// Virtual-machine steps that filling databases may still take for the pair at hand, in all searches that share them.
    own_left: Arc<AtomicU64>,
}

/// A left query, with the steps that its analysis took.
#[derive(Debug)]
struct LeftQuery {
    text: String,
    resolved: Arc<Resolved>,
    steps: u64,
}

#[derive(Debug, Default)]
struct Created {
    tables: BTreeSet<TableId>,
    in_transaction: bool,
}

impl Search {
    /// A search over that schema.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory.
    pub fn new(schema: impl Into<Arc<Schema>>, options: SearchOptions) -> Result<Self, SearchError> {
        let sandbox = Sandbox::new(budget(&options))?;
        Ok(Self {
            schema: schema.into(),
            options,
            sandbox,
            created: RefCell::default(),
            constraints: None,
            declared: RefCell::default(),
            last_left: RefCell::default(),
            deadline: Cell::default(),
            own_left: Arc::new(AtomicU64::new(u64::MAX)),
        })
    }

    /// Begins the searches of one pair: filling databases has a budget of steps for all of them together, and they end at that
    /// moment. One that has found nothing by then is inapplicable, as one that takes too many steps is. Without a moment steps
    /// alone decide, so that a search is deterministic.
    pub fn begin_pair(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
        self.own_left.store(OWN_VM_STEPS_OF_PAIR, Ordering::Relaxed);
    }

    /// The search as one more of the pair that another search is at: they end at the same moment and share the budget.
    #[must_use]
    pub fn beside(self, other: &Self) -> Self {
        Self { deadline: Cell::new(other.deadline.get()), own_left: Arc::clone(&other.own_left), ..self }
    }

    /// Ends the pair: the searches from here on stand alone.
    pub fn end_pair(&self) {
        self.deadline.set(None);
        self.own_left.store(u64::MAX, Ordering::Relaxed);
    }

    /// The time until that moment; `None` without one.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.get().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether that moment is over.
    fn is_late(&self) -> bool {
        self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Looks for a database on which the queries differ. `left` is the gold: its ORDER BY is the one that counts.
    ///
    /// The plainest database that the search finds is the one that it returns (see [`Need`]), as it was made;
    /// [`Search::refute_minimised`] makes it smaller at once, which is faster than [`Search::minimise`] afterwards.
    pub fn refute(&self, left: &str, right: &str) -> SearchVerdict {
        self.hunted(left, right, self.options.databases, false)
    }

    /// Looks for a database on which the queries differ, and returns one that is locally minimal: without any of its rows the
    /// results are the same, or the schema is violated.
    pub fn refute_minimised(&self, left: &str, right: &str) -> SearchVerdict {
        self.refute_within(left, right, self.options.databases)
    }

    /// [`Search::refute_minimised`] with that many databases.
    pub fn refute_within(&self, left: &str, right: &str, databases: usize) -> SearchVerdict {
        self.hunted(left, right, databases, true)
    }

    fn hunted(&self, left: &str, right: &str, databases: usize, minimise: bool) -> SearchVerdict {
        self.bounded(&[left, right], || {
            self.prepared(left, right).and_then(|prepared| Hunt::over(self, &prepared, databases, minimise))
        })
        .unwrap_or_else(SearchVerdict::Inapplicable)
    }

    /// Works on those texts with stack enough and within the steps that a search may take, of trees and of SQLite.
    fn bounded<T>(
        &self,
        texts: &[&str],
        work: impl FnOnce() -> Result<T, Inapplicable>,
    ) -> Result<T, Inapplicable> {
        let bytes = texts.iter().map(|text| text.len()).sum();
        self.sandbox.allow_in_total(vm_steps(VM_STEPS, bytes));
        let own_left = self.own_left.load(Ordering::Relaxed);
        let own_steps = OWN_VM_STEPS.min(own_left);
        self.sandbox.allow_own_in_total(own_steps);
        let work = || on_deep_stack(work);
        let done = budget::analyse_within(budget::SEARCH, bytes, work)
            .unwrap_or_else(|_| Err(Inapplicable::too_complex(TOO_MANY_STEPS)));
        let steps = own_steps.saturating_sub(self.sandbox.own_left_in_total());
        self.own_left.store(own_left - steps, Ordering::Relaxed);
        done
    }

    /// [`Search::bounded`] where it does not matter why there is nothing.
    fn bounded_option<T>(&self, texts: &[&str], work: impl FnOnce() -> Option<T>) -> Option<T> {
        self.bounded(texts, || Ok(work())).ok().flatten()
    }

    /// For two queries that end in a LIMIT: their rows with the sort keys, as SQL without ORDER BY and LIMIT. If these two
    /// are equal as bags on every database, so that the rules of tree matching may be asked, the two queries permit the same
    /// results, whichever rows SQLite takes among ties. `None` where the one does not follow from the other.
    pub fn rows_before_limit(&self, left: &str, right: &str) -> Option<[String; 2]> {
        self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            rows_with_keys(&prepared.left.query, &prepared.right.query, &self.schema)
        })
    }

    /// For results of which the order does not count: the queries as SQL without ORDER BY, as sets also with DISTINCT. If these
    /// are equal as bags on every database, the two permit the same results. `None` where the one does not follow from the
    /// other.
    pub fn rows_without_order(&self, left: &str, right: &str) -> Option<[String; 2]> {
        let semantics = self.options.contract.semantics;
        if !matches!(semantics, Semantics::Set | Semantics::Bag) {
            return None;
        }
        self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            let queries = [&prepared.left.query, &prepared.right.query];
            without_order(queries, semantics == Semantics::Set, &self.schema)
        })
    }

    /// Runs both queries on that database on a fresh SQLite; a refutation if they differ.
    pub fn replay(&self, database: &Witness, left: &str, right: &str) -> Option<Refutation> {
        self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            prepared.replay(self).run(&FilledTables::of(database, &self.schema, &prepared.tables)?)
        })
    }

    /// Whether both queries return the same on that database; `None` where that cannot be told.
    pub fn agree(&self, database: &Witness, left: &str, right: &str) -> Option<bool> {
        self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            self.create(&prepared).ok()?;
            let filled = FilledTables::of(database, &self.schema, &prepared.tables)?;
            let mut loader = Loader::new(&self.sandbox, &self.schema, &filled.columns).ok()?;
            let is_loaded = filled.rows.iter().enumerate().all(|(at, rows)| loader.load(at, rows));
            let judged = is_loaded.then(|| prepared.pair(self).ok().map(|mut pair| pair.judge())).flatten();
            match judged? {
                PairOutcome::Same => Some(true),
                PairOutcome::Different(_) => Some(false),
                PairOutcome::PermitsMore(_) | PairOutcome::Undecided | PairOutcome::Failed => None,
            }
        })
    }

    /// A smaller database that still refutes, with plainer values: rows are taken away as long as the results differ and
    /// the schema is satisfied.
    pub fn minimise(&self, refutation: &Refutation, left: &str, right: &str) -> Refutation {
        let minimised = self.bounded_option(&[left, right], || self.minimised(refutation, left, right));
        minimised.unwrap_or_else(|| refutation.clone())
    }

    fn minimised(&self, refutation: &Refutation, left: &str, right: &str) -> Option<Refutation> {
        let prepared = self.prepared(left, right).ok()?;
        self.create(&prepared).ok()?;
        let start = FilledTables::of(refutation.database(), &self.schema, &prepared.tables)?;
        let mut loader = Loader::new(&self.sandbox, &self.schema, &start.columns).ok()?;
        let mut pair = prepared.pair(self).ok()?;
        let (left, right) = (refutation.left().clone(), refutation.right().clone());
        let difference = Difference { left, right, reason: String::new() };
        let on = (&self.sandbox, &*self.schema);
        let minimiser = Minimiser::new(on, &mut loader, &mut pair, start, &difference)?;
        let accepted = minimiser.counting_choices(!refutation.is_certain()).run();
        let smaller = accepted.iter().rev().find_map(|filled| prepared.replay(self).run(filled))?;
        Some(smaller.after(refutation.databases()))
    }

    /// The counterexample as small and plain as trials of every row and every plainer value make it, and whether that was the end of
    /// it. It loses nothing of what it keeps of the rows whose constraints the other search was given.
    pub fn plainest(
        &self,
        refutation: &Refutation,
        left: &str,
        right: &str,
        like: Option<&Self>,
    ) -> (Refutation, Minimality) {
        let outcome =
            self.bounded_option(&[left, right], || self.made_plainest(refutation, (left, right), like));
        outcome.unwrap_or_else(|| (refutation.clone(), Minimality::Unfinished(Shortage::Steps)))
    }

    fn made_plainest(
        &self,
        refutation: &Refutation,
        (left, right): (&str, &str),
        like: Option<&Self>,
    ) -> Option<(Refutation, Minimality)> {
        let prepared = self.prepared(left, right).ok()?;
        self.create(&prepared).ok()?;
        let start = FilledTables::of(refutation.database(), &self.schema, &prepared.tables)?;
        let queries = [&prepared.left.query, &prepared.right.query];
        let likeness = like.and_then(|like| Likeness::new(like, &self.schema, queries, &start));
        let replay = prepared.replay(self);
        let is_as_good = |candidate: &Refutation| {
            let kinds = (std::mem::discriminant(candidate.kind()), std::mem::discriminant(refutation.kind()));
            candidate.is_certain() || kinds.0 == kinds.1
        };
        let replayed = |filled: &FilledTables| replay.run(filled).filter(is_as_good);
        let confirms = |filled: &FilledTables| Some(replayed(filled)?.needs().to_vec());
        let mut loader = Loader::new(&self.sandbox, &self.schema, &start.columns).ok()?;
        let mut pair = prepared.pair(self).ok()?;
        let (left, right) = (refutation.left().clone(), refutation.right().clone());
        let difference = Difference { left, right, reason: String::new() };
        let on = (&self.sandbox, &*self.schema);
        let mut minimiser = Minimiser::new(on, &mut loader, &mut pair, start.clone(), &difference)?
            .counting_choices(!refutation.is_certain())
            .thorough(self.deadline.get(), queries.into_iter().flat_map(|query| trace(query).read).collect())
            .keeping_likeness(likeness)
            .holding(self.declared.borrow().clone());
        let last_confirmed = |accepted: &[FilledTables]| {
            accepted.iter().enumerate().rev().find_map(|(at, filled)| Some((at, replayed(filled)?)))
        };
        let mut accepted = if refutation.is_certain() {
            minimiser.run_thoroughly()
        } else {
            minimiser.go_on(start, refutation.needs(), &confirms)
        };
        let (at, mut plainest) = last_confirmed(&accepted)?;
        if at + 1 < accepted.len() {
            accepted = minimiser.go_on(accepted.swap_remove(at), plainest.needs(), &confirms);
            plainest = last_confirmed(&accepted)?.1;
        }
        Some((plainest.after(refutation.databases()), minimiser.minimality()))
    }

    fn prepared(&self, left: &str, right: &str) -> Result<Prepared, Inapplicable> {
        let seed = [self.options.seed, seed_of(left), seed_of(right)];
        let left = self.left(left)?;
        let right = Resolved::new(right, &self.schema, Side::Right)?;
        let mut read = tables_of(&left.query);
        read.extend(tables_of(&right.query));
        let tables = with_targets(&self.schema, &read)?;
        // Each list has all views that one of its views reads, so that the order holds.
        let further = right.views.iter().filter(|view| !left.views.contains(view));
        let views = left.views.iter().chain(further).copied().collect();
        if tables.len() > MAX_TABLES {
            return Err(Inapplicable::too_complex(format!(
                "the foreign keys of the queries' tables lead to {} tables, and a counterexample has at most {MAX_TABLES}",
                tables.len()
            )));
        }
        Ok(Prepared { left, right, tables, views, seed })
    }

    /// The left query, which takes the same steps whether it is known already or not.
    fn left(&self, text: &str) -> Result<Arc<Resolved>, Inapplicable> {
        if let Some(last) = self.last_left.borrow().as_ref().filter(|last| last.text == text) {
            budget::spend(usize::try_from(last.steps).unwrap_or(usize::MAX));
            return Ok(Arc::clone(&last.resolved));
        }
        let (resolved, steps) = budget::taking(|| Resolved::new(text, &self.schema, Side::Left));
        let resolved = Arc::new(resolved?);
        *self.last_left.borrow_mut() =
            Some(LeftQuery { text: text.to_owned(), resolved: Arc::clone(&resolved), steps });
        Ok(resolved)
    }

    /// Makes the tables and the views of a pair that are not there yet.
    fn create(&self, prepared: &Prepared) -> Result<(), Inapplicable> {
        self.create_all(&prepared.tables, &prepared.views)
    }

    fn create_all(&self, tables: &[TableId], views: &[TableId]) -> Result<(), Inapplicable> {
        let mut created = self.created.borrow_mut();
        let unsupported = |error: rusqlite::Error| Inapplicable::unsupported("schema", error.to_string());
        for &id in tables {
            if let Some(table) = self.schema.table(id).filter(|_| !created.tables.contains(&id)) {
                self.sandbox.create(&create_table(&self.schema, table)).map_err(unsupported)?;
                for index in create_indexes(table) {
                    self.sandbox.create(&index).map_err(unsupported)?;
                }
                created.tables.insert(id);
            }
        }
        for &id in views {
            let text = self.schema.table(id).filter(|_| !created.tables.contains(&id)).and_then(create_view);
            if let Some(text) = text {
                self.sandbox.create(&text).map_err(unsupported)?;
                created.tables.insert(id);
            }
        }
        if !created.in_transaction {
            self.sandbox.begin_transaction().map_err(unsupported)?;
            created.in_transaction = true;
        }
        Ok(())
    }

    /// What the CHECK constraints of the tables say about their columns.
    fn trace_checks(&self, tables: &[TableId]) -> Trace {
        let mut all = Trace::default();
        for table in tables.iter().filter_map(|&id| self.schema.table(id)) {
            for check in &table.checks {
                let sql = format!("SELECT 1 FROM {} WHERE {check}\n", quoted(&table.name));
                let Ok(query) = resolve(&sql, &self.schema) else { continue };
                let part = trace(&query);
                all.facts.extend(part.facts);
                all.equal.extend(part.equal);
                all.read.extend(part.read);
            }
        }
        all
    }
}

/// How many of those steps texts of so many bytes may take: some steps, and beginning and ending a run, take as long as the
/// query has cursors.
fn vm_steps(steps: u64, bytes: usize) -> u64 {
    const SHORT: u64 = 4 << 10;
    steps.saturating_mul(SHORT) / SHORT.max(bytes as u64)
}

fn budget(options: &SearchOptions) -> QueryBudget {
    QueryBudget {
        vm_steps: options.vm_steps_per_query,
        time: options.time_limit_per_query,
        max_rows: 100_000,
    }
}

/// A pair, resolved.
struct Prepared {
    left: Arc<Resolved>,
    right: Resolved,
    tables: Vec<TableId>,
    /// The views that they read, each after those that it reads.
    views: Vec<TableId>,
    seed: [u64; 3],
}

impl Prepared {
    /// Both queries, compiled in the sandbox of the search.
    fn pair<'s>(&self, search: &'s Search) -> Result<Pair<'s>, Inapplicable> {
        let texts = (&*self.left, &self.right);
        Pair::new(&search.sandbox, &search.schema, texts, search.options.contract)
    }

    fn replay<'a>(&'a self, search: &'a Search) -> Replay<'a> {
        Replay {
            schema: &search.schema,
            tables: &self.tables,
            views: &self.views,
            pair: (&self.left, &self.right),
            contract: search.options.contract,
            budget: budget(&search.options),
            counts_choices: search.options.counts_choices,
        }
    }
}
