//! A run whose inputs are read and whose directory is there: what is left is to score it.

use std::path::Path;
use std::sync::Arc;

use sqlgauge_dataset::{Example, PredictionSet};
use sqlgauge_engine::Engine;
use sqlgauge_report::Report;
use sqlgauge_run::{
    Completion, Gate, Plan, Reasons, RunDirectory, RunFiles, Schedule, Scorer, Start, SummaryBuilder, execute,
};

use crate::context::{Context, Observed};
use crate::error::Error;
use crate::without_rows::DatabasesWithoutRows;

/// A run between its reading and its report.
pub struct OpenRun {
    pub(crate) directory: RunDirectory,
    pub(crate) examples: Vec<Example>,
    /// The answers of the last systems, of which items are left.
    pub(crate) systems: Vec<PredictionSet>,
    pub(crate) scorer: Box<dyn Scorer>,
    pub(crate) engine: Arc<dyn Engine>,
    /// Worker threads; 0 means one per core.
    pub(crate) jobs: usize,
    pub(crate) gates: Vec<Gate>,
    /// Databases that were made for the run live as long as it.
    pub(crate) without_rows: Option<DatabasesWithoutRows>,
}

impl OpenRun {
    /// The run directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Scores what the log lacks.
    ///
    /// # Errors
    /// [`Error::Stopped`] when it was stopped before all was scored, and as [`execute`].
    pub fn score(&self, context: &Context<'_>) -> Result<(), Error> {
        let plan = Plan::continued(&self.examples, &self.directory.manifest().systems, &self.systems)?;
        let schedule = Schedule { jobs: self.jobs, ..Schedule::new(context.stop()) };
        let observed = Observed::new(context.watcher(), self.engine.as_ref());
        let completion = execute(&self.directory, &plan, self.scorer.as_ref(), &schedule, &observed)?;
        if completion.is_complete() {
            return Ok(self.engine.check_data()?);
        }
        let Completion { done, total, .. } = completion;
        Err(Error::Stopped { done, total, out: self.path().to_owned() })
    }

    /// Scores what the log lacks, and writes summary and page.
    pub(crate) fn run(self, context: &Context<'_>) -> Result<Report, Error> {
        context.watcher().heeds_stop(true);
        self.score(context)?;
        context.watcher().heeds_stop(false);
        self.finish()
    }

    /// Summary and page of the run, whose items are all there.
    ///
    /// # Errors
    /// When the log is damaged, or the summary or the page cannot be written.
    pub fn finish(self) -> Result<Report, Error> {
        let Self { directory, gates, examples, systems, scorer, engine, jobs: _, without_rows } = self;
        let reasons = Reasons::of_run(directory.path(), directory.manifest()).with_schemas(scorer.schemas());
        // Summary and report are made of the log.
        drop((examples, systems, scorer, engine, without_rows));
        finish_with(&directory, gates, reasons)
    }
}

/// How a run in a folder begins.
pub(crate) fn start(restart: bool) -> Start {
    if restart { Start::Restart } else { Start::Continue }
}

/// Whether it is a run that was begun before.
pub(crate) fn goes_on(out: &Path, restart: bool) -> bool {
    !restart && RunDirectory::is_at(out)
}

/// Summary and page of a run whose items are all there.
///
/// # Errors
/// When the items cannot be read, or a file of the run not be written.
pub(crate) fn finish_run(directory: &RunDirectory, gates: Vec<Gate>) -> Result<Report, Error> {
    finish_with(directory, gates, Reasons::of_run(directory.path(), directory.manifest()))
}

fn finish_with(directory: &RunDirectory, gates: Vec<Gate>, reasons: Reasons) -> Result<Report, Error> {
    let (manifest, items) = (directory.manifest().clone(), directory.items());
    let summary = SummaryBuilder::explained(&manifest, &items, &reasons)?;
    directory.write_summary(&summary)?;
    let report = Report::new(manifest, summary, items).with_gates(gates).with_reasons(reasons);
    sqlgauge_report::find("html")?.write_file(&report, &directory.path().join(sqlgauge_run::REPORT))?;
    Ok(report)
}

/// The run in a folder.
pub struct StoredReport {
    /// Its report; of a run that is not finished, of what is there so far.
    pub report: Report,
    /// Whether all items are there.
    pub is_finished: bool,
}

impl StoredReport {
    /// Reads it. Nothing is written.
    ///
    /// # Errors
    /// When there is no run, or it cannot be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let RunFiles { manifest, items, summary } = RunFiles::open(path)?;
        let reasons = Reasons::of_run(path, &manifest);
        let (summary, is_finished) = if let Some(summary) = summary {
            (summary, true)
        } else {
            let summary = SummaryBuilder::explained(&manifest, &items, &reasons)?;
            let there: usize = summary.systems.iter().flat_map(|system| system.statuses.values()).sum();
            (summary, there >= manifest.total())
        };
        let report = Report::new(manifest, summary, items).with_reasons(reasons);
        Ok(Self { report, is_finished })
    }
}
