//! `sqlgauge report`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use sqlgauge::{gates_of, keep_database, keep_inputs};
use sqlgauge_report::formats::{Csv, Table};
use sqlgauge_report::{Format, Report, find};
use sqlgauge_run::{Manifest, REPORT, RUN_FILES};

use crate::Verdict;
use crate::output::{Style, colour, print, print_with, say, width};
use crate::scoring::read_report;

/// Write the report of a run in a format
#[derive(Debug, Args)]
pub struct ReportCommand {
    /// Run directory
    run: PathBuf,
    /// table, html, markdown, json, jsonl, csv or junit
    #[arg(long, default_value = "table")]
    format: String,
    /// File to write, `-` for standard output; html and junit go into the run directory without it
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write texts of CSV as they are: none has an apostrophe before what a spreadsheet would take for a formula
    #[arg(long)]
    raw_cells: bool,
    /// Exit with code 1 if a system's mean is below the bar; may be given several times
    #[arg(long, value_name = "METRIC=X")]
    fail_under: Vec<String>,
}

impl ReportCommand {
    pub fn run(self) -> Result<Verdict> {
        let format = find(&self.format)?;
        let report = read_report(&self.run)?;
        let gates = gates_of(&self.fail_under, &report.manifest.metrics)?;
        let report = report.with_gates(gates);
        let for_terminal = Table { width: width(), colour: colour() };
        let is_table = format.name() == "table";
        let format = if is_table && self.out.is_none() { &for_terminal } else { format };
        let is_raw = self.raw_cells && format.name() == "csv";
        let format: &dyn Format = if is_raw { &Csv { raw: true } } else { format };
        let beside = matches!(format.name(), "html" | "junit");
        let out =
            self.out.or_else(|| beside.then(|| self.run.join(format!("report.{}", format.extension()))));
        if let Some(path) = out.filter(|path| path.as_os_str() != "-") {
            keep(&self.run, &report.manifest, &path)?;
            format.write_file(&report, &path)?;
            print(&format!("{}\n", path.display()))?;
        } else {
            let style = if is_raw { Style::Raw } else { Style::Painted };
            print_with(style, |out| format.render(&report, out))?;
        }
        Ok(gate_verdict(&report))
    }
}

/// A report takes the place of no database, no input and no record of the run.
fn keep(run: &Path, manifest: &Manifest, out: &Path) -> Result<()> {
    let records: Vec<PathBuf> =
        RUN_FILES.iter().filter(|name| **name != REPORT).map(|name| run.join(name)).collect();
    let inputs = manifest.inputs.iter().map(|input| (input.role.as_str(), Path::new(&input.path)));
    keep_inputs("--out", out, records.iter().map(|path| ("of the run", path.as_path())).chain(inputs))?;
    Ok(keep_database("--out", out)?)
}

/// Says which bars were not reached.
pub fn gate_verdict(report: &Report) -> Verdict {
    let failures = sqlgauge_run::check_gates(&report.summary, &report.gates);
    for failure in &failures {
        say(&format!("below the bar: {failure}"));
    }
    if failures.is_empty() { Verdict::Done } else { Verdict::GateFailed }
}
