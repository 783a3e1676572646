//! What databases must look like to show one kind of difference. Each guide is one file and one line in the registry; a
//! search draws every second database by a guide, in turn, and the others freely.

mod counts;
mod dates;
mod groups;
mod labels;
mod numbers;

use sqlgauge_base::Random;

use super::plan::{ColumnPlan, Plan};
use super::shape::{Drawn, Manner, Shape, domain};

/// A kind of database.
pub(super) trait Guide: Sync {
    /// Whether the queries use some column in the way that it is for.
    fn applies(&self, plan: &Plan) -> bool;

    /// Changes the shape of a database to one of its kind.
    fn draw(&self, plan: &Plan, shape: &mut Shape, random: &mut Random);
}

pub(super) fn guides() -> &'static [&'static dyn Guide] {
    &[&numbers::Numbers, &labels::Labels, &groups::Groups, &counts::Counts, &dates::Dates]
}

fn any_column(plan: &Plan, is: impl Fn(&ColumnPlan) -> bool) -> bool {
    plan.tables.iter().flat_map(|table| &table.columns).any(is)
}

/// Draws every column by what `manner` says of it.
fn draw_columns(
    plan: &Plan,
    shape: &mut Shape,
    random: &mut Random,
    manner: impl Fn(&ColumnPlan, &mut Random) -> Option<Manner>,
) {
    for (table, drawn) in plan.tables.iter().zip(&mut shape.drawn) {
        for (column, drawn) in table.columns.iter().zip(drawn) {
            if let Some(manner) = manner(column, random) {
                *drawn = Drawn::by(manner);
            }
        }
    }
}

/// At most that many values of the column's class.
fn few(plan: &Plan, column: &ColumnPlan, most: usize, random: &mut Random) -> Manner {
    let mut cells = domain(&plan.classes[column.class], most, random);
    cells.truncate(most);
    Manner::Few(cells)
}

/// Two values of the column's class, the first twice as often, so that what has the second may lead with fewer
/// rows than the first has in all.
fn split(plan: &Plan, column: &ColumnPlan, random: &mut Random) -> Manner {
    let class = &plan.classes[column.class];
    let other = domain(class, 1, random).first().copied();
    let ordinary = u32::try_from(class.neighbours + random.below(class.fresh - class.neighbours));
    let (Ok(cell), Some(other)) = (ordinary, other) else { return Manner::Usual };
    Manner::Pattern(vec![cell, cell, if other == cell { cell + 1 } else { other }])
}

/// Few rows in the tables that others refer to, more in those that refer.
fn draw_counts(plan: &Plan, shape: &mut Shape, random: &mut Random, targets: [usize; 2], others: [usize; 2]) {
    for (at, count) in shape.counts.iter_mut().enumerate() {
        let [least, most] = if plan.is_target(at) { targets } else { others };
        *count = least + random.below(most - least + 1);
    }
}
