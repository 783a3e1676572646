//! `sqlgauge robustness`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::{RobustnessJob, SystemFolder};
use sqlgauge_dataset::{ColumnRole, FileFormat};

use crate::Verdict;
use crate::options::{LimitOptions, SystemFile, column_help, columns, format, system_file};
use crate::output::{command_line, print, print_document, print_json, say};
use crate::values::OutputPath;

/// Compare systems on a benchmark and on its evolved schemas: the tables of EvoSchema with intervals and paired tests
#[derive(Debug, Args)]
pub(crate) struct RobustnessCommand {
    /// Run of the original benchmark (`sqlgauge score --metrics ex,table-f1,column-f1`) with the same systems
    #[arg(long, value_name = "DIR")]
    original: PathBuf,
    /// Folders that `sqlgauge evolve` wrote, as for several intensities
    #[arg(value_name = "EVOLVED", required_unless_present = "evolved")]
    folders: Vec<PathBuf>,
    /// The same by name; may be given several times
    #[arg(long, value_name = "DIR")]
    evolved: Vec<PathBuf>,
    /// Folder with the predictions of a system: a file per benchmark, as in DIR/rename-columns.jsonl; with several --evolved
    /// DIR/EVOLVED/rename-columns.jsonl. Or one file with predictions for the original, which are taken on every benchmark, as
    /// if nothing had changed. May be given several times
    #[arg(long = "pred", value_name = "NAME=DIR|FILE", required = true, value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// Folder to write: runs of all benchmarks, report.html, report.md, robustness.json, .jsonl, .csv, junit.xml
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Exit with code 1 if a system loses more execution accuracy than this under a change, from 0 to 1
    #[arg(long, value_name = "X")]
    max_drop: Option<f64>,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations); abstentions are recognised in it then
    #[arg(long)]
    extract_sql: bool,
    /// Worker threads; 0 means one per core
    #[arg(long, short, value_name = "N", default_value_t = 0)]
    jobs: usize,
    /// Format of the prediction files, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pred_format: Option<FileFormat>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help([ColumnRole::Id, ColumnRole::Database, ColumnRole::Prediction].into_iter()))]
    columns: Vec<String>,
    /// Print the comparison as JSON, as robustness.json has it
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
}

impl RobustnessCommand {
    pub(crate) fn run(self) -> Result<Verdict> {
        let job = self.job()?;
        let report = crate::engine::run(self.quiet, |context| job.run(context))?;
        if self.json {
            print_json(&report.robustness)?;
        } else if !self.quiet {
            print_document(&report.document())?;
            print(&format!("Report: {}\n", self.out.join("report.html").display()))?;
        }
        let failures = report.failures().count();
        if failures > 0 {
            let most = self.max_drop.unwrap_or_default();
            say(&format!("{failures} losses are greater than --max-drop {most}"));
            return Ok(Verdict::GateFailed);
        }
        Ok(Verdict::Done)
    }

    fn job(&self) -> Result<RobustnessJob> {
        let system =
            |file: &SystemFile| SystemFolder { name: file.system.clone(), folder: file.path.clone() };
        let systems = self.predictions.iter().map(system).collect();
        let evolved = self.folders.iter().chain(&self.evolved).cloned().collect();
        Ok(RobustnessJob {
            prediction_format: self.pred_format,
            columns: columns(&self.columns)?,
            extract: self.extract_sql,
            max_drop: self.max_drop,
            limits: self.limits.limits()?,
            jobs: self.jobs,
            command: command_line(),
            ..RobustnessJob::new(&self.original, evolved, systems, &self.out)
        })
    }
}
