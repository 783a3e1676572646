//! What a database keeps of what the rows of another keep, in words.

use std::collections::{BTreeSet, HashMap, HashSet};

use sqlgauge_engine::Value;
use sqlgauge_sql::schema::{Schema, Table, TableId};
use sqlgauge_sql::tree::Query;

use super::{ColumnConstraint, Constraints, TableConstraints, is_below};
use crate::Search;
use crate::needs::FilledTables;
use crate::plan::tables_of;
use crate::trace::{ColumnKey, trace};
use crate::values::{Key, key_of, stored};
use crate::witness::{Witness, WitnessTable, literal};

/// What a counterexample keeps of what the rows of the given database keep, and what it does not, in words; about the columns
/// that the queries read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resemblance {
    /// What it keeps, uniqueness first; without what the schema demands anyway, and what too few rows could not break.
    pub kept: Vec<String>,
    /// What it does not.
    pub not_kept: Vec<String>,
    /// The tables of which it is not known what their rows keep, and why.
    pub unknown: Vec<String>,
}

impl Resemblance {
    /// Whether it keeps everything; `None` where that is not known.
    pub fn is_complete(&self) -> Option<bool> {
        match (self.not_kept.as_slice(), self.unknown.as_slice()) {
            ([], []) => Some(true),
            ([], _) => None,
            _ => Some(false),
        }
    }
}

impl Search {
    /// How far a database is like the one whose constraints the search was given ([`Search::realistic`]); `None` where it was
    /// given none.
    pub fn resemblance(&self, witness: &Witness, left: &str, right: &str) -> Option<Resemblance> {
        self.bounded_option(&[left, right], || {
            let (constraints, prepared) = (self.constraints.as_ref()?, self.prepared(left, right).ok()?);
            let queries = [&prepared.left.query, &prepared.right.query];
            let read = queries.iter().flat_map(|query| trace(query).read).collect();
            let tables: BTreeSet<TableId> = queries.into_iter().flat_map(tables_of).collect();
            Some(constraints.resemblance(witness, &self.schema, (&tables, &read)))
        })
    }
}

/// What the rows of a given database keep, as the rule for counterexamples that are made smaller: none may break more of it than
/// the first.
pub(crate) struct Likeness<'a> {
    constraints: &'a Constraints,
    schema: &'a Schema,
    tables: BTreeSet<TableId>,
    read: BTreeSet<ColumnKey>,
    most_broken: usize,
}

impl<'a> Likeness<'a> {
    /// The rule for a counterexample of those queries; `None` where the search has no constraints.
    pub(crate) fn new(
        like: &'a Search,
        schema: &'a Schema,
        queries: [&Query; 2],
        first: &FilledTables,
    ) -> Option<Self> {
        let read = queries.iter().flat_map(|query| trace(query).read).collect();
        let tables = queries.into_iter().flat_map(tables_of).collect();
        let constraints = like.constraints.as_ref()?;
        let rule = Self { constraints, schema, tables, read, most_broken: 0 };
        Some(Self { most_broken: rule.broken(first), ..rule })
    }

    fn broken(&self, filled: &FilledTables) -> usize {
        let witness = filled.witness(self.schema);
        let resemblance = self.constraints.resemblance(&witness, self.schema, (&self.tables, &self.read));
        resemblance.not_kept.len()
    }

    /// Whether a database breaks no more than the first.
    pub(crate) fn is_kept_by(&self, filled: &FilledTables) -> bool {
        self.broken(filled) <= self.most_broken
    }

    /// Whether a value may stand in a column, as far as that can be told without the other rows.
    pub(crate) fn may_hold(&self, id: TableId, column: u32, value: &Value) -> bool {
        let constraint = self.constraints.table(id).and_then(|table| table.columns.get(column as usize));
        self.most_broken > 0
            || !self.read.contains(&(id, column))
            || !self.tables.contains(&id)
            || constraint.is_none_or(|constraint| constraint.keeps(value))
    }
}

