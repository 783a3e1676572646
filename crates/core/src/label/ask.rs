//! The questions to label next, each with the smallest that decides it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use sqlgauge_base::server::is_address;
use sqlgauge_engine::compare::explain;
use sqlgauge_engine::{Database, Engine, Limits, Moment, ResultSet};
use sqlgauge_estimate::labelling::{LabelFolder, PlanItem, Wanted};
use sqlgauge_verify::Verdict;

use crate::context::Context;
use crate::error::Error;
use crate::settings::VerifySettings;
use crate::verify_pair::verify_over_database;

/// The role of a plan's databases, before their names.
const DATABASE: &str = "database:";
/// Rows of a result in a question.
const ROWS: usize = 10;

/// Says what to label next; a new batch is drawn where the last one has all its labels.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LabelNextJob {
    /// Folder that `label plan` wrote
    #[cfg_attr(feature = "cli", arg(long = "in", id = "in", value_name = "DIR"))]
    pub folder: PathBuf,
    /// Questions to show, at most five at a time
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    pub count: usize,
    /// Limits of every query.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: Limits,
}

/// A question for a person: which of these results answers it?
#[derive(Debug, Clone, Serialize)]
pub struct LabelQuestion {
    /// Its id.
    pub id: String,
    /// Its database.
    pub db_id: String,
    /// The question.
    pub question: Option<String>,
    /// What it takes to be known.
    pub evidence: Option<String>,
    /// The results to judge.
    pub results: Vec<JudgedResult>,
    /// A database on which two answers with equal results differ.
    pub witness: Option<WitnessOfTwo>,
}

/// The result of one or more answers.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedResult {
    /// The systems whose verdict it is.
    pub systems: Vec<String>,
    /// The answer of the first.
    pub sql: String,
    /// Its first rows, as text; null where the database has changed or is gone.
    pub rows: Option<TextRows>,
}

/// Rows as text.
#[derive(Debug, Clone, Serialize)]
pub struct TextRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The first rows.
    pub rows: Vec<Vec<String>>,
    /// Number of all rows.
    pub total: usize,
}

/// A small database that tells two answers apart.
#[derive(Debug, Clone, Serialize)]
pub struct WitnessOfTwo {
    /// Its tables by name.
    pub tables: Vec<(String, TextRows)>,
    /// What each of the two answers returns.
    pub results: [TextRows; 2],
}

impl TextRows {
    fn of(result: &ResultSet) -> Self {
        let row = |row: &[sqlgauge_engine::Value]| row.iter().map(explain::value).collect();
        Self {
            columns: result.columns.clone(),
            rows: result.rows().take(ROWS).map(row).collect(),
            total: result.len(),
        }
    }
}

impl LabelNextJob {
    /// One question of the plan in that folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), count: 1, limits: Limits::default() }
    }

    /// The questions; none where the labels are enough.
    ///
    /// # Errors
    /// When the folder cannot be read or written, or a query could not be started.
    pub fn run(&self, context: &Context<'_>) -> Result<Vec<LabelQuestion>, Error> {
        let mut folder = super::open(&self.folder)?;
        let places = folder.next(self.count)?;
        let now: Moment = folder.plan().now.parse()?;
        let mut databases = folder.plan().inputs.iter().filter(|input| input.role.starts_with(DATABASE));
        let address =
            databases.find_map(|input| Some(Path::new(&input.path)).filter(|path| is_address(path)));
        let engine = context.engine_for(address, 0, self.limits, now)?;
        places.into_iter().map(|place| question(&folder, place, engine.as_ref(), context)).collect()
    }
}

fn question(
    folder: &LabelFolder,
    place: usize,
    engine: &dyn Engine,
    context: &Context<'_>,
) -> Result<LabelQuestion, Error> {
    let plan = folder.plan();
    let item = &plan.items[place];
    let database = match database_of(folder, item, engine) {
        Ok(database) => Some(database),
        Err(why) => {
            context.watcher().note(&format!("{}; the answers are shown without rows", crate::sentence(&why)));
            None
        }
    };
    let mut results: Vec<(usize, JudgedResult)> = Vec::new();
    for (system, answer) in plan.systems.iter().zip(&item.answers) {
        let Some(class) = answer.class else { continue };
        if let Some((_, result)) = results.iter_mut().find(|(other, _)| *other == class) {
            result.systems.push(system.clone());
            continue;
        }
        let rows = database.as_ref().and_then(|of| engine.run(of, &answer.sql).rows().cloned());
        engine.check()?;
        let rows = rows.map(|rows: Arc<ResultSet>| TextRows::of(&rows));
        results.push((class, JudgedResult { systems: vec![system.clone()], sql: answer.sql.clone(), rows }));
    }
    let results: Vec<JudgedResult> = results.into_iter().map(|(_, result)| result).collect();
    let witness = match (&database, results.as_slice()) {
        (Some(database), [one, two]) if plan.wanted == Wanted::Difference && engine.is_sqlite() => {
            witness(engine, database, [one, two])?
        }
        _ => None,
    };
    Ok(LabelQuestion {
        id: item.id.clone(),
        db_id: item.db_id.clone(),
        question: item.question.clone(),
        evidence: item.evidence.clone(),
        results,
        witness,
    })
}

/// A database that tells two answers apart which return the same on the given one.
fn witness(
    engine: &dyn Engine,
    database: &Database,
    pair: [&JudgedResult; 2],
) -> Result<Option<WitnessOfTwo>, Error> {
    let text = |result: &JudgedResult| result.rows.as_ref().map(|of| (of.rows.clone(), of.total));
    if text(pair[0]) != text(pair[1]) {
        return Ok(None);
    }
    let verify = VerifySettings::default();
    let report = match verify_over_database(&verify, engine, database, &pair[0].sql, &pair[1].sql) {
        Ok(report) => report,
        Err(Error::Refused(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Verdict::Different(counterexample) = report.verdict else { return Ok(None) };
    let table = |(name, rows): &(String, ResultSet)| (name.clone(), TextRows::of(rows));
    let (left, right) = (counterexample.refutation.left(), counterexample.refutation.right());
    Ok(Some(WitnessOfTwo {
        tables: counterexample.tables.iter().map(table).collect(),
        results: [left, right].map(TextRows::of),
    }))
}

/// The database of a question, if it is still as it was planned with.
fn database_of(folder: &LabelFolder, item: &PlanItem, engine: &dyn Engine) -> Result<Arc<Database>, Error> {
    let role = format!("{DATABASE}{}", item.db_id);
    let input = folder.plan().inputs.iter().find(|input| input.role == role);
    let missing = || Error::Invalid(format!("the plan does not say where database {} is", item.db_id));
    let input = input.ok_or_else(missing)?;
    let database = engine.open(Path::new(&input.path))?;
    if database.content_hash()? != input.sha256 {
        return Err(Error::Invalid(format!("the database {} has changed since the plan", input.path)));
    }
    Ok(database)
}
