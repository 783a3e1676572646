//! `sqlgauge predict`.

#[cfg(feature = "services")]
mod run;

use std::path::PathBuf;

use clap::Args;
use sqlgauge_dataset::FileFormat;

use crate::llm_options::LlmOptions;
use crate::options::{LimitOptions, SubsetOptions, column_help, format, workload_roles};
use crate::stdin::input_file;
use crate::values::OutputPath;

/// Ask a language model for the SQL of questions
#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// File with the questions (Spider or BIRD dev.json, JSON, JSONL, CSV, TSV, Parquet); golds in it are not read
    #[arg(long, alias = "workload", value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file, for the schemas of items that bring no DDL (column `ddl`)
    #[arg(long, value_name = "DIR", conflicts_with = "tables")]
    db: Option<PathBuf>,
    /// Schema file (tables.json) in place of databases
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    tables: Option<PathBuf>,
    /// Prediction file to write (JSONL), which `score --pred` reads
    #[arg(long, value_name = "FILE")]
    out: OutputPath,
    /// File with the prompt, in place of the built-in one
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Rows of each table that the prompt shows
    #[arg(long, value_name = "N", default_value_t = 0, requires = "db")]
    example_rows: u32,
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
    /// Ask first which tables and columns a question needs, and show only these and their keys
    #[arg(long, conflicts_with = "example_rows")]
    prune: bool,
    /// Answers to each question; the SQL that most of them give is the prediction
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    n: u32,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 0.0, conflicts_with = "llm_reasons")]
    temperature: f64,
    /// Seed of sampling, as the server understands it [default: 0 with several answers, else the server's]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Text at which the server ends an answer; may be given several times
    #[arg(long, value_name = "TEXT")]
    stop: Vec<String>,
    /// Do not ask for the probabilities of tokens, which some servers refuse; the predictions then have no confidence
    #[arg(long)]
    no_logprobs: bool,
    #[command(flatten)]
    subset: SubsetOptions,
    /// Format of the questions' file, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Option<FileFormat>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    llm: LlmOptions,
}
