//! Scores a plan in parallel and logs it in order.
//!
//! Workers take distinct pieces of work (one example and one predicted text) in the order in which the log
//! needs them; the calling thread alone writes, strictly in canonical order, and gives one result to every
//! system that said the same. Workers run ahead of the log by a bounded window ([`Pool`]). A result that is in the log
//! already is read there again for the next system that said the same.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use sqlgauge_base::pool::{InOrder, Panicked, Pool};
use sqlgauge_sql::schema::Schema;

use crate::details::Details;
use crate::directory::RunDirectory;
use crate::error::RunError;
use crate::facts::Encoded;
use crate::log::{Log, Recovered};
use crate::observer::Observer;
use crate::plan::{Plan, Task, Units};
use crate::record::{Item, LINE_START};

/// Status of an item whose scoring met a defect of sqlgauge itself. Its metrics are null: the system is not
/// blamed.
pub(crate) const INTERNAL_ERROR: &str = "internal_error";

/// What scoring says about one task: the part of an [`Item`] that does not depend on the system's name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement {
    /// Outcome of the prediction, see [`Item::status`].
    pub status: String,
    /// Metric id to score, see [`Item::metrics`].
    pub metrics: BTreeMap<String, Option<f64>>,
    /// What explains the scores, see [`Item::details`].
    pub details: Details,
}

/// Scores one task. Must be a function of the task alone: the same task gives the same judgement, whatever
/// the thread and whatever was scored before.
pub trait Scorer: Sync {
    /// The judgement on that task.
    ///
    /// # Errors
    /// Where there is none for a reason that is not the task's: a database that changed, an engine that broke. The
    /// run then stops, and what it has in the log stays.
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError>;

    /// The schemas of the databases that are open, by `db_id`, for whoever explains the scores ([`crate::Reasons`]).
    fn schemas(&self) -> HashMap<String, Arc<Schema>> {
        HashMap::new()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Schedule<'a> {
    /// Worker threads; 0 means one per core.
    pub jobs: usize,
    /// How many pieces of work the workers may be ahead of the log; at least 1.
    pub window: usize,
    /// Set it from anywhere to stop after the items in work.
    pub cancel: &'a AtomicBool,
}

impl<'a> Schedule<'a> {
    /// One worker per core and a window of 1,024 items.
    pub fn new(cancel: &'a AtomicBool) -> Self {
        Self { jobs: 0, window: 1024, cancel }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Items of the whole run.
    pub total: usize,
    /// Items that an earlier process had finished.
    pub resumed: usize,
    /// Items in the log now; less than `total` when the run was cancelled.
    pub done: usize,
    /// Distinct pieces of work that this process scored.
    pub distinct: usize,
}

impl Completion {
    /// Whether every item is in the log.
    pub fn is_complete(&self) -> bool {
        self.done == self.total
    }
}

/// Scores what the log of the directory lacks of the plan. The log is the same, byte for byte, whatever the
/// number of jobs and however often the run was killed or cancelled and continued.
///
/// A panic of the scorer becomes an item with status [`INTERNAL_ERROR`], null metrics and the message in
/// `details.error`.
///
/// # Errors
/// [`RunError`] when the plan is not the manifest's, the log is corrupt or cannot be written, threads cannot be
/// started, or the scorer has no judgement on a task. What was written before is kept.
pub fn execute(
    directory: &RunDirectory,
    plan: &Plan<'_>,
    scorer: &dyn Scorer,
    schedule: &Schedule<'_>,
    observer: &dyn Observer,
) -> Result<Completion, RunError> {
    check_plan(directory, plan)?;
    let manifest = directory.manifest();
    let (mut log, recovered) = open_log(directory, plan)?;
    for repair in &recovered.repairs {
        observer.repaired(repair);
    }
    let resumed = recovered.finished;
    if resumed < plan.first() {
        return Err(RunError::BadPlan("the log lacks items of systems that are said to be finished".into()));
    }
    observer.started(plan.len(), resumed);
    let units = plan.units(resumed);
    let work = |unit: usize| {
        let (_, task) = plan.get(units.leaders[unit]);
        let judgement = scorer.score(&task)?;
        Ok(Box::new(scored(&task, judgement, &manifest.metrics)))
    };
    let mut writer = Writer {
        plan,
        units: &units,
        metrics: &manifest.metrics,
        tails: units.leaders.iter().map(|_| Tail::Absent).collect(),
        log: &mut log,
        observer,
        next: resumed,
    };
    let pool = Pool { jobs: schedule.jobs, window: schedule.window, stop: Some(schedule.cancel) };
    let distinct = pool.run(units.leaders.len(), work, &mut writer)?;
    let done = writer.next;
    directory.keep_index(log.finish()?);
    Ok(Completion { total: plan.len(), resumed, done, distinct })
}

fn check_plan(directory: &RunDirectory, plan: &Plan<'_>) -> Result<(), RunError> {
    let manifest = directory.manifest();
    if manifest.examples == plan.examples().len()
        && plan.systems().eq(manifest.systems.iter().map(String::as_str))
    {
        return Ok(());
    }
    Err(RunError::BadPlan(
        "the run folder was made for other systems or examples than are to be scored".into(),
    ))
}

/// A result as it is written.
struct Scored {
    /// The line without its beginning, which names the system.
    tail: String,
    facts: Encoded,
}

pub(crate) fn open_log(directory: &RunDirectory, plan: &Plan<'_>) -> Result<(Log, Recovered), RunError> {
    let index = directory.take_indexer(plan.examples())?;
    Log::open(directory.items_path(), index, &directory.manifest().metrics, plan)
}

fn scored(task: &Task<'_>, judgement: Judgement, metrics: &[String]) -> Scored {
    let item = Item {
        system: String::new(),
        id: task.example.id.clone(),
        index: task.example.index,
        db_id: task.example.db_id.clone(),
        status: judgement.status,
        metrics: judgement.metrics,
        details: judgement.details,
    };
    // Cannot fail: every map key is a string, and a number that is not finite becomes null.
    let mut line = serde_json::to_string(&item).expect("an item serialises");
    line.push('\n');
    // The system is the first field, here `""`: what follows it is the same for every system.
    Scored { tail: line.split_off(LINE_START.len() + 2), facts: Encoded::of(&item, metrics) }
}

struct Writer<'a, 'p> {
    plan: &'a Plan<'p>,
    units: &'a Units,
    metrics: &'a [String],
    /// By unit.
    tails: Vec<Tail>,
    log: &'a mut Log,
    observer: &'a dyn Observer,
    next: usize,
}

/// Where the result of a unit is.
enum Tail {
    /// Not scored yet.
    Absent,
    /// Scored, and waiting for its place in the log.
    Waiting(Box<Scored>),
    /// In the log at that position, to be read there again by the next system that said the same.
    Written(usize),
}

impl InOrder<Result<Box<Scored>, RunError>> for Writer<'_, '_> {
    type Error = RunError;

