//! `sqlgauge encode`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_base::counted;
use sqlgauge_core::cli::file_format;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_core::{EncodeJob, EncodedWorkload, SchemaSource, Variable};
use sqlgauge_dataset::{FileFormat, WorkloadSource};

use crate::Verdict;
use crate::interrupt::how_to_go_on;
use crate::options::{column_help, columns, with_columns, workload_roles};
use crate::output::print;

/// Turn questions with their schemas and predictions into vectors for `shift`, `fit` and `estimate`
#[derive(Args)]
pub struct Encode {
    /// File with the questions (Spider or BIRD dev.json, JSON, JSONL, CSV, TSV, Parquet); golds in it are not read
    #[arg(long, alias = "workload", value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    #[command(flatten)]
    job: EncodeJob,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file; rows are not needed
    #[arg(long, value_name = "DIR", required_unless_present = "tables", conflicts_with = "tables")]
    db: Option<PathBuf>,
    /// Schema file (tables.json) in place of databases
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
    /// Labels of the predictions, to keep with the vectors: TSV, CSV or JSONL with id and correct
    #[arg(long, value_name = "FILE")]
    correct: Option<PathBuf>,
    /// Column that has the labels
    #[arg(long, value_name = "COLUMN", requires = "correct")]
    correct_column: Option<String>,
    /// Format of the file with the questions or golds, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = file_format())]
    format: Option<FileFormat>,
    /// Seed of the draw of --limit
    #[arg(long, value_name = "N", default_value_t = 0, requires = "limit", help_heading = "Subset")]
    seed: u64,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Environment variable that has the key of the service (http)
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", help_heading = "Models")]
    api_key_env: Variable,
}

impl Encode {
    pub fn run(self) -> Result<Verdict> {
        how_to_go_on(match &self.job.cache {
            Some(_) => "no output was changed; the same command goes on with what is in --cache",
            None => "no output was changed; with --cache DIR the same command goes on where it was",
        });
        let job = self.job()?;
        let encoded = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            let EncodedWorkload { items, reused, dimensions, encoder, form } = encoded;
            let (form, out) = (form.name(), job.out.display());
            print(&format!(
                "{} ({reused} reused) × {} by {encoder} ({form}): {out}\n",
                counted(items, "item"),
                counted(dimensions, "component")
            ))?;
        }
        Ok(Verdict::Done)
    }

    fn job(&self) -> Result<EncodeJob> {
        let columns = columns(&self.columns)?;
        let schemas = match (&self.db, &self.tables) {
            (Some(folder), _) => SchemaSource::Databases(folder.clone()),
            (None, Some(file)) => SchemaSource::Tables(file.clone()),
            (None, None) => bail!("the schemas are missing; give --db DIR or --tables FILE"),
        };
        let mut job = self.job.clone();
        job.subset.seed = self.seed;
        job.model.key = std::env::var(&self.api_key_env).ok();
        let path = self.questions.clone();
        Ok(EncodeJob {
            system: with_columns(job.system.into_iter().collect(), &columns).pop(),
            workload: WorkloadSource { path, format: self.format, columns },
            schemas,
            labels: self.correct.clone().map(|path| (path, self.correct_column.clone())),
            ..job
        })
    }
}
