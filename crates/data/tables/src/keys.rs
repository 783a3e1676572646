//! Finds the keys of a table: columns that identify its rows and are meant to.
//!
//! # Contract
//! A set of columns is unique if no two rows agree in all of them and none is NULL in a row. It is minimal if no part of it is
//! unique. [`search`] looks at sets of one column, then of two, and so on up to [`crate::TablesOptions::max_key_columns`], and stops
//! after the first size with a key; of each size that it has looked at, `minimal` has every minimal unique set of columns that
//! are not REAL. If its steps are used up first, it says so.
//!
//! # Which is the key
//! A column's score is 0.5 × name + 0.3 × position + 0.2 × type. Name: 1 if it says that it is a key, or is the table's name; 0.25 for
//! `name` and `title`. Position: 1/(1 + the columns before it). Type: 1 for integers and texts of at most 24 bytes on average, 0.5 for
//! dates, else 0. A set's score is the mean of its columns'.
//! - One column is a key from [`ONE_COLUMN`] on: measurements are often unique too, but stand further back and have other names.
//! - Several columns are a key if that they are unique is no chance: values dealt out evenly would have two rows agree with
//!   a probability of 1 - exp(-n²/2D), n rows and D the product of the numbers of values. The chance that none do, times the number of
//!   sets of that size, must be at most [`MOST_CHANCE`].
//!
//!   Or the names of all of them say that they are keys.
//!
//! Of several, that of the highest score is the key, then the leftmost. Other single columns that would do are `alternatives`.

use std::borrow::Cow;
use std::collections::HashSet;

use sqlgauge_names::{noun_of, spoken_words};

use crate::names::is_key_like;
use crate::options::TablesOptions;
use crate::profile::{Coded, Traits, pairs};
use crate::report::KeySearch;
use crate::values::ColumnType;

/// From which score on a unique column is a key.
const ONE_COLUMN: f64 = 0.36;
/// How likely it may be at most that several columns are unique by chance.
const MOST_CHANCE: f64 = 0.01;

/// The steps that a table's searches may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps(pub(crate) u64);

