//! `pack@1`: right on the benchmark's database and on every database of a witness pack.
//!
//! # Contract
//! 1 if the prediction is right by `ex@1` (by `ex-bird@1` for a pack that compares sets) on the benchmark's database, and no
//! database of the pack says anything against it; else 0. Where the gold permits one result on a database, the prediction must return it
//! whatever SQLite chooses; where it permits several, one of them must be the prediction's.
//!
//! Null where the run has no pack, the pack does not have the question, or it has the question with another gold. A question for
//! which no database could be made (its gold cannot be searched) scores what the execution metric does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge_engine::compare::Semantics;
use sqlgauge_search::{Contract, Search, SearchOptions, Witness};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::pack::{PackError, PackQuestion, gold_name};

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::registry::find;
use crate::verify::execution_metric;

/// The databases of a pack for the questions about one database.
#[derive(Debug)]
pub struct PackedTarget {
    schema: Arc<Schema>,
    semantics: Semantics,
    /// By the name of the gold.
    witnesses: HashMap<String, Vec<Witness>>,
    idle: Mutex<Vec<Search>>,
}

impl PackedTarget {
    /// Those questions, over the schema that the databases satisfy.
    ///
    /// # Errors
    /// When the pack was made for another schema.
    pub fn new<'q>(
        schema: Arc<Schema>,
        semantics: Semantics,
        questions: impl IntoIterator<Item = &'q PackQuestion>,
    ) -> Result<Self, PackError> {
        let questions = questions.into_iter();
        let witnesses = questions.map(|question| Ok((question.gold.clone(), question.witnesses(&schema)?)));
        let witnesses = witnesses.collect::<Result<_, PackError>>()?;
        Ok(Self { schema, semantics, witnesses, idle: Mutex::default() })
    }

    /// Does something with a search, of which there are as many as threads that ever needed one at once.
    fn searching<T>(&self, act: impl FnOnce(&Search) -> T) -> Result<T, sqlgauge_search::SearchError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let contract = Contract { semantics: self.semantics, ..Contract::default() };
        let options = SearchOptions { contract, tells_open_golds: true, ..SearchOptions::default() };
        let search = match idle {
            Some(search) => search,
            None => Search::new(Arc::clone(&self.schema), options)?,
        };
        // What a panic leaves behind is not put back.
        let done = act(&search);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(search);
        Ok(done)
    }
}

/// Right on every database of the pack.
pub(crate) struct PackAccuracy;

impl Metric for PackAccuracy {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "pack@1",
            "Right on the benchmark's database and on every database of a witness pack.",
            MetricKind::Binary,
            Reads::Bag,
        )
        .needs("the database and a pack: runs both queries there")
        .of_sqlite()
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        let Some(packed) = &pair.target().packed else {
            return Score::inapplicable("the run has no pack; give one with --pack FILE");
        };
        let Some(witnesses) = packed.witnesses.get(&gold_name(pair.gold())) else {
            return Score::inapplicable("the pack does not have the question with this gold");
        };
        let execution = execution_metric(packed.semantics).unwrap_or("ex@1");
        let on_database = match find(execution) {
            Ok(metric) => metric.score(pair),
            Err(error) => return Score::inapplicable(error.to_string()),
        };
        if on_database.value != Some(1.0) {
            return on_database;
        }
        match packed.searching(|search| search.told(witnesses, pair.gold(), pair.prediction())) {
            Ok(Ok(Some(objection))) => {
                let place = objection.place + 1;
                Score::new(0.0).because(format!("on database {place} of the pack: {}", objection.reason))
            }
            // A gold that cannot be judged has no databases.
            Ok(Ok(None) | Err(_)) => on_database,
            Err(error) => Score::inapplicable(error.to_string()),
        }
    }
}
