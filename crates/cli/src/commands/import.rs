//! `sqlgauge import`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::ImportJob;

use crate::Verdict;
use crate::options::{FormatOptions, SystemFile, column_help, columns, system_file, systems, workload_roles};
use crate::output::{command_line, print};
use crate::stdin::{input_file, source};
use crate::values::OutputPath;

/// Make a known run of labels that were judged elsewhere; nothing is executed
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// File with the questions (golds in it are not read)
    #[arg(long, alias = "workload", value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    /// Predictions of one system; may be given several times
    #[arg(long = "pred", value_name = "NAME=FILE", required = true, value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// Labels: TSV, CSV or JSONL with id and correct, or with a column per system
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    correct: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`, for the schemas; rows are not needed
    #[arg(long, value_name = "DIR")]
    db: PathBuf,
    /// Run directory to write
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Discard the run that is in the folder
    #[arg(long)]
    restart: bool,
    #[command(flatten)]
    formats: FormatOptions,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Import {
    pub(crate) fn run(self) -> Result<Verdict> {
        let columns = columns(&self.columns)?;
        let job = ImportJob {
            format: self.formats.format,
            columns: columns.clone(),
            prediction_format: self.formats.pred_format,
            restart: self.restart,
            command: command_line(),
            ..ImportJob::new(
                source(self.questions),
                systems(self.predictions, &columns),
                self.correct,
                self.db,
                &self.out,
            )
        };
        crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&format!("Known run: {}\n", self.out.display()))?;
        }
        Ok(Verdict::Done)
    }
}
