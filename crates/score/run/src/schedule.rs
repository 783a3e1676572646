//! Scores a plan in parallel and logs it in order.
//!
//! Workers take distinct pieces of work (one example and one predicted text) in the order in which the log
//! needs them; the calling thread alone writes, strictly in canonical order, and gives one result to every
//! system that said the same. Workers run ahead of the log by a bounded window: that is what a kill can lose,
//! and what bounds the memory for results that wait for their place. A result that is in the log already is read
//! there again for the next system that said the same.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use sqlgauge_base::{deep_thread, panic_text};
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

/// How long cancelling may go unnoticed by a worker that waits for the log.
const POLL: Duration = Duration::from_millis(50);

/// After so long without an item, the one that all wait for is named.
const WAIT: Duration = Duration::from_secs(5);

/// How long results are gathered before they are written: to be woken for each takes longer than many an item.
const GATHER: Duration = Duration::from_micros(500);

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
    /// How many items the workers may be ahead of the log; at least 1.
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
    let frontier = Frontier::new(resumed, schedule.window.max(1));
    let guarded = Guarded { scorer, metrics: &manifest.metrics };
    let outcome = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..worker_count(schedule.jobs, units.leaders.len()) {
            let (sender, units, frontier, guarded) = (sender.clone(), &units, &frontier, &guarded);
            let work = move || work(plan, units, frontier, guarded, schedule.cancel, &sender);
            let spawned = deep_thread().spawn_scoped(scope, work);
            if let Err(error) = spawned {
                frontier.close();
                return Err(RunError::Worker(error));
            }
        }
        drop(sender);
        let mut writer =
            Writer { plan, units: &units, log: &mut log, frontier: &frontier, observer, next: resumed };
        let written = writer.run(&receiver);
        frontier.close();
        written
    });
    let (done, distinct) = outcome?;
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

fn worker_count(jobs: usize, units: usize) -> usize {
    let jobs = if jobs == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { jobs };
    jobs.min(units)
}

/// Hands out units in order, not further than the window beyond the log.
struct Frontier {
    state: Mutex<FrontierState>,
    moved: Condvar,
    window: usize,
}

struct FrontierState {
    next_unit: usize,
    written: usize,
    closed: bool,
}

impl Frontier {
    fn new(written: usize, window: usize) -> Self {
        let state = FrontierState { next_unit: 0, written, closed: false };
        Self { state: Mutex::new(state), moved: Condvar::new(), window }
    }

    /// The next unit to score; `None` at the end, or when the run stops.
    fn take(&self, units: &Units, cancel: &AtomicBool) -> Option<usize> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let leader = *units.leaders.get(state.next_unit)?;
            if state.closed || cancel.load(Ordering::Relaxed) {
                return None;
            }
            if leader < state.written + self.window {
                state.next_unit += 1;
                return Some(state.next_unit - 1);
            }
            state = self.moved.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn advance(&self, written: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).written = written;
        self.moved.notify_all();
    }

    fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.moved.notify_all();
    }
}

/// What became of a unit.
type Finished = (usize, Result<Box<Scored>, RunError>);

/// A result as it is written.
struct Scored {
    /// The line without its beginning, which names the system.
    tail: String,
    facts: Encoded,
}

fn work(
    plan: &Plan<'_>,
    units: &Units,
    frontier: &Frontier,
    guarded: &Guarded<'_>,
    cancel: &AtomicBool,
    sender: &mpsc::Sender<Finished>,
) {
    while let Some(unit) = frontier.take(units, cancel) {
        let (_, task) = plan.get(units.leaders[unit]);
        let scored =
            guarded.score(&task).map(|judgement| Box::new(scored(&task, judgement, guarded.metrics)));
        if sender.send((unit, scored)).is_err() {
            return;
        }
    }
}

/// A scorer whose panics are judgements.
struct Guarded<'a> {
    scorer: &'a dyn Scorer,
    metrics: &'a [String],
}

impl Guarded<'_> {
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError> {
        // The scorer is only shared, and whatever it locks it must tolerate poisoned.
        catch_unwind(AssertUnwindSafe(|| self.scorer.score(task))).unwrap_or_else(|panic| {
            Ok(Judgement {
                status: INTERNAL_ERROR.to_owned(),
                metrics: self.metrics.iter().map(|id| (id.clone(), None)).collect(),
                details: Details { error: Some(panic_text(panic.as_ref()).to_owned()), ..Details::default() },
            })
        })
    }
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
    log: &'a mut Log,
    frontier: &'a Frontier,
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

impl Writer<'_, '_> {
    /// Writes until everything is in the log or the run is cancelled; returns the items in the log and the
    /// units scored.
    fn run(&mut self, results: &mpsc::Receiver<Finished>) -> Result<(usize, usize), RunError> {
        let mut tails: Vec<Tail> = self.units.leaders.iter().map(|_| Tail::Absent).collect();
        let mut scored = 0;
        while self.next < self.plan.len() {
            // After cancelling, the workers finish what they have and hang up.
            let first = match results.recv_timeout(WAIT) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => {
                    let (system, task) = self.plan.get(self.next);
                    self.observer.waits_for(self.next, system, &task.example.id);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            std::thread::sleep(GATHER);
            for (unit, result) in std::iter::once(first).chain(results.try_iter()) {
                tails[unit] = Tail::Waiting(result?);
                scored += 1;
            }
            self.write_ready(&mut tails)?;
        }
        Ok((self.next, scored))
    }

    fn write_ready(&mut self, tails: &mut [Tail]) -> Result<(), RunError> {
        let before = self.next;
        let mut line = Vec::new();
        while self.next < self.plan.len() {
            let tail = &mut tails[self.units.of(self.next)];
            line.clear();
            self.begin_line(self.next, &mut line);
            match tail {
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
            *tail = Tail::Written(self.next);
            self.next += 1;
        }
        if self.next > before {
            self.log.write()?;
            self.frontier.advance(self.next);
            self.observer.advanced(self.next);
        }
        Ok(())
    }

    fn begin_line(&self, position: usize, line: &mut Vec<u8>) {
        line.extend_from_slice(LINE_START.as_bytes());
        line.extend_from_slice(Value::from(self.plan.system(position)).to_string().as_bytes());
    }
}
