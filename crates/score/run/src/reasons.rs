//! What makes the wrong answers of a run wrong, worked out when somebody looks.
//!
//! # Contract
//! - An answer has a reason if it ran on SQLite and a 0/1 metric that reads rows calls it wrong, or if it has a counterexample.
//! - The reason is that of one metric, the first of the run that calls the answer wrong; which others were scored changes nothing.
//! - Where that metric changes the queries first, as an official script does, and would call them right as they are written, the
//!   reason is [`REWRITTEN`].
//! - Where both queries permit the same results on the database, as rows tie at their LIMIT, the reason is [`TIED`].
//! - Where the queries have no single reason, but their rows differ in the order of the columns alone, the reason is [`MOVED`].
//! - Any other reason follows from gold, prediction and the schema of the database; no query runs.
//! - A database is read only if it is the one that was scored ([`recorded_file`]). If it is gone, the reason says so. A counterexample
//!   brings its own schema.
//! - Equal pairs are worked out once, and a gold is resolved once.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;
use sqlgauge_causes::{DifferenceRecord, Explainer, Judge, Proofs, Unclear};
use sqlgauge_engine::compare::COLUMNS_MOVED;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_metrics::{MetricKind, Reads, find};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::VerdictRecord;

use crate::details::{Details, MetricDetail};
use crate::digest::recorded_file;
use crate::facts::causes_without_result;
use crate::fixes::{MOVED, REWRITTEN, TIED, UNCLEAR};
use crate::raw::RawItem;
use crate::record::{InputRecord, Item, Manifest};

/// Reasons of one run that are kept for pairs that come again.
const MAX_REASONS: usize = 200_000;

/// What makes an answer wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// One sentence; absent where it is unclear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// The causes that it names, that which the answer counts under first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// Why there is no sentence, as a code: `other-shape`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<&'static str>,
    /// Why the answer could not be looked at: `the database a.sqlite has changed since the run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl From<DifferenceRecord> for Reason {
    fn from(DifferenceRecord { sentence, causes, unclear }: DifferenceRecord) -> Self {
        let about = unclear.as_deref().and_then(Unclear::find).map(Unclear::about);
        Self { sentence, causes, unclear, about, missing: None }
    }
}

impl Reason {
    /// Of an answer that is wrong only since an official script changes the queries.
    fn rewritten() -> Self {
        let sentence = "As written, the prediction is right: the official script changes the queries before it runs them.";
        Self { sentence: Some(sentence.to_owned()), causes: vec![REWRITTEN.to_owned()], ..Self::default() }
    }

    /// Of an answer that is wrong by the choice of SQLite among so many rows.
    fn tied(rows: usize) -> Self {
        let sentence = format!(
            "A tie at LIMIT: the same {rows} rows have equal sort keys in both queries, so chance decides which of them each returns."
        );
        Self { sentence: Some(sentence), causes: vec![TIED.to_owned()], ..Self::default() }
    }

    /// Of an answer that is wrong by the order of its columns alone.
    fn moved() -> Self {
        let sentence = "The columns stand in a different order; the rows are otherwise the same.";
        Self { sentence: Some(sentence.to_owned()), causes: vec![MOVED.to_owned()], ..Self::default() }
    }

    /// The sentence, or why there is none.
    pub fn words(&self) -> Option<String> {
        let missing = || self.missing.as_ref().map(|why| format!("Not known: {why}."));
        let unclear = || self.about.map(|about| format!("No single reason found: {about}."));
        self.sentence.clone().or_else(missing).or_else(unclear)
    }

    /// What the answer counts under in the list of what to fix; nothing where it could not be looked at.
    pub(crate) fn counted_causes(self) -> Vec<String> {
        match (self.missing, self.sentence) {
            (Some(_), _) => Vec::new(),
            (None, Some(_)) => self.causes,
            (None, None) => vec![UNCLEAR.to_owned()],
        }
    }
}

/// The explainer of a database, or why there is none.
type Ground = Arc<OnceLock<Result<Explainer, String>>>;

