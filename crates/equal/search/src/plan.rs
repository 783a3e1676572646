//! What to generate for a pair of queries: which tables and columns, and from which values.
//!
//! Columns that are compared with each other, or linked by a foreign key, form a class and share one list of
//! values; a cell is a position in that list, so linked columns agree by construction. Each column keeps its own
//! copy of the list as its affinity stores it.

use std::collections::{BTreeSet, HashMap, HashSet};

use sqlgauge_engine::Value;
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::{Affinity, Collation, Column, Schema, Table, TableId, TableKind};
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::views_of;

use super::SearchOptions;
use super::conversions;
use super::needs::is_of_type;
use super::trace::{ColumnKey, Trace, Use};
use super::values::{date_part, key_of, neighbours, number, stored, text_of};
use super::verdict::Inapplicable;

/// A cell that is NULL.
pub(super) const NULL: u32 = u32::MAX;

/// Most rows of one table where no query asks for more.
const MAX_ROWS: usize = 14;

/// Longest lists of values of a class that come from the queries, and of those near them.
const MAX_CONSTANTS: usize = 24;
const MAX_NEIGHBOURS: usize = 24;

/// About as many values as a class has, but for large tables.
const USUAL_VALUES: usize = 128;

/// Dates and texts beside the ordinary ones.
const SPREAD_DATES: [&str; 13] = [
    "2000-01-01 10:00:00",
    "2000-01-01 23:59:59",
    "1999-02-03",
    "2001-11-30",
    "2010-06-15 08:30:00",
    "2010-06-16",
    "2015-10-01",
    "1985-07-04",
    // Last days of months, and leap days.
    "2000-02-29",
    "2001-02-28",
    "2010-01-31",
    "1999-12-31",
    "2016-02-29",
];
/// Texts that are the keys 1 and 2 to a column of numbers.
const SPELLINGS: [&str; 4] = ["1", "01", "2", "1.0"];
/// Those of them that SQLite writes itself.
const USUAL_SPELLINGS: [&str; 2] = ["1", "2"];
const SPREAD_TEXTS: [&str; 10] = ["d", "e", "f", "g", "h", "k", "m", "p", "A", "z"];

/// What to generate.
#[derive(Debug)]
pub(super) struct Plan {
    /// The tables, those that are referred to first where there is no cycle.
    pub(super) tables: Vec<TablePlan>,
    pub(super) classes: Vec<ClassPlan>,
    /// Numbers of rows at which the queries decide something.
    pub(super) sizes: Vec<usize>,
    /// Number of queries whose comparisons rows may be made to satisfy.
    pub(super) guides: usize,
}

impl Plan {
    /// Whether another table refers to the one at that place.
    pub(super) fn is_target(&self, at: usize) -> bool {
        let tables = self.tables.iter().enumerate().filter(|&(other, _)| other != at);
        tables.flat_map(|(_, table)| &table.foreign_keys).any(|key| key.target == at)
    }
}

/// One table; columns that nobody reads and that may be NULL are left out, and are NULL.
#[derive(Debug)]
pub(super) struct TablePlan {
    pub(super) id: TableId,
    pub(super) columns: Vec<ColumnPlan>,
    /// Sets of positions in `columns` that must be unique.
    pub(super) keys: Vec<Vec<usize>>,
    pub(super) foreign_keys: Vec<ForeignPlan>,
    /// Pairs of positions: the first column determines the second.
    pub(super) dependencies: Vec<(usize, usize)>,
    /// Pairs of positions: the first column is never above the second.
    pub(super) orders: Vec<(usize, usize)>,
}

