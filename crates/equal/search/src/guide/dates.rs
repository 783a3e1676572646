//! Dates around those that the queries name, with and without a time of day: for `'2000-12-31 10:00:00'` between
//! `'2000-01-01'` and `'2000-12-31'`, months and years cut out of a text.

use sqlgauge_base::Random;

use super::{Guide, any_column, draw_columns};
use crate::plan::Plan;
use crate::shape::{Manner, Shape};

pub(super) struct Dates;

impl Guide for Dates {
    fn applies(&self, plan: &Plan) -> bool {
        any_column(plan, |column| !column.timed.is_empty())
    }

    fn draw(&self, plan: &Plan, shape: &mut Shape, random: &mut Random) {
        draw_columns(plan, shape, random, |column, _| (!column.timed.is_empty()).then_some(Manner::Timed));
        for count in &mut shape.counts {
            *count = 1 + random.below(4);
        }
    }
}
