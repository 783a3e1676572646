//! Few groups of several rows with different values inside: for finer and coarser group keys, bare columns,
//! `count(DISTINCT)` beside `count`.

use sqlgauge_base::Random;

use super::{Guide, any_column, draw_columns, draw_counts, few, split};
use crate::plan::Plan;
use crate::shape::{Links, Manner, Shape};
use crate::trace::Use;

pub(super) struct Groups;

impl Guide for Groups {
    fn applies(&self, plan: &Plan) -> bool {
        any_column(plan, |column| {
            column.is_used_for(Use::Grouped) || column.is_used_for(Use::CountedDistinct)
        })
    }

    fn draw(&self, plan: &Plan, shape: &mut Shape, random: &mut Random) {
        if random.chance(40) {
            return nested(plan, shape, random);
        }
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

/// Three rows of which one key makes two groups and another three, each of these within one of those.
fn nested(plan: &Plan, shape: &mut Shape, random: &mut Random) {
    draw_columns(plan, shape, random, |column, random| match column.is_primary || column.is_linked {
        true => None,
        false if column.is_used_for(Use::Grouped) && random.chance(50) => Some(Manner::Each),
        false if column.is_used_for(Use::Grouped) => Some(split(plan, column, random)),
        false => Some(Manner::Spread),
    });
    draw_counts(plan, shape, random, [3, 3], [3, 3]);
    shape.links = Links::InTurn;
}
