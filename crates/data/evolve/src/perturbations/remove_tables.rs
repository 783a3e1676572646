//! `remove-tables`: tables that no gold reads go, one to three of them (EvoSchema, Table 2).

use sqlgauge_base::Random;

use super::{Context, tables};
use crate::chain::Chain;
use crate::change::Change;

const MOST: usize = 3;

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let unread: Vec<&str> = tables(&schema)
        .filter(|(at, _)| !context.needed.tables.contains(at))
        .map(|(_, table)| table.name.as_str())
        .collect();
    for name in context.some(unread, random).into_iter().take(MOST) {
        // The last table of a schema stays.
        let _ = chain.push(Change::DropTable { table: name.to_owned() });
    }
}
