//! `sqlgauge predict`.

#[cfg(feature = "services")]
use std::collections::BTreeMap;
#[cfg(feature = "services")]
use std::path::Path;
use std::path::PathBuf;

use anyhow::Result;
#[cfg(feature = "services")]
use anyhow::bail;
use clap::Args;
use sqlgauge_core::cli::file_format;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_core::{PredictJob, SchemaSource, Shots};
use sqlgauge_dataset::{BenchmarkSource, FileFormat, WorkloadSource};
#[cfg(feature = "services")]
use sqlgauge_prompt::predict::{PredictOutcome, PredictionLine, Status};

use crate::Verdict;
use crate::llm_options::LlmOptions;
use crate::options::{column_help, columns, workload_roles};
#[cfg(feature = "services")]
use crate::output::{note, print};

/// Ask a language model for the SQL of questions
#[derive(Args)]
#[command(mut_args(|arg| if ["llm_url", "llm_model"].contains(&arg.get_id().as_str()) { arg.required(true) } else { arg }))]
pub struct Predict {
    /// File with the questions (Spider or BIRD dev.json, JSON, JSONL, CSV, TSV, Parquet); golds in it are not read
    #[arg(long, alias = "workload", value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file, for the schemas of items that bring no DDL (column `ddl`)
    #[arg(long, value_name = "DIR", conflicts_with = "tables")]
    db: Option<PathBuf>,
    /// Schema file (tables.json) in place of databases
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    tables: Option<PathBuf>,
    #[command(flatten)]
    job: PredictJob,
    /// Answered questions that each prompt shows first, drawn by --seed, none about the question's database
    #[arg(long, value_name = "N", requires = "shots_gold", value_parser = clap::value_parser!(u32).range(1..=100))]
    shots: Option<u32>,
    /// Training set to draw them from: questions with golds
    #[arg(long, value_name = "FILE", requires = "shots", value_parser = input_file)]
    shots_gold: Option<PathBuf>,
    /// Folder with its databases, where its items bring no DDL [default: that of --db]
    #[arg(long, value_name = "DIR", requires = "shots_gold", conflicts_with = "shots_tables")]
    shots_db: Option<PathBuf>,
    /// Schema file (tables.json) in place of its databases
    #[arg(long, value_name = "FILE", requires = "shots_gold", value_parser = input_file)]
    shots_tables: Option<PathBuf>,
    /// Format of the questions' file, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = file_format())]
    format: Option<FileFormat>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    llm: LlmOptions,
}

impl Predict {
    fn job(&self) -> Result<PredictJob> {
        let workload = WorkloadSource {
            path: self.questions.clone(),
            format: self.format,
            columns: columns(&self.columns)?,
        };
        let schemas = schema_source(self.db.as_ref(), self.tables.as_ref());
        let mut job = self.job.clone();
        job.subset.seed = job.seed.unwrap_or_default();
        let llm = self.llm.settings("predict", &job.out)?;
        Ok(PredictJob { workload, schemas, shots: self.shots(), llm, ..job })
    }

    fn shots(&self) -> Option<Shots> {
        let benchmark =
            BenchmarkSource { gold: self.shots_gold.clone()?, ddl: true, ..BenchmarkSource::default() };
        let schemas = schema_source(self.shots_db.as_ref(), self.shots_tables.as_ref());
        Some(Shots { count: self.shots?, benchmark, schemas })
    }

    #[cfg(not(feature = "services"))]
    pub fn run(self) -> Result<Verdict> {
        self.job()?;
        Err(sqlgauge_base::NotBuiltIn { what: "predict", feature: "services" }.into())
    }

    #[cfg(feature = "services")]
    pub fn run(self) -> Result<Verdict> {
        let job = self.job()?;
        let prediction = crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&summary(&prediction, &self.job.out))?;
            notes(&prediction).iter().for_each(note);
        }
        if prediction.lines.iter().all(|line| line.answer.status.is_failure()) {
            let first = prediction.lines.first().and_then(|line| line.answer.error.as_deref());
            bail!("no question was answered: {}", first.unwrap_or("there was none"));
        }
        Ok(if prediction.stopped_by.is_some() { Verdict::Unfinished } else { Verdict::Done })
    }
}

fn schema_source(databases: Option<&PathBuf>, tables: Option<&PathBuf>) -> Option<SchemaSource> {
    let databases = databases.cloned().map(SchemaSource::Databases);
    databases.or_else(|| tables.cloned().map(SchemaSource::Tables))
}

#[cfg(feature = "services")]
fn summary(prediction: &PredictOutcome, out: &Path) -> String {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    prediction.lines.iter().for_each(|line| *counts.entry(line.answer.status).or_default() += 1);
    let counts: Vec<String> =
        counts.iter().map(|(status, count)| format!("{count} {}", status.name())).collect();
    let usage = &prediction.usage;
    format!(
        "{} ({}) with {} and {} from the cache, {}: {}\n",
        sqlgauge_base::counted(prediction.lines.len(), "prediction"),
        counts.join(", "),
        sqlgauge_base::counted(usage.requests, "request"),
        sqlgauge_base::counted(usage.cached, "answer"),
        sqlgauge_base::counted(usage.prompt_tokens + usage.completion_tokens, "token"),
        out.display()
    )
}

/// What a person should know of answers that are missing.
#[cfg(feature = "services")]
fn notes(prediction: &PredictOutcome) -> Vec<String> {
    let mut notes = Vec::new();
    let unkept = prediction.usage.cache_write_failures;
    if unkept > 0 {
        notes.push(format!("not kept, and asked for again: {}", sqlgauge_base::counted(unkept, "answer")));
    }
    let pruned = prediction.lines.iter().filter_map(|line| line.schema.as_ref());
    let whole: Vec<&str> = pruned.filter_map(|schema| schema.error.as_deref()).collect();
    if let Some(first) = whole.first() {
        notes.push(format!("{} questions are shown the whole schema; of the first, {first}", whole.len()));
    }
    let failed: Vec<&PredictionLine> =
        prediction.lines.iter().filter(|line| line.answer.status.is_failure()).collect();
    if !failed.is_empty() {
        let why = failed.iter().find_map(|line| line.answer.error.as_deref());
        notes.push(format!(
            "{} of {} questions have no answer, and the same command asks for them again; the first says: {}",
            failed.len(),
            prediction.lines.len(),
            why.unwrap_or_default()
        ));
    }
    notes
}
