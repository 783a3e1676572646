//! Makes databases of a plan: small, full of duplicates, ties, NULLs and near misses, and always within the keys.

use sqlgauge_base::Random;

use super::plan::{ClassPlan, ColumnPlan, ForeignPlan, NULL, Plan, TablePlan};

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

/// The rows of a database, as cells of the plan's columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rows {
    /// For each table of the plan its rows.
    pub(super) tables: Vec<Vec<Vec<u32>>>,
}

impl Rows {
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
                    let (kept, count) = self.linked(plan, at, key);
                    is_changed |= kept.len() < count;
                    self.tables[at] = kept;
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
        let kept = rows.into_iter().filter(|row| is_linked(plan, at, key, row, targets)).collect();
        (kept, count)
    }
}

/// Whether the foreign key of a row holds: some column of it is NULL, or a target has the same values.
fn is_linked(plan: &Plan, at: usize, key: &ForeignPlan, row: &[u32], targets: &[Vec<u32>]) -> bool {
    let own = &plan.tables[at].columns;
    let others = &plan.tables[key.target].columns;
    key.columns.iter().any(|&column| own[column].is_null(row[column]))
        || targets.iter().any(|target| {
            key.columns.iter().zip(&key.target_columns).all(|(&column, &other)| {
                let wanted = others[other].canonical(row[column]);
                wanted != NULL && wanted == others[other].canonical(target[other])
            })
        })
}

/// The choices that hold for one database as a whole.
struct Shape {
    /// For each class the values in use.
    domains: Vec<Vec<u32>>,
    /// For each table the number of rows wanted.
    counts: Vec<usize>,
    null_percent: u8,
    kind: Kind,
    /// Whether columns of a primary key may be NULL where the schema lets them.
    null_keys: bool,
    /// Which query's comparisons the rows shall mostly satisfy.
    guide: Option<usize>,
    copy_percent: u8,
}

/// Database `number` of a search. The first ones have a shape of their own: all tables empty, one row in each, one
/// table empty.
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
    rows.remove_dangling(plan);
    rows
}

fn shape(plan: &Plan, number: usize, kind: Kind, random: &mut Random) -> Shape {
    let tables = plan.tables.len();
    let with_odd = kind == Kind::Odd && random.chance(60);
    let largest = [1, 2, 2, 3, 4, 6][random.below(6)];
    let mut counts: Vec<usize> =
        (0..tables).map(|_| if random.chance(92) { 1 + random.below(largest) } else { 0 }).collect();
    let mut width = [1, 1, 2, 2, 3, 4][random.below(6)];
    let mut guide = random.chance(65).then(|| random.below(plan.guides));
    match number {
        0 => counts.fill(0),
        1 | 2 => {
            counts.fill(1);
            guide = Some(number - 1);
        }
        _ if number - 3 < tables => counts[number - 3] = 0,
        // Groups of different size need many rows in a table that refers to few of another.
        _ if random.chance(20) => {
            width = 2;
            let is_target =
                |at| plan.tables.iter().flat_map(|table| &table.foreign_keys).any(|key| key.target == at);
            for (at, count) in counts.iter_mut().enumerate() {
                *count = if is_target(at) { 2 + random.below(2) } else { 4 + random.below(5) };
            }
        }
        _ if !plan.sizes.is_empty() && random.chance(40) => {
            let size = random.pick(&plan.sizes).copied().unwrap_or(1);
            let wanted = (size + random.below(3)).saturating_sub(1);
            let table = random.below(tables);
            for (at, count) in counts.iter_mut().enumerate() {
                if at == table || random.chance(30) {
                    *count = wanted;
                }
            }
            if random.chance(50) {
                width = 1;
            }
        }
        _ => {}
    }
    Shape {
        domains: plan.classes.iter().map(|class| domain(class, width, with_odd, random)).collect(),
        counts,
        null_percent: [0, 0, 0, 10, 30, 60][random.below(6)],
        kind,
        null_keys: kind == Kind::Odd && random.chance(60),
        guide,
        copy_percent: [0, 20, 50][random.below(3)],
    }
}

