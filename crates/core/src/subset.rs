//! Which examples of a benchmark are taken: by database, by id, by label, and so many of them.
//!
//! # Contract
//! - What is asked for holds together: an example is taken if its database, its id and every label are among those asked for.
//! - Of more than `limit` such examples, `limit` are drawn by the seed. The first ones would be of few databases.
//! - The order is the benchmark's, and predictions are matched before, so a file for the whole benchmark fits.
//! - A database, id or label that no example has is an error that names it: a slip would make another benchmark.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::{Value, json};
use sqlgauge_base::{Random, counted_of, verb_for};
use sqlgauge_dataset::{Databases, Example};
use sqlgauge_engine::Engine;
use sqlgauge_metrics::Target;
use sqlgauge_run::RunError;
use sqlgauge_sql::spider;

use crate::context::Watcher;
use crate::error::Error;
use crate::open_run::StoredReport;

sqlgauge_base::named! {
    /// A label that examples have.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum QuestionLabel by as_str {
        /// The benchmark's own label (BIRD: simple, moderate, challenging).
        Difficulty = "difficulty",
        /// Spider's hardness of the first gold: easy, medium, hard, extra.
        Hardness = "hardness",
    }
}

/// A label and the value that it must have: `hardness=extra`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelCondition {
    label: QuestionLabel,
    value: String,
}

impl FromStr for LabelCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let labels = QuestionLabel::ALL.map(QuestionLabel::as_str).join(" or ");
        let wrong = || format!("{text:?} is not a condition; write {labels}, as in hardness=extra");
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let label =
            QuestionLabel::ALL.into_iter().find(|label| label.as_str() == name.trim()).ok_or_else(wrong)?;
        Ok(Self { label, value: value.trim().to_owned() })
    }
}

/// Which examples are taken; by default all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Subset {
    /// Take only the questions about a database; several are separated by commas
    #[cfg_attr(
        feature = "cli",
        arg(long = "db-id", value_name = "ID", value_delimiter = ',', help_heading = "Subset")
    )]
    pub db_ids: Vec<String>,
    /// Take only the questions whose ids are in a file, one a line
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", help_heading = "Subset"))]
    pub ids: Option<IdList>,
    /// Take only the questions with a label, as in hardness=extra or difficulty=simple; given several times, values of one label are
    /// alternatives
    #[cfg_attr(feature = "cli", arg(long = "where", value_name = "LABEL=VALUE", help_heading = "Subset"))]
    pub conditions: Vec<LabelCondition>,
    /// Take at most N questions, drawn at random
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", help_heading = "Subset"))]
    pub limit: Option<usize>,
    /// Leave out questions whose databases are missing, and say so
    #[cfg_attr(feature = "cli", arg(long, help_heading = "Subset"))]
    pub skip_missing_db: bool,
    /// Seed of that draw.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub seed: u64,
}

/// Ids of questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdList {
    /// The ids.
    pub ids: Vec<String>,
    /// What they are, for who reads the record of a run: `that DAIL failed (ex@1 in runs/dail)`.
    pub are: Option<String>,
}

impl From<Vec<String>> for IdList {
    fn from(ids: Vec<String>) -> Self {
        Self { ids, are: None }
    }
}

/// A subset that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubsetError {
    /// No example has it.
    #[error("no question has {what} {value:?}; there are {listed}")]
    Unknown {
        /// What it is: a database, an id, a label.
        what: &'static str,
        /// The value asked for.
        value: String,
        /// Some that there are.
        listed: String,
    },
    /// Every condition holds for some example, but never all for one.
    #[error("no question fits --db-id, --ids and --where at once; leave one of them out")]
    Empty,
    /// A limit of nothing.
    #[error("--limit 0 leaves no question; give at least 1")]
    NoLimit,
}

const NAMED: usize = 8;

impl Subset {
    /// Whether all examples are taken, of those whose databases are there.
    pub fn is_all(&self) -> bool {
        let Self { db_ids, ids, conditions, limit, skip_missing_db: _, seed: _ } = self;
        db_ids.is_empty() && ids.is_none() && conditions.is_empty() && limit.is_none()
    }

