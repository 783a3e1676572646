//! Makes databases of a plan: small, full of duplicates, ties, NULLs and near misses, and always within the keys.

use std::collections::HashMap;

use sqlgauge_base::Random;

use super::plan::{ColumnPlan, ForeignPlan, NULL, Plan, TablePlan};
use super::realistic::is_below;
use super::shape::{Links, Manner, Shape, shape};
use super::trace::Use;

/// What a database may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What people put into databases: all values of their column's type, no NULL in a primary key.
    Plain,
    /// What SQLite allows besides.
    Odd,
}

/// How often a row whose key is taken is changed before it is given up.
const KEY_TRIES: usize = 8;

/// How often a reference of another type than its key is another spelling of the key, where there is one.
const OTHER_SPELLING: u8 = 40;

/// The rows of a database, as cells of the plan's columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rows {
    /// For each table of the plan its rows.
    pub(super) tables: Vec<Vec<Vec<u32>>>,
}

impl Rows {
    /// How many there are in all tables.
    pub(super) fn count(&self) -> usize {
        self.tables.iter().map(Vec::len).sum()
    }

    /// Removes a row, and then every row whose foreign key has lost its target.
    pub(super) fn remove(&mut self, plan: &Plan, table: usize, row: usize) {
        self.tables[table].remove(row);
        self.remove_dangling(plan);
    }

    fn remove_dangling(&mut self, plan: &Plan) {
        loop {
            let mut is_changed = false;
            for (at, table) in plan.tables.iter().enumerate() {
                for key in &table.foreign_keys {
                    let (rows, count) = self.linked(plan, at, key);
                    is_changed |= rows.len() < count;
                    self.tables[at] = rows;
                }
            }
            if !is_changed {
                return;
            }
        }
    }

    /// The rows of a table whose foreign key holds, and how many there are in all.
    fn linked(&mut self, plan: &Plan, at: usize, key: &ForeignPlan) -> (Vec<Vec<u32>>, usize) {
        let rows = std::mem::take(&mut self.tables[at]);
        let count = rows.len();
        let targets = if key.target == at { rows.clone() } else { Vec::new() };
        let targets = if key.target == at { &targets } else { &self.tables[key.target] };
        let rows = rows.into_iter().filter(|row| is_linked(plan, at, key, row, targets)).collect();
        (rows, count)
    }
}

/// Whether the foreign key of a row holds: some column of it is NULL, or a target has the same values.
fn is_linked(plan: &Plan, at: usize, key: &ForeignPlan, row: &[u32], targets: &[Vec<u32>]) -> bool {
    let columns = &plan.tables[at].columns;
    let others = &plan.tables[key.target].columns;
    key.columns.iter().any(|&column| columns[column].is_null(row[column]))
        || targets.iter().any(|target| {
            key.columns.iter().zip(&key.target_columns).all(|(&column, &other)| {
                let wanted = others[other].canonical(row[column]);
                wanted != NULL && wanted == others[other].canonical(target[other])
            })
        })
}

/// Database `number` of a search, of the [`Shape`] that it has.
pub(super) fn generate(plan: &Plan, number: usize, kind: Kind, random: &mut Random) -> Rows {
    let shape = shape(plan, number, kind, random);
    let mut rows = Rows { tables: vec![Vec::new(); plan.tables.len()] };
    for at in 0..plan.tables.len() {
        for _ in 0..shape.counts[at] {
            if let Some(row) = new_row(plan, at, &rows, &shape, random) {
                rows.tables[at].push(row);
            }
        }
    }
    relink(plan, &mut rows, random);
    for (table, rows) in plan.tables.iter().zip(&mut rows.tables) {
        keep_dependencies(table, rows);
        keep_orders(table, rows);
    }
    rows.remove_dangling(plan);
    rows
}