/// A foreign key between filled columns.
#[derive(Debug)]
pub(super) struct ForeignPlan {
    pub(super) columns: Vec<usize>,
    /// Position in [`Plan::tables`].
    pub(super) target: usize,
    pub(super) target_columns: Vec<usize>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what is known of a column, each by itself")]
pub(super) struct ColumnPlan {
    /// Position in the table of the schema.
    pub(super) index: u32,
    pub(super) class: usize,
    pub(super) is_nullable: bool,
    /// Belongs to the primary key.
    pub(super) is_primary: bool,
    /// NULL is odd here.
    pub(super) avoids_null: bool,
    /// Belongs to a foreign key, or one refers to it.
    pub(super) is_linked: bool,
    /// Says what a row is called: a text outside of all keys.
    pub(super) is_label: bool,
    /// What the queries use it for.
    pub(super) uses: Vec<Use>,
    /// The values of a column of dates that are dates; empty for other columns.
    pub(super) timed: Vec<u32>,
    /// The values of the class as this column stores them; NULL for those that it cannot store.
    pub(super) pool: Vec<Value>,
    /// For each value whether it is of another type than this column's, or a column's that refers to it.
    pub(super) off_type: Vec<bool>,
    /// For each value the first that is equal to it in a key.
    pub(super) same: Vec<u32>,
    /// For each value, in a column that refers to one of another type, the other values that SQLite takes for the same key there:
    /// `'01'` for `'1'` where the key is the number 1. Empty elsewhere.
    pub(super) spellings: Vec<Vec<u32>>,
    /// For each query, and last for the CHECK constraints, the values that it wants here.
    pub(super) guided: Vec<Vec<u32>>,
}

impl ColumnPlan {
    pub(super) fn value(&self, cell: u32) -> &Value {
        self.pool.get(cell as usize).unwrap_or(&Value::Null)
    }

    /// Whether a cell is NULL, by choice or because the column cannot store the value.
    pub(super) fn is_null(&self, cell: u32) -> bool {
        matches!(self.value(cell), Value::Null)
    }

    /// Whether a cell is of another type than the column's, or that of a column that refers to it.
    pub(super) fn is_off_type(&self, cell: u32) -> bool {
        self.off_type.get(cell as usize).copied().unwrap_or(false)
    }

    /// Whether a query uses it so.
    pub(super) fn is_used_for(&self, use_: Use) -> bool {
        self.uses.contains(&use_)
    }

    /// The cell up to equality in a key.
    pub(super) fn canonical(&self, cell: u32) -> u32 {
        self.same.get(cell as usize).copied().unwrap_or(NULL)
    }
}

/// The values of a class: positions `0..constants` come from the queries, then those near them, fresh ones, odd
/// ones of another type than the column's, more ordinary ones, and spare ones for keys.
#[derive(Debug, Default)]
pub(super) struct ClassPlan {
    pub(super) constants: usize,
    pub(super) neighbours: usize,
    pub(super) fresh: usize,
    pub(super) odd: usize,
    pub(super) spread: usize,
    pub(super) len: usize,
}

/// The tables that a query reads, also through views.
pub fn tables_under(query: &Query, schema: &Schema) -> BTreeSet<TableId> {
    let definition = |id: &TableId| schema.definition(*id).and_then(|definition| definition.view.as_ref());
    let views = views_of(query, schema);
    let readable: BTreeSet<TableId> = views.iter().copied().filter(|id| definition(id).is_some()).collect();
    let tables = readable.iter().filter_map(definition).chain([query]).flat_map(tables_of);
    tables.filter(|id| !readable.contains(id)).collect()
}

/// The tables that a query reads, and the views as such.
pub fn tables_of(query: &Query) -> BTreeSet<TableId> {
    reads::tables(query).into_iter().map(|(_, table)| table).collect()
}

/// The tables and, transitively, those that their foreign keys refer to; referred-to tables first where there is no
/// cycle.
///
/// # Errors
/// [`Inapplicable`] for a view, a virtual table, or a table with a generated column of which nothing is known.
pub fn with_targets(schema: &Schema, tables: &BTreeSet<TableId>) -> Result<Vec<TableId>, Inapplicable> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for &table in tables {
        visit(schema, table, &mut seen, &mut order);
    }
    for &id in &order {
        let Some(table) = schema.table(id) else { continue };
        let construct = match table.kind {
            TableKind::View => "view",
            TableKind::Virtual | TableKind::Shadow => "virtual_table",
            TableKind::Table if has_unknown_columns(schema, id) => "generated_column",
            TableKind::Table if table.columns.is_empty() => "table_without_columns",
            TableKind::Table => continue,
        };
        return Err(Inapplicable::unsupported(construct, format!("table {}", table.name)));
    }
    Ok(order)
}

