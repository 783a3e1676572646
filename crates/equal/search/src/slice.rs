//! Cuts from a given database a slice of its rows on which two queries still differ, and without any of them do not: the most convincing
//! counterexample, as every value in it is real.
//!
//! The slice grows until the queries differ on it, and is then minimised. It grows along the queries: each SELECT whose
//! FROM can be read alone says which rows of its tables meet there (first those that its WHERE lets pass, in its order, then any), and
//! foreign keys bring the rows that they refer to. Columns that no query, key or NOT NULL needs are left NULL. Rows whose foreign key refers to none are left out, so that a slice satisfies
//! the schema even where the database does not.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use sqlgauge_base::Random;
use sqlgauge_engine::{Database, Engine, ResultSet, Value};
use sqlgauge_sql::schema::{Schema, Table, TableId};
use sqlgauge_sql::tree::{
    Body, ColumnRef, Cte, Expr, From, Literal, OrderTerm, Output, Query, Relation, RelationId,
    RelationSource, Select,
};
use sqlgauge_sql::visit::{Visitor, walk_query};
use sqlgauge_sql::{PrintDialect, print};

use super::freedom::{free_relations, literal_of, select_one};
use super::load::Loader;
use super::minimise::Minimiser;
use super::needs::FilledTables;
use super::pair::PairOutcome;
use super::plan::{Allowed, ForeignPlan, Plan, plan};
use super::trace::trace;
use super::values::stored;
use super::verdict::Refutation;
use super::{Prepared, Search};

/// How many rows each SELECT may bring, one attempt after the other.
const SIZES: [usize; 6] = [1, 4, 16, 64, 256, 1024];

/// Rows with which an attempt is given up, and no larger one is made.
const MAX_ROWS: usize = 20_000;

impl Search {
    /// The smallest slice of a database that was found on which the queries return different results, replayed on a fresh
    /// SQLite; `None` if none was found, which is no proof that they return the same there.
    ///
    /// The search must be one over the schema of that database.
    pub fn slice(
        &self,
        engine: &dyn Engine,
        database: &Database,
        left: &str,
        right: &str,
    ) -> Option<Refutation> {
        self.with_probes((engine, database), [left, right], |prepared, source, probes| {
            let mut before = 0;
            SIZES.iter().find_map(|&size| {
                let rows = source.slice(probes, size)?;
                let count = rows.iter().map(BTreeMap::len).sum();
                if count == before || count > MAX_ROWS {
                    return None;
                }
                before = count;
                self.cut_down(prepared, source.plan, [rows])
            })
        })
    }

    /// A slice on which the queries differ of a database on which they return the same: single rows of it, or a random part of a
    /// slice, with what they refer to. `None` if none was found.
    pub fn part(
        &self,
        engine: &dyn Engine,
        database: &Database,
        left: &str,
        right: &str,
    ) -> Option<Refutation> {
        self.with_probes((engine, database), [left, right], |prepared, source, probes| {
            let whole = source.slice(probes, PART_ROWS)?;
            let mut random = Random::new([0]);
            let parts = (0..PARTS).map(|at| source.part(&whole, &mut random, 2 << (at % 3)));
            self.cut_down(prepared, source.plan, parts)
        })
    }

