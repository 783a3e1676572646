//! One name under several keys: for queries that group, sort or look up by a name where the key is meant, or that
//! take one row of several with that name.

use sqlgauge_base::Random;

use super::{Guide, any_column, draw_columns, draw_counts, few, split};
use crate::plan::Plan;
use crate::shape::{Drawn, Links, Manner, Shape};
use crate::trace::Use;

pub(super) struct Labels;

impl Guide for Labels {
    fn applies(&self, plan: &Plan) -> bool {
        any_column(plan, |column| column.is_label)
    }

    fn draw(&self, plan: &Plan, shape: &mut Shape, random: &mut Random) {
        let (width, is_split) = (1 + random.below(2), random.chance(60));
        draw_columns(plan, shape, random, |column, random| {
            if column.is_label && is_split {
                return Some(split(plan, column, random));
            }
            if column.is_label && !column.is_used_for(Use::Sorted) {
                return Some(few(plan, column, width, random));
            }
            let is_measure = column.is_used_for(Use::Sorted) || column.is_used_for(Use::Aggregated);
            is_measure.then_some(Manner::Spread)
        });
        leave_out_unique(plan, shape);
        if is_split {
            // Three rows with two names, two that refer to each, and one more to the last.
            draw_counts(plan, shape, random, [3, 3], [7, 7]);
            tell_apart(plan, shape);
            shape.links = [Links::InTurn, Links::Skewed, Links::Random][random.below(3)];
            if random.chance(50) {
                shape.domains.iter_mut().for_each(|domain| domain.truncate(1));
            }
        } else {
            draw_counts(plan, shape, random, [2, 4], [2, 9]);
        }
    }
}

/// Gives each row that others refer to a key of its own, even where the schema demands none.
fn tell_apart(plan: &Plan, shape: &mut Shape) {
    for key in plan.tables.iter().flat_map(|table| &table.foreign_keys) {
        for &column in &key.target_columns {
            shape.drawn[key.target][column] = Drawn::by(Manner::Each);
        }
    }
}

/// A name that no two rows may share may still be NULL in several.
fn leave_out_unique(plan: &Plan, shape: &mut Shape) {
    for (table, drawn) in plan.tables.iter().zip(&mut shape.drawn) {
        for (at, (column, drawn)) in table.columns.iter().zip(drawn).enumerate() {
            if column.is_used_for(Use::Grouped) && !column.avoids_null && table.keys.contains(&vec![at]) {
                drawn.null_percent = Some(60);
            }
        }
    }
}
