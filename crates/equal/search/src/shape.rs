//! The choices that hold for one database as a whole: how many rows, from which values, how often NULL.

use sqlgauge_base::Random;

use super::generate::Kind;
use super::guide::guides;
use super::plan::{ClassPlan, ColumnPlan, NULL, Plan};
use super::trace::Use;

/// How the cells of one column are drawn where no comparison asks for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Manner {
    /// From the values in use of its class.
    Usual,
    /// From these.
    Few(Vec<u32>),
    /// These in turn, row by row.
    Pattern(Vec<u32>),
    /// From many values that people would put there.
    Spread,
    /// Each row has a value of its own, as far as there are enough.
    Each,
    /// Dates around those of the queries, with and without a time of day.
    Timed,
}

/// How one column is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) manner: Manner,
    /// Share of NULL, where it is not that of the database, or none in a primary key.
    pub(super) null_percent: Option<u8>,
    /// Whether it has values that are not of its type.
    pub(super) is_odd: bool,
}

/// Which row of a table a row that refers to it is linked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// Any.
    Random,
    /// Each in turn, from the first to the last.
    InOrder,
    /// Each in turn, from the last to the first.
    InTurn,
    /// Every second one to the last, the others to the rest in turn.
    Skewed,
    First,
}

impl Links {
    /// The row for a row at that place.
    pub(super) fn target<'r>(
        self,
        rows: &'r [Vec<u32>],
        place: usize,
        random: &mut Random,
    ) -> Option<&'r Vec<u32>> {
        match self {
            Self::Random => random.pick(rows),
            Self::InOrder => rows.get(place % rows.len().max(1)),
            Self::InTurn => rows.len().checked_sub(1).and_then(|last| rows.get(last - place % rows.len())),
            Self::Skewed if place.is_multiple_of(2) => rows.last(),
            Self::Skewed => rows.get(place / 2 % rows.len().saturating_sub(1).max(1)),
            Self::First => rows.first(),
        }
    }
}

impl Shape {
    /// How the rows of a table are linked. A table that refers and is referred to is linked row by row, so that the last table alone
    /// decides how many rows lead to each row of the first.
    pub(super) fn links_of(&self, plan: &Plan, table: usize) -> Links {
        let is_turned = matches!(self.links, Links::InTurn | Links::Skewed);
        if is_turned && plan.is_target(table) { Links::InOrder } else { self.links }
    }
}

impl Drawn {
    pub(super) fn by(manner: Manner) -> Self {
        Self { manner, null_percent: None, is_odd: false }
    }
}

/// The choices for one database.
#[derive(Debug)]
pub(super) struct Shape {
    /// For each class the values in use.
    pub(super) domains: Vec<Vec<u32>>,
    /// For each table the number of rows wanted.
    pub(super) counts: Vec<usize>,
    /// For each table and column how it is drawn.
    pub(super) drawn: Vec<Vec<Drawn>>,
    pub(super) null_percent: u8,
    pub(super) links: Links,
    /// Which query's comparisons the rows shall mostly satisfy.
    pub(super) guide: Option<usize>,
    /// How often a cell satisfies them.
    pub(super) guided_percent: u8,
    pub(super) copy_percent: u8,
}

/// The shape of database `number`. The first ones have one of their own: one row in each table, no rows, one table empty.
/// Then every second one is drawn by a guide, in turn, where one applies.
pub(super) fn shape(plan: &Plan, number: usize, kind: Kind, random: &mut Random) -> Shape {
    let tables = plan.tables.len();
    let mut shape = any_shape(plan, random);
    match number {
        0 | 1 => {
            shape.counts.fill(1);
            shape.guide = Some(number);
        }
        2 => shape.counts.fill(0),
        _ if number - 3 < tables => shape.counts[number - 3] = 0,
        _ if number % 2 == 1 => guided(plan, number / 2, &mut shape, random),
        _ => {}
    }
    if kind == Kind::Odd {
        make_odd(plan, &mut shape, random);
    }
    shape
}

/// Lets one column be NULL although that is odd there, as in a primary key, or hold values that are not of its type.
fn make_odd(plan: &Plan, shape: &mut Shape, random: &mut Random) {
    let columns = plan.tables.iter().zip(&mut shape.drawn);
    let mut columns: Vec<_> = columns.flat_map(|(table, drawn)| table.columns.iter().zip(drawn)).collect();
    let may_be_odd = |column: &ColumnPlan| {
        let odd = plan.classes[column.class].odd;
        !column.is_linked && column.off_type.iter().take(odd).any(|is_off| *is_off)
    };
    let is_null_key = |column: &ColumnPlan| column.avoids_null && column.is_nullable;
    for _ in 0..=random.below(2) {
        let wants_null = random.chance(50);
        let fits = |column: &ColumnPlan| if wants_null { is_null_key(column) } else { may_be_odd(column) };
        let mut fitting: Vec<usize> = (0..columns.len()).filter(|&at| fits(columns[at].0)).collect();
        // Texts that are no dates are what dates are most often compared with unawares.
        if fitting.iter().any(|&at| !columns[at].0.timed.is_empty()) && random.chance(40) {
            fitting.retain(|&at| !columns[at].0.timed.is_empty());
        }
        match random.pick(&fitting) {
            Some(&at) if wants_null => columns[at].1.null_percent = Some([30, 50, 100][random.below(3)]),
            Some(&at) => columns[at].1.is_odd = true,
            None => {}
        }
    }
}