    /// The positions of the examples that are taken, in their order. `label_of` says the label of an example; it is asked only
    /// for what a condition is about, and of examples whose database and id are taken.
    ///
    /// # Errors
    /// See the head of this file; and what `label_of` fails with.
    fn positions<E: From<SubsetError>>(
        &self,
        examples: &[Example],
        mut label_of: impl FnMut(&Example, QuestionLabel) -> Result<Option<String>, E>,
    ) -> Result<Vec<usize>, E> {
        if self.limit == Some(0) {
            return Err(SubsetError::NoLimit.into());
        }
        check_values("db_id", &self.db_ids, examples.iter().map(|example| example.db_id.as_str()))?;
        check_values(
            "id",
            self.ids.iter().flat_map(|list| &list.ids),
            examples.iter().map(|example| example.id.as_str()),
        )?;
        let ids: Option<HashSet<&str>> =
            self.ids.as_ref().map(|list| list.ids.iter().map(String::as_str).collect());
        let is_asked_for = |example: &Example| {
            (self.db_ids.is_empty() || self.db_ids.contains(&example.db_id))
                && ids.as_ref().is_none_or(|ids| ids.contains(example.id.as_str()))
        };
        let mut positions: Vec<usize> =
            (0..examples.len()).filter(|&position| is_asked_for(&examples[position])).collect();
        for label in QuestionLabel::ALL {
            let conditions = self.conditions.iter().filter(|condition| condition.label == label);
            let values: Vec<&String> = conditions.map(|condition| &condition.value).collect();
            if values.is_empty() {
                continue;
            }
            let labels = positions.iter().map(|&position| label_of(&examples[position], label));
            let labels: Vec<Option<String>> = labels.collect::<Result<_, E>>()?;
            check_values(
                label.as_str(),
                values.iter().copied(),
                labels.iter().flatten().map(String::as_str),
            )?;
            let fits = |label: &Option<String>| label.as_ref().is_some_and(|label| values.contains(&label));
            positions = positions
                .into_iter()
                .zip(&labels)
                .filter(|(_, label)| fits(label))
                .map(|(at, _)| at)
                .collect();
        }
        if positions.is_empty() {
            return Err(SubsetError::Empty.into());
        }
        Ok(self.drawn(positions))
    }

    /// At most as many as the limit, drawn by the seed.
    fn drawn(&self, mut positions: Vec<usize>) -> Vec<usize> {
        if let Some(limit) = self.limit.filter(|limit| *limit < positions.len()) {
            Random::new([self.seed]).shuffle(&mut positions);
            positions.truncate(limit);
            positions.sort_unstable();
        }
        positions
    }

    /// What is asked for, for the record of a run.
    pub(crate) fn to_json(&self) -> Value {
        let conditions = self.conditions.iter().map(|one| format!("{}={}", one.label, one.value));
        json!({
            "db_id": self.db_ids,
            "ids": self.ids.as_ref().map(|list| &list.ids),
            "ids_are": self.ids.as_ref().and_then(|list| list.are.as_ref()),
            "where": conditions.collect::<Vec<_>>(),
            "limit": self.limit,
            "seed": self.seed,
        })
    }
}

/// Finds the first value that nobody has.
fn check_values<'a>(
    what: &'static str,
    values: impl IntoIterator<Item = &'a String>,
    there: impl Iterator<Item = &'a str>,
) -> Result<(), SubsetError> {
    let mut values = values.into_iter().peekable();
    if values.peek().is_none() {
        return Ok(());
    }
    let there: BTreeSet<&str> = there.collect();
    let Some(value) = values.find(|value| !there.contains(value.as_str())) else { return Ok(()) };
    let mut listed = there.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if there.len() > NAMED {
        listed.push_str(", …");
    }
    if there.is_empty() {
        listed.push_str("none");
    }
    Err(SubsetError::Unknown { what, value: value.clone(), listed })
}

/// The questions that are taken, and the databases that are missing of the others.
pub(crate) struct Selection {
    /// Their positions; `None` where it is all of them.
    pub(crate) positions: Option<Vec<usize>>,
    pub(crate) missing: Vec<String>,
}

/// The questions of a subset, out of those whose databases are there if others may be missing.
pub(crate) fn select(
    subset: &Subset,
    examples: &[Example],
    folder: &Path,
    engine: &dyn Engine,
    watcher: &dyn Watcher,
) -> Result<Selection, Error> {
    there(subset, examples, Some(folder), watcher, &|examples| positions(subset, examples, folder, engine))
}

/// As [`select`], for a command that does not read golds.
pub(crate) fn select_without_golds(
    subset: &Subset,
    examples: &[Example],
    folder: Option<&Path>,
    watcher: &dyn Watcher,
) -> Result<Option<Vec<usize>>, Error> {
    let of = |examples: &[Example]| positions_without_golds(subset, examples);
    Ok(there(subset, examples, folder, watcher, &of)?.positions)
}