/// Says what makes the wrong answers of a run wrong.
pub struct Reasons {
    /// The 0/1 metrics of the run that read rows, in its order.
    metrics: Vec<String>,
    /// Whether SQLite ran the queries: nothing is known of the meaning that others give them.
    is_sqlite: bool,
    folder: PathBuf,
    /// By `db_id`.
    databases: HashMap<String, InputRecord>,
    /// The schemas of databases that are open, by `db_id`.
    schemas: HashMap<String, Arc<Schema>>,
    /// By `db_id`.
    grounds: Mutex<HashMap<String, Ground>>,
    keys: [RandomState; 2],
    /// By two hashes of a pair with keys of this process.
    by_pair: Mutex<HashMap<[u64; 2], Reason>>,
}

impl fmt::Debug for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reasons").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Reasons {
    /// Those of the run in a folder. Its databases are looked for when the first answer on them is.
    pub fn of_run(folder: &Path, manifest: &Manifest) -> Self {
        let reads_rows = |id: &&String| {
            find(id)
                .is_ok_and(|metric| metric.kind() == MetricKind::Binary && metric.reads() != Reads::NoRows)
        };
        let database =
            |input: &InputRecord| Some((input.role.strip_prefix("database:")?.to_owned(), input.clone()));
        Self {
            metrics: manifest.metrics.iter().filter(reads_rows).cloned().collect(),
            is_sqlite: manifest.engine.starts_with("SQLite"),
            folder: folder.to_owned(),
            databases: manifest.inputs.iter().filter_map(database).collect(),
            schemas: HashMap::new(),
            grounds: Mutex::default(),
            keys: [RandomState::new(), RandomState::new()],
            by_pair: Mutex::default(),
        }
    }

    /// With the schemas of databases that are open, by `db_id`: they are not looked for.
    #[must_use]
    pub fn with_schemas(self, schemas: HashMap<String, Arc<Schema>>) -> Self {
        Self { schemas, ..self }
    }

    /// What makes the answer of an item wrong; `None` where it is not wrong, or nothing can be said of it.
    pub fn of(&self, item: &Item) -> Option<Reason> {
        let Item { db_id, metrics, details, .. } = item;
        let wrong_by = self.wrong_by(|id| metrics.get(id).copied().flatten());
        self.of_details(db_id, wrong_by, details)
    }

    /// The cause that a wrong answer counts under in the list of its system; `None` where nothing can be said.
    pub fn cause_of(&self, item: &Item) -> Option<String> {
        let causes = causes_without_result(item);
        let causes = if causes.is_empty() { self.of(item)?.counted_causes() } else { causes };
        causes.into_iter().next()
    }

    /// The same of an item whose details are not decoded.
    ///
    /// # Errors
    /// When a detail has another type than [`Details`] says.
    pub fn of_raw(&self, item: &RawItem<'_>) -> serde_json::Result<Option<Reason>> {
        let wrong_by = self.wrong_by(|id| item.metrics.get(id).copied().flatten());
        if !self.is_sqlite || wrong_by.is_none() && item.details.verdict.is_none() {
            return Ok(None);
        }
        Ok(self.of_details(&item.db_id, wrong_by, &item.pair()?))
    }

    /// The first metric that reads rows and calls the answer wrong.
    fn wrong_by(&self, score: impl Fn(&String) -> Option<f64>) -> Option<&String> {
        self.metrics.iter().find(|id| score(id).is_some_and(|score| score < 1.0))
    }

    fn of_details(&self, db_id: &str, wrong_by: Option<&String>, details: &Details) -> Option<Reason> {
        let verdict = details.verdict.as_ref().filter(|verdict| verdict.witness.is_some());
        let is_looked_at = verdict.is_some() || wrong_by.is_some() && details.result.is_some();
        if !self.is_sqlite || !is_looked_at {
            return None;
        }
        let detail = wrong_by.and_then(|metric| details.metrics.get(metric));
        if detail.and_then(MetricDetail::as_written).is_some_and(|score| score >= 1.0) {
            return Some(Reason::rewritten());
        }
        if let Some(rows) = details.tied {
            return Some(Reason::tied(rows));
        }
        let golds = details.golds();
        let compared = || details.metrics.iter().find(|(id, _)| self.metrics.contains(*id));
        let detail = detail.or_else(|| compared().map(|(_, detail)| detail));
        let gold = golds.get(detail.and_then(MetricDetail::gold).unwrap_or(0)).or(golds.first())?;
        details.prediction.as_ref()?;
        let Some(prediction) = details.whole_prediction() else {
            return Some(unclear(Unclear::CutText));
        };
        let script = verdict.and_then(|verdict| verdict.witness.as_deref()).unwrap_or_default();
        let is_moved = wrong_by.is_some() && details.metrics.values().any(says_moved);
        let pair = (db_id, gold, prediction, script, details.letter_case, is_moved);
        let key = self.keys.each_ref().map(|key| key.hash_one(pair));
        let reasons = || self.by_pair.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = reasons().get(&key) {
            return Some(reason.clone());
        }
        let mut reason = self.work_out(db_id, [gold, prediction], verdict, details.letter_case);
        if is_moved && reason.unclear.is_some() {
            reason = Reason::moved();
        }
        let mut reasons = reasons();
        if reasons.len() < MAX_REASONS {
            reasons.insert(key, reason.clone());
        }
        Some(reason)
    }

    fn work_out(
        &self,
        db_id: &str,
        [gold, prediction]: [&str; 2],
        verdict: Option<&VerdictRecord>,
        is_right_in_case: bool,
    ) -> Reason {
        let differ_on = verdict.and_then(VerdictRecord::differ_on);
        let explain = |explainer: &Explainer| {
            let judge = Facts { proofs: explainer.proofs(), is_right_in_case };
            DifferenceRecord::of(&explainer.explain(gold, prediction, &judge), differ_on.as_deref()).into()
        };
        let ground = self.ground(db_id);
        match ground.get_or_init(|| self.schema(db_id).map(Explainer::of)) {
            Ok(explainer) => explain(explainer),
            Err(missing) => {
                let script = verdict.and_then(|verdict| verdict.witness.as_deref());
                match script.and_then(|script| Schema::from_ddl(script).ok()) {
                    Some(schema) => explain(&Explainer::of(schema)),
                    None => Reason { missing: Some(missing.clone()), ..Reason::default() },
                }
            }
        }
    }

    fn ground(&self, db_id: &str) -> Ground {
        let mut grounds = self.grounds.lock().unwrap_or_else(PoisonError::into_inner);
        match grounds.get(db_id) {
            Some(ground) => Arc::clone(ground),
            None => Arc::clone(grounds.entry(db_id.to_owned()).or_default()),
        }
    }

    fn schema(&self, db_id: &str) -> Result<Arc<Schema>, String> {
        if let Some(schema) = self.schemas.get(db_id) {
            return Ok(Arc::clone(schema));
        }
        let unnamed = || format!("the run does not say where the database {db_id} is");
        let input = self.databases.get(db_id).ok_or_else(unnamed)?;
        let path =
            recorded_file(&self.folder, input).map_err(|why| format!("the database {} {why}", input.path))?;
        let database = SqliteEngine::new(Limits::default())
            .open(&path)
            .map_err(|error| format!("the database {} cannot be opened ({error})", input.path))?;
        Ok(Arc::clone(database.schema()))
    }
}

/// Knows what is proved, and what the log says of letter case.
struct Facts<'a> {
    proofs: Proofs<'a>,
    is_right_in_case: bool,
}

impl Judge for Facts<'_> {
    fn same(&self, query: &str, other: &str) -> Option<bool> {
        self.proofs.same(query, other)
    }

    fn is_right(&self, gold: &str, answer: &str) -> Option<bool> {
        if self.is_right_in_case { Some(true) } else { self.same(gold, answer) }
    }
}

/// Whether a metric says that the rows are the gold's once the columns change places.
fn says_moved(detail: &MetricDetail) -> bool {
    detail.reason().is_some_and(|reason| reason.starts_with(COLUMNS_MOVED))
}

fn unclear(unclear: Unclear) -> Reason {
    Reason { unclear: Some(unclear.id().to_owned()), about: Some(unclear.about()), ..Reason::default() }
}
