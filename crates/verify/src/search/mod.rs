//! Looks for a counterexample: a small database on which two queries return different results.
//!
//! A search makes databases that satisfy the schema (keys, NOT NULL, CHECK, foreign keys), with values taken from the
//! queries' own constants and their neighbours, runs both queries on in-memory SQLite and compares the results as
//! `ex@1` does (see [`Contract`]). A database on which they differ is replayed on a fresh SQLite before it counts:
//! [`Refutation`] has no other maker.
//!
//! A search is deterministic: the databases follow from [`Options::seed`] and the two texts alone.

mod contract;
mod ddl;
mod freedom;
mod generate;
mod load;
mod many;
mod pair;
mod plan;
mod replay;
mod signature;
mod trace;
mod values;
mod verdict;
mod witness;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use sqlgauge_base::{Random, seed_of};
use sqlgauge_engine::{Budget, Sandbox};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Schema, TableId};

use self::ddl::{create_table, quoted};
use self::generate::{Rows, generate};
use self::load::{Loader, read};
use self::pair::{Judged, Pair, Resolved};
use self::plan::{Plan, plan, tables_of, with_targets};
use self::replay::Replay;
use self::trace::{Trace, trace};

pub use self::contract::{ColumnOrder, Contract};
pub use self::many::refute_all;
pub use self::signature::Signature;
pub use self::verdict::{Inapplicable, Reason, Refutation, Side, Survived, Verdict};
pub use self::witness::{Witness, WitnessTable, literal};

/// Stack for SQLite's compiler and the walks over the query, both of which recurse with the nesting of the text.
const STACK_BYTES: usize = 16 << 20;

/// How a search is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Where the random numbers begin.
    pub seed: u64,
    /// Most databases that are tried for one pair.
    pub databases: usize,
    /// Virtual-machine steps that one query may take on one database.
    pub vm_steps_per_query: u64,
    /// Wall-clock time that one query may take on one database, in case a step takes long.
    pub time_limit_per_query: Duration,
    /// When two results count as equal.
    pub contract: Contract,
    /// Whether a column of a primary key may be NULL where SQLite lets it be (other than INTEGER PRIMARY KEY,
    /// WITHOUT ROWID and STRICT).
    pub null_in_primary_key: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            databases: 400,
            vm_steps_per_query: 500_000,
            time_limit_per_query: Duration::from_millis(500),
            contract: Contract::default(),
            null_in_primary_key: true,
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
    options: Options,
    sandbox: Sandbox,
    /// The tables that the sandbox has, and what SQLite said of those that it could not make.
    created: RefCell<Created>,
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
    pub fn new(schema: impl Into<Arc<Schema>>, options: Options) -> Result<Self, SearchError> {
        let sandbox = Sandbox::new(budget(&options))?;
        Ok(Self { schema: schema.into(), options, sandbox, created: RefCell::default() })
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Looks for a database on which the queries differ. `left` is the gold: its ORDER BY is the one that counts.
    pub fn refute(&self, left: &str, right: &str) -> Verdict {
        stacker::maybe_grow(STACK_BYTES / 2, STACK_BYTES, || {
            self.prepared(left, right)
                .and_then(|prepared| self.search(&prepared))
                .unwrap_or_else(Verdict::Inapplicable)
        })
    }

    /// Runs both queries on that database on a fresh SQLite; a refutation if they differ.
    pub fn replay(&self, database: &Witness, left: &str, right: &str) -> Option<Refutation> {
        stacker::maybe_grow(STACK_BYTES / 2, STACK_BYTES, || {
            self.prepared(left, right).ok()?.replay(self).run(database)
        })
    }

    /// A smaller database that still refutes: rows are taken away one by one as long as the results differ and the
    /// schema is satisfied.
    pub fn minimise(&self, refutation: &Refutation, left: &str, right: &str) -> Refutation {
        stacker::maybe_grow(STACK_BYTES / 2, STACK_BYTES, || {
            let Ok(prepared) = self.prepared(left, right) else { return refutation.clone() };
            let replay = prepared.replay(self);
            let mut smallest = refutation.clone();
            let mut is_smaller = true;
            while is_smaller {
                let found = with_one_row_less(smallest.database()).find_map(|smaller| replay.run(&smaller));
                is_smaller = found.is_some();
                smallest = found.map_or(smallest, |found| found.after(refutation.databases()));
            }
            smallest
        })
    }

    fn prepared(&self, left: &str, right: &str) -> Result<Prepared, Inapplicable> {
        let seed = [self.options.seed, seed_of(left), seed_of(right)];
        let left = Resolved::new(left, &self.schema, Side::Left)?;
        let right = Resolved::new(right, &self.schema, Side::Right)?;
        let mut read = tables_of(&left.query);
        read.extend(tables_of(&right.query));
        let tables = with_targets(&self.schema, &read)?;
        Ok(Prepared { left, right, tables, seed })
    }

    fn search(&self, prepared: &Prepared) -> Result<Verdict, Inapplicable> {
        self.create(&prepared.tables)?;
        let traces =
            [trace(&prepared.left.query), trace(&prepared.right.query), self.trace_checks(&prepared.tables)];
        let plan = plan(&self.schema, &prepared.tables, &traces, self.options.null_in_primary_key);
        let columns: Vec<(TableId, Vec<u32>)> = plan
            .tables
            .iter()
            .map(|table| (table.id, table.columns.iter().map(|column| column.index).collect()))
            .collect();
        let mut loader = Loader::new(&self.sandbox, &self.schema, &columns)
            .map_err(|error| Inapplicable::unsupported("schema", error.to_string()))?;
        let pair = (&prepared.left, &prepared.right);
        let mut pair = Pair::new(&self.sandbox, &self.schema, pair, self.options.contract)?;
        let verdict = self.try_databases(prepared, &plan, &mut loader, &mut pair);
        loader.clear();
        Ok(verdict)
    }

    fn try_databases(
        &self,
        prepared: &Prepared,
        plan: &Plan,
        loader: &mut Loader<'_>,
        pair: &mut Pair<'_>,
    ) -> Verdict {
        let mut survived = Survived { databases: 0, undecided: 0, failed: 0 };
        let [seed, left, right] = prepared.seed;
        for number in 0..self.options.databases {
            let mut random = Random::new([seed, left, right, number as u64]);
            let rows = generate(plan, number, &mut random);
            if !fill(plan, loader, rows) {
                survived.failed += 1;
                continue;
            }
            match pair.judge() {
                Judged::Same => survived.databases += 1,
                Judged::Undecided => survived.undecided += 1,
                Judged::Failed => survived.failed += 1,
                Judged::Different(_) => {
                    let witness = read(&self.sandbox, &self.schema, &prepared.tables);
                    let found = witness.ok().and_then(|witness| prepared.replay(self).run(&witness));
                    match found {
                        Some(refutation) => return Verdict::Refuted(Box::new(refutation.after(number + 1))),
                        None => survived.undecided += 1,
                    }
                }
            }
        }
        Verdict::Survived(survived)
    }

    /// Makes the tables that are not there yet.
    fn create(&self, tables: &[TableId]) -> Result<(), Inapplicable> {
        let mut created = self.created.borrow_mut();
        let unsupported = |error: rusqlite::Error| Inapplicable::unsupported("schema", error.to_string());
        for &id in tables {
            if let Some(table) = self.schema.table(id).filter(|_| !created.tables.contains(&id)) {
                self.sandbox.create(&create_table(&self.schema, table)).map_err(unsupported)?;
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
                let found = trace(&query);
                all.facts.extend(found.facts);
                all.equal.extend(found.equal);
                all.read.extend(found.read);
            }
        }
        all
    }
}

