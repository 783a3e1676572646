//! Constraints mined from a real database, so that counterexamples look like what is there.
//!
//! They are what the rows keep, not what the schema demands: which columns, and which pairs of foreign keys, repeat no value;
//! which column determines another; which is never above another; which holds only values of another table's key; which is never NULL; between which
//! values a column lies where all are numbers or all are dates; and which values it has where there are few. A
//! realistic search makes databases that keep all of it. [`Search::resemblance`] says of any database what it keeps and what it does not.

mod dependencies;
mod inclusions;
mod listed;
mod mined;
mod orders;
mod resemblance;

use std::collections::BTreeMap;

use sqlgauge_engine::Value;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{ForeignKey, Schema, Table, TableId};

use self::dependencies::Dependency;
use self::inclusions::Inclusion;
pub use self::listed::RowConstraint;
pub use self::mined::Mined;
use self::mined::Source;
use self::orders::Order;
pub(super) use self::resemblance::Likeness;
pub use self::resemblance::Resemblance;
use super::declared::DeclaredColumns;
use super::needs::is_off_type_in_sql;
use super::observed::{COLUMNS, Counts, ROWS, count};
use super::plan::{Plan, TablePlan};
use super::values::{date_part, number};
use super::{Search, SearchError, SearchOptions};

/// A column with at most so many values is one of categories, if each occurs this often on average.
const MAX_CATEGORIES: i64 = 16;
const ROWS_PER_CATEGORY: i64 = 5;

impl Search {
    /// A search over that schema whose databases keep the constraints of a real one, so that a counterexample looks like what
    /// is there. It finds no others.
    ///
    /// # Errors
    /// When SQLite cannot open a database in memory.
    pub fn realistic(
        schema: &Schema,
        constraints: Constraints,
        options: SearchOptions,
    ) -> Result<Self, SearchError> {
        let options = SearchOptions { null_in_primary_key: false, ..options };
        let search = Self::new(constraints.demanded(schema), options)?;
        Ok(Self { constraints: Some(constraints), ..search })
    }
}

/// What the rows of a database keep, in the tables of one pair of queries ([`Mined::among`]).
#[derive(Debug, Clone, Default)]
pub struct Constraints {
    /// By the place of the table in the schema: other schemas with the same tables have other ids.
    tables: BTreeMap<usize, Looked>,
}

/// What a look at the rows of a table found.
#[derive(Debug, Clone)]
enum Looked {
    Rows(TableConstraints),
    NoRows,
    /// Why it is not known what the rows keep.
    Unknown(String),
}

impl Looked {
    fn rows(&self) -> Option<&TableConstraints> {
        match self {
            Self::Rows(constraints) => Some(constraints),
            Self::NoRows | Self::Unknown(_) => None,
        }
    }
}

/// What the rows of one table keep.
#[derive(Debug, Clone, Default, PartialEq)]
struct TableConstraints {
    columns: Vec<ColumnConstraint>,
    /// Columns that together repeat no values, where the schema does not say so.
    unique: Vec<Vec<u32>>,
    dependencies: Vec<Dependency>,
    orders: Vec<Order>,
    inclusions: Vec<Inclusion>,
}

/// What the values of one column keep.
#[derive(Debug, Clone, Default, PartialEq)]
struct ColumnConstraint {
    is_not_null: bool,
    /// Every value is of the column's declared type.
    is_of_type: bool,
    /// Its values say which row is meant: a new row has another, so that neither range nor categories are kept. They still
    /// make what is generated look like the rows.
    is_key: bool,
    /// The least and the greatest value, where all are numbers or all are dates.
    range: Option<(Value, Value)>,
    /// All values, where they are few.
    categories: Option<Vec<Value>>,
}

impl Constraints {
    /// The schema with what the rows keep, as far as DDL can say it, but for NOT NULL: that would fill columns that no query
    /// reads.
    fn demanded(&self, schema: &Schema) -> Schema {
        let mut tables = schema.tables().to_vec();
        for (at, constraints) in self.rows() {
            let Some(table) = tables.get_mut(at) else { continue };
            table.unique.extend(constraints.unique.iter().cloned());
            table.foreign_keys.extend(constraints.inclusions.iter().filter_map(|inclusion| {
                let target = schema.tables().get(inclusion.table)?;
                Some(ForeignKey {
                    columns: vec![inclusion.column],
                    referenced_table: target.name.clone(),
                    referenced_columns: vec![target.column(inclusion.target)?.name.clone()],
                    ..ForeignKey::default()
                })
            }));
        }
        Schema::new(tables)
    }

    /// Whether the database has rows in that table.
    pub(super) fn has_rows(&self, id: TableId) -> bool {
        self.table(id).is_some()
    }

