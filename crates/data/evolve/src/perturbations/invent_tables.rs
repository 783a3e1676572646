//! `invent-tables`: new tables that extend some of the others, each with a foreign key to the one that it extends.

use sqlgauge_base::Random;
use sqlgauge_sql::schema::Table;

use super::{Context, all_names, names_in_use};
use crate::additions::table_for;
use crate::chain::Chain;
use crate::change::Change;
use sqlgauge_names::Convention;

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let convention = Convention::of(all_names(&schema));
    let mut in_use = names_in_use(&schema);
    let extensible: Vec<&Table> = context
        .tables(&schema)
        .map(|(_, table)| table)
        .filter(|table| table.primary_key.len() == 1)
        .collect();
    for table in context.some(extensible, random) {
        let Some(added) = table_for(table, convention, &in_use, random) else { continue };
        in_use.insert(&added.name);
        // A change that does not fit is left out.
        let _ = chain.push(Change::AddTable { ddl: added.ddl, rows: Some(added.rows) });
    }
}
