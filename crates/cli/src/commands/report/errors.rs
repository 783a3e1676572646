//! `sqlgauge report --errors`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_base::counted;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_core::{ErrorCounts, MetricErrors, MetricErrorsJob, SystemErrors};
use sqlgauge_report::document::{Document, Section, Table};
use sqlgauge_report::words::NONE;

use crate::output::{note, print, print_document, print_json};

/// The false positives and false negatives of the metrics, in place of the report.
///
/// The truth is the verdict of `verify`, which must be among the run's metrics, or labels. Rates are shares of the answers whose
/// truth is known; answers that `verify` cannot decide are counted apart.
#[derive(Debug, Args)]
pub(crate) struct ErrorOptions {
    /// Count the false positives and false negatives of the metrics instead, by the verdicts of `verify` or by --correct; as table, json or csv
    #[arg(long, conflicts_with_all = ["out", "raw_cells", "junit_items", "fail_under"])]
    pub errors: bool,
    /// Labels of people instead of the verdicts: TSV, CSV or JSONL with id and correct, or with a column per system
    #[arg(long, value_name = "FILE", value_parser = input_file, requires = "errors")]
    correct: Option<PathBuf>,
    /// The same as --output-format json
    #[arg(long, hide = true, requires = "errors")]
    json: bool,
    /// The same as --output-format csv
    #[arg(long, hide = true, requires = "errors", conflicts_with = "json")]
    csv: bool,
}

impl ErrorOptions {
    pub(super) fn print(self, run: PathBuf, format: &str) -> Result<()> {
        let errors = MetricErrorsJob { labels: self.correct, ..MetricErrorsJob::new(run) }.run()?;
        let format = if self.json { "json" } else { format };
        match if self.csv { "csv" } else { format } {
            "json" => print_json(&errors)?,
            "csv" => print(&errors.to_csv())?,
            "table" => print_document(&document(&errors))?,
            _ => bail!("--errors are written as table, json or csv, not as {format}"),
        }
        let others: u64 = errors.systems.iter().map(|system| system.truth.other_answer).sum();
        if others > 0 {
            let answers = counted(usize::try_from(others).unwrap_or(usize::MAX), "answer");
            note(format_args!("left out: {answers} with the label of an earlier answer"));
        }
        Ok(())
    }
}

/// The title against labels.
const MISTAKEN: &str = "Where the metrics contradict the labels";
const BY_LABELS: &str =
    "percent of the labelled answers: called right though wrong / called wrong though right";
/// The title against verdicts: a refutation is no proof that the model is wrong.
const REFUTED: &str = "Where the metrics contradict verify";
/// How a cell reads, and what `research/refuted` found.
const WHOSE_FAULT: &str = "percent of the judged answers, as A (B) / C. A: the metric says right, and verify has a counterexample. B: part of A, on \
    rows like yours. C: the metric says wrong, and verify proves the queries equal. People read 100 refuted answers: the model was wrong in 18, the \
    gold in 22, the question unclear in 11";

fn document(errors: &MetricErrors) -> Document {
    let columns = ["system", "judged", "right", "up to a bound", "undecided"].map(str::to_owned);
    let mut table = Table::new(columns.into_iter().chain(errors.metrics.iter().cloned()));
    for system in &errors.systems {
        let truth = system.truth;
        let numbers = [truth.right + truth.wrong, truth.right, truth.right_up_to_bound, truth.undecided];
        let numbers = numbers.map(|number| number.to_string());
        let cells = errors.metrics.iter().map(|id| cell(system, id));
        table.push(std::iter::once(system.system.clone()).chain(numbers).chain(cells));
    }
    let is_refuted = errors.systems.iter().any(|system| !system.realistic.is_empty());
    let (title, note) = if is_refuted { (REFUTED, WHOSE_FAULT) } else { (MISTAKEN, BY_LABELS) };
    Document::of(Section::new(title, note, table))
}

/// The rates of a metric; with the number of answers where it has no score of some, as exact set match has none for a gold that its
/// parser cannot read.
fn cell(system: &SystemErrors, id: &str) -> String {
    let Some(counts) = system.metrics.get(id) else { return NONE.to_owned() };
    let mut rates = both_rates(counts);
    if let Some(realistic) = system.realistic.get(id).filter(|_| counts.judged > 0) {
        let realistic = format!(" ({:.1}) /", 100.0 * *realistic as f64 / counts.judged as f64);
        rates = rates.replacen(" /", &realistic, 1);
    }
    let all = system.truth.right + system.truth.wrong;
    if counts.judged == all { rates } else { format!("{rates} (n={})", counts.judged) }
}

/// The false positives and false negatives in percent, as in `16.3 / 0.0`.
pub(crate) fn both_rates(counts: &ErrorCounts) -> String {
    let percent = |count: u64| 100.0 * count as f64 / counts.judged as f64;
    if counts.judged == 0 {
        return NONE.to_owned();
    }
    format!("{:.1} / {:.1}", percent(counts.false_positives), percent(counts.false_negatives))
}
