//! Where SQL leaves the result of a query open, so that a difference proves nothing.
//!
//! For some queries SQLite may return one of several results on one database: LIMIT cuts through rows with equal sort
//! keys (or no sort at all), a scalar subquery has several rows, a column that is neither grouped nor aggregated
//! takes the value of any row of its group, `group_concat` joins rows in any order, a window function numbers tied
//! rows. Each such place becomes a *check*: a query that returns a row if the database at hand leaves a choice there.
//! Checks are built from the query's own FROM and WHERE, so on a database where all of them are empty the result is
//! the only one. They err on the side of a choice: a place inside a correlated subquery is checked for every row of
//! the enclosing FROM, and one that cannot be checked counts as open.
//!
//! Four freedoms are not only checked but understood, as real predictions are full of them:
//! - a LIMIT of the outermost query ([`OutermostLimit`]): its possible results are known;
//! - a subquery of which one row is taken ([`Site`]): the query is run with each row that it could be;
//! - a window that numbers tied rows ([`TiedWindow`]): the query is run with each order of few rows;
//! - a result column that takes the value of any row of its group ([`Loose`]): only the other columns are compared.
//!
//! Two queries then differ if they have no possible result in common.

mod affinity;
mod build;
mod choice;
mod collector;
mod level;
mod lift;
mod permitted;
mod possible;
mod ties;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use sqlgauge_engine::Value;
use sqlgauge_sql::aggregates::is_entangled;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Collation, Schema};
use sqlgauge_sql::tree::{
    Args, Body, CteId, Expr, Output, Query, Relation, RelationId, RelationSource, Select,
};
use sqlgauge_sql::visit::{Rewriter, Visitor, rewrite_query, walk_query};
use sqlgauge_sql::{PrintDialect, PrintError, print};

use self::build::{column, derived, is_exactly};
pub(crate) use self::build::{literal_of, select_one};
pub(crate) use self::choice::Place;
pub use self::choice::{Choice, OpenPlace};
use self::collector::{Collector, Role};
pub(crate) use self::permitted::{are_cut_alike, rows_with_keys, without_order};
pub(crate) use self::possible::{OutermostLimit, Possible};
pub(crate) use self::ties::TiedWindow;
pub(crate) use self::walk::free_relations;
use super::trace::{Trace, trace};
use super::verdict::Inapplicable;

/// The freedoms of a query.
#[derive(Debug, Default)]
pub(crate) struct Freedom {
    /// Queries that return a row on a database that leaves a choice, with the place.
    pub(crate) checks: Vec<(String, Place)>,
    /// The LIMIT of the outermost query.
    pub(crate) cut: Option<OutermostLimit>,
    /// Subqueries of which one row is taken, each after those that it depends on.
    pub(crate) sites: Vec<Site>,
    /// Windows in which rows may be tied.
    pub(crate) ties: Vec<TiedWindow>,
    /// Result columns that may be open.
    pub(crate) loose: Vec<Loose>,
    /// Asks for the present time.
    pub(crate) uses_clock: bool,
}

impl Freedom {
    /// Whether the query has one result on every database.
    pub(crate) fn is_none(&self) -> bool {
        let has_sites = !self.sites.is_empty() || !self.ties.is_empty();
        self.checks.is_empty() && self.cut.is_none() && !has_sites && self.loose.is_empty()
    }

