//! `sqlgauge pack`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use sqlgauge_base::counted;
use sqlgauge_core::{PackJob, PackSize, SuiteJob, SuiteSize};
use sqlgauge_dataset::ColumnRole;
use sqlgauge_verify::pack::{KillCount, PackSettings};

use crate::Verdict;
use crate::options::{
    BenchmarkOptions, DrawnSubsetOptions, FormatOptions, LimitOptions, SystemFile, VerifyFlags, column_help,
    columns, system_file, systems,
};
use crate::output::print;
use crate::stdin::source;
use crate::values::OutputPath;

/// Make a test suite of a benchmark, or of a run's counterexamples: databases on which wrong answers show
///
/// Of a benchmark it is one file: for each question a few invented databases tell the gold from its single mutations, and from the
/// wrong answers of the given systems. No row of the benchmark is in it. `score --pack FILE` scores with it, in about the time of plain
/// execution accuracy.
///
/// Of a run it is a folder for `--db`, with SQLite files next to the benchmark's databases: for each question the fewest that tell the
/// gold from as many of the predictions as all of them do, by ex, or ex-bird where the run compared sets. `suite@1` and the official
/// scripts run every file of a database's folder.
#[derive(Debug, Args)]
pub(crate) struct MakePack {
    #[command(flatten)]
    benchmark: Option<BenchmarkOptions>,
    /// Run directory with `verify` among its metrics, for --witnesses
    #[arg(requires = "witnesses")]
    run: Option<PathBuf>,
    /// Export the counterexamples of RUN instead, as SQLite files next to the benchmark's databases
    #[arg(long, requires = "run", conflicts_with_all = ["gold", "questions", "db", "predictions", "base", "databases",
        "mutations", "SubsetOptions", "DrawnSubsetOptions", "jobs", "extract_sql", "FormatOptions", "columns", "quiet", "LimitOptions", "VerifyFlags"])]
    witnesses: bool,
    /// Predictions of one system, whose wrong answers the pack is to refute; may be given several times
    #[arg(long = "pred", value_name = "NAME=FILE", value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// File to write (JSON Lines); with --witnesses a folder, which must be empty or not there
    #[arg(long, alias = "export", value_name = "FILE")]
    out: OutputPath,
    /// Pack of the same golds to add to
    #[arg(long, value_name = "FILE")]
    base: Option<PathBuf>,
    /// Most databases of one question
    #[arg(long, value_name = "N", default_value_t = PackSettings::default().databases)]
    databases: usize,
    /// Most mutations of one gold
    #[arg(long, value_name = "N", default_value_t = PackSettings::default().mutations)]
    mutations: usize,
    #[command(flatten)]
    subset: DrawnSubsetOptions,
    /// Worker threads; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations)
    #[arg(long)]
    extract_sql: bool,
    #[command(flatten)]
    formats: FormatOptions,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(ColumnRole::all()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    verify: VerifyFlags,
}

impl MakePack {
    pub(crate) fn run(self) -> Result<Verdict> {
        match self.run {
            Some(run) => export(run, &self.out)?,
            None => self.pack()?,
        }
        Ok(Verdict::Done)
    }

    fn pack(self) -> Result<()> {
        let benchmark = self.benchmark.context("a pack is of a benchmark; give --gold and --db")?;
        let columns = columns(&self.columns)?;
        let systems = systems(self.predictions, &columns);
        let job = PackJob {
            format: self.formats.format,
            columns,
            prediction_format: self.formats.pred_format,
            extract: self.extract_sql,
            base: self.base,
            settings: PackSettings { databases: self.databases, mutations: self.mutations },
            verify: self.verify.settings(None)?,
            subset: self.subset.subset()?,
            limits: self.limits.limits()?,
            jobs: self.jobs,
            ..PackJob::new(source(benchmark.gold), benchmark.db, systems, &self.out)
        };
        let size = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&summary(&size, &self.out))?;
        }
        Ok(())
    }
}

/// Writes the counterexamples of a run as SQLite files.
fn export(run: PathBuf, out: &Path) -> Result<()> {
    let job = SuiteJob::new(run, out);
    let size = crate::engine::run(false, |context| job.run(context))?;
    let SuiteSize { databases, predictions, refuted, metric } = size;
    print(&format!(
        "{} in {}: told from their golds by {metric}: {refuted} of {predictions} refuted predictions\n",
        counted(databases, "database"),
        out.display(),
    ))
}

fn summary(size: &PackSize, out: &Path) -> String {
    let PackSize { questions, with_databases, unsearchable, databases, bytes, mutations, answers } = size;
    let killed = |what: &str, count: &KillCount| {
        format!(
            "{what}: {} of {} told from the gold, {} proved equal, {} open\n",
            count.killed,
            count.tried,
            count.equal,
            count.open()
        )
    };
    format!(
        "{} for {with_databases} of {} ({} cannot be searched), {} KB: {}\n{}{}",
        counted(*databases, "database"),
        counted(*questions, "question"),
        counted(*unsearchable, "gold"),
        bytes.div_ceil(1000),
        out.display(),
        killed("mutations of golds", mutations),
        killed("different answers", answers)
    )
}