fn guided(plan: &Plan, turn: usize, shape: &mut Shape, random: &mut Random) {
    let applicable: Vec<_> = guides().iter().filter(|guide| guide.applies(plan)).collect();
    let Some(guide) = applicable.get(turn % applicable.len().max(1)) else { return };
    shape.guide = Some(random.below(plan.guides));
    shape.guided_percent = [90, 100][random.below(2)];
    shape.null_percent = [0, 0, 0, 10][random.below(4)];
    shape.copy_percent = 0;
    guide.draw(plan, shape, random);
    if random.chance(25) {
        leave_out_counted(plan, shape);
    }
    for (at, table) in plan.tables.iter().enumerate().rev() {
        for key in table.foreign_keys.iter().filter(|key| table.keys.contains(&key.columns)) {
            // Of such rows there is at most one for each that they refer to.
            shape.counts[key.target] = shape.counts[key.target].max(shape.counts[at]);
        }
    }
}

/// Makes many of the values NULL that `count()` counts.
fn leave_out_counted(plan: &Plan, shape: &mut Shape) {
    for (table, drawn) in plan.tables.iter().zip(&mut shape.drawn) {
        for (column, drawn) in table.columns.iter().zip(drawn) {
            if column.is_used_for(Use::Counted) && !column.is_used_for(Use::Grouped) && !column.avoids_null {
                drawn.null_percent = Some(40);
            }
        }
    }
}

fn any_shape(plan: &Plan, random: &mut Random) -> Shape {
    let tables = plan.tables.len();
    let largest = [1, 2, 2, 3, 4, 6][random.below(6)];
    let mut counts: Vec<usize> =
        (0..tables).map(|_| if random.chance(92) { 1 + random.below(largest) } else { 0 }).collect();
    let mut width = [1, 1, 2, 2, 3, 4][random.below(6)];
    // Groups of different size need many rows in a table that refers to few of another.
    if random.chance(20) {
        width = 2;
        for (at, count) in counts.iter_mut().enumerate() {
            *count = if plan.is_target(at) { 2 + random.below(2) } else { 4 + random.below(5) };
        }
    }
    let usual = |table: &super::plan::TablePlan| vec![Drawn::by(Manner::Usual); table.columns.len()];
    Shape {
        domains: plan.classes.iter().map(|class| domain(class, width, random)).collect(),
        counts,
        drawn: plan.tables.iter().map(usual).collect(),
        null_percent: [0, 0, 0, 10, 30, 60][random.below(6)],
        links: Links::Random,
        guide: random.chance(65).then(|| random.below(plan.guides)),
        guided_percent: 75,
        copy_percent: [0, 20, 50][random.below(3)],
    }
}

/// A few values of a class, so that rows meet and repeat.
pub(super) fn domain(class: &ClassPlan, width: usize, random: &mut Random) -> Vec<u32> {
    let width = if random.chance(25) { 1 + random.below(4) } else { width };
    (0..width)
        .map(|_| {
            let (start, end) = match random.below(100) {
                0..50 if class.constants > 0 => (0, class.constants),
                0..72 if class.neighbours > class.constants => (class.constants, class.neighbours),
                95.. if class.spread > class.odd => (class.odd, class.spread),
                _ => (class.neighbours, class.fresh.max(class.neighbours + 1)),
            };
            u32::try_from(start + random.below(end - start)).unwrap_or(NULL)
        })
        .collect()
}

impl Drawn {
    /// A cell for row `row` of a column; `None` where the manner has no value for it.
    pub(super) fn cell(
        &self,
        column: &ColumnPlan,
        class: &ClassPlan,
        domain: &[u32],
        row: usize,
        random: &mut Random,
    ) -> Option<u32> {
        let cell = |at: usize| u32::try_from(at).ok();
        match &self.manner {
            Manner::Usual => random.pick(domain).copied(),
            Manner::Few(cells) => random.pick(cells).copied(),
            Manner::Pattern(cells) => cells.get(row % cells.len().max(1)).copied(),
            Manner::Spread => {
                let ordinary = class.fresh - class.neighbours;
                let at = random.below(ordinary + class.spread - class.odd);
                cell(if at < ordinary { class.neighbours + at } else { class.odd + at - ordinary })
            }
            Manner::Each => cell(class.spread + row).filter(|_| class.spread + row < class.len),
            Manner::Timed => random.pick(&column.timed).copied(),
        }
    }
}