/// Whether it is not known how some column of the table is computed.
fn has_unknown_columns(schema: &Schema, id: TableId) -> bool {
    let Some(table) = schema.table(id) else { return false };
    let count = table.columns.iter().filter(|column| column.generated).count();
    count > 0 && schema.definition(id).is_none_or(|definition| definition.generated.len() != count)
}

fn visit(schema: &Schema, id: TableId, seen: &mut BTreeSet<TableId>, order: &mut Vec<TableId>) {
    // An explicit stack: chains of foreign keys can be as long as the schema.
    let mut pending = vec![(id, false)];
    while let Some((id, is_done)) = pending.pop() {
        if is_done {
            order.push(id);
            continue;
        }
        if !seen.insert(id) {
            continue;
        }
        pending.push((id, true));
        let keys = schema.table(id).map(|table| table.foreign_keys.as_slice()).unwrap_or_default();
        let targets = keys.iter().filter_map(|key| schema.resolve_foreign_key(key));
        pending.extend(targets.map(|(target, _)| (target, false)));
    }
}

/// Classes of columns (union-find).
struct Classes {
    parent: Vec<usize>,
}

impl Classes {
    fn root(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }
}

struct Builder<'a> {
    schema: &'a Schema,
    tables: &'a [TableId],
    columns: Vec<(TableId, u32)>,
    number: HashMap<ColumnKey, usize>,
    traces: &'a [Trace],
    allowed: Allowed,
}

/// What SQLite lets a database hold that people do not write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    /// NULL in a primary key.
    pub(super) null_in_primary_key: bool,
    /// Texts that refer to a number and are not how SQLite writes it.
    pub(super) other_spellings: bool,
}

impl Allowed {
    pub(super) const ALL: Self = Self { null_in_primary_key: true, other_spellings: true };

    /// What a search may use.
    pub(super) fn by(options: &SearchOptions) -> Self {
        let SearchOptions { null_in_primary_key, other_spellings, .. } = *options;
        Self { null_in_primary_key, other_spellings }
    }
}

/// The plan for those tables, given what the queries, and last the CHECK constraints, say of their columns.
pub(super) fn plan(schema: &Schema, tables: &[TableId], traces: &[Trace], allowed: Allowed) -> Plan {
    let columns: Vec<(TableId, u32)> = tables
        .iter()
        .filter_map(|&id| Some((id, schema.table(id)?)))
        .flat_map(|(id, table)| (0..).zip(&table.columns).map(move |(at, _)| (id, at)))
        .collect();
    let number = columns.iter().enumerate().map(|(at, &key)| (key, at)).collect();
    Builder { schema, tables, columns, number, traces, allowed }.build()
}

