//! `merge-columns`: first and last name, year and month and day, street and city, city and country become one column. Keys
//! stay as they are, and so do columns with a row that would not come back. Columns that golds read go first.

use sqlgauge_base::Random;
use sqlgauge_engine::Value;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::Table;

use super::{Context, all_names, is_apart};
use crate::chain::Chain;
use crate::change::Change;
use crate::values::{MergeCandidate, merge_candidates};
use sqlgauge_names::{Convention, NamesInUse};

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let convention = Convention::of(all_names(&schema));
    let mut merges: Vec<(bool, Change)> = Vec::new();
    for (at, table) in context.tables(&schema) {
        let free: Vec<u32> =
            (0..).take(table.columns.len()).filter(|&place| is_apart(&schema, table, place)).collect();
        let names: Vec<&str> =
            free.iter().filter_map(|&place| table.column(place)).map(|column| column.name.as_str()).collect();
        let mut in_use = NamesInUse::new(table.columns.iter().map(|column| column.name.as_str()));
        let mut gone: Vec<usize> = Vec::new();
        for candidate in merge_candidates(&names, convention, &in_use) {
            if candidate.columns.iter().any(|place| gone.contains(place)) {
                continue;
            }
            let Some(mut merge) =
                rows(context, table, &names, &candidate).and_then(|rows| candidate.check(&rows).ok())
            else {
                continue;
            };
            if !in_use.insert(&merge.whole.name) {
                continue;
            }
            gone.extend(&candidate.columns);
            let is_needed =
                candidate.columns.iter().any(|&place| context.needed.columns.contains(&(at, free[place])));
            let mut columns = candidate.columns.iter().filter_map(|&place| table.column(free[place]));
            // What the data happen to be is no constraint.
            merge.whole.not_null &= columns.any(|column| column.not_null);
            let table = table.name.clone();
            merges.push((
                is_needed,
                Change::MergeColumns { table, whole: merge.whole, columns: merge.columns },
            ));
        }
    }
    context.push_needed_first(merges, chain, random);
}

fn rows(
    context: &Context<'_>,
    table: &Table,
    names: &[&str],
    of: &MergeCandidate,
) -> Option<Vec<Vec<Value>>> {
    let columns: Vec<String> = of.columns.iter().map(|&place| quoted(names[place])).collect();
    let sql = format!("SELECT DISTINCT {} FROM {}", columns.join(", "), quoted(&table.name));
    let rows = context.probe.rows(&sql)?;
    Some(rows.rows().map(<[Value]>::to_vec).collect())
}
