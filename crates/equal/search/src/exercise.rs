//! What the databases of a search exercised of two queries: which conditions were true, false and NULL somewhere, which
//! joins left rows without a partner, which groups had several rows.
//!
//! A pair that no database told apart is the better known the more was exercised. What never happened is where to look for a
//! difference that the search missed.

use std::collections::BTreeSet;
use std::fmt;

use sqlgauge_base::Random;
use sqlgauge_engine::{Sandbox, Value};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{
    Args, BinaryOperator, Body, Cte, Expr, From, JoinKind, Output, Query, Select, UnaryOperator,
};
use sqlgauge_sql::visit::{Visitor, walk_query};
use sqlgauge_sql::{PrintDialect, print, print_expr};

use super::Search;
use super::freedom::{free_relations, select_one};
use super::generate::{Kind, generate};
use super::hunt::fill;
use super::load::Loader;
use super::plan::{Allowed, plan};
use super::trace::trace;
use super::verdict::Side;

/// Databases that are looked at.
const DATABASES: usize = 96;

/// What of a query can happen or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// A condition of WHERE, ON or HAVING is true.
    True,
    False,
    /// It is NULL.
    Null,
    /// A row of an inner join's left side finds no partner.
    Unmatched,
    SeveralRows,
}

/// What can happen to a condition.
const CONDITION: [Event; 3] = [Event::True, Event::False, Event::Null];

impl Event {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Null => "null",
            Self::Unmatched => "unmatched",
            Self::SeveralRows => "several-rows",
        }
    }
}

/// Something that never happened on any database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexercised {
    /// In which query.
    pub side: Side,
    /// What did not happen.
    pub event: Event,
    /// Of which part of the query, as SQL.
    pub part: String,
}

impl fmt::Display for Unexercised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} was never {}", self.side.name(), self.part, self.event.name())
    }
}

/// A part of a query and what can happen to it, with the query that returns 1 for each event that does.
struct Probe {
    side: Side,
    part: String,
    events: Vec<Event>,
    text: String,
}

impl Search {
    /// What the first databases of the search do not exercise of the two queries; `None` where the pair cannot be searched.
    /// Parts of correlated subqueries are left out.
    pub fn unexercised(&self, left: &str, right: &str) -> Option<Vec<Unexercised>> {
        self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            self.create(&prepared).ok()?;
            let queries = [(&prepared.left.query, Side::Left), (&prepared.right.query, Side::Right)];
            let probes: Vec<Probe> =
                queries.into_iter().flat_map(|(query, side)| probes(query, side, &self.schema)).collect();
            let traces = queries.map(|(query, _)| trace(query));
            let [left, right] = traces;
            let traces = [left, right, self.trace_checks(&prepared.tables)];
            let plan = plan(&self.schema, &prepared.tables, &traces, Allowed::by(&self.options));
            let mut loader = Loader::new(&self.sandbox, &self.schema, &plan.columns()).ok()?;
            let mut happened: Vec<BTreeSet<Event>> = vec![BTreeSet::new(); probes.len()];
            let [seed, left, right] = prepared.seed;
            for number in 0..self.options.databases.min(DATABASES) {
                let mut random = Random::new([seed, left, right, number as u64]);
                let rows = generate(&plan, number, Kind::Plain, &mut random);
                if fill(&plan, &mut loader, rows).is_some() {
                    probes
                        .iter()
                        .zip(&mut happened)
                        .for_each(|(probe, events)| probe.look(&self.sandbox, events));
                }
            }
            if self.sandbox.own_left_in_total() == 0 {
                // Little was tried, so that nothing follows from what did not happen.
                return None;
            }
            let missing = probes.iter().zip(&happened).flat_map(|(probe, happened)| {
                let events = probe.events.iter().filter(|event| !happened.contains(event));
                events.map(|&event| Unexercised { side: probe.side, event, part: probe.part.clone() })
            });
            Some(missing.collect())
        })
    }
}

