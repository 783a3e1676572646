//! `sqlgauge encode`.

#[cfg(feature = "parquet")]
mod run;

use std::path::PathBuf;

use clap::Args;
use sqlgauge_encode::InputForm;

use crate::options::{
    DrawnSubsetOptions, FormatOptions, SystemFile, column_help, system_file, workload_roles,
};
use crate::stdin::input_file;
use crate::values::{Encoder, OutputPath, Variable};

/// Turn questions with their schemas and predictions into vectors for `shift`, `fit` and `estimate`
#[derive(Debug, Args)]
pub(crate) struct Encode {
    /// File with the questions (Spider or BIRD dev.json, JSON, JSONL, CSV, TSV, Parquet); golds in it are not read
    #[arg(long, alias = "workload", value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    /// `features`, `tfidf`, `bert:DIR`, `llm:DIR`, `http:URL` or `file:PATH`
    #[arg(long, value_name = "ENCODER", default_value = "features")]
    pub encoder: Encoder,
    /// Embedding file (Parquet) to write
    #[arg(long, value_name = "FILE")]
    out: OutputPath,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file; rows are not needed
    #[arg(long, value_name = "DIR", required_unless_present = "tables", conflicts_with = "tables")]
    db: Option<PathBuf>,
    /// Schema file (tables.json) in place of databases
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
    /// Predictions of one system
    #[arg(long = "pred", value_name = "NAME=FILE", value_parser = system_file)]
    prediction: Option<SystemFile>,
    /// Parts to encode: question-schema, question-schema-prediction (what --pred makes the default) or question-prediction
    #[arg(long, value_name = "FORM", value_parser = form)]
    form: Option<InputForm>,
    /// Labels of the predictions, to keep with the vectors: TSV, CSV or JSONL with id and correct
    #[arg(long, value_name = "FILE")]
    correct: Option<PathBuf>,
    /// Column that has the labels
    #[arg(long, value_name = "COLUMN", requires = "correct")]
    correct_column: Option<String>,
    /// Encode into the space of this embedding file: tfidf takes its terms, other encoders must be the same
    #[arg(long, value_name = "FILE")]
    like: Option<PathBuf>,
    /// Items that are encoded at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// Folder that keeps vectors by content; the same command again goes on where it was
    #[arg(long, value_name = "DIR")]
    cache: Option<OutputPath>,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations)
    #[arg(long)]
    extract_sql: bool,
    #[command(flatten)]
    formats: FormatOptions,
    #[command(flatten)]
    subset: DrawnSubsetOptions,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    model: ModelOptions,
}

/// Options of encoders that run a model.
#[derive(Debug, Args)]
struct ModelOptions {
    /// cpu, cuda or cuda:N (bert, llm)
    #[arg(long, value_name = "DEVICE", help_heading = "Models")]
    device: Option<String>,
    /// f32, f16 or bf16 (bert, llm)
    #[arg(long, value_name = "PRECISION", help_heading = "Models")]
    precision: Option<String>,
    /// Tokens of a text that are read (bert, llm); the end of a longer text is lost
    #[arg(long, value_name = "N", help_heading = "Models")]
    max_tokens: Option<usize>,
    /// Scale vectors to length 1 (bert, llm)
    #[arg(long, help_heading = "Models")]
    normalise: bool,
    /// Name of the model (http)
    #[arg(long, value_name = "NAME", help_heading = "Models")]
    model: Option<String>,
    /// Environment variable that has the key of the service (http)
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", help_heading = "Models")]
    api_key_env: Variable,
}

fn form(name: &str) -> Result<InputForm, String> {
    InputForm::from_name(name).ok_or_else(|| {
        let names = InputForm::ALL.map(InputForm::name).join(", ");
        format!("unknown form {name:?}; the forms are {names}")
    })
}