    /// The freedoms of a query.
    ///
    /// # Errors
    /// [`Inapplicable`] when its result depends on chance, or on more than the rows of tables.
    pub(crate) fn of(query: &Query, schema: &Schema) -> Result<Self, Inapplicable> {
        let mut scan = Scan::new(schema);
        walk_query(&mut scan, query);
        if let Some(obstacle) = scan.obstacle {
            return Err(obstacle);
        }
        if is_entangled(query) {
            return Self::of_entangled(query, schema, scan.next_relation);
        }
        let mut collector = Collector {
            ctes: Vec::new(),
            enclosing: Vec::new(),
            recursive: 0,
            shared: 0,
            shares_ctes: scan.ctes.values().any(|references| *references > 1),
            next_relation: scan.next_relation,
            checks: Vec::new(),
            is_always_open: false,
            cut: None,
            sites: Vec::new(),
            ties: Vec::new(),
            loose: Vec::new(),
            schema,
        };
        collector.query(query, Role::Top);
        let printed: Result<Vec<(String, Place)>, _> = collector
            .checks
            .iter()
            .map(|(check, place)| {
                Ok::<_, PrintError>((print(check, schema, PrintDialect::Sqlite)?, place.clone()))
            })
            .collect();
        let is_open = collector.is_always_open || printed.is_err();
        let mut checks = printed.unwrap_or_default();
        if is_open {
            checks.insert(0, always_open());
        }
        let traced = trace(query);
        checks.extend(inexact_sums(schema, &traced).into_iter().map(|check| (check, Place::of(Choice::Sum))));
        if scan.has_collation && scan.has_representatives {
            let place = Place::of(Choice::EqualTexts);
            checks.extend(equal_texts(schema, &traced).map(|check| (check, place)));
        }
        if let Some(part) = affinity::compares_mixed(query, schema) {
            // Which of them it is, no query can ask.
            checks.insert(0, ("SELECT 1".to_owned(), Place { choice: Choice::Affinity, part: Some(part) }));
        }
        let Collector { cut, sites, ties, loose, .. } = collector;
        Ok(Self { checks, cut, sites, ties, loose, uses_clock: scan.uses_clock })
    }

    /// The freedoms of a query with an aggregate in a subquery of its owner: those of the same query with that aggregate lifted.
    fn of_entangled(query: &Query, schema: &Schema, next_relation: u32) -> Result<Self, Inapplicable> {
        let Some(lifted) = lift::lifted(query, next_relation) else {
            let message = "the query has an aggregate of an outer query inside a correlated subquery";
            return Err(Inapplicable::unsupported("outer aggregate", message));
        };
        let mut freedom = Self::of(&lifted, schema)?;
        // Each of these is tried out by a change of the statement, which has no such part.
        if freedom.cut.is_some() || !freedom.sites.is_empty() || !freedom.ties.is_empty() {
            let uses_clock = freedom.uses_clock;
            freedom = Self { checks: vec![always_open()], uses_clock, ..Self::default() };
        }
        Ok(freedom)
    }
}

/// A subquery of which one row is taken, where several may be the one.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    query: Query,
    pub(crate) place: Place,
    /// All its rows with their sort keys, and which of them may be taken.
    pub(crate) cut: OutermostLimit,
    /// A relation that the statement does not use yet.
    free_relation: RelationId,
}

impl Site {
    /// The statement with the site narrowed to that row.
    pub(crate) fn narrowed(&self, statement: &Query, row: &[Value]) -> Query {
        struct Narrowing<'n>(&'n Query, Query);
        impl Rewriter for Narrowing<'_> {
            fn query(&mut self, query: &mut Query) {
                if query == self.0 {
                    query.clone_from(&self.1);
                }
            }
        }
        let id = self.free_relation;
        let width = self.query.width();
        let all =
            Query { ctes: Vec::new(), order_by: Vec::new(), limit: None, offset: None, ..self.query.clone() };
        let equalities = row.iter().take(width).enumerate().flat_map(|(at, value)| is_exactly(id, at, value));
        let mut equalities: Vec<Expr> = equalities.collect();
        let filter = if equalities.len() == 1 { equalities.pop() } else { Some(Expr::And(equalities)) };
        let outputs = (0..width).map(|at| Output::of(column(id, at))).collect();
        let select = Select { filter, outputs, ..select_one(derived(id, all)) };
        let query = Query {
            ctes: self.query.ctes.clone(),
            limit: Some(Expr::integer(1)),
            ..Query::of_select(select)
        };
        let mut narrowed = statement.clone();
        rewrite_query(&mut Narrowing(&self.query, query), &mut narrowed);
        narrowed
    }
}

/// A result column that takes the value of any row of its group.
#[derive(Debug, Clone)]
pub(crate) struct Loose {
    pub(crate) column: usize,
    /// A query that returns a row if there is a choice.
    pub(crate) check: String,
    pub(crate) place: Place,
}

