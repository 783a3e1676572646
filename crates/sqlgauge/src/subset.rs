//! The part of a benchmark that a job is about.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use sqlgauge_dataset::{Databases, Example, QuestionLabel, Subset};
use sqlgauge_engine::Engine;
use sqlgauge_metrics::Target;
use sqlgauge_sql::spider;

use crate::error::Error;

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

/// What stands at those positions.
pub(crate) fn pick<T>(all: Vec<T>, positions: Option<&[usize]>) -> Vec<T> {
    let Some(positions) = positions else { return all };
    let mut all: Vec<Option<T>> = all.into_iter().map(Some).collect();
    positions.iter().filter_map(|&position| all.get_mut(position)?.take()).collect()
}
