//! `sqlgauge augment`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};
use sqlgauge_base::counted;
use sqlgauge_core::cli::file_format;
use sqlgauge_core::{AugmentJob, EvolvedSchemas, OutputPath, Subset};
use sqlgauge_dataset::{BenchmarkSource, ColumnRole, FileFormat};
use sqlgauge_prompt::augment::SplitBy;

use crate::Verdict;
use crate::options::{BenchmarkOptions, column_help, columns};
use crate::output::print;

/// Make training data of a benchmark and its evolved schemas: questions with schemas and answers, as chats
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("schemas").args(["evolved", "kinds"]).required(true)))]
pub struct Augment {
    #[command(flatten)]
    benchmark: BenchmarkOptions,
    /// Folder that `sqlgauge evolve` made of the original; may be given several times
    #[arg(long, value_name = "DIR")]
    evolved: Vec<PathBuf>,
    /// Kinds of change, separated by commas, or `all`: the original is evolved into the folder OUT.evolved
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = super::evolve::kinds())]
    kinds: Vec<String>,
    /// File to write: chats as JSONL, or a table where its name ends in .parquet
    #[arg(long, value_name = "FILE")]
    out: OutputPath,
    /// Share of the examples that are for validation; they go into OUT.validation beside it
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    validation: f64,
    /// Keep questions apart in place of databases: every database to validate on is trained on too
    #[arg(long)]
    intra_database: bool,
    /// Tables that an answer does not read and its example shows, at most
    #[arg(long, value_name = "N", default_value_t = 3)]
    irrelevant_tables: usize,
    /// Leave out the questions over the original schemas
    #[arg(long)]
    only_evolved: bool,
    /// File with the prompt, in place of the one that predict asks with
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    #[command(flatten)]
    subset: Subset,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Format of the gold file, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = file_format())]
    format: Option<FileFormat>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(ColumnRole::all()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Augment {
    pub fn run(self) -> Result<Verdict> {
        let job = self.job()?;
        let data = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&format!(
                "{} to train on: {}\n{} of {} databases to validate on: {}\nleft out: {} because another says the same, {} to \
                 validate on because it is trained on\n",
                counted(data.train, "example"),
                self.out.display(),
                counted(data.validation, "example"),
                if self.intra_database { "the same" } else { "other" },
                data.validation_file.display(),
                data.duplicates,
                data.leaks
            ))?;
        }
        Ok(Verdict::Done)
    }

    fn job(&self) -> Result<AugmentJob> {
        let schemas = if self.kinds.is_empty() {
            EvolvedSchemas::Folders(self.evolved.clone())
        } else {
            EvolvedSchemas::Kinds(super::evolve::chosen(&self.kinds))
        };
        Ok(AugmentJob {
            benchmark: BenchmarkSource {
                gold: self.benchmark.gold.clone(),
                questions: self.benchmark.questions.clone(),
                format: self.format,
                columns: columns(&self.columns)?,
                ddl: false,
            },
            validation: self.validation,
            split_by: if self.intra_database { SplitBy::Question } else { SplitBy::Database },
            irrelevant_tables: self.irrelevant_tables,
            only_evolved: self.only_evolved,
            prompt: self.prompt.clone(),
            subset: Subset { seed: self.seed, ..self.subset.clone() },
            seed: self.seed,
            ..AugmentJob::new(&self.benchmark.gold, &self.benchmark.db, schemas, &self.out)
        })
    }
}
