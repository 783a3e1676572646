//! `sqlgauge encode`.

#[cfg(feature = "parquet")]
mod run;

use std::path::PathBuf;

use clap::Args;
use sqlgauge_core::cli::file_format;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_core::{EncodeJob, Variable};
use sqlgauge_dataset::FileFormat;

use crate::options::{column_help, workload_roles};

/// Encode questions, schemas and predictions as vectors
#[derive(Args)]
pub(crate) struct Encode {
    /// File with the questions (Spider or BIRD dev.json, JSON, JSONL, CSV, TSV, Parquet); golds in it are not read
    #[arg(long, alias = "workload", value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    #[command(flatten)]
    pub job: EncodeJob,
    /// Folder with `DB_ID/DB_ID.sqlite`, one database file, or the address of a server; rows are not needed
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
