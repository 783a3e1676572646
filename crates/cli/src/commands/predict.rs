//! `sqlgauge predict`.

#[cfg(feature = "services")]
mod run;

use std::path::PathBuf;

use clap::{Arg, Args};
use sqlgauge_core::PredictJob;
use sqlgauge_core::cli::file_format;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_dataset::FileFormat;

use crate::llm_options::LlmOptions;
use crate::options::{column_help, workload_roles};

/// Ask a language model for the SQL of questions
#[derive(Args)]
#[command(mut_args(of_predict))]
pub(crate) struct Predict {
    /// File with the questions (Spider or BIRD dev.json, JSON, JSONL, CSV, TSV, Parquet); golds in it are not read
    #[arg(long, alias = "workload", value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`, one database file, or an address as `score` takes it, for the schemas of items that bring no
    /// DDL (column `ddl`); the model writes the dialect of that database
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

/// What the options of a model say of a command that always asks one.
fn of_predict(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "llm_url" => arg.required(true).help(
            "Server with an OpenAI-compatible API, as in <http://127.0.0.1:8091/v1>; questions and schemas are sent to it",
        ),
        "llm_model" => arg.required(true),
        _ => arg,
    }
}