/// A few values of a class, so that rows meet and repeat.
fn domain(class: &ClassPlan, width: usize, with_odd: bool, random: &mut Random) -> Vec<u32> {
    let width = if random.chance(25) { 1 + random.below(4) } else { width };
    (0..width)
        .map(|_| {
            let (start, end) = match random.below(100) {
                _ if with_odd && random.chance(30) && class.odd > class.fresh => (class.fresh, class.odd),
                0..50 if class.constants > 0 => (0, class.constants),
                0..72 if class.neighbours > class.constants => (class.constants, class.neighbours),
                _ => (class.neighbours, class.fresh.max(class.neighbours + 1)),
            };
            u32::try_from(start + random.below(end - start)).unwrap_or(NULL)
        })
        .collect()
}

/// A row within the keys of its table and, as far as their targets are there already, its foreign keys; `None` if
/// none was found.
fn new_row(plan: &Plan, at: usize, rows: &Rows, shape: &Shape, random: &mut Random) -> Option<Vec<u32>> {
    let table = &plan.tables[at];
    let mut row = match random.pick(&rows.tables[at]) {
        Some(model) if random.chance(shape.copy_percent) => {
            let mut row = model.clone();
            for _ in 0..random.below(3) {
                let column = random.below(row.len());
                if let Some(cell) = row.get_mut(column) {
                    *cell = new_cell(&table.columns[column], shape, random);
                }
            }
            row
        }
        _ => table.columns.iter().map(|column| new_cell(column, shape, random)).collect(),
    };
    for key in &table.foreign_keys {
        let is_generated = key.target <= at;
        let is_linked_already = is_linked(plan, at, key, &row, &rows.tables[key.target]);
        if is_generated && !is_linked_already && !link(plan, at, key, &mut row, rows, random) {
            return None;
        }
    }
    for _ in 0..KEY_TRIES {
        let Some(taken) = taken_key(table, &row, &rows.tables[at], None) else { return Some(row) };
        change_key(plan, at, taken, &mut row, rows, random);
    }
    taken_key(table, &row, &rows.tables[at], None).is_none().then_some(row)
}

fn new_cell(column: &ColumnPlan, shape: &Shape, random: &mut Random) -> u32 {
    if column.is_nullable && random.chance(shape.null_percent) && (shape.null_keys || !column.is_primary) {
        return NULL;
    }
    let from_checks =
        column.guided.last().and_then(|wanted| random.pick(wanted).copied()).filter(|_| random.chance(90));
    let from_guide = shape.guide.and_then(|guide| column.guided.get(guide));
    let from_guide = from_guide.and_then(|wanted| random.pick(wanted).copied()).filter(|_| random.chance(75));
    let cell = from_guide
        .or(from_checks)
        .or_else(|| random.pick(&shape.domains[column.class]).copied())
        .unwrap_or(NULL);
    let is_off_type = shape.kind == Kind::Plain && column.is_off_type(cell);
    if is_off_type || column.is_null(cell) && !column.is_nullable { any_value(column, random) } else { cell }
}

/// Some value that the column can store, of its type if there is one.
fn any_value(column: &ColumnPlan, random: &mut Random) -> u32 {
    let start = random.below(column.pool.len());
    let cells = || (start..column.pool.len()).chain(0..start).map(|at| u32::try_from(at).unwrap_or(NULL));
    let plain = cells().find(|&cell| !column.is_null(cell) && !column.is_off_type(cell));
    plain.or_else(|| cells().find(|&cell| !column.is_null(cell))).unwrap_or(NULL)
}

/// Points the foreign key of a row at one of the target rows, or makes it NULL; false if neither can be done.
fn link(
    plan: &Plan,
    at: usize,
    key: &ForeignPlan,
    row: &mut [u32],
    rows: &Rows,
    random: &mut Random,
) -> bool {
    let columns = &plan.tables[at].columns;
    if let Some(target) = random.pick(&rows.tables[key.target]) {
        for (&column, &other) in key.columns.iter().zip(&key.target_columns) {
            if !columns[column].is_null(target[other]) || columns[column].is_nullable {
                row[column] = target[other];
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
        link(plan, at, holder, row, rows, random);
        return;
    }
    row[column] = any_value(&table.columns[column], random);
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
                let is_done = link(plan, at, key, &mut row, rows, random);
                if is_done && taken_key(table, &row, &rows.tables[at], Some(place)).is_none() {
                    rows.tables[at][place] = row;
                }
            }
        }
    }
}
