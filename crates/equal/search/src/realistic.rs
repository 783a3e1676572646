//! Constraints mined from a real database, so that counterexamples look like what is there.
//!
//! Of each column: whether it is ever NULL, between which values it lies where all are numbers or all are dates, and which
//! values it has where there are few. They are what the rows keep, not what the schema demands: a search keeps to them in
//! its plain databases, and finds what it can only find beyond them afterwards. [`Search::broken_constraints`] says of a witness which it
//! does not keep.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use sqlgauge_engine::{Database, Engine, ResultSet, Value};
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Schema, Table, TableId, TableKind};

use super::Search;
use super::plan::Plan;
use super::trace::{ColumnKey, trace};
use super::values::{date_part, number};
use super::witness::{Witness, literal};

/// A column with at most so many values is one of categories, if each occurs this often on average.
const MAX_CATEGORIES: usize = 16;
const ROWS_PER_CATEGORY: usize = 5;

impl Search {
    /// Whether it was given the constraints of a database.
    pub fn is_realistic(&self) -> bool {
        self.constraints.is_some()
    }

    /// Which constraints of the database that the search was given ([`Search::realistic`]) a witness does not keep, in the
    /// columns that the queries read; none where it was given none.
    pub fn broken_constraints(&self, witness: &Witness, left: &str, right: &str) -> Vec<String> {
        let broken = self.bounded_option(&[left, right], || {
            let (constraints, prepared) = (self.constraints.as_ref()?, self.prepared(left, right).ok()?);
            let traces = [trace(&prepared.left.query), trace(&prepared.right.query)];
            let read = traces.into_iter().flat_map(|trace| trace.read).collect();
            Some(constraints.broken_by(witness, &self.schema, &read))
        });
        broken.unwrap_or_default()
    }
}

/// What the rows of a database keep.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constraints {
    columns: HashMap<(TableId, u32), ColumnConstraint>,
}

/// What the values of one column keep.
#[derive(Debug, Clone, Default, PartialEq)]
struct ColumnConstraint {
    is_not_null: bool,
    /// The least and the greatest value, where all are numbers or all are dates.
    range: Option<(Value, Value)>,
    /// All values, where they are few.
    categories: Option<Vec<Value>>,
}

impl Constraints {
    /// Mines a database. A table that has no rows, or cannot be read within the engine's limits, has no constraints.
    pub fn mine(engine: &dyn Engine, database: &Database) -> Self {
        let schema = database.schema();
        let mut columns = HashMap::new();
        for id in schema.ids() {
            let Some(table) = schema.table(id).filter(|table| table.kind == TableKind::Table) else {
                continue;
            };
            for (at, mined) in (0..).zip(mined(engine, database, table)) {
                columns.extend(mined.map(|mined| ((id, at), mined)));
            }
        }
        Self { columns }
    }

    /// The same constraints for a schema with the same tables in the same order, under other keys.
    #[must_use]
    pub fn over(&self, schema: &Schema) -> Self {
        let there = |((id, at), own): (&(TableId, u32), &ColumnConstraint)| {
            Some(((schema.id_at(id.index())?, *at), own.clone()))
        };
        Self { columns: self.columns.iter().filter_map(there).collect() }
    }

    /// The constraints on those columns that a witness does not keep, in words.
    fn broken_by(&self, witness: &Witness, schema: &Schema, read: &BTreeSet<ColumnKey>) -> Vec<String> {
        let broken = read.iter().filter_map(|&(id, at)| {
            let table = schema.table(id)?;
            let mut values = witness.table(&table.name)?.rows.iter().filter_map(|row| row.get(at as usize));
            let value = values.find(|value| !self.keeps(id, at, value))?;
            Some(format!("{}.{}: {}", table.name, table.column(at)?.name, self.reason(id, at, value)))
        });
        broken.collect()
    }

    /// Takes what does not keep the constraints for off the type of its column, and puts values of the database in place of
    /// ordinary ones.
    pub(super) fn limit(&self, plan: &mut Plan) {
        let classes: Vec<(usize, usize)> =
            plan.classes.iter().map(|class| (class.odd, class.spread)).collect();
        for table in &mut plan.tables {
            for (at, column) in table.columns.iter_mut().enumerate() {
                let is_free = !column.is_linked && !table.keys.iter().any(|key| key.contains(&at));
                let (from, to) = classes[column.class];
                if is_free {
                    let examples = self.examples(table.id, column.index);
                    let cells = column.pool[from..to].iter_mut().zip(&mut column.off_type[from..to]);
                    for ((cell, is_off), example) in cells.zip(examples) {
                        (*cell, *is_off) = (example, false);
                    }
                }
                column.avoids_null |= self.is_not_null(table.id, column.index);
                for (value, is_off) in column.pool.iter().zip(&mut column.off_type) {
                    *is_off |= *value != Value::Null && !self.keeps(table.id, column.index, value);
                }
            }
        }
    }

