//! `remove-columns-in-gold` and `remove-tables-in-gold`: what a gold reads goes, so that it cannot be answered any more. One
//! to six columns, or one table (EvoSchema, Table 2).

use sqlgauge_base::Random;
use sqlgauge_sql::resolve;

use super::Needed;
use crate::chain::Chain;
use crate::change::Change;
use crate::kind::ChangeKind;

const MOST_COLUMNS: usize = 6;

/// Pushes removals until the gold does not resolve; whether that was reached.
pub(crate) fn remove(
    kind: ChangeKind,
    gold: &str,
    reads: &Needed,
    chain: &mut Chain,
    random: &mut Random,
) -> bool {
    let mut removals =
        if kind == ChangeKind::RemoveTablesInGold { tables(chain, reads) } else { columns(chain, reads) };
    removals.sort();
    random.shuffle(&mut removals);
    let wanted = if kind == ChangeKind::RemoveTablesInGold {
        1
    } else {
        1 + random.below(removals.len().min(MOST_COLUMNS))
    };
    for (table, column) in removals {
        let is_answerable = resolve(gold, chain.last()).is_ok();
        if chain.changes().len() >= wanted && !is_answerable {
            break;
        }
        let change = match column {
            Some(column) => Change::DropColumn { table, column },
            None => Change::DropTable { table },
        };
        // The last column of a table and the last table stay.
        let _ = chain.push(change);
    }
    resolve(gold, chain.last()).is_err()
}

type Removal = (String, Option<String>);

fn tables(chain: &Chain, reads: &Needed) -> Vec<Removal> {
    let tables = reads.tables.iter().filter_map(|&at| chain.first().tables().get(at));
    tables.map(|table| (table.name.clone(), None)).collect()
}

fn columns(chain: &Chain, reads: &Needed) -> Vec<Removal> {
    let columns = reads.columns.iter().filter_map(|&(table, at)| {
        let table = chain.first().tables().get(table)?;
        Some((table.name.clone(), Some(table.column(at)?.name.clone())))
    });
    columns.collect()
}
