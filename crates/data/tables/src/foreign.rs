//! Foreign keys: columns whose values are all in another table's key, and that are meant to be.
//!
//! # Contract
//! Tables of one folder are compared. A column (or as many as the key has) may refer to another table's primary key, or to another column that could be it, if the types are
//! equal and, where no value is NULL, every one is a value of the key. That is exact: SQLite looks for a value that is not
//! there. Sketches ([`crate::sketch`]) only spare it the comparisons that cannot succeed.
//!
//! Inclusion alone says little: small numbers are in every key that counts up. What speaks for a foreign key are three scores:
//! - `name`: how well the column's name names the key ([`crate::names::similarity`]); for several columns the mean;
//! - `coverage`: the share of the key's values that occur in the column;
//! - `values`: for texts the share with letters, for integers 1 - (values / the range from the least to the most of the key), times
//!   min(1, values of the column / 10): ten different codes that are all known are no accident, a run of small numbers is.
//!
//! Their total is 1 - (1 - 0.6 name)(1 - 0.35 coverage)(1 - 0.35 values), halved as often as more than two
//! tables of the folder have a key of that name, if the column has it too. From [`crate::TablesOptions::foreign_key_score`] on the best of a column is declared, unless the declared ones would
//! lead from a table back to itself. A column that is the whole key of its own table needs a `name` of at least 0.8.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use rayon::prelude::*;
use rusqlite::Connection;

use crate::analyse::{Analysed, TablePart};
use crate::error::TablesError;
use crate::names::{ColumnName, KeyName, similarity};
use crate::options::TablesOptions;
use crate::report::{ForeignKeyOutcome, Scores};
use crate::sketch::Sketch;
use crate::stage::ROWS;
use crate::values::ColumnType;

/// From which `name` on an inclusion is told that does not hold, if at most half of the values are missing.
const TOLD: f64 = 0.9;
/// From which `name` on a column of a key of several is its like.
const LIKE: f64 = 0.9;
/// What a column must have in `name` that is its own table's key.
const KEY_TO_KEY: f64 = 0.8;

/// A table: its file, and which of the file's.
pub(crate) type At = (usize, usize);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Inclusion {
    pub(crate) from: At,
    pub(crate) columns: Vec<usize>,
    pub(crate) to: At,
    pub(crate) key: Vec<usize>,
    pub(crate) scores: Scores,
    pub(crate) values: u64,
    pub(crate) missing: u64,
    pub(crate) outcome: ForeignKeyOutcome,
}

/// Judges the inclusions among all tables, in the order of the tables.
pub(crate) fn foreign_keys(
    tables: &[Analysed],
    options: &TablesOptions,
) -> Result<Vec<Inclusion>, TablesError> {
    let mut folders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, table) in tables.iter().enumerate() {
        folders.entry(table.source.folder()).or_default().push(at);
    }
    let folders: Vec<Vec<usize>> = folders.into_values().collect();
    let judged: Vec<Vec<Inclusion>> = folders
        .par_iter()
        .map(|files| Folder::new(tables, files).judge(options))
        .collect::<Result<_, _>>()?;
    Ok(judged.into_iter().flatten().collect())
}

/// The tables that are compared.
struct Folder<'a> {
    tables: &'a [Analysed],
    parts: Vec<At>,
    /// How many tables have a key of one column of that name.
    keyed: HashMap<String, i32>,
    columns: HashMap<usize, Vec<ColumnName>>,
    /// The names of the columns of each table's keys.
    keys: HashMap<(At, usize), KeyName>,
    targets: Targets<'a>,
}

/// What may be referred to, found by what a column must have in common with it. So a column is compared with few of many
/// tables.
#[derive(Default)]
struct Targets<'a> {
    all: Vec<(At, &'a [usize])>,
    /// By the words that the name of a column may end with, for the first column of a key.
    by_end: HashMap<String, Vec<usize>>,
    /// By the name of the first column of a key, in lower case.
    by_name: HashMap<String, Vec<usize>>,
    /// Keys of one column by the hashes of their values.
    by_hash: HashMap<u64, Vec<usize>>,
    /// Keys of one column whose hashes are kept only up to a bound, with that bound.
    beyond: Vec<(u64, usize)>,
}

impl<'a> Targets<'a> {
    fn add(&mut self, to: At, key: &'a [usize], name: &KeyName, sketch: &Sketch) {
        let place = self.all.len();
        self.all.push((to, key));
        for end in name.ends() {
            self.by_end.entry(end.clone()).or_default().push(place);
        }
        self.by_name.entry(name.column.name.to_ascii_lowercase()).or_default().push(place);
        if key.len() == 1 {
            for &hash in sketch.hashes() {
                self.by_hash.entry(hash).or_default().push(place);
            }
            self.beyond.extend(sketch.bound().map(|bound| (bound, place)));
        }
    }