impl Probe {
    /// Adds what happens on the database at hand, if not all has happened already.
    fn look(&self, sandbox: &Sandbox, seen: &mut BTreeSet<Event>) {
        if seen.len() == self.events.len() {
            return;
        }
        let Some(result) = sandbox.prepare(&self.text).and_then(|mut query| sandbox.run(&mut query)).ok()
        else {
            return;
        };
        for row in result.rows() {
            let happened = self.events.iter().zip(row).filter(|(_, value)| **value == Value::Integer(1));
            seen.extend(happened.map(|(&event, _)| event));
        }
    }
}

/// The probes of every SELECT of a query that can be run alone.
fn probes(query: &Query, side: Side, schema: &Schema) -> Vec<Probe> {
    struct Selects<'s> {
        side: Side,
        schema: &'s Schema,
        ctes: Vec<Cte>,
        probes: Vec<Probe>,
    }
    impl Visitor for Selects<'_> {
        fn query(&mut self, query: &Query) {
            self.ctes.extend(query.ctes.iter().cloned());
        }

        fn body(&mut self, body: &Body) {
            let Body::Select(select) = body else { return };
            let Some(from) = &select.from else { return };
            for condition in select.filter.iter().flat_map(conjuncts) {
                let outputs = events_of_condition(condition);
                self.add(condition, Select { outputs, ..select_one(from.clone()) }, &CONDITION);
            }
            self.joins(from);
            if !select.group_by.is_empty() {
                self.groups(select);
            }
        }
    }
    impl Selects<'_> {
        fn joins(&mut self, from: &From) {
            let From::Join(join) = from else { return };
            self.joins(&join.left);
            self.joins(&join.right);
            if let (JoinKind::Inner, Some(on)) = (join.kind, &join.on) {
                let partner = Select { filter: Some(on.clone()), ..select_one(join.right.clone()) };
                let query = Box::new(Query::of_select(partner));
                let outputs = vec![Output::of(Expr::Exists { query, negated: true })];
                self.add(on, Select { outputs, ..select_one(join.left.clone()) }, &[Event::Unmatched]);
            }
        }

        fn groups(&mut self, select: &Select) {
            let ungrouped = Select { having: None, distinct: false, ..select.clone() };
            let count = Expr::aggregate(Function::Count, Args::Star);
            let is_several = Expr::binary(BinaryOperator::Greater, count, Expr::integer(1));
            let outputs = vec![Output::of(is_several)];
            for key in &select.group_by {
                let rows = Select { outputs: outputs.clone(), ..ungrouped.clone() };
                self.add(key, rows, &[Event::SeveralRows]);
            }
            for condition in select.having.iter().flat_map(conjuncts) {
                let outputs = events_of_condition(condition);
                self.add(condition, Select { outputs, ..ungrouped.clone() }, &CONDITION);
            }
        }

        fn add(&mut self, part: &Expr, select: Select, events: &[Event]) {
            let query = Query { ctes: self.ctes.clone(), ..Query::of_select(select) };
            if !free_relations(&query).is_empty() {
                return;
            }
            let text = print(&query, self.schema, PrintDialect::Sqlite);
            if let (Ok(text), Ok(part)) = (text, print_expr(part, &query, self.schema, PrintDialect::Sqlite))
            {
                self.probes.push(Probe { side: self.side, part, events: events.to_vec(), text });
            }
        }
    }
    let mut selects = Selects { side, schema, ctes: Vec::new(), probes: Vec::new() };
    walk_query(&mut selects, query);
    selects.probes
}

/// The conditions that must all hold.
fn conjuncts(condition: &Expr) -> &[Expr] {
    match condition {
        Expr::And(list) => list,
        single => std::slice::from_ref(single),
    }
}

/// Whether a condition is true, false, NULL.
fn events_of_condition(condition: &Expr) -> Vec<Output> {
    let not = Expr::Unary(UnaryOperator::Not, Box::new(condition.clone()));
    let is_null = Expr::IsNull { expr: Box::new(condition.clone()), negated: false };
    // NOT twice makes 0 or 1 of any value.
    let truth = Expr::Unary(UnaryOperator::Not, Box::new(not.clone()));
    [truth, not, is_null].map(Output::of).to_vec()
}