    fn take(
        &mut self,
        unit: usize,
        outcome: Result<Result<Box<Scored>, RunError>, Panicked>,
    ) -> Result<(), RunError> {
        let scored = outcome.unwrap_or_else(|Panicked(message)| Ok(Box::new(self.defect(unit, message))));
        self.tails[unit] = Tail::Waiting(scored?);
        Ok(())
    }

    /// Writes all that is ready.
    fn took(&mut self) -> Result<(), RunError> {
        let before = self.next;
        let mut line = Vec::new();
        while self.next < self.plan.len() {
            let unit = self.units.of(self.next);
            line.clear();
            self.begin_line(self.next, &mut line);
            match &self.tails[unit] {
                Tail::Absent => break,
                Tail::Waiting(scored) => {
                    line.extend_from_slice(scored.tail.as_bytes());
                    self.log.append(&line, &scored.facts)?;
                }
                Tail::Written(earlier) => {
                    let mut its_begin = Vec::new();
                    self.begin_line(*earlier, &mut its_begin);
                    self.log.read_again(*earlier, its_begin.len(), &mut line)?;
                    self.log.append_like(&line, *earlier)?;
                }
            }
            self.tails[unit] = Tail::Written(self.next);
            self.next += 1;
        }
        if self.next > before {
            self.log.write()?;
            self.observer.advanced(self.next);
        }
        Ok(())
    }

    fn waits(&mut self) {
        let (system, task) = self.plan.get(self.next);
        self.observer.waits_for(self.next, system, &task.example.id);
    }
}

impl Writer<'_, '_> {
    /// What is logged of a unit whose scoring panicked.
    fn defect(&self, unit: usize, message: String) -> Scored {
        let judgement = Judgement {
            status: INTERNAL_ERROR.to_owned(),
            metrics: self.metrics.iter().map(|id| (id.clone(), None)).collect(),
            details: Details { error: Some(message), ..Details::default() },
        };
        scored(&self.plan.get(self.units.leaders[unit]).1, judgement, self.metrics)
    }

    fn begin_line(&self, position: usize, line: &mut Vec<u8>) {
        line.extend_from_slice(LINE_START.as_bytes());
        line.extend_from_slice(Value::from(self.plan.system(position)).to_string().as_bytes());
    }
}
