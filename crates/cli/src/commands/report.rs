//! `sqlgauge report`.

pub(crate) mod errors;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_core::{OutputPath, ReportJob};
use sqlgauge_report::{Report, ReportFormat};

use crate::Verdict;
use crate::options::GoldBar;
use crate::output::{Style, print, print_with, say, text_tables};

/// Write a run's report as HTML, Markdown, CSV, JUnit or JSON, or count the errors of its metrics
#[derive(Debug, Args)]
pub(crate) struct ReportCommand {
    /// Run directory
    run: PathBuf,
    /// table, html, markdown, latex, json, jsonl, csv or junit
    #[arg(long, alias = "format", value_name = "FORMAT", default_value = "table")]
    output_format: String,
    /// File to write, `-` for standard output; html and junit go into the run directory without it
    #[arg(long, short, value_name = "FILE")]
    out: Option<OutputPath>,
    /// Write texts of CSV as they are: none has an apostrophe before what a spreadsheet would take for a formula
    #[arg(long)]
    raw_cells: bool,
    /// In junit, add a test case per question; without it, there is one per bar
    #[arg(long)]
    junit_items: bool,
    /// Exit with code 1 if a system's mean is below the bar; may be given several times
    #[arg(long, value_name = "METRIC=X")]
    fail_under: Vec<String>,
    #[command(flatten)]
    gold_bar: GoldBar,
    #[command(flatten)]
    errors: errors::ErrorOptions,
}

impl ReportCommand {
    pub(crate) fn run(self) -> Result<Verdict> {
        if self.errors.errors {
            self.errors.print(self.run, &self.output_format)?;
            return Ok(Verdict::Done);
        }
        let job = ReportJob {
            out: self.out.clone().map(Into::into),
            raw_cells: self.raw_cells,
            junit_items: self.junit_items,
            gates: self.fail_under,
            ..ReportJob::new(self.run, self.output_format)
        };
        let format = job.format()?;
        if self.junit_items && format.name() != "junit" {
            bail!("--junit-items is for --output-format junit");
        }
        let has_own_file = matches!(format.name(), "html" | "junit");
        let is_printed = self.out.as_ref().map_or(!has_own_file, |path| path.as_os_str() == "-");
        if !is_printed {
            let (report, path) = crate::engine::run(false, |context| job.run(context))?;
            print(&format!("{}\n", path.display()))?;
            return Ok(gate_verdict(&report, self.gold_bar));
        }
        let report = crate::engine::run(false, |context| job.read(context))?;
        let for_terminal = text_tables();
        let (format, style): (&dyn ReportFormat, Style) = match format.name() {
            "table" if self.out.is_none() => (&for_terminal, Style::Painted),
            "csv" if self.raw_cells => (format, Style::Raw),
            _ => (format, Style::Painted),
        };
        print_with(style, |out| format.render(&report, out))?;
        Ok(gate_verdict(&report, self.gold_bar))
    }
}

/// Says which bars were not reached.
pub(super) fn gate_verdict(report: &Report, golds: GoldBar) -> Verdict {
    gate_verdict_of(report, golds, |_| true)
}

/// The verdict on those of its systems.
pub(super) fn gate_verdict_of(report: &Report, golds: GoldBar, is_held: impl Fn(&str) -> bool) -> Verdict {
    let mut failures = sqlgauge_run::check_gates(&report.summary, &report.gates);
    failures.retain(|failure| is_held(&failure.system));
    for failure in &failures {
        say(&format!("below the bar: {failure}"));
    }
    let golds_run = report.gates.is_empty() || golds.holds(&report.summary);
    if failures.is_empty() && golds_run { Verdict::Done } else { Verdict::GateFailed }
}