impl Constraints {
    fn resemblance(
        &self,
        witness: &Witness,
        schema: &Schema,
        (tables, read): (&BTreeSet<TableId>, &BTreeSet<ColumnKey>),
    ) -> Resemblance {
        let mut resemblance = Resemblance::default();
        for (id, table) in tables.iter().filter_map(|&id| Some((id, schema.table(id)?))) {
            if let Some(reason) = self.unknown(id) {
                resemblance.unknown.push(format!("{}: {reason}", table.name));
            }
        }
        for table in tables.iter().filter(|id| self.has_rows(**id)).filter_map(|&id| schema.table(id)) {
            if witness.table(&table.name).is_none_or(|rows| rows.rows.is_empty()) {
                resemblance.not_kept.push(format!("{} has no rows, your table has some", table.name));
            }
        }
        let looks: Vec<Look<'_>> = tables
            .iter()
            .filter_map(|&id| {
                let (table, constraints) = (schema.table(id)?, self.table(id)?);
                let rows = witness.table(&table.name).filter(|rows| !rows.rows.is_empty())?;
                let stored = table.stored_columns();
                let is_read = |at: &&u32| read.contains(&(id, **at));
                let read = stored.iter().filter(is_read).copied().collect();
                Some(Look { schema, witness, table, constraints, rows, stored, read })
            })
            .collect();
        looks.iter().for_each(|look| look.uniqueness(&mut resemblance));
        looks.iter().for_each(|look| look.dependencies(&mut resemblance));
        looks.iter().for_each(|look| look.orders(&mut resemblance));
        looks.iter().for_each(|look| look.inclusions(&mut resemblance));
        looks.iter().for_each(|look| look.each_column(&mut resemblance));
        resemblance
    }
}

/// One table of a database that is looked at.
struct Look<'a> {
    schema: &'a Schema,
    witness: &'a Witness,
    table: &'a Table,
    constraints: &'a TableConstraints,
    rows: &'a WitnessTable,
    /// The columns that the rows have values of, in their order: all but generated ones.
    stored: Vec<u32>,
    /// Those of them that the queries read.
    read: BTreeSet<u32>,
}

/// The value that a row has in a column, given the columns that it has values of.
fn value_in<'r>(row: &'r [Value], stored: &[u32], column: u32) -> Option<&'r Value> {
    row.get(stored.binary_search(&column).ok()?)
}