impl Builder<'_> {
    fn build(&self) -> Plan {
        let filled = self.filled();
        let class_of = self.classes();
        let count = class_of.iter().max().map_or(0, |&last| last + 1);
        let mut is_filled = vec![false; count];
        for (key, &class) in self.columns.iter().zip(&class_of) {
            is_filled[class] |= filled.contains(key);
        }
        // Nobody asks for a value of a class of which no column gets one.
        let values = |(class, is_filled)| {
            if is_filled { self.values_of_class(&class_of, class) } else { Default::default() }
        };
        let lists: Vec<(ClassPlan, Vec<Value>)> = is_filled.into_iter().enumerate().map(values).collect();
        let mut tables: Vec<TablePlan> =
            self.tables.iter().map(|&id| self.table(id, &filled, &class_of, &lists)).collect();
        spread_types(&mut tables);
        if self.allowed.other_spellings {
            spell_references(&mut tables);
        }
        let mut sizes: Vec<usize> = self.traces.iter().flat_map(|trace| trace.sizes.clone()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let classes = lists.into_iter().map(|(class, _)| class).collect();
        Plan { tables, classes, sizes, guides: self.traces.len().saturating_sub(1) }
    }

    /// For each column its class, numbered from 0.
    fn classes(&self) -> Vec<usize> {
        let mut classes = Classes { parent: (0..self.columns.len()).collect() };
        for (a, b) in self.traces.iter().flat_map(|trace| &trace.equal) {
            if let (Some(&a), Some(&b)) = (self.number.get(a), self.number.get(b)) {
                classes.join(a, b);
            }
        }
        for (id, key) in self.foreign_keys() {
            let Some((target, targets)) = self.schema.resolve_foreign_key(key) else { continue };
            for (&column, &other) in key.columns.iter().zip(&targets) {
                if let (Some(&a), Some(&b)) =
                    (self.number.get(&(id, column)), self.number.get(&(target, other)))
                {
                    classes.join(a, b);
                }
            }
        }
        let mut numbers = HashMap::new();
        (0..self.columns.len())
            .map(|at| {
                let root = classes.root(at);
                let next = numbers.len();
                *numbers.entry(root).or_insert(next)
            })
            .collect()
    }

    fn foreign_keys(&self) -> impl Iterator<Item = (TableId, &sqlgauge_sql::schema::ForeignKey)> {
        let tables = self.tables.iter().filter_map(|&id| Some((id, self.schema.table(id)?)));
        tables.flat_map(|(id, table)| table.foreign_keys.iter().map(move |key| (id, key)))
    }

    /// The columns that get values: those that are read, may not be NULL or belong to a primary key, and what their foreign
    /// keys need.
    fn filled(&self) -> BTreeSet<ColumnKey> {
        let mut filled: BTreeSet<ColumnKey> =
            self.traces.iter().flat_map(|trace| trace.read.iter().copied()).collect();
        let is_primary = |id, at| self.schema.table(id).is_some_and(|table| table.primary_key.contains(&at));
        let columns = self.columns.iter().copied();
        filled.extend(columns.filter(|&(id, at)| is_primary(id, at) || !self.is_nullable(id, at)));
        loop {
            let before = filled.len();
            filled.extend(self.sources(&filled));
            for (id, key) in self.foreign_keys() {
                let Some((target, targets)) = self.schema.resolve_foreign_key(key) else { continue };
                if key.columns.iter().any(|&at| filled.contains(&(id, at))) {
                    filled.extend(key.columns.iter().map(|&at| (id, at)));
                    filled.extend(targets.iter().map(|&at| (target, at)));
                }
            }
            if filled.len() == before {
                break;
            }
        }
        filled.retain(|&key| !self.is_generated(key));
        filled
    }

    fn is_generated(&self, (id, at): ColumnKey) -> bool {
        self.schema.table(id).and_then(|table| table.column(at)).is_some_and(|column| column.generated)
    }

    /// The columns that those generated columns are computed from.
    fn sources(&self, computed: &BTreeSet<ColumnKey>) -> Vec<ColumnKey> {
        let reads = computed.iter().filter_map(|&(id, at)| {
            let generated = &self.schema.definition(id)?.generated;
            let (_, expr) = generated.iter().find(|(column, _)| *column == at)?;
            Some(
                reads::columns(expr)
                    .into_iter()
                    .filter_map(move |column| Some((id, column.column.position()?))),
            )
        });
        reads.flatten().collect()
    }

    fn is_nullable(&self, id: TableId, at: u32) -> bool {
        self.schema.table(id).is_some_and(|table| {
            !table.is_not_null(at) && (self.allowed.null_in_primary_key || !table.primary_key.contains(&at))
        })
    }

    fn table(
        &self,
        id: TableId,
        filled: &BTreeSet<ColumnKey>,
        class_of: &[usize],
        lists: &[(ClassPlan, Vec<Value>)],
    ) -> TablePlan {
        let mut planned = TablePlan {
            id,
            columns: Vec::new(),
            keys: Vec::new(),
            foreign_keys: Vec::new(),
            dependencies: Vec::new(),
            orders: Vec::new(),
        };
        let Some(table) = self.schema.table(id) else { return planned };
        for (at, column) in (0..).zip(&table.columns).filter(|&(at, _)| filled.contains(&(id, at))) {
            let class = class_of[self.number[&(id, at)]];
            planned.columns.push(self.column(table, (id, at), column, class, &lists[class]));
        }
        let position = |at: u32| filled.range((id, 0)..(id, at)).count();
        let is_filled = |key: &&[u32]| key.iter().all(|&at| filled.contains(&(id, at)));
        let keys =
            std::iter::once(table.primary_key.as_slice()).chain(table.unique.iter().map(Vec::as_slice));
        // A key with a column that is always NULL is never violated.
        for key in keys.filter(|key| !key.is_empty()).filter(is_filled) {
            planned.keys.push(key.iter().map(|&at| position(at)).collect());
        }
        for key in &table.foreign_keys {
            let Some((target, targets)) = self.schema.resolve_foreign_key(key) else { continue };
            let Some(target_at) = self.tables.iter().position(|&other| other == target) else { continue };
            let are_targets_filled = targets.iter().all(|&at| filled.contains(&(target, at)));
            if is_filled(&key.columns.as_slice()) && are_targets_filled {
                let other = |at: u32| filled.range((target, 0)..(target, at)).count();
                planned.foreign_keys.push(ForeignPlan {
                    columns: key.columns.iter().map(|&at| position(at)).collect(),
                    target: target_at,
                    target_columns: targets.iter().map(|&at| other(at)).collect(),
                });
            }
        }
        planned
    }

    fn column(
        &self,
        table: &Table,
        key: ColumnKey,
        column: &Column,
        class: usize,
        (kinds, values): &(ClassPlan, Vec<Value>),
    ) -> ColumnPlan {
        let is_rowid = table.rowid_alias() == Some(key.1);
        let pool: Vec<Value> =
            values.iter().map(|value| stored_in(value, column, table.strict, is_rowid)).collect();
        let same = first_of_each(&pool, &column.collation);
        let guided = self.traces.iter().map(|trace| {
            let facts = trace.facts.iter().filter(|fact| fact.column == key);
            let wanted = facts.flat_map(|fact| &fact.wanted).filter_map(|wanted| {
                let at = values.iter().position(|value| value == wanted)?;
                (!matches!(pool[at], Value::Null)).then_some(u32::try_from(at).unwrap_or(NULL))
            });
            let mut wanted: Vec<u32> = wanted.collect();
            wanted.sort_unstable();
            wanted.dedup();
            wanted
        });
        let guided = guided.collect();
        let is_nullable = self.is_nullable(key.0, key.1);
        let is_primary = table.primary_key.contains(&key.1);
        let is_linked = self.is_linked(key);
        let is_unique = is_primary || table.unique.iter().any(|unique| unique == &[key.1]);
        let is_label = !is_unique && !is_linked && column.affinity == Affinity::Text;
        let uses = self.traces.iter().flat_map(|trace| &trace.uses);
        let mut uses: Vec<Use> = uses.filter(|(used, _)| *used == key).map(|(_, use_)| *use_).collect();
        uses.dedup();
        let off_type = pool.iter().map(|value| !is_of_type(value, column)).collect();
        let timed = if self.is_of_dates(key) { dates(&pool, kinds.neighbours) } else { Vec::new() };
        ColumnPlan {
            index: key.1,
            class,
            is_nullable,
            is_primary,
            avoids_null: is_primary,
            is_linked,
            is_label,
            uses,
            timed,
            pool,
            off_type,
            same,
            spellings: Vec::new(),
            guided,
        }
    }

    fn is_linked(&self, key: ColumnKey) -> bool {
        self.foreign_keys().any(|(id, foreign)| {
            let is_child = id == key.0 && foreign.columns.contains(&key.1);
            let target = self.schema.resolve_foreign_key(foreign);
            is_child || target.is_some_and(|(target, columns)| target == key.0 && columns.contains(&key.1))
        })
    }

    /// Whether the column is declared or used as one of dates.
    fn is_of_dates(&self, key: ColumnKey) -> bool {
        let column = self.schema.table(key.0).and_then(|table| table.column(key.1));
        let declared = column.and_then(|column| column.declared_type.as_deref()).unwrap_or_default();
        let facts = || self.traces.iter().flat_map(|trace| &trace.facts).filter(|fact| fact.column == key);
        declared.to_ascii_uppercase().contains("DATE")
            || self.traces.iter().any(|trace| trace.dates.contains(&key))
            || facts().any(|fact| fact.value.as_str().is_some_and(|text| date_part(text).is_some()))
    }

    /// The values of a class, and where each kind begins.
    fn values_of_class(&self, class_of: &[usize], class: usize) -> (ClassPlan, Vec<Value>) {
        let members = self.columns.iter().zip(class_of).filter(|&(_, &of)| of == class);
        let members: Vec<ColumnKey> = members.map(|(&key, _)| key).collect();
        let facts = self.traces.iter().flat_map(|trace| &trace.facts);
        let facts: Vec<_> = facts.filter(|fact| members.contains(&fact.column)).collect();
        let mut values = Distinct::with_capacity(USUAL_VALUES);
        let mut plan = ClassPlan::default();
        values.extend(facts.iter().map(|fact| fact.value.clone()), MAX_CONSTANTS);
        values.extend(facts.iter().flat_map(|fact| fact.wanted.clone()), MAX_CONSTANTS);
        plan.constants = values.list.len();
        let near: Vec<Value> = values.list.iter().flat_map(neighbours).collect();
        values.extend(near, MAX_NEIGHBOURS);
        plan.neighbours = values.list.len();
        values.extend(members.iter().flat_map(|&key| self.fresh(key)), 12);
        let has_spellings = self.has_spellings(&members);
        if has_spellings {
            let texts: &[&str] = if self.allowed.other_spellings { &SPELLINGS } else { &USUAL_SPELLINGS };
            values.extend(texts.iter().map(|text| Value::text(text)), SPELLINGS.len());
        }
        plan.fresh = values.list.len();
        // The odd texts of such columns are spellings too.
        if self.allowed.other_spellings || !has_spellings {
            values.extend(members.iter().flat_map(|&key| self.odd(key)), 8);
        }
        plan.odd = values.list.len();
        values.extend(members.iter().flat_map(|&key| self.spread(key)), 48);
        plan.spread = values.list.len();
        // Distinct under every affinity, and enough for a key of the largest table.
        let rows = self
            .traces
            .iter()
            .flat_map(|trace| &trace.sizes)
            .fold(MAX_ROWS, |most, &size| most.max(size + 2));
        let spare = (101..).take(2 * rows).map(Value::Integer);
        values.extend(spare, usize::MAX);
        plan.len = values.list.len();
        (plan, values.list)
    }

    /// Whether one of the columns holds texts, and refers to one that holds numbers.
    fn has_spellings(&self, members: &[ColumnKey]) -> bool {
        let affinity = |key: ColumnKey| Some(self.schema.table(key.0)?.column(key.1)?.affinity);
        let is_number = |key| affinity(key).is_some_and(Affinity::is_numeric);
        let is_other = |key| matches!(affinity(key), Some(Affinity::Text | Affinity::Blob));
        self.foreign_keys().any(|(id, key)| {
            let Some((target, targets)) = self.schema.resolve_foreign_key(key) else { return false };
            let mut pairs = key.columns.iter().zip(targets);
            pairs.any(|(&column, other)| {
                members.contains(&(id, column)) && is_other((id, column)) && is_number((target, other))
            })
        })
    }

    /// Ordinary values of the column's type.
    fn fresh(&self, key: ColumnKey) -> Vec<Value> {
        let Some(column) = self.schema.table(key.0).and_then(|table| table.column(key.1)) else {
            return Vec::new();
        };
        let is =
            |list: fn(&Trace) -> &Vec<ColumnKey>| self.traces.iter().any(|trace| list(trace).contains(&key));
        let declared = column.declared_type.as_deref().unwrap_or_default().to_ascii_uppercase();
        let texts = |texts: &[&str]| texts.iter().map(|text| Value::text(text)).collect();
        let numbers = |numbers: &[f64]| numbers.iter().map(|&n| super::values::from_number(n)).collect();
        if is(|trace| &trace.dates) || declared.contains("DATE") {
            return texts(&["2000-01-01", "1990-12-31", "2010-06-15", "2000-01-15"]);
        }
        if declared.contains("TIME") {
            return texts(&["2000-01-01 10:00:00", "2000-01-01 09:30:00", "1990-12-31 23:59:59"]);
        }
        if declared.contains("BOOL") {
            return numbers(&[0.0, 1.0]);
        }
        match column.affinity {
            Affinity::Integer => numbers(&[1.0, 2.0, 3.0, 0.0, -1.0]),
            Affinity::Real => numbers(&[1.5, 2.0, 0.5, 0.0, -1.0]),
            Affinity::Numeric => numbers(&[1.0, 2.0, 2.5, 0.0, -1.0]),
            Affinity::Text if is(|trace| &trace.numeric) => texts(&["1", "2", "10", "2.5", "-1"]),
            Affinity::Text => texts(&["a", "b", "c", "B", ""]),
            Affinity::Blob if is(|trace| &trace.numeric) => numbers(&[1.0, 2.0, 2.5, 0.0, -1.0]),
            // A column without a type holds what came in: a number, the same as a text, and 1.0 beside 1.
            Affinity::Blob => {
                let others = [Value::text("1"), Value::Real(1.0), Value::text("a"), Value::text("01")];
                numbers(&[1.0, 2.0, 3.0]).into_iter().chain(others).collect()
            }
        }
    }

    /// More ordinary values of the column's type, all different; numbers of which sums rank otherwise than they do.
    fn spread(&self, key: ColumnKey) -> Vec<Value> {
        let Some(column) = self.schema.table(key.0).and_then(|table| table.column(key.1)) else {
            return Vec::new();
        };
        let is_number = self.traces.iter().any(|trace| trace.numeric.contains(&key));
        let numbers = |scale: f64| {
            let numbers = [4.0, 5.0, 6.0, 7.0, 9.0, 10.0, 11.0, 12.0, -2.0, -5.0, -8.0, 25.0];
            numbers.map(|n: f64| super::values::from_number(n * scale)).to_vec()
        };
        if self.is_of_dates(key) {
            return SPREAD_DATES.map(Value::text).to_vec();
        }
        // Other spellings of numbers are those of keys too.
        let may_be_spelt = self.allowed.other_spellings || !self.is_linked(key);
        let separating = || conversions::texts().filter(|_| may_be_spelt);
        match column.affinity {
            Affinity::Integer => numbers(1.0),
            Affinity::Numeric => numbers(1.0).into_iter().chain([Value::Real(-0.5)]).collect(),
            Affinity::Blob => {
                let others =
                    [Value::Real(-0.5), Value::Blob((*b"a").into()), Value::Integer(9_007_199_254_740_993)];
                numbers(1.0).into_iter().chain(others).chain(separating()).collect()
            }
            Affinity::Real => numbers(0.25).into_iter().chain([Value::Real(-0.5)]).collect(),
            Affinity::Text if is_number => {
                let spelt = numbers(1.0).into_iter().filter_map(|number| text_of(&number));
                spelt
                    .map(|text| Value::text(&text))
                    .chain(separating().filter(|text| number(text).is_some()))
                    .collect()
            }
            Affinity::Text => SPREAD_TEXTS.map(Value::text).into_iter().chain(separating()).collect(),
        }
    }

    /// Values that SQLite lets such a column store although they are not of its type.
    fn odd(&self, key: ColumnKey) -> Vec<Value> {
        let Some(column) = self.schema.table(key.0).and_then(|table| table.column(key.1)) else {
            return Vec::new();
        };
        match column.affinity {
            Affinity::Integer => {
                vec![Value::text("a"), Value::text(""), Value::Real(1.5), Value::Real(-0.5), Value::Real(2.5)]
            }
            Affinity::Real | Affinity::Numeric => vec![Value::text("a"), Value::text(""), Value::text("1x")],
            Affinity::Text => ["1", " 1", "01", "1.0", "1.5"].into_iter().map(Value::text).collect(),
            Affinity::Blob => {
                vec![Value::text("1"), Value::text("a"), Value::Real(1.5), Value::text(""), Value::text("01")]
            }
        }
    }
}