    /// The places of those that a column may refer to: by its name, or as its least hash may be among theirs.
    fn of(&self, name: &ColumnName, sketch: &Sketch) -> BTreeSet<usize> {
        let least = sketch.hashes().first();
        let beyond = self.beyond.iter().filter(|(bound, _)| least.is_some_and(|least| bound < least));
        let by_end = name.ends().filter_map(|end| self.by_end.get(end));
        let by_name = self.by_name.get(&name.name.to_ascii_lowercase());
        let by_hash = least.and_then(|least| self.by_hash.get(least));
        let listed = by_end.chain(by_name).chain(by_hash).flatten().copied();
        listed.chain(beyond.map(|(_, place)| *place)).collect()
    }
}

impl<'a> Folder<'a> {
    fn new(tables: &'a [Analysed], files: &[usize]) -> Self {
        let parts: Vec<At> = files
            .iter()
            .flat_map(|&file| (0..tables[file].parts.len()).map(move |part| (file, part)))
            .collect();
        let names = |&file: &usize| {
            let names = tables[file].names.iter();
            (file, names.map(|(name, _)| ColumnName::new(name)).collect())
        };
        let columns = files.iter().map(names).collect();
        let (keyed, keys, targets) = (HashMap::new(), HashMap::new(), Targets::default());
        let mut folder = Self { tables, parts, keyed, columns, keys, targets };
        for &at in &folder.parts {
            let part = &tables[at.0].parts[at.1];
            for target in part.targets() {
                for &key in target {
                    folder.keys.insert((at, key), KeyName::new(&part.name, tables[at.0].column(key)));
                }
                if let Some(first) = target.first() {
                    let sketch = &tables[at.0].traits[*first].sketch;
                    folder.targets.add(at, target, &folder.keys[&(at, *first)], sketch);
                }
                if let [key] = target {
                    *folder.keyed.entry(tables[at.0].column(*key).to_lowercase()).or_default() += 1;
                }
            }
        }
        folder
    }

