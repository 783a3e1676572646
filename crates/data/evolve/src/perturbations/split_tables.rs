//! `split-tables`: tables become two to five that share their key (EvoSchema, Table 2: 2.6 on average). Columns that belong together
//! by meaning stay together, and give their part its name: those of one topic (an address, dates, what it costs), or of one first
//! word (the winner's and the loser's). A key is never split from its table: every part has it. A table is left whole where its
//! key is NULL in some row.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use sqlgauge_base::Random;
use sqlgauge_names::{NamesInUse, singular, spoken_words, topic};
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::Table;

use super::{Context, compound, names_in_use};
use crate::chain::Chain;
use crate::change::Change;

/// The names of parts, added to the table's name.
const ASPECTS: [&str; 8] =
    ["details", "profile", "record", "attributes", "data", "extension", "properties", "notes"];

pub(super) fn propose(context: &Context<'_>, chain: &mut Chain, random: &mut Random) {
    let schema = chain.first().clone();
    let mut in_use = names_in_use(&schema);
    let fitting: Vec<&Table> = context
        .tables(&schema)
        .map(|(_, table)| table)
        .filter(|table| can_be_split(table) && has_whole_key(context, table))
        .collect();
    for table in context.some(fitting, random) {
        let names: Vec<&str> = (0..)
            .zip(&table.columns)
            .filter(|(at, _)| !table.primary_key.contains(at))
            .map(|(_, column)| column.name.as_str())
            .collect();
        let wanted = parts(names.len(), random);
        let mut fragments = Vec::new();
        for (name, columns) in groups(table, &names, wanted, random) {
            let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
            let Some(name) = part_name(table, name.as_deref(), &columns, fragments.is_empty(), &mut in_use)
            else {
                break;
            };
            fragments.push((name, columns));
        }
        let placed: usize = fragments.iter().map(|(_, columns)| columns.len()).sum();
        if placed == names.len() {
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

/// A part of a table: what its columns have in common, if they have, and the columns.
type Group<'c> = (Option<String>, Vec<&'c str>);

/// At most so many groups of columns, the one without a name first: those that belong together, and the others. The others are
/// cut as they stand where there are too few groups, and so is the only group.
fn groups<'c>(table: &Table, columns: &[&'c str], wanted: usize, random: &mut Random) -> Vec<Group<'c>> {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, name) in topics(table, columns).into_iter().enumerate() {
        name.into_iter().for_each(|name| by_name.entry(name).or_default().push(at));
    }
    let mut named: Vec<(String, Vec<usize>)> =
        by_name.into_iter().filter(|(_, places)| places.len() > 1).collect();
    named.sort_by_key(|(_, places)| (Reverse(places.len()), places[0]));
    let placed: usize = named.iter().map(|(_, places)| places.len()).sum();
    let has_others = placed < columns.len() || named.len() > wanted;
    named.truncate(wanted - usize::from(has_others));
    named.sort_by_key(|(_, places)| places[0]);
    let members: HashSet<usize> = named.iter().flat_map(|(_, places)| places).copied().collect();
    let others: Vec<usize> = (0..columns.len()).filter(|at| !members.contains(at)).collect();
    let others = (!others.is_empty()).then_some((None, others));
    let named = named.into_iter().map(|(name, places)| (Some(name), places));
    let mut groups: Vec<(Option<String>, Vec<usize>)> = others.into_iter().chain(named).collect();
    while groups.len() < wanted && groups[0].1.len() > 1 && (groups[0].0.is_none() || groups.len() < 2) {
        let cut = 1 + random.below(groups[0].1.len() - 1);
        let rest = groups[0].1.split_off(cut);
        groups.insert(1, (None, rest));
    }
    let texts = |places: Vec<usize>| places.into_iter().map(|at| columns[at]).collect();
    groups.into_iter().map(|(name, places)| (name, texts(places))).collect()
}

/// What each column has in common with others: its first word, where at least two have it and it is not the table's, or its topic.
fn topics(table: &Table, columns: &[&str]) -> Vec<Option<String>> {
    let words: Vec<Vec<String>> = columns.iter().map(|column| spoken_words(column)).collect();
    let table_words = spoken_words(&table.name);
    let is_own = |word: &str| table_words.iter().any(|other| singular(other) == singular(word));
    let first = |words: &[String]| match words {
        [first, _, ..] if !is_own(first) => Some(first.clone()),
        _ => None,
    };
    let mut counts: HashMap<String, usize> = HashMap::new();
    words.iter().filter_map(|words| first(words)).for_each(|word| *counts.entry(word).or_default() += 1);
    let is_shared = |word: &String| (2..columns.len()).contains(&counts[word]);
    let of = |words: &Vec<String>| first(words).filter(is_shared).or_else(|| topic(words).map(str::to_owned));
    words.iter().map(of).collect()
}

fn part_name(
    table: &Table,
    topic: Option<&str>,
    columns: &[String],
    is_first: bool,
    in_use: &mut NamesInUse,
) -> Option<String> {
    let single = columns.first().filter(|_| columns.len() == 1 && !is_first).map(String::as_str);
    let main = is_first.then_some("info").filter(|_| topic.is_none());
    let words = topic.into_iter().chain(main).chain(single).chain(ASPECTS);
    let mut names = words.map(|word| compound(&table.name, word));
    names.find(|name| in_use.insert(name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use sqlgauge_sql::schema::Schema;

    use super::*;

    fn split(columns: &[&str], wanted: usize) -> Vec<(Option<String>, Vec<String>)> {
        let ddl = format!("CREATE TABLE owner (id INTEGER PRIMARY KEY, {})", columns.join(", "));
        let schema = Schema::from_ddl(&ddl).unwrap();
        let parts = groups(&schema.tables()[0], columns, wanted, &mut Random::new([1]));
        parts
            .into_iter()
            .map(|(name, names)| (name, names.into_iter().map(str::to_owned).collect()))
            .collect()
    }

    fn group(name: Option<&str>, columns: &[&str]) -> (Option<String>, Vec<String>) {
        (name.map(str::to_owned), columns.iter().map(|&column| column.to_owned()).collect())
    }

    #[test]
    fn columns_that_belong_together_stay_together() {
        assert_eq!(
            split(
                &["first_name", "street", "email_address", "city", "zip_code", "cell_number", "home_phone"],
                3
            ),
            [
                group(None, &["first_name"]),
                group(Some("address"), &["street", "city", "zip_code"]),
                group(Some("contact"), &["email_address", "cell_number", "home_phone"]),
            ]
        );
        let sides = ["winner_name", "winner_age", "loser_name", "loser_age", "minutes"];
        assert_eq!(
            split(&sides, 5),
            [
                group(None, &["minutes"]),
                group(Some("winner"), &["winner_name", "winner_age"]),
                group(Some("loser"), &["loser_name", "loser_age"]),
            ]
        );
    }

    #[test]
    fn what_nothing_tells_apart_is_cut() {
        for columns in [&["a", "b", "c", "d"][..], &["street", "city"]] {
            let parts = split(columns, 2);
            assert_eq!(parts.len(), 2);
            let all: Vec<&String> = parts.iter().flat_map(|(_, names)| names).collect();
            assert_eq!(all, columns.iter().collect::<Vec<_>>());
        }
    }
}