/// Where the dates of a pool are: those with a time of day among the first, which come from the queries, twice as often as
/// all others together.
fn dates(pool: &[Value], from_queries: usize) -> Vec<u32> {
    let is_date = |at: &usize| pool[*at].as_str().is_some_and(|text| date_part(text).is_some());
    let is_timed = |at: &usize| pool[*at].as_str().is_some_and(|text| text.len() > 10);
    let all: Vec<usize> = (0..pool.len()).filter(is_date).collect();
    let sharp: Vec<usize> = all.iter().copied().filter(|at| *at < from_queries && is_timed(at)).collect();
    let repeats = (2 * all.len()).checked_div(sharp.len()).unwrap_or(0);
    let sharp = sharp.iter().flat_map(|&at| std::iter::repeat_n(at, repeats));
    all.iter().copied().chain(sharp).filter_map(|at| u32::try_from(at).ok()).collect()
}

/// Takes a value that is off the type of a column for off the type of the column that it refers to.
fn spread_types(tables: &mut [TablePlan]) {
    for at in (0..tables.len()).rev() {
        for key in std::mem::take(&mut tables[at].foreign_keys).into_iter().rev() {
            for (&column, &other) in key.columns.iter().zip(&key.target_columns) {
                let off_type = tables[at].columns[column].off_type.clone();
                let target = &mut tables[key.target].columns[other].off_type;
                target.iter_mut().zip(off_type).for_each(|(off, also)| *off |= also);
            }
            tables[at].foreign_keys.insert(0, key);
        }
    }
}