    /// The work over the database that is sliced, with the probes of both queries.
    fn with_probes(
        &self,
        (engine, database): (&dyn Engine, &Database),
        [left, right]: [&str; 2],
        work: impl FnOnce(&Prepared, &Origin<'_>, &[Probe]) -> Option<Refutation>,
    ) -> Option<Refutation> {
        self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            self.create(&prepared).ok()?;
            let queries = [&prepared.left.query, &prepared.right.query];
            let traces = queries.map(trace);
            let plan = plan(&self.schema, &prepared.tables, &traces, Allowed::ALL);
            let source = Origin { engine, database, schema: &self.schema, plan: &plan };
            let probes: Vec<Probe> =
                queries.into_iter().flat_map(|query| probes(query, &self.schema)).collect();
            work(&prepared, &source, &probes)
        })
    }

    /// Minimises the first of these rows on which the queries differ.
    fn cut_down(
        &self,
        prepared: &Prepared,
        plan: &Plan,
        candidates: impl IntoIterator<Item = Vec<Rows>>,
    ) -> Option<Refutation> {
        let columns = plan.columns();
        let mut loader = Loader::new(&self.sandbox, &self.schema, &columns).ok()?;
        let mut pair = prepared.pair(self).ok()?;
        let mut differing = candidates.into_iter().filter_map(|rows| {
            let rows: Vec<Vec<Vec<Value>>> =
                rows.into_iter().map(|rows| rows.into_values().collect()).collect();
            let is_loaded = rows.iter().enumerate().all(|(at, rows)| loader.load(at, rows));
            let judged = if is_loaded { pair.judge() } else { PairOutcome::Failed };
            match judged {
                PairOutcome::Different(difference) => Some((rows, difference, false)),
                PairOutcome::PermitsMore(difference) if self.options.counts_choices => {
                    Some((rows, difference, true))
                }
                _ => None,
            }
        });
        let (rows, difference, counts_choices) = differing.next()?;
        drop(differing);
        let filled = FilledTables { columns, rows };
        let keeps_tables = self.constraints.is_some();
        let on = (&self.sandbox, &*self.schema);
        let minimiser = Minimiser::new(on, &mut loader, &mut pair, filled, &difference)?;
        let minimiser = minimiser.keeping_values().keeping_tables(keeps_tables);
        let accepted = minimiser.counting_choices(counts_choices).run();
        accepted.iter().rev().find_map(|filled| prepared.replay(self).run(filled))
    }
}

/// Rows of each probe of which parts are taken, and how many parts.
const PART_ROWS: usize = 8;
const PARTS: usize = 60;

/// The rows of one table by their rowid, with the columns of the plan.
type Rows = BTreeMap<i64, Vec<Value>>;

/// A SELECT of a query that returns the rowids of the rows that meet in it.
struct Probe {
    /// The tables, in the order of the columns.
    tables: Vec<TableId>,
    /// The query without its limit, as SQL.
    text: String,
}

/// The database that is sliced.
struct Origin<'a> {
    engine: &'a dyn Engine,
    database: &'a Database,
    schema: &'a Schema,
    plan: &'a Plan,
}