    /// Whether it is known what the rows keep, in every table.
    pub fn are_known(&self) -> bool {
        !self.tables.values().any(|looked| matches!(looked, Looked::Unknown(_)))
    }

    /// Why it is not known what the rows of a table keep.
    fn unknown(&self, id: TableId) -> Option<&str> {
        match self.tables.get(&id.index())? {
            Looked::Unknown(reason) => Some(reason),
            Looked::Rows(_) | Looked::NoRows => None,
        }
    }

    /// The columns that hold what they declare, as far as the rows that were looked at show. A table of which that is not known
    /// is taken for one that does not.
    pub fn declared(&self, schema: &Schema) -> DeclaredColumns {
        let is_free = |table: &Table, looked: &Looked, at: u32| match looked {
            Looked::NoRows => false,
            Looked::Unknown(_) => true,
            Looked::Rows(constraints) => constraints.columns.get(at as usize).is_none_or(|column| {
                !column.is_of_type || (table.primary_key.contains(&at) && !column.is_not_null)
            }),
        };
        let free = self.tables.iter().filter_map(|(&place, looked)| {
            let table = schema.tables().get(place)?;
            let columns = (0..).take(table.columns.len());
            Some(columns.filter(move |&at| is_free(table, looked, at)).map(move |at| (place, at)))
        });
        DeclaredColumns::AllBut(free.flatten().collect())
    }

    fn table(&self, id: TableId) -> Option<&TableConstraints> {
        self.tables.get(&id.index())?.rows()
    }

    /// What the rows keep of the tables that have some, by their places.
    fn rows(&self) -> impl Iterator<Item = (usize, &TableConstraints)> {
        self.tables.iter().filter_map(|(&at, looked)| Some((at, looked.rows()?)))
    }

    /// Takes what does not keep the constraints for off the type of its column, and puts values of the database in place of
    /// ordinary ones.
    pub(super) fn limit(&self, plan: &mut Plan) {
        let classes: Vec<(usize, usize)> =
            plan.classes.iter().map(|class| (class.odd, class.spread)).collect();
        for table in &mut plan.tables {
            let Some(constraints) = self.table(table.id) else { continue };
            table.dependencies = constraints.planned_dependencies(table);
            table.orders = constraints.planned_orders(table);
            for (at, column) in table.columns.iter_mut().enumerate() {
                let Some(constraint) = constraints.columns.get(column.index as usize) else { continue };
                let is_free = !column.is_linked && !table.keys.iter().any(|key| key.contains(&at));
                let (from, to) = classes[column.class];
                if is_free {
                    let cells = column.pool[from..to].iter_mut().zip(&mut column.off_type[from..to]);
                    for ((cell, is_off), example) in cells.zip(constraint.examples()) {
                        (*cell, *is_off) = (example, false);
                    }
                }
                column.is_nullable &= !constraint.is_not_null;
                for (value, is_off) in column.pool.iter().zip(&mut column.off_type) {
                    *is_off |= *value != Value::Null && !constraint.looks_like(value);
                }
            }
        }
    }
}

impl TableConstraints {
    /// What a table keeps by itself; `None` where the engine gives up on its rows.
    fn mine(table: &Table, counts: &Counts, source: Source<'_>) -> Option<Self> {
        let is_whole = counts.rows < ROWS;
        let repeats = |key: &Vec<u32>| is_whole || source.is_empty(&repeated(table, key));
        let unique: Vec<Vec<u32>> = counts.new_keys(table).into_iter().filter(repeats).collect();
        let columns = columns(table, counts, source)?;
        let dependencies = if is_whole { dependencies::mine(table, counts, source) } else { Vec::new() };
        let orders = if is_whole { orders::mine(table, &columns, source) } else { Vec::new() };
        Some(Self { columns, unique, dependencies, orders, inclusions: Vec::new() })
    }

    /// Says of each column whether it is of a key or refers to one.
    fn mark_keys(&mut self, table: &Table) {
        let foreign = table.foreign_keys.iter().flat_map(|key| &key.columns);
        let declared = table.primary_key.iter().chain(table.unique.iter().flatten());
        let mined = self.inclusions.iter().map(|inclusion| &inclusion.column);
        for &at in foreign.chain(declared).chain(mined) {
            if let Some(column) = self.columns.get_mut(at as usize) {
                column.is_key = true;
            }
        }
    }

    /// The dependencies between columns that get values, by their places in the plan.
    fn planned_dependencies(&self, table: &TablePlan) -> Vec<(usize, usize)> {
        let place = |index: u32| table.columns.iter().position(|column| column.index == index);
        let planned = self
            .dependencies
            .iter()
            .filter_map(|dependency| Some((place(dependency.from)?, place(dependency.to)?)));
        planned.collect()
    }