/// A row within the keys of its table and, as far as their targets are there already, its foreign keys; `None` if
/// none was found.
fn new_row(plan: &Plan, at: usize, rows: &Rows, shape: &Shape, random: &mut Random) -> Option<Vec<u32>> {
    let table = &plan.tables[at];
    let place = rows.tables[at].len();
    let mut row = match random.pick(&rows.tables[at]) {
        Some(model) if random.chance(shape.copy_percent) => {
            let mut row = model.clone();
            for _ in 0..random.below(3) {
                let column = random.below(row.len());
                if let Some(cell) = row.get_mut(column) {
                    *cell = new_cell(plan, (at, column, place), shape, random);
                }
            }
            row
        }
        _ => (0..table.columns.len())
            .map(|column| new_cell(plan, (at, column, place), shape, random))
            .collect(),
    };
    let links = shape.links_of(plan, at);
    for key in &table.foreign_keys {
        let is_generated = key.target <= at;
        let is_linked_already =
            links == Links::Random && is_linked(plan, at, key, &row, &rows.tables[key.target]);
        if is_generated && !is_linked_already && !link(plan, at, key, &mut row, rows, links, random) {
            return None;
        }
    }
    for _ in 0..KEY_TRIES {
        let Some(key) = taken_key(table, &row, &rows.tables[at], None) else { return Some(row) };
        change_key(plan, at, key, &mut row, rows, random);
    }
    taken_key(table, &row, &rows.tables[at], None).is_none().then_some(row)
}

/// A cell of a table's column for the row at a place.
fn new_cell(
    plan: &Plan,
    (table, at, place): (usize, usize, usize),
    shape: &Shape,
    random: &mut Random,
) -> u32 {
    let column = &plan.tables[table].columns[at];
    let drawn = &shape.drawn[table][at];
    let null_percent = drawn.null_percent.unwrap_or(if column.avoids_null { 0 } else { shape.null_percent });
    if column.is_nullable && random.chance(null_percent) {
        return NULL;
    }
    let class = &plan.classes[column.class];
    if drawn.is_odd && random.chance(50) {
        let near = |cell| (cell as usize) < class.neighbours && column.is_off_type(cell);
        let odd = |cell| (cell as usize) < class.odd && column.is_off_type(cell);
        let cell = if random.chance(50) { first_cell(column, random, near) } else { NULL };
        return if cell == NULL { first_cell(column, random, odd) } else { cell };
    }
    // What a whole group is compared with is nothing that each of its rows should be.
    let is_measure = column.is_used_for(Use::Aggregated) && drawn.manner != Manner::Usual;
    let is_free = (drawn.manner == Manner::Timed && random.chance(70)) || (is_measure && random.chance(40));
    let wanted = |of: Option<&Vec<u32>>, percent: u8, random: &mut Random| {
        of.and_then(|cells| random.pick(cells).copied()).filter(|_| random.chance(percent) && !is_free)
    };
    let from_checks = wanted(column.guided.last(), 90, random);
    let guide = shape.guide.and_then(|guide| column.guided.get(guide));
    let cell = wanted(guide, shape.guided_percent, random)
        .or(from_checks)
        .or_else(|| drawn.cell(column, class, &shape.domains[column.class], place, random))
        .unwrap_or(NULL);
    let is_off_type = !drawn.is_odd && column.is_off_type(cell);
    if is_off_type || column.is_null(cell) && !column.is_nullable { any_value(column, random) } else { cell }
}

/// Some value that the column can store, of its type if there is one.
fn any_value(column: &ColumnPlan, random: &mut Random) -> u32 {
    match first_cell(column, random, |cell| !column.is_null(cell) && !column.is_off_type(cell)) {
        NULL => first_cell(column, random, |cell| !column.is_null(cell)),
        cell => cell,
    }
}

/// The first cell from a random one on that fits, NULL if none does.
fn first_cell(column: &ColumnPlan, random: &mut Random, fits: impl Fn(u32) -> bool) -> u32 {
    let start = random.below(column.pool.len());
    let cells = (start..column.pool.len()).chain(0..start).map(|at| u32::try_from(at).unwrap_or(NULL));
    cells.into_iter().find(|&cell| fits(cell)).unwrap_or(NULL)
}

/// Points the foreign key of a row at one of the target rows, or makes it NULL; false if neither can be done.
fn link(
    plan: &Plan,
    at: usize,
    key: &ForeignPlan,
    row: &mut [u32],
    rows: &Rows,
    links: Links,
    random: &mut Random,
) -> bool {
    let columns = &plan.tables[at].columns;
    if let Some(target) = links.target(&rows.tables[key.target], rows.tables[at].len(), random) {
        for (&column, &other) in key.columns.iter().zip(&key.target_columns) {
            let spellings = &columns[column].spellings[..];
            let cell = match spellings.get(target[other] as usize) {
                Some(cells) if !cells.is_empty() && random.chance(OTHER_SPELLING) => {
                    random.pick(cells).copied().unwrap_or(target[other])
                }
                _ => target[other],
            };
            if !columns[column].is_null(cell) || columns[column].is_nullable {
                row[column] = cell;
            }
        }
        return is_linked(plan, at, key, row, &rows.tables[key.target]);
    }
    // A row may refer to itself.
    if key.target == at {
        for (&column, &other) in key.columns.iter().zip(&key.target_columns) {
            row[column] = row[other];
        }
        return true;
    }
    let nullable = key.columns.iter().find(|&&column| columns[column].is_nullable);
    nullable.map(|&column| row[column] = NULL).is_some()
}