impl Steps {
    /// Takes steps; whether they were there.
    pub(crate) fn take(&mut self, steps: usize) -> bool {
        let left = self.0.checked_sub(steps as u64);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// A column that may be part of a key.
struct Candidate<'a> {
    at: usize,
    codes: &'a Coded,
    score: f64,
    /// Whether its name says that it is a key.
    is_named: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeyChoice {
    /// The key, as columns of the table, with its score.
    pub(crate) key: Option<(Vec<usize>, f64)>,
    /// Other columns that could be the key.
    pub(crate) alternatives: Vec<usize>,
    pub(crate) minimal: Vec<Vec<usize>>,
    pub(crate) search: KeySearch,
}

/// The columns of a table in which a key is sought.
pub(crate) struct Subject<'a> {
    pub(crate) table: &'a str,
    /// The columns by their place in the file, with their names.
    pub(crate) columns: Vec<(usize, &'a str, &'a Coded, &'a Traits)>,
    pub(crate) rows: usize,
}

/// Looks for the minimal unique sets of columns of a table.
pub(crate) fn search(subject: &Subject<'_>, options: &TablesOptions, steps: &mut Steps) -> KeyChoice {
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for (place, (at, name, codes, traits)) in subject.columns.iter().enumerate() {
        if traits.nulls == 0 && codes.kind != ColumnType::Real && codes.distinct > 1 {
            let score = score(subject.table, name, place, traits);
            candidates.push(Candidate { at: *at, codes, score, is_named: is_key_like(name) });
        }
    }
    // The likelier come first, for the case that the steps do not reach; the sort keeps the leftmost before.
    candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
    let mut choice =
        KeyChoice { key: None, alternatives: Vec::new(), minimal: Vec::new(), search: KeySearch::Complete };
    let mut level = vec![Set { members: Vec::new(), codes: Cow::Borrowed(&[][..]) }];
    for size in 1..=options.max_key_columns {
        let Some((unique, rest)) = grow(&level, &candidates, subject.rows, steps) else {
            choice.search = KeySearch::Budget;
            break;
        };
        let sets = (unique.len() + rest.len()) as f64;
        choose(&unique, &candidates, subject.rows, sets, &mut choice);
        choice.minimal.extend(unique.iter().map(|members| places(members, &candidates)));
        level = rest;
        if choice.key.is_some() || level.is_empty() || size == options.max_key_columns {
            break;
        }
    }
    choice.minimal.sort();
    let key = choice.key.clone().map(|(key, _)| key).unwrap_or_default();
    choice.alternatives.retain(|column| !key.contains(column));
    choice
}

fn places(members: &[usize], candidates: &[Candidate<'_>]) -> Vec<usize> {
    let mut places: Vec<usize> = members.iter().map(|&member| candidates[member].at).collect();
    places.sort_unstable();
    places
}

/// Takes the best of the unique sets of one size for the key.
fn choose(
    unique: &[Vec<usize>],
    candidates: &[Candidate<'_>],
    rows: usize,
    sets: f64,
    choice: &mut KeyChoice,
) {
    for members in unique {
        let score =
            members.iter().map(|&member| candidates[member].score).sum::<f64>() / members.len() as f64;
        let values: f64 =
            members.iter().map(|&member| f64::from(candidates[member].codes.distinct)).product();
        let accepted = if members.len() == 1 {
            score >= ONE_COLUMN
        } else {
            let chance = (-(rows as f64).powi(2) / (2.0 * values)).exp() * sets;
            chance <= MOST_CHANCE || members.iter().all(|&member| candidates[member].is_named)
        };
        let places = places(members, candidates);
        if accepted && let [only] = *places.as_slice() {
            choice.alternatives.push(only);
        }
        let better = choice
            .key
            .as_ref()
            .is_none_or(|(key, best)| score > best + 1e-12 || (score - best).abs() <= 1e-12 && places < *key);
        if accepted && better {
            choice.key = Some((places, score));
        }
    }
}

/// A set that is not unique, with the numbers of its combinations of values.
struct Set<'a> {
    members: Vec<usize>,
    codes: Cow<'a, [u32]>,
}

/// The sets with one column more: those that are unique, and those that are not; none if the steps are used up.
fn grow<'a>(
    level: &[Set<'a>],
    candidates: &[Candidate<'a>],
    rows: usize,
    steps: &mut Steps,
) -> Option<(Vec<Vec<usize>>, Vec<Set<'a>>)> {
    let (mut unique, mut rest) = (Vec::new(), Vec::new());
    let open: HashSet<&[usize]> = level.iter().map(|set| set.members.as_slice()).collect();
    // All parts of a set that is minimal are not unique; a part that is missing here is or contains a unique one.
    let is_open = |members: &[usize]| {
        members.len() < 2
            || (0..members.len()).all(|left_out| {
                let mut part = members.to_vec();
                part.remove(left_out);
                open.contains(part.as_slice())
            })
    };
    for set in level {
        let first = set.members.last().map_or(0, |last| last + 1);
        for (member, candidate) in candidates.iter().enumerate().skip(first) {
            let mut members = set.members.clone();
            members.push(member);
            if !steps.take(LEAST_STEPS) {
                return None;
            }
            if !is_open(&members) {
                continue;
            }
            let (codes, distinct) = if set.members.is_empty() {
                (Cow::Borrowed(candidate.codes.codes.as_slice()), candidate.codes.distinct)
            } else {
                if !steps.take(rows) {
                    return None;
                }
                let (codes, distinct) = pairs(&set.codes, &candidate.codes.codes);
                (Cow::Owned(codes), distinct)
            };
            if distinct as usize == rows {
                unique.push(members);
            } else {
                rest.push(Set { members, codes });
            }
            if code_count(&rest) > MOST_HELD {
                return None;
            }
        }
    }
    Some((unique, rest))
}

/// What a set takes of the steps however few rows there are.
const LEAST_STEPS: usize = 20;
/// Most numbers that are held of sets that are not unique.
const MOST_HELD: usize = 40_000_000;

fn code_count(sets: &[Set<'_>]) -> usize {
    sets.iter().filter(|set| set.members.len() > 1).map(|set| set.codes.len()).sum()
}

fn score(table: &str, name: &str, place: usize, traits: &Traits) -> f64 {
    let words = spoken_words(name);
    let name = if is_key_like(name) || words == noun_of(table) {
        1.0
    } else if words == ["name"] || words == ["title"] {
        0.25
    } else {
        0.0
    };
    let kind = match traits.kind {
        ColumnType::Integer => 1.0,
        ColumnType::Text if traits.mean_bytes <= 24.0 => 1.0,
        ColumnType::Date | ColumnType::Datetime | ColumnType::Time => 0.5,
        ColumnType::Text | ColumnType::Real | ColumnType::Boolean => 0.0,
    };
    0.5 * name + 0.3 / (1.0 + place as f64) + 0.2 * kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(kind: ColumnType, values: &[u32]) -> (Coded, Traits) {
        use rusqlite::types::Value;
        let mut numbering = crate::profile::Numbering::new(kind);
        for value in values {
            let value = if *value == 0 { Value::Null } else { Value::Integer(i64::from(*value)) };
            let code = numbering.number(&value);
            numbering.push(code);
        }
        numbering.finish()
    }

    fn key_choice(columns: &[(&str, &[u32])], steps: u64) -> KeyChoice {
        let owned: Vec<(Coded, Traits)> =
            columns.iter().map(|(_, values)| codes(ColumnType::Integer, values)).collect();
        let columns: Vec<_> = columns
            .iter()
            .zip(&owned)
            .enumerate()
            .map(|(at, ((name, _), (codes, traits)))| (at, *name, codes, traits))
            .collect();
        let rows = owned[0].0.codes.len();
        search(&Subject { table: "orders", columns, rows }, &TablesOptions::default(), &mut Steps(steps))
    }

    #[test]
    fn the_column_that_is_called_a_key_is_one_and_a_measurement_is_none() {
        let unique = [5, 3, 9, 1];
        let result =
            key_choice(&[("price", &[1, 1, 2, 2]), ("weight", &unique), ("order_id", &[1, 2, 3, 4])], 1000);
        assert_eq!(result.key.map(|(columns, _)| columns), Some(vec![2]));
        assert_eq!(result.minimal, [vec![1], vec![2]]);
        let result =
            key_choice(&[("price", &[1, 1, 2, 2]), ("size", &[1, 1, 1, 2]), ("weight", &unique)], 1000);
        assert_eq!((result.key, result.minimal), (None, vec![vec![2]]));
    }

    #[test]
    fn columns_with_nulls_are_no_key() {
        let result = key_choice(&[("order_id", &[1, 2, 3, 0]), ("x", &[1, 1, 1, 2])], 1000);
        assert_eq!((result.key, result.minimal, result.search), (None, vec![], KeySearch::Complete));
    }

    #[test]
    fn a_grid_has_a_key_of_two_columns_and_chance_makes_none() {
        let (years, months): (Vec<u32>, Vec<u32>) =
            (0..10).flat_map(|year| (1..=12).map(move |month| (2000 + year, month))).unzip();
        let same = vec![7; 120];
        let result = key_choice(&[("year", &years), ("same", &same), ("month", &months)], 10_000);
        assert_eq!(result.key.map(|(columns, _)| columns), Some(vec![0, 2]));
        assert_eq!(result.minimal, [vec![0, 2]]);
        // Six rows that differ in one of two columns of six and five values are nothing.
        let result = key_choice(&[("a", &[1, 2, 3, 4, 5, 5]), ("b", &[1, 2, 3, 4, 5, 1])], 1000);
        assert_eq!((result.key, result.minimal), (None, vec![vec![0, 1]]));
    }

    #[test]
    fn a_search_that_runs_out_of_steps_says_so() {
        let result = key_choice(&[("a", &[1, 1, 2, 2]), ("b", &[1, 2, 1, 2])], 50);
        assert_eq!((result.key, result.search), (None, KeySearch::Budget));
    }
}
