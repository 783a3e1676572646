//! `split-tables`: tables become two to five that share their key (EvoSchema, Table 2: 2.6 on average). A key is never split
//! from its table: every part has it. A table is left whole where its key is NULL in some row.

use sqlgauge_base::Random;
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::Table;

use super::{Context, compound, taken};
use crate::chain::Chain;
use crate::change::Change;
use sqlgauge_names::NamesInUse;

/// The names of parts, added to the table's name.
const ASPECTS: [&str; 8] =
    ["details", "profile", "record", "attributes", "data", "extension", "properties", "notes"];

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let mut taken = taken(&schema);
    let fitting: Vec<&Table> = context
        .tables(&schema)
        .map(|(_, table)| table)
        .filter(|table| can_be_split(table) && has_whole_key(context, table))
        .collect();
    for table in context.some(fitting, random) {
        let own: Vec<&str> = (0..)
            .zip(&table.columns)
            .filter(|(at, _)| !table.primary_key.contains(at))
            .map(|(_, column)| column.name.as_str())
            .collect();
        let parts = parts(own.len(), random);
        let cuts = random.distinct(parts - 1, own.len() - 1);
        let mut fragments = Vec::new();
        let mut start = 0;
        for end in cuts.iter().map(|cut| cut + 1).chain([own.len()]) {
            let columns: Vec<String> = own[start..end].iter().map(|&name| name.to_owned()).collect();
            let Some(name) = part_name(table, &columns, start == 0, &mut taken) else { break };
            fragments.push((name, columns));
            start = end;
        }
        if start == own.len() {
            // A change that does not fit is left out.
            let _ = chain.push(Change::SplitTable { table: table.name.clone(), fragments });
        }
    }
}

fn can_be_split(table: &Table) -> bool {
    let is_computed = table.columns.iter().any(|column| column.generated);
    !table.primary_key.is_empty() && table.columns.len() >= table.primary_key.len() + 2 && !is_computed
}

/// SQLite lets a key be NULL that is no INTEGER PRIMARY KEY.
fn has_whole_key(context: &Context<'_>, table: &Table) -> bool {
    let nulls: Vec<String> = table
        .primary_key
        .iter()
        .filter_map(|&at| Some(format!("{} IS NULL", quoted(&table.column(at)?.name))))
        .collect();
    let sql = format!("SELECT 1 FROM {} WHERE {} LIMIT 1", quoted(&table.name), nulls.join(" OR "));
    context.probe.rows(&sql).is_some_and(|rows| rows.is_empty())
}

/// How many parts: mostly two or three.
fn parts(columns: usize, random: &mut Random) -> usize {
    let wanted = match random.below(100) {
        0..50 => 2,
        50..85 => 3,
        85..96 => 4,
        _ => 5,
    };
    wanted.min(columns)
}

fn part_name(table: &Table, columns: &[String], is_first: bool, taken: &mut NamesInUse) -> Option<String> {
    let single = columns.first().filter(|_| columns.len() == 1 && !is_first).map(String::as_str);
    let main = is_first.then_some("info");
    let words = main.into_iter().chain(single).chain(ASPECTS);
    let mut names = words.map(|word| compound(&table.name, word));
    names.find(|name| taken.insert(name))
}
