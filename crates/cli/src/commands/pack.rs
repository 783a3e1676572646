//! `sqlgauge pack`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::{PackJob, PackSize};
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

/// Make a small test suite of a benchmark in one file: databases on which wrong answers show
///
/// For each question a few invented databases tell the gold from its single mutations, and from the wrong answers of the given
/// systems. No row of the benchmark is in the file. `score --pack FILE` scores with it, in about the time of plain execution accuracy.
#[derive(Debug, Args)]
pub(crate) struct MakePack {
    #[command(flatten)]
    benchmark: BenchmarkOptions,
    /// Predictions of one system, whose wrong answers the pack is to refute; may be given several times
    #[arg(long = "pred", value_name = "NAME=FILE", value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// File to write (JSON Lines)
    #[arg(long, value_name = "FILE")]
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
            ..PackJob::new(source(self.benchmark.gold), self.benchmark.db, systems, &self.out)
        };
        let size = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&summary(&size, &self.out))?;
        }
        Ok(Verdict::Done)
    }
}

fn summary(size: &PackSize, out: &std::path::Path) -> String {
    let PackSize { questions, with_databases, unsearchable, databases, bytes, mutations, answers } = size;
    let counted = |what: &str, count: &KillCount| {
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
        sqlgauge_base::counted(*databases, "database"),
        sqlgauge_base::counted(*questions, "question"),
        sqlgauge_base::counted(*unsearchable, "gold"),
        bytes.div_ceil(1000),
        out.display(),
        counted("mutations of golds", mutations),
        counted("different answers", answers)
    )
}
