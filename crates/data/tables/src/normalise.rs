//! Tables of their own for columns that another column determines.
//!
//! # Contract
//! A column X determines a column Y if rows that agree in X agree in Y (NULL being a value of Y), and Y is NULL where X is. Then
//! the table is split (Heath's theorem): X with all Y that it determines becomes a table with the key X, a row for each value of X
//! but NULL; the rest keeps X, as a foreign key. A left join of the two along X has the rows of the old table, as often as it had
//! them. Both are split again, until nothing is left to split.
//!
//! # When it is split
//! Data of any kind determine each other by chance or by arithmetic; a split should say something about the world.
//! - X is a text of at most 64 bytes on average, or an integer whose name says that it is a key.
//! - X has at least [`FEWEST_VALUES`] values, and [`REPEATED`] rows for each on average.
//! - Y has at least two values. Dealt out anew to the rows, Y would be determined with a chance of at most
//!   p^(rows - values of X), p being the share of Y's most frequent value; times the square of the number of columns, it must be at
//!   most 10^[`LOG10_CHANCE`].
//!
//! Of several X that with most Y comes first, then one that is called a key, then the leftmost.

use crate::keys::Steps;
use crate::names::is_key_like;
use crate::profile::{Coded, NULL, Traits};
use crate::report::KeySearch;
use crate::values::ColumnType;

/// Fewest values of a column that gets a table of its own.
const FEWEST_VALUES: u32 = 3;
/// Fewest rows for each of its values, on average.
const REPEATED: f64 = 2.0;
/// How likely a dependency may be by chance.
const LOG10_CHANCE: f64 = -6.0;
/// Longest texts that are taken for names of something, in bytes on average.
const LONGEST_NAME: f64 = 64.0;

/// A part of a table that becomes a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fragment {
    /// Its columns, by their place in the file, rising.
    pub(crate) columns: Vec<usize>,
    /// The column that determines it, for what was split off.
    pub(crate) split: Option<Split>,
}

/// Where a fragment comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Split {
    /// The fragment that refers to it.
    pub(crate) from: usize,
    /// Its key.
    pub(crate) determinant: usize,
    /// The largest of log10 of the chances of its dependencies.
    pub(crate) log10_chance: f64,
}

pub(crate) struct Columns<'a> {
    pub(crate) names: &'a [String],
    pub(crate) codes: &'a [Coded],
    pub(crate) traits: &'a [Traits],
}

/// Splits a table; the first fragment is what is left of it.
pub(crate) fn normalise(columns: &Columns<'_>, steps: &mut Steps) -> (Vec<Fragment>, KeySearch) {
    let whole = Fragment { columns: (0..columns.names.len()).collect(), split: None };
    let rows = columns.codes.first().map_or(0, |column| column.codes.len());
    let every = u32::try_from(rows).unwrap_or(u32::MAX);
    let mut fragments = vec![whole];
    let mut open = vec![(0, (0..every).collect::<Vec<u32>>())];
    while let Some((at, rows)) = open.pop() {
        loop {
            let Some(dependency) = best(columns, &fragments[at], &rows, steps) else {
                return (fragments, KeySearch::Budget);
            };
            let Some(dependency) = dependency else { break };
            fragments[at].columns.retain(|column| !dependency.dependents.contains(column));
            let mut members = dependency.dependents;
            members.push(dependency.determinant);
            members.sort_unstable();
            let (determinant, log10_chance) = (dependency.determinant, dependency.log10_chance);
            let split = Split { from: at, determinant, log10_chance };
            open.push((fragments.len(), firsts(&columns.codes[determinant], &rows)));
            fragments.push(Fragment { columns: members, split: Some(split) });
        }
    }
    (fragments, KeySearch::Complete)
}

fn firsts(column: &Coded, rows: &[u32]) -> Vec<u32> {
    let mut seen = vec![false; column.distinct as usize + 1];
    seen[NULL as usize] = true;
    rows.iter()
        .copied()
        .filter(|&row| !std::mem::replace(&mut seen[column.codes[row as usize] as usize], true))
        .collect()
}

struct Dependency {
    determinant: usize,
    dependents: Vec<usize>,
    log10_chance: f64,
}

