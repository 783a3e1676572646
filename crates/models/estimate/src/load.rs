//! From run directories, questions and predictions to a [`Pool`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use sqlgauge_base::server::is_address;
use sqlgauge_base::{counted, listed, without_secrets};
use sqlgauge_dataset::{Benchmark, Databases, PredictionSet};
use sqlgauge_engine::{Database, Engine};
use sqlgauge_run::{Details, Item, Manifest, ResultDigest, StoredRun, recorded_file};

use crate::error::EstimateError;
use crate::pool::{Occurrences, Pool, PoolAnswer, PoolQuestion};

/// Key of `details` and of labels that were judged elsewhere: `sqlgauge import` writes them under this metric.
pub const IMPORTED_METRIC: &str = "correct@1";

/// Reads known runs and a target into one pool.
pub struct Loader<'a> {
    engine: &'a dyn Engine,
    /// The engine of databases that are addresses.
    server: Option<&'a dyn Engine>,
    /// Folders that have databases of known runs which are not where they were.
    known_databases: Vec<Databases>,
    metric: Option<String>,
    opened: HashMap<PathBuf, Arc<Database>>,
    /// Places whose rows in the target differ from those that a run was scored on.
    replaced: HashSet<usize>,
    pool: Pool,
}

impl<'a> Loader<'a> {
    /// A loader. `metric` names the score that is meant by accuracy (with or without version); without it, each run's
    /// first metric with scores of 0 and 1 is.
    pub fn new(
        engine: &'a dyn Engine,
        server: Option<&'a dyn Engine>,
        known_databases: Vec<Databases>,
        metric: Option<String>,
    ) -> Self {
        Self {
            engine,
            server,
            known_databases,
            metric,
            opened: HashMap::new(),
            replaced: HashSet::new(),
            pool: Pool::default(),
        }
    }