/// The positions of a subset among examples; `None` where it is all of them.
type Positions<'p> = dyn Fn(&[Example]) -> Result<Option<Vec<usize>>, Error> + 'p;

fn there(
    subset: &Subset,
    examples: &[Example],
    folder: Option<&Path>,
    watcher: &dyn Watcher,
    positions: &Positions<'_>,
) -> Result<Selection, Error> {
    let Some(folder) = folder.filter(|_| subset.skip_missing_db) else {
        return Ok(Selection { positions: positions(examples)?, missing: Vec::new() });
    };
    let databases = Databases::open(folder)?;
    let names: BTreeSet<&str> = examples.iter().map(|example| example.db_id.as_str()).collect();
    let is_missing = |name: &&str| databases.locate(name).is_err();
    let missing: Vec<String> = names.into_iter().filter(is_missing).map(str::to_owned).collect();
    let Some(first) = missing.first() else {
        return Ok(Selection { positions: positions(examples)?, missing });
    };
    let has_database = |at: &usize| missing.binary_search(&examples[*at].db_id).is_err();
    let mut selection: Vec<usize> = (0..examples.len()).filter(has_database).collect();
    if selection.is_empty() {
        // The error names the first of them and what is in the folder.
        databases.locate(first)?;
    }
    let absent = examples.len() - selection.len();
    let (questions, are) = (counted_of(absent, examples.len(), "question"), verb_for(&absent, ["is", "are"]));
    watcher
        .note(&format!("{questions} {are} left out, as their databases are missing: {}", missing.join(", ")));
    let there = pick(examples.to_vec(), Some(&selection));
    if let Some(positions) = positions(&there)? {
        selection = positions.into_iter().map(|at| selection[at]).collect();
    }
    Ok(Selection { positions: Some(selection), missing })
}

/// The positions of the examples of a subset; `None` where it is all of them. Hardness is read off the golds, and needs the catalogs of
/// their databases.
fn positions(
    subset: &Subset,
    examples: &[Example],
    databases: &Path,
    engine: &dyn Engine,
) -> Result<Option<Vec<usize>>, Error> {
    if subset.is_all() {
        return Ok(None);
    }
    let mut targets: HashMap<String, Arc<Target>> = HashMap::new();
    let mut target = |db_id: &str| {
        if let Some(target) = targets.get(db_id) {
            return Ok(Arc::clone(target));
        }
        let file = Databases::open(databases)?.locate(db_id)?.main;
        let target = Arc::new(Target::new(db_id, engine.open(&file)?));
        targets.insert(db_id.to_owned(), Arc::clone(&target));
        Ok::<_, Error>(target)
    };
    let label_of = |example: &Example, label: QuestionLabel| match label {
        QuestionLabel::Difficulty => Ok(example.difficulty.clone()),
        QuestionLabel::Hardness => {
            let target = target(&example.db_id)?;
            let gold = example.golds.first().map(|gold| spider::parse(target.catalog(), gold));
            let hardness = gold.and_then(|gold| spider::hardness(&gold.ok()?).ok());
            Ok(hardness.map(|hardness| hardness.as_str().to_owned()))
        }
    };
    subset.positions(examples, label_of).map(Some)
}

/// The positions of the questions of a subset that are in a workload, whose golds are not read; `None` where it is all of them.
fn positions_without_golds(subset: &Subset, examples: &[Example]) -> Result<Option<Vec<usize>>, Error> {
    if subset.is_all() {
        return Ok(None);
    }
    let label_of = |example: &Example, label: QuestionLabel| {
        match label {
        QuestionLabel::Difficulty => Ok(example.difficulty.clone()),
        QuestionLabel::Hardness => Err(Error::Invalid(
            "--where hardness: hardness is read off the golds, which this command does not read; name the questions by --ids"
                .to_owned(),
        )),
    }
    };
    subset.positions(examples, label_of).map(Some)
}