/// What can be told from single nodes.
struct Scan<'a> {
    schema: &'a Schema,
    obstacle: Option<Inapplicable>,
    uses_clock: bool,
    /// Some comparison takes different texts for equal.
    has_collation: bool,
    /// Something keeps one of several equal values, or sorts.
    has_representatives: bool,
    next_relation: u32,
    /// How often each CTE is read.
    ctes: BTreeMap<CteId, usize>,
}

impl<'a> Scan<'a> {
    fn new(schema: &'a Schema) -> Self {
        Self {
            schema,
            obstacle: None,
            uses_clock: false,
            has_collation: false,
            has_representatives: false,
            next_relation: 0,
            ctes: BTreeMap::new(),
        }
    }
}

impl Scan<'_> {
    fn call(&mut self, function: &Function, args: &Args) {
        self.has_representatives |= matches!(function, Function::Min | Function::Max);
        if function.is_deterministic(args) {
            return;
        }
        if function.properties().may_read_clock {
            self.uses_clock = true;
        } else {
            let message = format!("the query calls {}()", function.name());
            self.obstacle = Some(Inapplicable::nondeterministic(message));
        }
    }
}

impl Visitor for Scan<'_> {
    fn query(&mut self, query: &Query) {
        self.has_representatives |= !query.order_by.is_empty();
    }

    fn body(&mut self, body: &Body) {
        self.has_representatives |= match body {
            Body::Select(select) => select.distinct || !select.group_by.is_empty(),
            Body::SetOperation { all, .. } => !all,
            Body::Values(_) => false,
        };
    }

    fn relation(&mut self, relation: &Relation) {
        self.next_relation = self.next_relation.max(relation.id.0.saturating_add(1));
        match &relation.source {
            RelationSource::Catalog => {
                self.obstacle = Some(Inapplicable::unsupported("catalog", "the query reads sqlite_schema"));
            }
            RelationSource::Function { name, .. } if name.starts_with("pragma") => {
                self.obstacle = Some(Inapplicable::unsupported("pragma", format!("the query reads {name}")));
            }
            RelationSource::Cte(id) => *self.ctes.entry(*id).or_default() += 1,
            RelationSource::Table(id) => {
                let columns =
                    self.schema.table(*id).map(|table| table.columns.as_slice()).unwrap_or_default();
                self.has_collation |= columns.iter().any(|column| column.collation != Collation::Binary);
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Collate { collation, .. } => self.has_collation |= collation != "BINARY",
            other => {
                if let Some((function, args)) = other.called() {
                    self.call(function, args);
                }
            }
        }
    }
}

/// The check of a choice that no query can ask about.
fn always_open() -> (String, Place) {
    ("SELECT 1".to_owned(), Place::of(Choice::Unchecked))
}

/// A check for numbers whose sum depends on the order of summation: those that are no multiples of 1/1024.
fn inexact_sums(schema: &Schema, traced: &Trace) -> Vec<String> {
    let columns: BTreeSet<_> = traced.summed.iter().collect();
    let checks = columns.into_iter().filter_map(|&(table, column)| {
        let table = schema.table(table)?;
        let column = quoted(&table.column(column)?.name);
        Some(format!(
            "SELECT 1 FROM {} WHERE typeof({column}) IN ('real', 'text') AND (abs(CAST({column} AS REAL)) > 1e12 OR \
             CAST(CAST({column} AS REAL) * 1024 AS INTEGER) <> CAST({column} AS REAL) * 1024)",
            quoted(&table.name)
        ))
    });
    checks.collect()
}

/// A check for different texts that some collation takes for equal.
fn equal_texts(schema: &Schema, traced: &Trace) -> Option<String> {
    let columns: BTreeSet<_> = traced.read.iter().collect();
    let texts = columns.into_iter().filter_map(|&(table, column)| {
        let table = schema.table(table)?;
        let column = quoted(&table.column(column)?.name);
        let from = quoted(&table.name);
        Some(format!("SELECT {column} COLLATE BINARY AS v FROM {from} WHERE typeof({column}) = 'text'"))
    });
    let texts: Vec<String> = texts.collect();
    let union = texts.join(" UNION ");
    let check =
        format!("SELECT 1 FROM ({union}) GROUP BY rtrim(lower(v)) COLLATE BINARY HAVING count(*) > 1");
    (!texts.is_empty()).then_some(check)
}