fn budget(options: &Options) -> Budget {
    Budget { vm_steps: options.vm_steps_per_query, time: options.time_limit_per_query, max_rows: 100_000 }
}

/// A pair, resolved.
struct Prepared {
    left: Resolved,
    right: Resolved,
    tables: Vec<TableId>,
    seed: [u64; 3],
}

impl Prepared {
    fn replay<'a>(&'a self, search: &'a Search) -> Replay<'a> {
        Replay {
            schema: &search.schema,
            tables: &self.tables,
            pair: (&self.left, &self.right),
            contract: search.options.contract,
            budget: budget(&search.options),
        }
    }
}

/// Loads the rows; one that SQLite refuses (a CHECK, most often) is taken out with those that refer to it. False if
/// that did not end well.
fn fill(plan: &Plan, loader: &mut Loader<'_>, mut rows: Rows) -> bool {
    let most = rows.tables.iter().map(Vec::len).sum::<usize>();
    'again: for _ in 0..=most {
        for (at, table) in plan.tables.iter().enumerate() {
            let values = rows.tables[at]
                .iter()
                .map(|row| table.columns.iter().zip(row).map(|(column, &cell)| column.value(cell)));
            if let Err(refused) = loader.load(at, values) {
                rows.remove(plan, at, refused.row);
                continue 'again;
            }
        }
        return true;
    }
    false
}

/// The database without one row, for each row, larger tables first.
fn with_one_row_less(witness: &Witness) -> impl Iterator<Item = Witness> {
    let mut order: Vec<usize> = (0..witness.tables.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(witness.tables[at].rows.len()));
    let places =
        order.into_iter().flat_map(|at| (0..witness.tables[at].rows.len()).map(move |row| (at, row)));
    places.map(|(at, row)| {
        let mut smaller = witness.clone();
        smaller.tables[at].rows.remove(row);
        smaller
    })
}