    fn engine_of(&self, path: &Path) -> &'a dyn Engine {
        self.server.filter(|_| is_address(path)).unwrap_or(self.engine)
    }

    /// The place of an open database in the pool.
    fn place(&mut self, db_id: &str, database: &Arc<Database>) -> usize {
        let engine = self.engine_of(database.path());
        self.pool.database(db_id, database, Some(engine.dialect()).filter(|_| !engine.is_sqlite()))
    }

    /// Adds a run in memory, or a part of one; `path` is where it is from. `without_rows` has the databases of a run that was scored
    /// with a schema file.
    ///
    /// # Errors
    /// When its labels or its databases are not there.
    pub fn known_run(
        &mut self,
        path: &Path,
        run: StoredRun,
        without_rows: Option<&Databases>,
    ) -> Result<(), EstimateError> {
        let metric = binary_metric(path, &run, self.metric.as_deref())?;
        self.pool.metrics.insert(metric.clone());
        if !run.is_complete() {
            let items = counted(run.items.len(), "item");
            self.pool.notes.push(format!("the run in {} is not finished: it has {items}", path.display()));
        }
        let mut occurrences: HashMap<String, Occurrences> = HashMap::new();
        let mut databases = HashMap::new();
        let mut cut = 0;
        for item in run.items {
            let Some(&Some(correct)) = item.metrics.get(&metric) else { continue };
            // Of a text that the log has cut nobody can tell what the query was.
            if item.details.prediction_bytes.is_some() {
                cut += 1;
                continue;
            }
            if !databases.contains_key(&item.db_id) {
                let opened = self.known_database(path, &run.manifest, &item.db_id, without_rows)?;
                databases.insert(item.db_id.clone(), self.place(&item.db_id, &opened));
            }
            let system = self.pool.system(&item.system);
            let number = occurrences.entry(item.system.clone()).or_default();
            let (question, answer) = question_and_answer(&item, databases[&item.db_id]);
            let number = number.next(&question);
            let place = self.pool.question(question, number);
            self.pool.answer(system, place, PoolAnswer { correct: Some(correct), ..answer });
        }
        if cut > 0 {
            let cut = counted(cut, "prediction");
            self.pool.notes.push(format!("{}: left out: {cut}, too long for the log", path.display()));
        }
        Ok(())
    }

    fn known_database(
        &mut self,
        run: &Path,
        manifest: &Manifest,
        db_id: &str,
        without_rows: Option<&Databases>,
    ) -> Result<Arc<Database>, EstimateError> {
        let mut folders = self.known_databases.iter().chain(without_rows);
        if let Some(location) = folders.find_map(|folder| folder.locate(db_id).ok()) {
            return self.open(&location.main);
        }
        let role = format!("database:{db_id}");
        let of_role = |role: &str| manifest.inputs.iter().find(|input| input.role == role);
        let input = of_role(&role);
        let recorded = input.and_then(|input| match Path::new(&input.path) {
            // Whether a server is there, the engine finds out.
            path if self.server.is_some() && is_address(path) => Some(path.to_owned()),
            _ => recorded_file(run, input).ok(),
        });
        let path = input.or_else(|| of_role("tables")).map_or(db_id, |input| &input.path).into();
        let missing =
            || EstimateError::MissingDatabase { db_id: db_id.to_owned(), run: run.to_owned(), path };
        self.open(&recorded.ok_or_else(missing)?)
    }

    fn open(&mut self, path: &Path) -> Result<Arc<Database>, EstimateError> {
        if let Some(database) = self.opened.get(path) {
            return Ok(Arc::clone(database));
        }
        let database = self.engine_of(path).open(path)?;
        self.opened.insert(path.to_owned(), Arc::clone(&database));
        Ok(database)
    }

    /// Puts the target's database in a place that a known run's with the same tables has: their rows may differ.
    fn put(&mut self, place: usize, database: Arc<Database>) -> Result<(), EstimateError> {
        let entry = &mut self.pool.databases[place];
        let is_same = entry.database.path() == database.path();
        if !is_same && entry.database.content_hash()? != database.content_hash()? {
            entry.schema = Arc::clone(database.schema());
            entry.database = database;
            self.replaced.insert(place);
        }
        Ok(())
    }

    /// Adds the target: its questions and the answers of systems to them. The systems whose place in `systems` is
    /// less than `targets` are asked about; the others only answer beside them.
    ///
    /// # Errors
    /// When there is no question, or a database cannot be opened.
    pub fn target(
        &mut self,
        path: &Path,
        workload: &Benchmark,
        databases: &Databases,
        systems: &[PredictionSet],
        targets: usize,
    ) -> Result<(), EstimateError> {
        if workload.examples.is_empty() {
            return Err(EstimateError::EmptyTarget(path.to_owned()));
        }
        let mut occurrences = Occurrences::default();
        let mut places = Vec::with_capacity(workload.examples.len());
        for example in &workload.examples {
            let location = databases.locate(&example.db_id)?;
            let opened = self.open(&location.main)?;
            let database = self.place(&example.db_id, &opened);
            self.put(database, opened)?;
            let question = PoolQuestion {
                database,
                id: example.id.clone(),
                text: example.question.clone().unwrap_or_default(),
                evidence: example.evidence.clone().filter(|text| !text.is_empty()),
                in_target: true,
            };
            let number = occurrences.next(&question);
            let place = self.pool.question(question, number);
            self.pool.target_ids.insert(example.id.clone(), place);
            places.push(place);
        }
        for (at, set) in systems.iter().enumerate() {
            let system = self.pool.system(&set.system);
            if at < targets {
                self.pool.targets.push(system);
            }
            for (prediction, &place) in set.predictions.iter().zip(&places) {
                let confidence = prediction.as_ref().and_then(|p| p.confidence);
                let sql = prediction.as_ref().map(|p| p.sql.clone()).unwrap_or_default();
                let answer = PoolAnswer { sql, correct: None, confidence, status: None, result: None };
                if at < targets {
                    // What a known run says of these very answers is not used.
                    self.pool.forget(system, place);
                }
                self.pool.answer(system, place, answer);
            }
        }
        Ok(())
    }

    /// Adds the answers of a run, or of a part of one, as a target; labels in it are not looked at. The systems named
    /// by `targets` are asked about; the others only answer beside them.
    ///
    /// # Errors
    /// When there is no item, or a database cannot be opened.
    pub fn target_run(
        &mut self,
        path: &Path,
        run: StoredRun,
        targets: &[String],
    ) -> Result<(), EstimateError> {
        if run.items.is_empty() {
            return Err(EstimateError::EmptyTarget(path.to_owned()));
        }
        for name in targets {
            let system = self.pool.system(name);
            self.pool.targets.push(system);
        }
        let mut occurrences: HashMap<String, Occurrences> = HashMap::new();
        for item in run.items {
            let opened = self.known_database(path, &run.manifest, &item.db_id, None)?;
            let database = self.place(&item.db_id, &opened);
            let system = self.pool.system(&item.system);
            let (question, answer) = question_and_answer(&item, database);
            let number = occurrences.entry(item.system).or_default().next(&question);
            let place = self.pool.question(PoolQuestion { in_target: true, ..question }, number);
            self.pool.target_ids.insert(item.id, place);
            if self.pool.targets.contains(&system) {
                self.pool.forget(system, place);
            }
            self.pool.answer(system, place, answer);
        }
        Ok(())
    }

    /// The pool, with the answers to the target's questions executed where their database has rows.
    pub fn finish(mut self) -> Pool {
        let engines: Vec<&dyn Engine> =
            self.pool.databases.iter().map(|database| self.engine_of(database.database.path())).collect();
        for (database, engine) in self.pool.databases.iter_mut().zip(&engines) {
            database.has_rows = database.database.has_rows(*engine);
        }
        self.pool.notes.extend(on_server(&self.pool));
        let databases = self.pool.databases.iter();
        let shared = asked_of_one(databases.map(|one| (one.db_id.as_str(), one.database.path())));
        self.pool.notes.extend(shared);
        let (databases, questions) = (&self.pool.databases, &self.pool.questions);
        self.pool.answers.par_iter_mut().for_each(|answers| {
            answers.par_iter_mut().enumerate().for_each(|(question, answer)| {
                let place = questions[question].database;
                let (database, engine) = (&databases[place], engines[place]);
                let Some(answer) = answer else { return };
                let is_of_other_rows = answer.status.is_none() || self.replaced.contains(&place);
                // Nothing generates rows for a server: an imported answer, which has no status, is seen only where it runs.
                let is_asked = questions[question].in_target || database.dialect.is_some();
                if is_asked && is_of_other_rows {
                    let execution = engine.run(&database.database, &answer.sql);
                    answer.status = Some(execution.outcome.status().to_owned());
                    let rows = execution.rows().filter(|_| database.has_rows);
                    answer.result = rows.map(|rows| rows.fingerprint());
                }
            });
        });
        self.pool
    }
}