impl Origin<'_> {
    /// So many rows of each probe, with what they refer to; `None` if the database cannot be read so.
    fn slice(&self, probes: &[Probe], size: usize) -> Option<Vec<Rows>> {
        let mut wanted: Vec<BTreeSet<i64>> = vec![BTreeSet::new(); self.plan.tables.len()];
        for probe in probes {
            let Some(result) = self.rows(&format!("{} LIMIT {size}", probe.text)) else { continue };
            for row in result.rows() {
                for (table, value) in probe.tables.iter().zip(row) {
                    let at = self.plan.tables.iter().position(|planned| planned.id == *table);
                    if let (Some(at), Value::Integer(rowid)) = (at, value) {
                        wanted[at].insert(*rowid);
                    }
                }
            }
        }
        let mut slice = Vec::new();
        for (at, rowids) in wanted.iter().enumerate() {
            let rowids = rowids.iter().map(|&rowid| Expr::Literal(Literal::Integer(rowid))).collect();
            slice.push(self.fetch(at, |table| (vec![self.rowid(at, table)], vec![rowids]))?);
        }
        self.add_targets(&mut slice)?;
        Some(slice)
    }

    /// One of so many rows of a slice, with what they refer to.
    fn part(&self, whole: &[Rows], random: &mut Random, one_of: usize) -> Vec<Rows> {
        let mut is_in = |_: &(&i64, &Vec<Value>)| random.below(one_of) == 0;
        let copy = |(rowid, row): (&i64, &Vec<Value>)| (*rowid, row.clone());
        let mut part: Vec<Rows> =
            whole.iter().map(|rows| rows.iter().filter(&mut is_in).map(copy).collect()).collect();
        loop {
            let before: usize = part.iter().map(BTreeMap::len).sum();
            for (at, table) in self.plan.tables.iter().enumerate() {
                for key in &table.foreign_keys {
                    let keys: HashSet<Vec<Value>> = self.missing(&part, at, key).into_iter().collect();
                    let is_target =
                        |(_, row): &(&i64, &Vec<Value>)| keys.contains(&key_of(row, &key.target_columns));
                    let targets: Vec<_> = whole[key.target].iter().filter(is_target).map(copy).collect();
                    part[key.target].extend(targets);
                }
            }
            if part.iter().map(BTreeMap::len).sum::<usize>() == before {
                return part;
            }
        }
    }

    fn rows(&self, sql: &str) -> Option<Arc<ResultSet>> {
        self.engine.run(self.database, sql).rows().cloned()
    }

    fn rowid(&self, at: usize, relation: RelationId) -> Expr {
        rowid(self.schema, self.plan.tables[at].id, relation)
    }

    /// The rows of a table in which those expressions have those values.
    fn fetch(
        &self,
        at: usize,
        wanted: impl FnOnce(RelationId) -> (Vec<Expr>, Vec<Vec<Expr>>),
    ) -> Option<Rows> {
        let table = &self.plan.tables[at];
        let id = RelationId(0);
        let (exprs, values) = wanted(id);
        if values.iter().any(Vec::is_empty) {
            return Some(Rows::new());
        }
        let conditions = exprs.into_iter().zip(values).map(|(expr, list)| Expr::InList {
            expr: Box::new(expr),
            list,
            negated: false,
        });
        let mut conditions: Vec<Expr> = conditions.collect();
        let filter = if conditions.len() == 1 { conditions.pop() } else { Some(Expr::And(conditions)) };
        let columns = table.columns.iter().map(|column| Expr::Column(ColumnRef::at(id, column.index)));
        let outputs = std::iter::once(self.rowid(at, id)).chain(columns);
        let from = From::Relation(Relation::new(id, RelationSource::Table(table.id)));
        let select = Select { filter, outputs: outputs.map(Output::of).collect(), ..select_one(from) };
        let text = print(&Query::of_select(select), self.schema, PrintDialect::Sqlite).ok()?;
        let result = self.rows(&text)?;
        let rows = result.rows().filter_map(|row| match row.split_first()? {
            (Value::Integer(rowid), values) => Some((*rowid, values.to_vec())),
            _ => None,
        });
        Some(rows.collect())
    }

    /// Adds the rows that foreign keys refer to, and takes out those whose key refers to none. What was taken out does not
    /// come back as the target of another key, so it ends; `None` if it becomes too large before.
    fn add_targets(&self, slice: &mut [Rows]) -> Option<()> {
        let mut taken_out: Vec<HashSet<i64>> = vec![HashSet::new(); slice.len()];
        while slice.iter().map(BTreeMap::len).sum::<usize>() <= MAX_ROWS {
            let mut is_changed = false;
            for (at, table) in self.plan.tables.iter().enumerate() {
                for key in &table.foreign_keys {
                    let keys = self.missing(slice, at, key);
                    if keys.is_empty() {
                        continue;
                    }
                    let parents = self.fetch(key.target, |id| {
                        let target = &self.plan.tables[key.target].columns;
                        let column = |&at: &usize| Expr::Column(ColumnRef::at(id, target[at].index));
                        let values = (0..key.columns.len()).map(|at| {
                            keys.iter().map(|values| Expr::Literal(literal_of(&values[at]))).collect()
                        });
                        (key.target_columns.iter().map(column).collect(), values.collect())
                    })?;
                    let parents =
                        parents.into_iter().filter(|(rowid, _)| !taken_out[key.target].contains(rowid));
                    slice[key.target].extend(parents);
                    let dangling = self.missing(slice, at, key);
                    let out =
                        slice[at].extract_if(.., |_, row| dangling.contains(&key_of(row, &key.columns)));
                    taken_out[at].extend(out.map(|(rowid, _)| rowid));
                    is_changed = true;
                }
            }
            if !is_changed {
                return Some(());
            }
        }
        None
    }

    /// The keys without NULL that no target in the slice has. A key is compared as its target's columns would store it.
    fn missing(&self, slice: &[Rows], at: usize, key: &ForeignPlan) -> Vec<Vec<Value>> {
        let target = &self.plan.tables[key.target];
        let columns = self.schema.table(target.id).map_or(&[][..], |table| &table.columns);
        let target_keys: HashSet<Vec<Value>> =
            slice[key.target].values().map(|row| key_of(row, &key.target_columns)).collect();
        let as_target = |values: &[Value]| -> Vec<Value> {
            let targets = key.target_columns.iter().map(|&at| &columns[target.columns[at].index as usize]);
            values.iter().zip(targets).map(|(value, column)| stored(value, column.affinity)).collect()
        };
        let mut seen = HashSet::new();
        let keys = slice[at].values().map(|row| key_of(row, &key.columns));
        keys.filter(|key| !key.contains(&Value::Null) && !target_keys.contains(&as_target(key)))
            .filter(|key| seen.insert(key.clone()))
            .collect()
    }
}