/// The split that comes first; `None` if the steps are used up.
#[expect(clippy::option_option, reason = "no steps left, no split left, a split")]
fn best(
    columns: &Columns<'_>,
    fragment: &Fragment,
    rows: &[u32],
    steps: &mut Steps,
) -> Option<Option<Dependency>> {
    let key = fragment.split.map(|split| split.determinant);
    let mut shares = Vec::with_capacity(fragment.columns.len());
    for &column in &fragment.columns {
        if !steps.take(rows.len() + columns.codes[column].distinct as usize) {
            return None;
        }
        shares.push(share(&columns.codes[column], rows));
    }
    let mut best: Option<((usize, bool), Dependency)> = None;
    for (place, &x) in fragment.columns.iter().enumerate() {
        let values = shares[place].values;
        let repeated = f64::from(values) * REPEATED <= rows.len() as f64;
        if Some(x) == key || values < FEWEST_VALUES || !repeated || !is_entity(columns, x) {
            continue;
        }
        let mut dependency =
            Dependency { determinant: x, dependents: Vec::new(), log10_chance: f64::NEG_INFINITY };
        let freedom = rows.len() as f64 - f64::from(values);
        for (other, &y) in fragment.columns.iter().enumerate() {
            let share = shares[other];
            let log10 = freedom * share.most.log10() + 2.0 * (fragment.columns.len() as f64).log10();
            if y == x
                || Some(y) == key
                || share.values > values
                || share.different < 2
                || log10 > LOG10_CHANCE
            {
                continue;
            }
            if !steps.take(rows.len() + columns.codes[x].distinct as usize) {
                return None;
            }
            if determines(&columns.codes[x], &columns.codes[y], rows) {
                dependency.dependents.push(y);
                dependency.log10_chance = dependency.log10_chance.max(log10);
            }
        }
        let rank = (dependency.dependents.len(), is_key_like(&columns.names[x]));
        if rank.0 > 0 && best.as_ref().is_none_or(|(top, _)| rank > *top) {
            best = Some((rank, dependency));
        }
    }
    Some(best.map(|(_, dependency)| dependency))
}

fn is_entity(columns: &Columns<'_>, column: usize) -> bool {
    match columns.traits[column].kind {
        ColumnType::Text => columns.traits[column].mean_bytes <= LONGEST_NAME,
        ColumnType::Integer => is_key_like(&columns.names[column]),
        _ => false,
    }
}

/// How a column's values are shared out over rows.
#[derive(Debug, Clone, Copy)]
struct Share {
    /// Different values, NULL not counted.
    values: u32,
    /// The same, NULL counted.
    different: u32,
    /// The share of the most frequent, NULL among them.
    most: f64,
}

fn share(column: &Coded, rows: &[u32]) -> Share {
    let mut counts = vec![0_u32; column.distinct as usize + 1];
    rows.iter().for_each(|&row| counts[column.codes[row as usize] as usize] += 1);
    let different =
        |counts: &[u32]| u32::try_from(counts.iter().filter(|count| **count > 0).count()).unwrap_or(u32::MAX);
    Share {
        values: different(&counts[1..]),
        different: different(&counts),
        most: f64::from(counts.iter().copied().max().unwrap_or(0)) / rows.len().max(1) as f64,
    }
}

