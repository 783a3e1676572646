//! Few groups of several rows with different values inside: for finer and coarser group keys, bare columns,
//! `count(DISTINCT)` beside `count`.

use sqlgauge_base::Random;

use super::{Guide, any_column, draw_columns, draw_counts, few};
use crate::search::plan::Plan;
use crate::search::shape::{Manner, Shape};
use crate::search::trace::Use;

pub(super) struct Groups;

impl Guide for Groups {
    fn applies(&self, plan: &Plan) -> bool {
        any_column(plan, |column| {
            column.is_used_for(Use::Grouped) || column.is_used_for(Use::CountedDistinct)
        })
    }

    fn draw(&self, plan: &Plan, shape: &mut Shape, random: &mut Random) {
        let width = 1 + random.below(3);
        draw_columns(plan, shape, random, |column, random| {
            if column.is_used_for(Use::Grouped) && !column.is_primary {
                return Some(few(plan, column, width, random));
            }
            (!column.is_primary && !column.is_linked && random.chance(70)).then_some(Manner::Spread)
        });
        draw_counts(plan, shape, random, [2, 3], [4, 10]);
    }
}