/// The first key of the table that the row would share with another one (`except` is the row's own place).
fn taken_key(table: &TablePlan, row: &[u32], rows: &[Vec<u32>], except: Option<usize>) -> Option<usize> {
    table.keys.iter().position(|key| {
        !key.iter().any(|&column| table.columns[column].is_null(row[column]))
            && rows.iter().enumerate().any(|(place, other)| {
                Some(place) != except
                    && key.iter().all(|&column| {
                        let column_plan = &table.columns[column];
                        column_plan.canonical(row[column]) == column_plan.canonical(other[column])
                    })
            })
    })
}

/// Gives one column of a key another value: of its pool if no foreign key holds it, else of another target.
fn change_key(plan: &Plan, at: usize, key: usize, row: &mut [u32], rows: &Rows, random: &mut Random) {
    let table = &plan.tables[at];
    let Some(&column) = random.pick(&table.keys[key]) else { return };
    let holders: Vec<&ForeignPlan> =
        table.foreign_keys.iter().filter(|key| key.columns.contains(&column)).collect();
    if let Some(holder) = random.pick(&holders) {
        link(plan, at, holder, row, rows, Links::Random, random);
        return;
    }
    row[column] = any_value(&table.columns[column], random);
}

/// Rounds in which dependencies of dependencies are followed.
const DEPENDENCY_ROUNDS: usize = 8;

/// Gives rows that agree in the first column of a dependency what the first of them has in the second.
fn keep_dependencies(table: &TablePlan, rows: &mut [Vec<u32>]) {
    for _ in 0..DEPENDENCY_ROUNDS {
        let mut is_changed = false;
        for &(from, to) in &table.dependencies {
            let mut partners = HashMap::new();
            for row in rows.iter_mut().filter(|row| !table.columns[from].is_null(row[from])) {
                let cell = *partners.entry(table.columns[from].canonical(row[from])).or_insert(row[to]);
                is_changed |= row[to] != cell;
                row[to] = cell;
            }
        }
        if !is_changed {
            return;
        }
    }
}

/// Gives a row in which one column is above another, and may not be, a value there that is not below.
fn keep_orders(table: &TablePlan, rows: &mut [Vec<u32>]) {
    for _ in 0..DEPENDENCY_ROUNDS {
        let mut is_changed = false;
        for &(low, high) in &table.orders {
            let (lower, upper) = (&table.columns[low], &table.columns[high]);
            for row in rows.iter_mut() {
                let is_broken = !lower.is_null(row[low])
                    && !upper.is_null(row[high])
                    && is_below(upper.value(row[high]), lower.value(row[low]));
                if !is_broken {
                    continue;
                }
                let least = lower.value(row[low]);
                let fits = |cell: u32| !upper.is_off_type(cell) && !is_below(upper.value(cell), least);
                let cells = 0..u32::try_from(upper.pool.len()).unwrap_or(u32::MAX);
                if let Some(cell) = cells.into_iter().find(|&cell| !upper.is_null(cell) && fits(cell)) {
                    row[high] = cell;
                    is_changed = true;
                }
            }
        }
        if !is_changed {
            return;
        }
    }
}

/// Points foreign keys whose target was generated later at a target, where the keys of the table allow it.
fn relink(plan: &Plan, rows: &mut Rows, random: &mut Random) {
    for (at, table) in plan.tables.iter().enumerate() {
        for place in 0..rows.tables[at].len() {
            for key in &table.foreign_keys {
                let mut row = rows.tables[at][place].clone();
                if is_linked(plan, at, key, &row, &rows.tables[key.target]) {
                    continue;
                }
                let is_done = link(plan, at, key, &mut row, rows, Links::Random, random);
                if is_done && taken_key(table, &row, &rows.tables[at], Some(place)).is_none() {
                    rows.tables[at][place] = row;
                }
            }
        }
    }
}