/// Whether rows that agree in the one column agree in the other, and the other is NULL where the one is.
fn determines(one: &Coded, other: &Coded, rows: &[u32]) -> bool {
    const OPEN: u32 = u32::MAX;
    let mut images = vec![OPEN; one.distinct as usize + 1];
    images[NULL as usize] = NULL;
    rows.iter().all(|&row| {
        let (x, y) = (one.codes[row as usize] as usize, other.codes[row as usize]);
        let image = if images[x] == OPEN { y } else { images[x] };
        images[x] = image;
        image == y
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rusqlite::types::Value;

    use super::*;
    use crate::profile::Numbering;

    struct TestTable {
        names: Vec<String>,
        codes: Vec<Coded>,
        traits: Vec<Traits>,
    }

    /// Columns of texts; 0 is NULL.
    fn test_table(names: &[&str], columns: &[Vec<u32>]) -> TestTable {
        let finished = columns.iter().map(|values| {
            let mut numbering = Numbering::new(ColumnType::Text);
            for value in values {
                let value = if *value == 0 { Value::Null } else { Value::Text(format!("v{value}")) };
                let code = numbering.number(&value);
                numbering.push(code);
            }
            numbering.finish()
        });
        let (codes, traits) = finished.unzip();
        TestTable { names: names.iter().map(|name| (*name).to_owned()).collect(), codes, traits }
    }

    fn split(table: &TestTable) -> Vec<Fragment> {
        let columns = Columns { names: &table.names, codes: &table.codes, traits: &table.traits };
        normalise(&columns, &mut Steps(u64::MAX)).0
    }

    /// The rows of a fragment with those of the fragments that it refers to.
    fn joined(original: &TestTable, fragments: &[Fragment]) -> Vec<Vec<u32>> {
        let rows = original.codes[0].codes.len();
        let mut whole: Vec<BTreeMap<usize, u32>> = (0..rows)
            .map(|row| {
                fragments[0]
                    .columns
                    .iter()
                    .map(|&column| (column, original.codes[column].codes[row]))
                    .collect()
            })
            .collect();
        // A fragment comes after the one that it was split off.
        for fragment in &fragments[1..] {
            let key = fragment.split.unwrap().determinant;
            let mut table: BTreeMap<u32, BTreeMap<usize, u32>> = BTreeMap::new();
            for row in 0..rows {
                let code = original.codes[key].codes[row];
                let values = fragment
                    .columns
                    .iter()
                    .map(|&column| (column, original.codes[column].codes[row]))
                    .collect();
                if code != NULL {
                    assert_eq!(table.entry(code).or_insert_with(|| BTreeMap::clone(&values)), &values);
                }
            }
            for row in &mut whole {
                let nulls = || fragment.columns.iter().map(|&column| (column, NULL)).collect();
                row.extend(table.get(&row[&key]).cloned().unwrap_or_else(nulls));
            }
        }
        whole.into_iter().map(|row| row.into_values().collect()).collect()
    }

    #[test]
    fn what_a_column_determines_gets_a_table_of_its_own() {
        let city: Vec<u32> = (0..200).map(|row| 1 + row * 7 % 40).collect();
        let state: Vec<u32> = city.iter().map(|city| 1 + city % 10).collect();
        let region: Vec<u32> = state.iter().map(|state| 1 + state % 3).collect();
        let person: Vec<u32> = (1..=200).collect();
        let table = test_table(&["person", "city", "state", "region"], &[person, city, state, region]);
        let fragments = split(&table);
        let columns: Vec<&[usize]> = fragments.iter().map(|fragment| fragment.columns.as_slice()).collect();
        assert_eq!(columns, [&[0, 1][..], &[1, 2], &[2, 3]]);
        assert_eq!(fragments[2].split.map(|split| (split.from, split.determinant)), Some((1, 2)));
    }

    #[test]
    fn few_rows_are_no_evidence() {
        let table = test_table(&["a", "b"], &[vec![1, 1, 2, 2, 3, 3], vec![1, 1, 1, 1, 2, 2]]);
        assert_eq!(split(&table).len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn a_join_has_the_rows_of_the_old_table(
            base in prop::collection::vec(0_u32..12, 60..200),
            maps in prop::collection::vec(prop::collection::vec(0_u32..6, 12), 1..4),
            noise in prop::collection::vec(0_u32..4, 200),
        ) {
            let mut columns = vec![base.clone()];
            // What is determined, NULL where the base is, now and then with an exception.
            for (at, map) in maps.iter().enumerate() {
                let mut column: Vec<u32> = base.iter().map(|&value| if value == 0 { 0 } else { map[value as usize] }).collect();
                if at == 1 {
                    let last = column.len() - 1;
                    column[last] = noise[0];
                }
                columns.push(column);
            }
            columns.push(noise[..base.len()].to_vec());
            let names = ["base", "x", "y", "z", "noise"];
            let table = test_table(&names[..columns.len()], &columns);
            let expected: Vec<Vec<u32>> =
                (0..base.len()).map(|row| table.codes.iter().map(|column| column.codes[row]).collect()).collect();
            prop_assert_eq!(joined(&table, &split(&table)), expected);
        }
    }
}