    /// Whether a value may stand in that column.
    fn keeps(&self, table: TableId, column: u32, value: &Value) -> bool {
        let Some(constraint) = self.columns.get(&(table, column)) else { return true };
        match (value, &constraint.categories, &constraint.range) {
            (Value::Null, ..) => !constraint.is_not_null,
            (value, Some(categories), _) => categories.contains(value),
            (value, None, Some((low, high))) => !is_below(value, low) && !is_below(high, value),
            (_, None, None) => true,
        }
    }

    /// Some values that the column has.
    fn examples(&self, table: TableId, column: u32) -> Vec<Value> {
        let Some(constraint) = self.columns.get(&(table, column)) else { return Vec::new() };
        let ends = constraint.range.iter().flat_map(|(low, high)| [low.clone(), high.clone()]);
        constraint.categories.iter().flatten().cloned().chain(ends).collect()
    }

    /// Whether the column is never NULL.
    fn is_not_null(&self, table: TableId, column: u32) -> bool {
        self.columns.get(&(table, column)).is_some_and(|constraint| constraint.is_not_null)
    }

    fn reason(&self, table: TableId, column: u32, value: &Value) -> String {
        let constraint = self.columns.get(&(table, column));
        match (value, constraint.and_then(|constraint| constraint.range.as_ref())) {
            (Value::Null, _) => "never NULL there".to_owned(),
            (value, Some((low, high))) => {
                format!("{} is not within {} and {}", literal(value), literal(low), literal(high))
            }
            (value, None) => format!("{} is none of the values there", literal(value)),
        }
    }
}

/// Of two numbers or two texts whether the first is less; a value of another kind than the bound is.
fn is_below(value: &Value, bound: &Value) -> bool {
    match (value, bound) {
        (Value::Text(value), Value::Text(bound)) => value < bound,
        (Value::Integer(_) | Value::Real(_), Value::Integer(_) | Value::Real(_)) => {
            number(value) < number(bound)
        }
        _ => true,
    }
}

/// For each column of a table its constraint, if it has one.
fn mined(engine: &dyn Engine, database: &Database, table: &Table) -> Vec<Option<ColumnConstraint>> {
    let name = quoted(&table.name);
    let mut sql = "SELECT count(*)".to_owned();
    for column in &table.columns {
        let c = quoted(&column.name);
        // Writing to a String cannot fail.
        let _ = write!(
            sql,
            ", count({c}), count(DISTINCT {c}), min({c}), max({c}), sum(typeof({c}) IN ('integer', 'real'))"
        );
    }
    let rows = |sql: &str| engine.run(database, sql).rows().cloned();
    let Some(summary) = rows(&format!("{sql} FROM {name}")) else { return Vec::new() };
    let Some((total, columns)) = summary.row(0).and_then(<[Value]>::split_first) else { return Vec::new() };
    let total = count(total);
    if total == 0 {
        return Vec::new();
    }
    let columns = table.columns.iter().zip(columns.chunks(5)).map(|(column, of)| {
        let [present, distinct, low, high, numbers] = of else { return None };
        let (present, distinct) = (count(present), count(distinct));
        let is_date = |value: &Value| value.as_str().is_some_and(|text| date_part(text).is_some());
        let has_range = present > 0 && (count(numbers) == present || (is_date(low) && is_date(high)));
        let has_categories =
            present > 0 && distinct <= MAX_CATEGORIES && total >= distinct * ROWS_PER_CATEGORY;
        let c = quoted(&column.name);
        let values = || rows(&format!("SELECT DISTINCT {c} FROM {name} WHERE {c} IS NOT NULL ORDER BY 1"));
        let categories = has_categories.then(values).flatten();
        Some(ColumnConstraint {
            is_not_null: present == total,
            range: has_range.then(|| (low.clone(), high.clone())),
            categories: categories.map(|values: Arc<ResultSet>| values.values().to_vec()),
        })
    });
    columns.collect()
}

fn count(value: &Value) -> usize {
    match value {
        Value::Integer(count) => usize::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}
