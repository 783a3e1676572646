//! `split-columns`: full names, dates, addresses, telephone numbers and codes become the columns of their parts. Keys stay
//! whole, and so does a column with a value that would not come back. Columns that golds read go first.

use sqlgauge_base::Random;
use sqlgauge_engine::Value;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::Table;

use super::{Context, all_names, is_apart};
use crate::chain::Chain;
use crate::change::Change;
use crate::values::{Subject, split};
use sqlgauge_names::{Convention, NamesInUse};

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let convention = Convention::of(all_names(&schema));
    let mut splits: Vec<(bool, Change)> = Vec::new();
    for (at, table) in context.tables(&schema) {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let mut in_use = NamesInUse::new(columns.iter().copied());
        for (place, column) in (0..).zip(&table.columns).filter(|(place, _)| is_apart(&schema, table, *place))
        {
            let subject = Subject {
                table: &table.name,
                column: &column.name,
                columns: &columns,
                convention,
                in_use: &in_use,
            };
            let Some(mut split) =
                values(context, table, &column.name).and_then(|values| split(&subject, &values).ok())
            else {
                continue;
            };
            for part in &mut split.parts {
                in_use.insert(&part.name);
                // What the data happen to be is no constraint.
                part.not_null &= column.not_null;
            }
            let (table, column) = (table.name.clone(), column.name.clone());
            let change = Change::SplitColumn { table, column, parts: split.parts, whole: split.whole };
            splits.push((context.needed.columns.contains(&(at, place)), change));
        }
    }
    context.push_needed_first(splits, chain, random);
}

fn values(context: &Context<'_>, table: &Table, column: &str) -> Option<Vec<Value>> {
    let sql = format!("SELECT DISTINCT {} FROM {}", quoted(column), quoted(&table.name));
    let rows = context.probe.rows(&sql)?;
    Some(rows.rows().map(|row| row[0].clone()).collect())
}
