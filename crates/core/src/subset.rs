//! The part of a benchmark that a job is about.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use sqlgauge_dataset::{Databases, Example, QuestionLabel, Subset};
use sqlgauge_engine::Engine;
use sqlgauge_metrics::Target;
use sqlgauge_run::RunError;
use sqlgauge_sql::spider;

use crate::error::Error;
use crate::open_run::StoredReport;

/// The positions of the examples of a subset; `None` where it is all of them. Hardness is read off the golds, and needs the catalogs of
/// their databases.
pub(crate) fn positions(
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
pub(crate) fn positions_without_golds(
    subset: &Subset,
    examples: &[Example],
) -> Result<Option<Vec<usize>>, Error> {
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

/// The questions that a run's systems got wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedQuestions {
    /// Their ids, in the benchmark's order.
    pub ids: Vec<String>,
    /// The metric by which they are wrong.
    pub metric: String,
}

/// The questions that a run's systems got wrong by the metric that decides ([`sqlgauge_report::Report::deciding_metric`]): of the
/// systems of those names where the run has one, else of all.
///
/// # Errors
/// When the run cannot be read, has no metric that decides, or nothing was wrong.
pub fn failed_questions(run: &Path, systems: &[&str]) -> Result<FailedQuestions, Error> {
    let report = StoredReport::read(run)?.report;
    let wrong = |what: &str| Error::Invalid(format!("{}: {what}", run.display()));
    let metric = report.deciding_metric().ok_or_else(|| wrong("no metric of it says right or wrong"))?;
    let is_one_of = |name: &str| systems.contains(&name);
    let has_one = report.summary.systems.iter().any(|system| is_one_of(&system.system));
    let mut ids = BTreeMap::new();
    report.items.for_each(|item| {
        let is_wrong = item.metrics.get(metric).copied().flatten().is_some_and(|score| score < 1.0);
        if is_wrong && (!has_one || is_one_of(&item.system)) {
            ids.insert(item.index, item.id.clone());
        }
        Ok::<(), RunError>(())
    })?;
    if ids.is_empty() {
        return Err(wrong(&format!("no answer is wrong there by {metric}")));
    }
    Ok(FailedQuestions { ids: ids.into_values().collect(), metric: metric.to_owned() })
}

/// What stands at those positions.
pub(crate) fn pick<T>(all: Vec<T>, positions: Option<&[usize]>) -> Vec<T> {
    let Some(positions) = positions else { return all };
    let mut all: Vec<Option<T>> = all.into_iter().map(Some).collect();
    positions.iter().filter_map(|&position| all.get_mut(position)?.take()).collect()
}