    /// The orders between columns that get values and whose values are their own, by their places in the plan.
    fn planned_orders(&self, table: &TablePlan) -> Vec<(usize, usize)> {
        let is_free =
            |at: usize| !table.columns[at].is_linked && !table.keys.iter().any(|key| key.contains(&at));
        let place = |index: u32| table.columns.iter().position(|column| column.index == index);
        let planned = self.orders.iter().filter_map(|order| Some((place(order.low)?, place(order.high)?)));
        planned.filter(|&(low, high)| is_free(low) && is_free(high)).collect()
    }
}

/// A query that returns a row where those columns repeat values.
fn repeated(table: &Table, key: &[u32]) -> String {
    let names: Vec<String> =
        key.iter().filter_map(|&at| table.column(at)).map(|column| quoted(&column.name)).collect();
    let present: Vec<String> = names.iter().map(|name| format!("{name} IS NOT NULL")).collect();
    format!(
        "SELECT 1 FROM {} WHERE {} GROUP BY {} HAVING count(*) > 1 LIMIT 1",
        quoted(&table.name),
        present.join(" AND "),
        names.join(", ")
    )
}

impl ColumnConstraint {
    /// Whether a value keeps what the column's values keep.
    fn keeps(&self, value: &Value) -> bool {
        self.looks_like(value) || (self.is_key && *value != Value::Null)
    }

    /// Whether a value is one that the column has, or between them.
    fn looks_like(&self, value: &Value) -> bool {
        match (value, &self.categories, &self.range) {
            (Value::Null, ..) => !self.is_not_null,
            (value, Some(categories), _) => categories.contains(value),
            (value, None, Some((low, high))) => !is_below(value, low) && !is_below(high, value),
            (_, None, None) => true,
        }
    }

    fn examples(&self) -> impl Iterator<Item = Value> {
        let ends = self.range.iter().flat_map(|(low, high)| [low.clone(), high.clone()]);
        self.categories.iter().flatten().cloned().chain(ends)
    }
}

/// Of two numbers or two texts whether the first is less; a value of another kind than the bound is.
pub(super) fn is_below(value: &Value, bound: &Value) -> bool {
    match (value, bound) {
        (Value::Text(value), Value::Text(bound)) => value < bound,
        (Value::Integer(_) | Value::Real(_), Value::Integer(_) | Value::Real(_)) => {
            number(value) < number(bound)
        }
        _ => true,
    }
}

/// For each column of a table what its values keep.
fn columns(table: &Table, counts: &Counts, source: Source<'_>) -> Option<Vec<ColumnConstraint>> {
    let name = quoted(&table.name);
    let mut all = Vec::with_capacity(table.columns.len());
    for (columns, counts) in table.columns.chunks(COLUMNS).zip(counts.columns.chunks(COLUMNS)) {
        let terms = columns.iter().map(|column| {
            let c = quoted(&column.name);
            let off_type = is_off_type_in_sql(&c, column);
            format!(
                "count({c}), min({c}), max({c}), sum(typeof({c}) IN ('integer', 'real')), sum({off_type})"
            )
        });
        let terms = terms.collect::<Vec<_>>().join(", ");
        let answer = source.rows(&format!("SELECT count(*), {terms} FROM {name}"))?;
        let (total, cells) = answer.row(0).and_then(<[Value]>::split_first)?;
        let total = count(total);
        for ((column, counts), of) in columns.iter().zip(counts).zip(cells.chunks_exact(5)) {
            let (present, low, high) = (count(&of[0]), &of[1], &of[2]);
            let is_date = |value: &Value| value.as_str().is_some_and(|text| date_part(text).is_some());
            let has_range = present > 0 && (count(&of[3]) == present || (is_date(low) && is_date(high)));
            let most = (total / ROWS_PER_CATEGORY).min(MAX_CATEGORIES);
            let c = quoted(&column.name);
            let values = || {
                let distinct = format!("SELECT DISTINCT {c} FROM {name} WHERE {c} IS NOT NULL");
                source.rows(&format!("{distinct} ORDER BY 1 LIMIT {}", most + 1))
            };
            let has_categories = present > 0 && counts.distinct <= most;
            let categories = has_categories.then(values).flatten();
            let categories =
                categories.filter(|values| i64::try_from(values.len()).is_ok_and(|count| count <= most));
            all.push(ColumnConstraint {
                is_not_null: present == total,
                is_of_type: count(&of[4]) == 0,
                is_key: false,
                range: has_range.then(|| (low.clone(), high.clone())),
                categories: categories.map(|values| values.values().to_vec()),
            });
        }
    }
    Some(all)
}