    fn part(&self, at: At) -> &'a TablePart {
        &self.tables[at.0].parts[at.1]
    }

    /// How well a column names a key's column.
    fn name(&self, from: At, column: usize, to: At, key: usize) -> f64 {
        let (column_name, other) = (&self.columns[&from.0][column], &self.keys[&(to, key)]);
        let meet = column_name.ends().any(|end| other.ends().any(|other| end == other));
        if meet || column_name.name.eq_ignore_ascii_case(&other.column.name) {
            similarity(column_name, other)
        } else {
            0.0
        }
    }

    fn judge(&self, options: &TablesOptions) -> Result<Vec<Inclusion>, TablesError> {
        let by_part: Vec<Vec<Inclusion>> =
            self.parts.iter().map(|&from| self.candidates(from, options)).collect();
        let mut judged = Vec::new();
        let mut rows = Rows::default();
        for candidates in by_part {
            let mut settled: BTreeSet<Vec<usize>> = BTreeSet::new();
            for mut candidate in candidates {
                let is_told = candidate.scores.name >= TOLD;
                if !settled.contains(&candidate.columns) && self.is_far(&candidate) {
                    continue;
                }
                if settled.contains(&candidate.columns) {
                    candidate.outcome = ForeignKeyOutcome::Outscored;
                    judged.extend(is_told.then_some(candidate));
                    continue;
                }
                rows.count(self.tables, &mut candidate)?;
                if candidate.missing > 0 {
                    let is_near = 2 * candidate.missing <= candidate.values;
                    candidate.outcome = ForeignKeyOutcome::NotIncluded;
                    judged.extend((is_told && is_near).then_some(candidate));
                } else if candidate.scores.total >= options.foreign_key_score {
                    settled.insert(candidate.columns.clone());
                    judged.push(candidate);
                }
            }
        }
        self.splits(&mut judged);
        break_cycles(&mut judged);
        Ok(judged)
    }

    /// Whether more than half of the values are missing, as far as the sketches can tell: then nothing is told of it, and
    /// nobody has to count.
    fn is_far(&self, candidate: &Inclusion) -> bool {
        let ([column], [key]) = (candidate.columns.as_slice(), candidate.key.as_slice()) else {
            return false;
        };
        let sketch = |at: At, column: usize| &self.tables[at.0].traits[column].sketch;
        let (child, other) = (sketch(candidate.from, *column), sketch(candidate.to, *key));
        child.missing_in(other).is_some_and(|missing| 2 * missing > child.hashes().len())
    }

    /// The foreign keys that splits made; they are the best of their columns.
    fn splits(&self, judged: &mut Vec<Inclusion>) {
        for &to in &self.parts {
            let Some(split) = self.part(to).split else { continue };
            let (from, columns) = ((to.0, split.from), vec![split.determinant]);
            for other in judged
                .iter_mut()
                .filter(|other| is_declared(other) && other.from == from && other.columns == columns)
            {
                other.outcome = ForeignKeyOutcome::Outscored;
            }
            let scores = Scores { name: 1.0, coverage: 1.0, values: 1.0, total: 1.0 };
            let values = self.tables[to.0].traits[split.determinant].distinct;
            let outcome = ForeignKeyOutcome::BySplit;
            judged.push(Inclusion {
                from,
                key: columns.clone(),
                columns,
                to,
                scores,
                values,
                missing: 0,
                outcome,
            });
        }
        judged.sort_by(|one, other| {
            (one.from, &one.columns, one.to).cmp(&(other.from, &other.columns, other.to))
        });
    }

    /// What may hold by name, type and sketch, for each column the best first.
    fn candidates(&self, from: At, options: &TablesOptions) -> Vec<Inclusion> {
        let mut inclusions: Vec<Inclusion> = Vec::new();
        let mut keys: BTreeSet<usize> = BTreeSet::new();
        for &column in &self.part(from).columns {
            let sketch = &self.tables[from.0].traits[column].sketch;
            for place in self.targets.of(&self.columns[&from.0][column], sketch) {
                match self.targets.all[place] {
                    (to, &[key]) => inclusions.extend(self.single(from, column, to, key, options)),
                    _ => _ = keys.insert(place),
                }
            }
        }
        inclusions.extend(keys.into_iter().filter_map(|place| {
            let (to, key) = self.targets.all[place];
            self.several(from, to, key)
        }));
        inclusions.sort_by(|one, other| {
            let by_score = other.scores.total.total_cmp(&one.scores.total);
            let by_place = (one.to, &one.key).cmp(&(other.to, &other.key));
            one.columns.cmp(&other.columns).then(by_score).then(by_place)
        });
        inclusions
    }

    fn single(
        &self,
        from: At,
        column: usize,
        to: At,
        key: usize,
        options: &TablesOptions,
    ) -> Option<Inclusion> {
        let (child, other) = (&self.tables[from.0], &self.tables[to.0]);
        let (traits, target) = (&child.traits[column], &other.traits[key]);
        let is_own_key = self.part(from).is_key(column);
        let is_same = from == to && is_own_key
            || self.part(to).split.is_some_and(|split| split.from == from.1) && from.0 == to.0;
        let comparable = traits.kind == target.kind
            && !matches!(
                traits.kind,
                ColumnType::Real
                    | ColumnType::Boolean
                    | ColumnType::Date
                    | ColumnType::Datetime
                    | ColumnType::Time
            );
        if is_same || !comparable || traits.distinct == 0 {
            return None;
        }
        let name = self.name(from, column, to, key);
        let may_hold = traits.distinct <= target.distinct && traits.sketch.may_be_in(&target.sketch);
        if (is_own_key && name < KEY_TO_KEY)
            || (!may_hold && name < TOLD)
            || (traits.distinct < 2 && name < TOLD)
        {
            return None;
        }
        let coverage = (traits.distinct as f64 / target.distinct as f64).min(1.0);
        let share = match target.range {
            Some((least, most)) => 1.0 - target.distinct as f64 / (most as f64 - least as f64 + 1.0),
            None => traits.letters,
        };
        let values = share.clamp(0.0, 1.0) * (traits.distinct as f64 / 10.0).min(1.0);
        let scores = scores(name, coverage, values, self.twins(child.column(column), other.column(key)));
        let is_worth_it = scores.total >= options.foreign_key_score || name >= TOLD;
        is_worth_it.then(|| self.open(from, vec![column], to, vec![key], scores))
    }

    /// How many tables beyond two have a key of that name, if the column has it too.
    fn twins(&self, column: &str, key: &str) -> i32 {
        let keyed = self.keyed.get(&key.to_lowercase()).copied().unwrap_or(0);
        if column.eq_ignore_ascii_case(key) { (keyed - 2).clamp(0, 8) } else { 0 }
    }

    /// A key of several columns: columns of the same names and types.
    fn several(&self, from: At, to: At, key: &[usize]) -> Option<Inclusion> {
        if from == to {
            return None;
        }
        let (child, other) = (&self.tables[from.0], &self.tables[to.0]);
        let like = |&at: &usize| {
            self.part(from).columns.iter().copied().find(|&column| {
                child.traits[column].kind == other.traits[at].kind && self.name(from, column, to, at) >= LIKE
            })
        };
        let columns: Vec<usize> = key.iter().map(like).collect::<Option<_>>()?;
        let distinct: BTreeSet<usize> = columns.iter().copied().collect();
        let is_own_key = self.part(from).key.as_deref() == Some(&columns);
        // Two tables of one key each are one table in two parts; which refers to which, their sizes tell.
        if distinct.len() < columns.len() || is_own_key && self.part(from).rows >= self.part(to).rows {
            return None;
        }
        Some(self.open(from, columns, to, key.to_vec(), scores(1.0, 0.0, 0.0, 0)))
    }

    fn open(&self, from: At, columns: Vec<usize>, to: At, key: Vec<usize>, scores: Scores) -> Inclusion {
        let values = self.tables[from.0].traits[columns[0]].distinct;
        let outcome = ForeignKeyOutcome::Declared;
        Inclusion { from, columns, to, key, scores, values, missing: 0, outcome }
    }
}

