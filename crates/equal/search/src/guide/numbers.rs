//! Many different numbers, some below zero: for what is sorted or aggregated. Sums that rank otherwise than their
//! terms, averages of repeated values, `abs()`, a top-1 without ties.

use sqlgauge_base::Random;

use super::{Guide, any_column, draw_columns, draw_counts, few};
use crate::plan::{ColumnPlan, Plan};
use crate::shape::{Manner, Shape};
use crate::trace::Use;

pub(super) struct Numbers;

fn is_measure(column: &ColumnPlan) -> bool {
    column.is_used_for(Use::Sorted) || column.is_used_for(Use::Aggregated)
}

impl Guide for Numbers {
    fn applies(&self, plan: &Plan) -> bool {
        any_column(plan, is_measure)
    }

    fn draw(&self, plan: &Plan, shape: &mut Shape, random: &mut Random) {
        let width = 1 + random.below(2);
        let repeats = random.chance(20);
        draw_columns(plan, shape, random, |column, random| match is_measure(column) {
            true if repeats => Some(few(plan, column, 2, random)),
            true => Some(Manner::Spread),
            false if column.is_label => Some(few(plan, column, width, random)),
            false => None,
        });
        draw_counts(plan, shape, random, [1, 4], [2, 7]);
    }
}