/// A note where questions of several databases are asked of one: a query that fails there is no wrong answer.
pub fn asked_of_one<'n>(databases: impl IntoIterator<Item = (&'n str, &'n Path)>) -> Option<String> {
    let mut names: BTreeMap<&Path, BTreeSet<&str>> = BTreeMap::new();
    for (name, path) in databases {
        names.entry(path).or_default().insert(name);
    }
    let (path, names) = names.into_iter().find(|(_, names)| names.len() > 1)?;
    let first: Vec<String> = names.iter().take(2).map(|name| format!("`{name}`")).collect();
    Some(format!(
        "questions about {}, {} among them, are all asked of {}; if each has its own database, write {{db_id}} in the address or give \
         a folder",
        counted(names.len(), "database"),
        listed(&first),
        without_secrets(&path.display().to_string())
    ))
}

/// What the signals are on a server, said once.
fn on_server(pool: &Pool) -> Option<String> {
    let dialect = pool.databases.iter().find_map(|database| database.dialect)?;
    Some(format!(
        "queries in {dialect}: agreement compares results on the server's own rows, as nothing generates rows for it; structure is read as \
         SQLite's grammar reads the text, and a text that it cannot read has none"
    ))
}

/// The metric of a run that is meant by accuracy: the one `wanted` (with or without version), or the first with scores
/// of 0 and 1.
///
/// # Errors
/// [`EstimateError::NoMetric`].
pub fn binary_metric(path: &Path, run: &StoredRun, wanted: Option<&str>) -> Result<String, EstimateError> {
    let binary = |id: &&String| {
        let mut values = run.items.iter().filter_map(|item| *item.metrics.get(*id)?).peekable();
        values.peek().is_some()
            && values
                .all(|value| value.to_bits() == 0.0_f64.to_bits() || value.to_bits() == 1.0_f64.to_bits())
    };
    let is_wanted = |id: &&String| {
        wanted.is_none_or(|wanted| {
            id.as_str() == wanted || id.split('@').next() == Some(wanted) || *id == IMPORTED_METRIC
        })
    };
    run.manifest.metrics.iter().filter(is_wanted).find(binary).cloned().ok_or_else(|| {
        EstimateError::NoMetric {
            path: path.to_owned(),
            metric: wanted.unwrap_or("a metric of 0 and 1").to_owned(),
            metrics: run.manifest.metrics.iter().filter(binary).cloned().collect(),
        }
    })
}

fn question_and_answer(item: &Item, database: usize) -> (PoolQuestion, PoolAnswer) {
    let Details { question, evidence, confidence, result, database_empty, .. } = &item.details;
    let answer = PoolAnswer {
        sql: item.details.prediction.clone().unwrap_or_default(),
        correct: None,
        confidence: *confidence,
        status: Some(item.status.clone()).filter(|status| status != "unknown"),
        // Without rows, most queries return the same.
        result: result.as_ref().filter(|_| !database_empty).and_then(ResultDigest::fingerprint),
    };
    let question = PoolQuestion {
        database,
        text: question.clone().unwrap_or_default(),
        evidence: evidence.clone(),
        id: item.id.clone(),
        in_target: false,
    };
    (question, answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_names_of_one_database_are_noted() {
        let (one, other) = (Path::new("mysql://u@h/shop"), Path::new("shop.sqlite"));
        assert_eq!(asked_of_one([("car_1", one), ("car_1", one), ("pets_1", other)]), None);
        let note = asked_of_one([("pets_1", one), ("car_1", one), ("shop", other)]).unwrap();
        assert!(note.starts_with("questions about 2 databases, `car_1` and `pets_1` among them"), "{note}");
        assert!(note.contains("@h/shop") && note.contains("{db_id}"), "{note}");
    }
}