fn scores(name: f64, coverage: f64, values: f64, twins: i32) -> Scores {
    let against = (1.0 - 0.6 * name) * (1.0 - 0.35 * coverage) * (1.0 - 0.35 * values);
    Scores { name, coverage, values, total: (1.0 - against) * 0.5_f64.powi(twins) }
}

/// Whether a foreign key stands in its database.
pub(crate) fn is_declared(key: &Inclusion) -> bool {
    matches!(key.outcome, ForeignKeyOutcome::Declared | ForeignKeyOutcome::BySplit)
}

/// Takes back what would lead from a table back to itself by way of others, the lowest score first.
fn break_cycles(judged: &mut [Inclusion]) {
    let mut order: Vec<usize> = (0..judged.len()).collect();
    let rank = |inclusion: &Inclusion| inclusion.outcome == ForeignKeyOutcome::BySplit;
    order.sort_by(|&one, &other| {
        let (one_key, other_key) = (&judged[one], &judged[other]);
        let by_score = other_key.scores.total.total_cmp(&one_key.scores.total);
        rank(other_key).cmp(&rank(one_key)).then(by_score).then(one.cmp(&other))
    });
    let mut leads: BTreeMap<At, BTreeSet<At>> = BTreeMap::new();
    for at in order {
        let (from, to) = (judged[at].from, judged[at].to);
        if !is_declared(&judged[at]) || from == to {
            continue;
        }
        if reaches(&leads, to, from) {
            judged[at].outcome = ForeignKeyOutcome::Cycle;
        } else {
            leads.entry(from).or_default().insert(to);
        }
    }
}

fn reaches(leads: &BTreeMap<At, BTreeSet<At>>, from: At, to: At) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            open.extend(leads.get(&at).into_iter().flatten());
        }
    }
    false
}

/// The staged rows of two files at a time.
#[derive(Default)]
struct Rows(Option<(usize, usize, Connection)>);

impl Rows {
    /// Counts the values of an inclusion, and those that the key does not have.
    fn count(&mut self, tables: &[Analysed], inclusion: &mut Inclusion) -> Result<(), TablesError> {
        let (from, to) = (inclusion.from.0, inclusion.to.0);
        let path = &tables[from].path;
        let failed = |source| TablesError::Database { path: path.clone(), source };
        if self.0.as_ref().is_none_or(|(one, other, _)| (*one, *other) != (from, to)) {
            self.0 = Some((from, to, attach(path, &tables[to].path).map_err(failed)?));
        }
        let Some((_, _, connection)) = &self.0 else { return Ok(()) };
        let listed =
            |columns: &[usize]| columns.iter().map(|at| format!("c{at}")).collect::<Vec<_>>().join(", ");
        let not_null: Vec<String> = inclusion.columns.iter().map(|at| format!("c{at} IS NOT NULL")).collect();
        let values = format!(
            "SELECT DISTINCT {} FROM one.{ROWS} WHERE {}",
            listed(&inclusion.columns),
            not_null.join(" AND ")
        );
        let key = format!("SELECT {} FROM other.{ROWS}", listed(&inclusion.key));
        let count = |sql: String| connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).map_err(failed);
        inclusion.values = count(format!("SELECT COUNT(*) FROM ({values})"))?.unsigned_abs();
        inclusion.missing = count(format!("SELECT COUNT(*) FROM ({values} EXCEPT {key})"))?.unsigned_abs();
        if inclusion.columns.len() > 1 {
            let rows = tables[to].parts[inclusion.to.1].rows.max(1);
            let coverage = (inclusion.values as f64 / rows as f64).min(1.0);
            inclusion.scores = scores(1.0, coverage, 1.0, 0);
        }
        Ok(())
    }
}

fn attach(one: &Path, other: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute("ATTACH ?1 AS one", [one.to_string_lossy()])?;
    connection.execute("ATTACH ?1 AS other", [other.to_string_lossy()])?;
    Ok(connection)
}
