//! `add-columns`: every table gets columns of its domain, at most as many as it has (EvoSchema, section 3.5), anywhere
//! among its own.

use sqlgauge_base::Random;

use super::{Context, all_names, names_in_use};
use crate::additions::columns_for;
use crate::chain::Chain;
use crate::change::Change;
use sqlgauge_names::Convention;

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let convention = Convention::of(all_names(&schema));
    let mut in_use = names_in_use(&schema);
    for (_, table) in context.tables(&schema) {
        let width = table.columns.len();
        let count = context.count(width, random);
        for (before, addition) in
            columns_for(table, convention, &in_use, count, random).into_iter().enumerate()
        {
            in_use.insert(&addition.column.name);
            // A change that does not fit is left out.
            let _ = chain.push(Change::AddColumn {
                table: table.name.clone(),
                column: Box::new(addition.column),
                at: u32::try_from(random.below(width + before + 1)).ok(),
                value: addition.value,
            });
        }
    }
}
