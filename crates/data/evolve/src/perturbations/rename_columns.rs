//! `rename-columns`: columns of every table get names of the same meaning. Columns that a foreign key links and that have
//! one name keep having one.

use std::collections::HashSet;

use sqlgauge_base::Random;
use sqlgauge_sql::schema::Schema;

use super::{Context, names_in_use};
use crate::chain::Chain;
use crate::change::Change;

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let mut in_use = names_in_use(&schema);
    let mut done: HashSet<(usize, u32)> = HashSet::new();
    for (at, table) in context.tables(&schema) {
        let columns: Vec<u32> = (0..).zip(&table.columns).map(|(at, _)| at).collect();
        for column in context.some(columns, random) {
            if done.contains(&(at, column)) {
                continue;
            }
            let Some(original) = table.column(column) else { continue };
            let naming = (original.name.as_str(), Some(table.name.as_str()));
            let Some(to) = context.name(naming, &schema, &in_use, random) else { continue };
            in_use.insert(&to);
            for (place, column) in namesakes(&schema, (at, column)) {
                done.insert((place, column));
                let table = &schema.tables()[place];
                let name = table.column(column).map(|column| column.name.clone()).unwrap_or_default();
                let change = Change::RenameColumn { table: table.name.clone(), column: name, to: to.clone() };
                // A change that does not fit is left out.
                let _ = chain.push(change);
            }
        }
    }
}

/// The column and those of its name that foreign keys link to it, directly or through others.
fn namesakes(schema: &Schema, start: (usize, u32)) -> Vec<(usize, u32)> {
    let name = |(table, column): (usize, u32)| {
        schema.tables()[table].column(column).map(|column| column.name.to_ascii_lowercase())
    };
    let mut links = Vec::new();
    for (at, table) in schema.tables().iter().enumerate() {
        for key in &table.foreign_keys {
            let Some((id, columns)) = schema.resolve_foreign_key(key) else { continue };
            links.extend(
                key.columns.iter().zip(columns).map(|(&column, other)| ((at, column), (id.index(), other))),
            );
        }
    }
    let mut group = vec![start];
    let mut next = 0;
    while let Some(&from) = group.get(next) {
        for &(a, b) in &links {
            for (near, far) in [(a, b), (b, a)] {
                if near == from && name(far) == name(start) && !group.contains(&far) {
                    group.push(far);
                }
            }
        }
        next += 1;
    }
    group
}