/// Finds the spellings of the values of columns that refer to one of another type.
fn spell_references(tables: &mut [TablePlan]) {
    for at in 0..tables.len() {
        for key in 0..tables[at].foreign_keys.len() {
            let key = &tables[at].foreign_keys[key];
            let pairs: Vec<(usize, usize)> =
                key.columns.iter().copied().zip(key.target_columns.iter().copied()).collect();
            let target = key.target;
            for (column, other) in pairs {
                let spellings = spellings(&tables[at].columns[column], &tables[target].columns[other]);
                tables[at].columns[column].spellings = spellings;
            }
        }
    }
}

/// For each value of a column those that it stores otherwise, and the column that it refers to takes for the same.
fn spellings(column: &ColumnPlan, target: &ColumnPlan) -> Vec<Vec<u32>> {
    let mut of_key: HashMap<u32, Vec<u32>> = HashMap::new();
    for cell in (0..).take(column.pool.len()).filter(|&cell| !column.is_null(cell) && !target.is_null(cell)) {
        of_key.entry(target.canonical(cell)).or_default().push(cell);
    }
    let others = |cell: u32| -> Vec<u32> {
        let alike = of_key.get(&target.canonical(cell)).into_iter().flatten().copied();
        alike.filter(|&other| column.canonical(other) != column.canonical(cell)).collect()
    };
    let all: Vec<Vec<u32>> = (0..).take(column.pool.len()).map(others).collect();
    if all.iter().all(Vec::is_empty) { Vec::new() } else { all }
}

