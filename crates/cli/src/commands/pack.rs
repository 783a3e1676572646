//! `sqlgauge pack`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_core::{PackJob, PackSize};
use sqlgauge_dataset::ColumnRole;
use sqlgauge_verify::pack::{KillCount, PackSettings};

use crate::Verdict;
use crate::options::{column_help, columns, with_columns};
use crate::output::print;
use crate::solver::with_solver;

/// Make a small test suite of a benchmark in one file: databases on which wrong answers show
///
/// For each question a few invented databases tell the gold from its single mutations, and from the wrong answers of the given
/// systems. No row of the benchmark is in the file. `score --pack FILE` scores with it, in about the time of plain execution accuracy.
#[derive(Args)]
pub struct MakePack {
    #[command(flatten)]
    job: PackJob,
    /// File with the questions, where the gold file has none
    // An option of every command on a benchmark; a pack needs no question.
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    questions: Option<PathBuf>,
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
    pub fn run(self) -> Result<Verdict> {
        let columns = columns(&self.columns)?;
        let mut job = self.job;
        job.subset.seed = self.seed;
        let job = PackJob {
            systems: with_columns(job.systems, &columns),
            columns,
            settings: PackSettings { databases: self.databases, mutations: self.mutations },
            verify: with_solver(job.verify)?,
            ..job
        };
        let size = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&summary(&size, &job.out))?;
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
