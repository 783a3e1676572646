//! `rename-tables`: tables get names of the same meaning.

use sqlgauge_base::Random;

use super::{Context, names_in_use};
use crate::chain::Chain;
use crate::change::Change;

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let mut in_use = names_in_use(&schema);
    let mut names: Vec<&str> = context.tables(&schema).map(|(_, table)| table.name.as_str()).collect();
    let wanted = context.count(names.len(), random);
    random.shuffle(&mut names);
    let mut done = 0;
    for name in names {
        if done == wanted {
            break;
        }
        let Some(to) = context.name((name, None), &schema, &in_use, random) else { continue };
        in_use.insert(&to);
        done += usize::from(chain.push(Change::RenameTable { table: name.to_owned(), to }).is_ok());
    }
}
