//! Window functions.

use sqlgauge_sql::derive::has_window;
use sqlgauge_sql::tree::{OrderTerm, Select};

use super::{Env, Run};
use crate::smt::ir::Term;
use crate::smt::world::Stop;

impl Run<'_, '_> {
    /// Adds the values of window functions to each row.
    pub(super) fn add_windows(
        &mut self,
        select: &Select,
        order_by: &[OrderTerm],
        rows: &mut [(Term, Env)],
    ) -> Result<(), Stop> {
        self.world.check_size(rows.len())?;
        let outputs = select.outputs.iter().map(|output| &output.expr);
        if outputs.chain(order_by.iter().map(|term| &term.expr)).any(has_window) {
            return Err(Stop::unsupported("window"));
        }
        Ok(())
    }
}