/// The questions that a run's systems got wrong by the metric that decides ([`sqlgauge_report::Report::deciding_metric`]): of the
/// systems of those names where the run has one, else of all.
///
/// # Errors
/// When the run cannot be read, has no metric that decides, or nothing was wrong.
pub fn failed_questions(run: &Path, systems: &[&str]) -> Result<IdList, Error> {
    let report = StoredReport::read(run)?.report;
    let wrong = |what: &str| Error::Invalid(format!("{}: {what}", run.display()));
    let metric = report.deciding_metric().ok_or_else(|| wrong("no metric of it says right or wrong"))?;
    let is_one_of = |name: &str| systems.contains(&name);
    let has_one = report.summary.systems.iter().any(|system| is_one_of(&system.system));
    let (mut ids, mut failed) = (BTreeMap::new(), BTreeSet::new());
    report.items.for_each(|item| {
        let is_wrong = item.metrics.get(metric).copied().flatten().is_some_and(|score| score < 1.0);
        if is_wrong && (!has_one || is_one_of(&item.system)) {
            ids.insert(item.index, item.id.clone());
            failed.insert(item.system.clone());
        }
        Ok::<(), RunError>(())
    })?;
    if ids.is_empty() {
        return Err(wrong(&format!("no answer is wrong there by {metric}")));
    }
    let who = failed.into_iter().collect::<Vec<_>>().join(" or ");
    let are = format!("that {who} failed ({metric} in {})", run.display());
    Ok(IdList { ids: ids.into_values().collect(), are: Some(are) })
}

/// What stands at those positions.
pub(crate) fn pick<T>(all: Vec<T>, positions: Option<&[usize]>) -> Vec<T> {
    let Some(positions) = positions else { return all };
    let mut all: Vec<Option<T>> = all.into_iter().map(Some).collect();
    positions.iter().filter_map(|&position| all.get_mut(position)?.take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<Example> {
        let example = |position: usize| {
            let db_id = ["a", "b", "c"][position % 3].to_owned();
            let difficulty = Some(if position < 6 { "simple" } else { "challenging" }.to_owned());
            Example { difficulty, ..Example::bare(format!("q{position}"), position, db_id) }
        };
        (0..12).map(example).collect()
    }

    fn positions(subset: &Subset) -> Result<Vec<usize>, SubsetError> {
        subset.positions(&examples(), |example, label| {
            assert_eq!(label, QuestionLabel::Difficulty);
            Ok(example.difficulty.clone())
        })
    }

    fn of(db_ids: &[&str], conditions: &[&str], limit: Option<usize>) -> Subset {
        Subset {
            db_ids: db_ids.iter().map(|&name| name.to_owned()).collect(),
            conditions: conditions.iter().map(|text| text.parse().unwrap()).collect(),
            limit,
            ..Subset::default()
        }
    }

    #[test]
    fn what_is_asked_for_holds_together() {
        assert_eq!(positions(&Subset::default()), Ok((0..12).collect()));
        assert_eq!(positions(&of(&["b"], &[], None)), Ok(vec![1, 4, 7, 10]));
        assert_eq!(positions(&of(&["b"], &["difficulty=simple"], None)), Ok(vec![1, 4]));
        let both = of(&["b"], &["difficulty=simple", "difficulty=challenging"], None);
        assert_eq!(positions(&both), Ok(vec![1, 4, 7, 10]));
        let ids = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>().into());
        assert_eq!(positions(&Subset { ids: ids(&["q7", "q1"]), ..Subset::default() }), Ok(vec![1, 7]));
        let none = Subset { ids: ids(&["q2"]), ..of(&["b"], &[], None) };
        assert_eq!(positions(&none), Err(SubsetError::Empty));
    }

    #[test]
    fn a_limit_draws_by_the_seed_and_keeps_the_order() {
        let drawn = |seed| positions(&Subset { seed, ..of(&[], &[], Some(5)) }).unwrap();
        assert!(drawn(1).is_sorted() && drawn(1).len() == 5);
        assert_eq!(drawn(1), drawn(1));
        assert!((2..9).any(|seed| drawn(seed) != drawn(1)));
        assert_eq!(positions(&of(&[], &[], Some(50))).map(|all| all.len()), Ok(12));
        assert_eq!(positions(&of(&[], &[], Some(0))), Err(SubsetError::NoLimit));
    }

    #[test]
    fn what_no_question_has_is_named() {
        let message = |subset: &Subset| positions(subset).unwrap_err().to_string();
        assert_eq!(message(&of(&["d"], &[], None)), "no question has db_id \"d\"; there are a, b, c");
        assert_eq!(
            message(&of(&["b"], &["difficulty=simple", "difficulty=hard"], None)),
            "no question has difficulty \"hard\"; there are challenging, simple"
        );
        assert!("level=3".parse::<LabelCondition>().unwrap_err().contains("hardness=extra"));
    }
}