impl Look<'_> {
    fn name(&self, column: u32) -> String {
        let name = self.table.column(column).map_or("?", |column| column.name.as_str());
        format!("{}.{name}", self.table.name)
    }

    fn values(&self, column: u32) -> impl Iterator<Item = &Value> {
        self.rows.rows.iter().filter_map(move |row| value_in(row, &self.stored, column))
    }

    fn uniqueness(&self, resemblance: &mut Resemblance) {
        for key in self.constraints.unique.iter().filter(|key| key.iter().all(|at| self.read.contains(at))) {
            let names = key.iter().map(|&at| self.name(at)).collect::<Vec<_>>().join(", ");
            match self.repeated(key) {
                Some(row) => {
                    let values = key.iter().filter_map(|&at| value_in(row, &self.stored, at)).map(literal);
                    let values = values.collect::<Vec<_>>().join(", ");
                    resemblance
                        .not_kept
                        .push(format!("{names} has {values} twice, the given rows have no value twice"));
                }
                None if self.rows.rows.len() > 1 => {
                    resemblance.kept.push(format!("{names} has no value twice"));
                }
                None => {}
            }
        }
    }

    /// A row with the values of an earlier one in those columns.
    fn repeated(&self, key: &[u32]) -> Option<&Vec<Value>> {
        let mut seen = HashSet::new();
        self.rows.rows.iter().find(|row| {
            let values = key.iter().filter_map(|&at| {
                let value = value_in(row, &self.stored, at).filter(|value| **value != Value::Null)?;
                Some(key_of(value, &self.table.column(at)?.collation))
            });
            let values: Vec<Key<'_>> = values.collect();
            values.len() == key.len() && !seen.insert(values)
        })
    }

    fn dependencies(&self, resemblance: &mut Resemblance) {
        let is_read = |at| self.read.contains(&at);
        for dependency in self
            .constraints
            .dependencies
            .iter()
            .filter(|dependency| is_read(dependency.from) && is_read(dependency.to))
        {
            let (from, to) = (self.name(dependency.from), self.name(dependency.to));
            let mut partners: HashMap<&Value, &Value> = HashMap::new();
            let (mut is_tested, mut broken) = (false, None);
            for (determining, determined) in self.values(dependency.from).zip(self.values(dependency.to)) {
                if *determining == Value::Null {
                    continue;
                }
                match partners.insert(determining, determined) {
                    Some(other) if other != determined => broken = Some(determining),
                    Some(_) => is_tested = true,
                    None => {}
                }
            }
            match broken {
                Some(value) => {
                    let value = literal(value);
                    let text =
                        format!("{to} has two values for {from} {value}, the given rows have one for each");
                    resemblance.not_kept.push(text);
                }
                None if is_tested => resemblance.kept.push(format!("one {to} for each {from}")),
                None => {}
            }
        }
    }

    fn orders(&self, resemblance: &mut Resemblance) {
        let is_read = |at| self.read.contains(&at);
        for order in self.constraints.orders.iter().filter(|order| is_read(order.low) && is_read(order.high))
        {
            let (low, high) = (self.name(order.low), self.name(order.high));
            let pairs = self.values(order.low).zip(self.values(order.high));
            let mut both =
                pairs.filter(|(low, high)| **low != Value::Null && **high != Value::Null).peekable();
            let is_tested = both.peek().is_some();
            match both.find(|(low, high)| is_below(high, low)) {
                Some((above, below)) => {
                    let (above, below) = (literal(above), literal(below));
                    let text = format!(
                        "{low} is {above}, above the {below} of {high}, in the given rows it never is above"
                    );
                    resemblance.not_kept.push(text);
                }
                None if is_tested => resemblance.kept.push(format!("{low} never above {high}")),
                None => {}
            }
        }
    }

    fn inclusions(&self, resemblance: &mut Resemblance) {
        for inclusion in
            self.constraints.inclusions.iter().filter(|inclusion| self.read.contains(&inclusion.column))
        {
            let target = self.schema.tables().get(inclusion.table);
            let Some((target, column)) =
                target.and_then(|table| Some((table, table.column(inclusion.target)?)))
            else {
                continue;
            };
            // The tables of a counterexample are those of the queries, and what foreign keys lead to.
            let Some(rows) = self.witness.table(&target.name) else { continue };
            let stored_there = target.stored_columns();
            if !stored_there.contains(&inclusion.target) {
                continue;
            }
            let keys = rows.rows.iter().filter_map(|row| value_in(row, &stored_there, inclusion.target));
            let keys: HashSet<&Value> = keys.collect();
            let (from, to) = (self.name(inclusion.column), format!("{}.{}", target.name, column.name));
            let is_lost =
                |value: &&Value| **value != Value::Null && !keys.contains(&stored(value, column.affinity));
            match self.values(inclusion.column).find(is_lost) {
                Some(value) => {
                    let text = format!(
                        "{from} is {}, which is not in {to}, in the given rows it always is",
                        literal(value)
                    );
                    resemblance.not_kept.push(text);
                }
                None => resemblance.kept.push(format!("every {from} is in {to}")),
            }
        }
    }

    fn each_column(&self, resemblance: &mut Resemblance) {
        for &at in &self.read {
            if let Some(constraint) = self.constraints.columns.get(at as usize) {
                self.column(at, constraint, resemblance);
            }
        }
    }

    fn column(&self, at: u32, constraint: &ColumnConstraint, resemblance: &mut Resemblance) {
        let name = self.name(at);
        if let Some(value) = self.values(at).find(|value| !constraint.keeps(value)) {
            resemblance.not_kept.push(format!("{name} is {}, {}", literal(value), reason(constraint, value)));
            return;
        }
        if constraint.is_not_null && !self.table.is_not_null(at) && self.table.rowid_alias() != Some(at) {
            resemblance.kept.push(format!("no NULL in {name}"));
        }
        match (&constraint.categories, &constraint.range) {
            _ if constraint.is_key || self.values(at).all(|value| *value == Value::Null) => {}
            (Some(values), _) => {
                resemblance.kept.push(format!("{name} is one of the {} given values", values.len()));
            }
            (None, Some((low, high))) => {
                let text = format!("{name} lies between {} and {}", literal(low), literal(high));
                resemblance.kept.push(text);
            }
            (None, None) => {}
        }
    }
}

/// What the rows that are given hold instead of a value.
fn reason(constraint: &ColumnConstraint, value: &Value) -> String {
    match (value, &constraint.categories, &constraint.range) {
        (value, None, Some((low, high))) if *value != Value::Null => {
            format!("the given ones lie between {} and {}", literal(low), literal(high))
        }
        _ => "the given ones never are".to_owned(),
    }
}