/// Values in the order in which they came, each once.
struct Distinct {
    list: Vec<Value>,
    seen: HashSet<Value>,
}

impl Distinct {
    fn with_capacity(capacity: usize) -> Self {
        Self { list: Vec::with_capacity(capacity), seen: HashSet::with_capacity(capacity) }
    }

    /// Adds at most `limit` values that are not there yet.
    fn extend(&mut self, more: impl IntoIterator<Item = Value>, limit: usize) {
        let end = self.list.len().saturating_add(limit);
        for value in more {
            if self.list.len() >= end {
                return;
            }
            if self.seen.insert(value.clone()) {
                self.list.push(value);
            }
        }
    }
}

/// For each value the first that is equal to it in a key; NULL for NULL.
fn first_of_each(pool: &[Value], collation: &Collation) -> Vec<u32> {
    let mut first = HashMap::with_capacity(pool.len());
    let places = pool.iter().zip(0..).map(|(value, at)| match value {
        Value::Null => NULL,
        _ => *first.entry(key_of(value, collation)).or_insert(at),
    });
    places.collect()
}

/// What the column stores for the value; NULL if it refuses it.
fn stored_in(value: &Value, column: &Column, is_strict: bool, is_rowid: bool) -> Value {
    let stored = stored(value, column.affinity);
    let is_type =
        |name: &str| column.declared_type.as_deref().is_some_and(|text| text.eq_ignore_ascii_case(name));
    let fits = if !is_strict {
        !is_rowid || matches!(stored, Value::Integer(_))
    } else if is_type("BLOB") {
        return text_of(value).map_or(Value::Null, |text| Value::Blob(text.into_bytes().into()));
    } else if is_type("INT") || is_type("INTEGER") {
        matches!(stored, Value::Integer(_))
    } else if is_type("REAL") {
        matches!(stored, Value::Real(_))
    } else {
        !is_type("TEXT") || matches!(stored, Value::Text(_))
    };
    if fits { stored } else { Value::Null }
}
