//! As many rows as LIMIT or a count asks for, one more or one less, all of one group: for `HAVING count(*) > 20`,
//! `count(DISTINCT x) > 5` and LIMIT.

use sqlgauge_base::Random;

use super::{Guide, draw_columns, few};
use crate::plan::Plan;
use crate::shape::{Links, Manner, Shape};
use crate::trace::Use;

pub(super) struct Counts;

/// Databases of more rows cost so much that only some are made.
const LARGE: usize = 40;

impl Guide for Counts {
    fn applies(&self, plan: &Plan) -> bool {
        !plan.sizes.is_empty()
    }

    fn draw(&self, plan: &Plan, shape: &mut Shape, random: &mut Random) {
        let size = random.pick(&plan.sizes).copied().unwrap_or(1);
        let size = if size > LARGE && random.chance(70) { 1 } else { size };
        let wanted = (size + random.below(4)).saturating_sub(1);
        let referring: Vec<usize> = (0..plan.tables.len()).filter(|&at| !plan.is_target(at)).collect();
        let table = match random.pick(&referring) {
            Some(&at) if random.chance(60) => at,
            _ => random.below(plan.tables.len()),
        };
        for (at, count) in shape.counts.iter_mut().enumerate() {
            let is_large = at == table || (size <= LARGE && random.chance(30));
            *count = if is_large { wanted } else { 1 + random.below(2) };
        }
        let is_each = random.chance(70);
        draw_columns(plan, shape, random, |column, random| {
            let is_counted = column.is_used_for(Use::CountedDistinct) || column.is_used_for(Use::Sorted);
            if (is_each && is_counted) || (column.is_primary && !column.is_linked) {
                return Some(Manner::Each);
            }
            random.chance(70).then(|| few(plan, column, 1, random))
        });
        shape.domains.iter_mut().for_each(|domain| domain.truncate(1));
        shape.guided_percent = [60, 90, 100][random.below(3)];
        shape.links = [Links::First, Links::InTurn, Links::Random][random.below(3)];
    }
}