fn key_of(row: &[Value], columns: &[usize]) -> Vec<Value> {
    columns.iter().map(|&at| row[at].clone()).collect()
}

fn rowid(schema: &Schema, id: TableId, relation: RelationId) -> Expr {
    let alias = schema.table(id).and_then(Table::rowid_alias);
    Expr::Column(alias.map_or(ColumnRef::rowid(relation), |at| ColumnRef::at(relation, at)))
}

/// The probes of a query: of each SELECT that can be run alone one with its WHERE, one without, and where it says so one
/// in its order.
fn probes(query: &Query, schema: &Schema) -> Vec<Probe> {
    struct Selects<'s> {
        schema: &'s Schema,
        ctes: Vec<Cte>,
        probes: Vec<Probe>,
    }
    impl Visitor for Selects<'_> {
        fn query(&mut self, query: &Query) {
            self.ctes.extend(query.ctes.iter().cloned());
            if let Some(select) = query.as_select().filter(|_| !query.order_by.is_empty()) {
                let ordered = probe(select, select.filter.clone(), &query.order_by, self);
                self.probes.extend(ordered);
            }
        }

        fn body(&mut self, body: &Body) {
            if let Body::Select(select) = body {
                let (some, any) =
                    (probe(select, select.filter.clone(), &[], self), probe(select, None, &[], self));
                self.probes.extend(some);
                self.probes.extend(any.filter(|_| select.filter.is_some()));
            }
        }
    }
    /// `None` where the rows of the SELECT are not told by tables alone.
    fn probe(
        select: &Select,
        filter: Option<Expr>,
        order_by: &[OrderTerm],
        within: &Selects<'_>,
    ) -> Option<Probe> {
        let from = select.from.clone()?;
        let tables: Vec<(TableId, RelationId)> = from
            .relations()
            .iter()
            .filter_map(|relation| Some((relation.table()?, relation.id)))
            .filter(|(id, _)| within.schema.table(*id).is_some_and(|table| !table.without_rowid))
            .collect();
        let terms = order_by.iter().map(|term| {
            let expr = match &term.expr {
                Expr::Output(at) => select.outputs.get(*at as usize)?.expr.clone(),
                expr => expr.clone(),
            };
            Some(OrderTerm { expr, ..term.clone() })
        });
        let outputs = tables.iter().map(|&(id, relation)| Output::of(rowid(within.schema, id, relation)));
        let select = Select { outputs: outputs.collect(), filter, ..select_one(from) };
        let query = Query {
            ctes: within.ctes.clone(),
            order_by: terms.collect::<Option<_>>()?,
            ..Query::of_select(select)
        };
        let is_alone = !tables.is_empty() && free_relations(&query).is_empty();
        let text = print(&query, within.schema, PrintDialect::Sqlite).ok().filter(|_| is_alone)?;
        Some(Probe { tables: tables.into_iter().map(|(id, _)| id).collect(), text })
    }
    let mut selects = Selects { schema, ctes: Vec::new(), probes: Vec::new() };
    walk_query(&mut selects, query);
    selects.probes
}
