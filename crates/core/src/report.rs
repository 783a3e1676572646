//! The report of a run in a format: `sqlgauge report`.

use std::path::{Path, PathBuf};

use sqlgauge_report::formats::{Csv, Junit};
use sqlgauge_report::{Report, ReportFormat, find};
use sqlgauge_run::{REPORT, RUN_FILES};

use crate::context::Context;
use crate::error::Error;
use crate::guard::{keep_database, keep_inputs};
use crate::open_run::StoredReport;
use crate::settings::gates_of;

/// Writes the report of a run.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, ReportJob, Sample};
///
/// let folder = tempfile::tempdir()?;
/// let run = folder.path().join("run");
/// Sample::unpack(folder.path())?.score_job(&["ex"], &run)?.run(&Context::default())?;
///
/// let job = ReportJob { out: Some(folder.path().join("scores.md")), ..ReportJob::new(run, "markdown") };
/// job.run(&Context::default())?;
/// assert!(std::fs::read_to_string(folder.path().join("scores.md"))?.contains("careful"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReportJob {
    /// The run directory.
    pub folder: PathBuf,
    /// Name of the format: table, html, markdown, latex, json, jsonl, csv or junit.
    pub format: String,
    /// File to write; `report.EXTENSION` in the run directory without it.
    pub out: Option<PathBuf>,
    /// Write texts of CSV as they are, without an apostrophe before what a spreadsheet would take for a formula.
    pub raw_cells: bool,
    /// Make a test case of each item in `junit`, where only the bars are.
    pub junit_items: bool,
    /// Bars that the means are to reach, as written: `METRIC=X`.
    pub gates: Vec<String>,
}

impl ReportJob {
    /// The report in that format beside the run.
    pub fn new(folder: impl Into<PathBuf>, format: impl Into<String>) -> Self {
        Self { folder: folder.into(), format: format.into(), ..Self::default() }
    }

    /// Writes the report, and returns it with its file.
    ///
    /// # Errors
    /// When the run cannot be read, there is no such format or metric, or the file is an input or cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<(Report, PathBuf), Error> {
        let format = self.format()?;
        let report = self.read(context)?;
        let default_path = || self.folder.join(format!("report.{}", format.extension()));
        let path = self.out.clone().unwrap_or_else(default_path);
        self.keep(&report, &path)?;
        format.write_file(&report, &path)?;
        Ok((report, path))
    }

    /// The format, with the job's options for it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn format(&self) -> Result<&'static dyn ReportFormat, Error> {
        let format = find(&self.format)?;
        Ok(match format.name() {
            "csv" if self.raw_cells => &Csv { raw: true },
            "junit" if self.junit_items => &Junit { items: true },
            _ => format,
        })
    }

    /// The report with its gates; the watcher is told if the run is not finished.
    ///
    /// # Errors
    /// When the run cannot be read, a gate is not of its metrics, or LaTeX is asked for of several answers to a question.
    pub fn read(&self, context: &Context<'_>) -> Result<Report, Error> {
        let StoredReport { report, is_finished } = StoredReport::read(&self.folder)?;
        if !is_finished {
            let folder = self.folder.display();
            let text = format!("the run in {folder} is not finished; this is what is there so far");
            context.watcher().note(&text);
        }
        let rates = self.folder.join("samples.md");
        let has_draws = report.manifest.systems.iter().any(|name| name.ends_with("#2")) && rates.exists();
        if self.format == "latex" && has_draws {
            let text =
                "a LaTeX table would have each answer to a question as a system of its own; the rates are in";
            return Err(Error::Invalid(format!("{text} {}", rates.display())));
        }
        let gates = gates_of(&self.gates, &report.manifest.metrics)?;
        if self.format == "junit" && gates.is_empty() && !self.junit_items {
            let text = "the file has no test case: bars make them (--fail-under METRIC=X), or --junit-items one of each item";
            context.watcher().note(text);
        }
        Ok(report.with_gates(gates))
    }

    /// A report takes the place of no database, no input and no record of the run.
    fn keep(&self, report: &Report, out: &Path) -> Result<(), Error> {
        let records = RUN_FILES.iter().filter(|name| **name != REPORT);
        let records: Vec<PathBuf> = records.map(|name| self.folder.join(name)).collect();
        let inputs = report.manifest.inputs.iter().map(|input| (input.role.as_str(), Path::new(&input.path)));
        keep_inputs("--out", out, records.iter().map(|path| ("of the run", path.as_path())).chain(inputs))?;
        keep_database("--out", out)
    }
}
