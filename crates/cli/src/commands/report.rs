//! `sqlgauge report`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_report::formats::Table;
use sqlgauge_report::{Report, find};
use sqlgauge_run::Gate;

use crate::Verdict;
use crate::output::{colour, print_with, width};
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
    /// Exit with code 1 if a system's mean is below the bar; may be given several times
    #[arg(long, value_name = "METRIC=X")]
    fail_under: Vec<String>,
}

impl ReportCommand {
    pub fn run(self) -> Result<Verdict> {
        let format = find(&self.format)?;
        let report = read_report(&self.run)?;
        let gates = self.fail_under.iter().map(|text| Gate::parse(text, &report.manifest.metrics));
        let gates = gates.collect::<Result<Vec<_>, _>>()?;
        let report = report.with_gates(gates);
        let for_terminal = Table { width: width(), colour: colour() };
        let is_table = format.name() == "table";
        let format = if is_table && self.out.is_none() { &for_terminal } else { format };
        let beside = matches!(format.name(), "html" | "junit");
        let out =
            self.out.or_else(|| beside.then(|| self.run.join(format!("report.{}", format.extension()))));
        match out.filter(|path| path.as_os_str() != "-") {
            Some(path) => {
                format.write_file(&report, &path)?;
                println!("{}", path.display());
            }
            None => print_with(|out| format.render(&report, out))?,
        }
        Ok(gate_verdict(&report))
    }
}

/// Says which bars were not reached.
pub fn gate_verdict(report: &Report) -> Verdict {
    let failures = sqlgauge_run::check_gates(&report.summary, &report.gates);
    for failure in &failures {
        eprintln!("below the bar: {failure}");
    }
    if failures.is_empty() { Verdict::Done } else { Verdict::GateFailed }
}
