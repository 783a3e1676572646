//! `remove-columns`: columns that no gold reads go, keys excepted.

use sqlgauge_base::Random;

use super::Context;
use crate::chain::Chain;
use crate::change::Change;

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    for (at, table) in context.tables(&schema) {
        let is_free = |column: &u32| {
            !table.primary_key.contains(column) && !context.needed.columns.contains(&(at, *column))
        };
        let columns: Vec<u32> = (0..).zip(&table.columns).map(|(at, _)| at).filter(is_free).collect();
        for column in context.some(columns, random) {
            let Some(column) = table.column(column) else { continue };
            // The last column of a table stays.
            let _ = chain.push(Change::DropColumn { table: table.name.clone(), column: column.name.clone() });
        }
    }
}
