//! `sqlgauge pack`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use sqlgauge_base::counted;
use sqlgauge_core::cli::stdin::source;
use sqlgauge_core::{PackJob, PackSize, SuiteJob, SuiteSize};
use sqlgauge_dataset::ColumnRole;
use sqlgauge_verify::pack::{KillCount, PackSettings};

use crate::Verdict;
use crate::options::{BenchmarkOptions, column_help, columns, with_columns};
use crate::output::print;
use crate::solver::with_solver;

/// Make a test suite of a benchmark, or of a run's counterexamples: databases on which wrong answers show
#[derive(Args)]
#[command(
    override_usage = "sqlgauge pack [OPTIONS] --gold <FILE> --db <DIR> --out <FILE>\n       sqlgauge pack <RUN> --witnesses --out <DIR>"
)]
pub(crate) struct MakePack {
    #[command(flatten)]
    benchmark: Option<BenchmarkOptions>,
    /// Run directory with `verify` among its metrics, for --witnesses
    #[arg(requires = "witnesses")]
    run: Option<PathBuf>,
    /// Export the counterexamples of RUN instead, as SQLite files next to the benchmark's databases
    #[arg(long, requires = "run", conflicts_with_all = ["gold", "questions", "db", "predictions", "base", "databases",
        "mutations", "Subset", "seed", "jobs", "extract", "format", "prediction_format", "columns", "quiet", "Limits", "VerifySettings"])]
    witnesses: bool,
    #[command(flatten)]
    job: PackJob,
    /// Most databases of one question
    #[arg(long, value_name = "N", default_value_t = PackSettings::default().databases)]
    databases: usize,
    /// Most mutations of one gold
    #[arg(long, value_name = "N", default_value_t = PackSettings::default().mutations)]
    mutations: usize,
    /// Seed of the draw of --limit
    #[arg(long, value_name = "N", default_value_t = 0, requires = "limit", help_heading = "Subset")]
    seed: u64,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(ColumnRole::all()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl MakePack {
    pub(crate) fn run(self) -> Result<Verdict> {
        match self.run {
            Some(run) => export(run, &self.job.out)?,
            None => self.pack()?,
        }
        Ok(Verdict::Done)
    }

    fn pack(self) -> Result<()> {
        let benchmark = self.benchmark.context("a pack is of a benchmark; give --gold and --db")?;
        let columns = columns(&self.columns)?;
        let mut job = self.job;
        job.subset.seed = self.seed;
        let job = PackJob {
            systems: with_columns(job.systems, &columns),
            columns,
            settings: PackSettings { databases: self.databases, mutations: self.mutations },
            verify: with_solver(job.verify)?,
            gold: source(benchmark.gold),
            db: benchmark.db,
            ..job
        };
        let size = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&summary(&size, &job.out))?;
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
        "{} in {}: by {metric}, {refuted} of {predictions} refuted predictions differ from their golds there\n",
        counted(databases, "database"),
        out.display(),
    ))
}

fn summary(size: &PackSize, out: &Path) -> String {
    let PackSize { questions, with_databases, unsearchable, databases, bytes, mutations, answers } = size;
    let killed = |what: &str, count: &KillCount| match count.tried {
        0 => String::new(),
        tried => format!(
            "{what}: {tried}; the pack tells {} from the golds, {} mean the same, {} unknown\n",
            count.killed,
            count.equal,
            count.open()
        ),
    };
    let unsearchable = match unsearchable {
        0 => String::new(),
        count => format!(" ({} cannot be searched)", counted(*count, "gold")),
    };
    format!(
        "{} for {with_databases} of {}{unsearchable}, {} KB: {}\n{}{}",
        counted(*databases, "database"),
        counted(*questions, "question"),
        bytes.div_ceil(1000),
        out.display(),
        killed("golds with one change", mutations),
        killed("answers whose text is not the gold's", answers)
    )
}
