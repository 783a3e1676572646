//! `sqlgauge report --errors`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_base::counted;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_core::{ErrorCounts, MetricErrors, MetricErrorsJob, SystemErrors};
use sqlgauge_report::document::{Block, Document, Section, Table};
use sqlgauge_report::words::NONE;

use crate::output::{note, print, print_document, print_json};

/// The false positives and false negatives of the metrics, in place of the report.
///
/// The truth is the verdict of `verify`, which must be among the run's metrics, or labels. Rates are shares of the answers whose
/// truth is known; answers that `verify` cannot decide are counted apart.
#[derive(Debug, Args)]
pub(crate) struct ErrorOptions {
    /// Print the false positives and false negatives of the metrics instead, by the verdicts of `verify` or by --correct: as table, json or csv
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

/// The heads of the rates: against labels.
const BY_LABELS: &[&str] = &["called right though wrong", "called wrong though right"];
/// Against verdicts: a refuted answer need not be the model's fault.
const BY_VERDICTS: &[&str] =
    &["called right, refuted", "refuted on realistic rows", "called wrong, proved equal"];
/// What `research/refuted` found.
const WHOSE_FAULT: &str = "percent of the judged answers. One person read 100 refuted answers of other runs: the model was wrong in 18, the gold in 22, \
    the question unclear in 11; in 49 neither was wrong";
/// Beside a truth that compares sets.
const OF_SETS: &str = ". The truth compares sets of rows: a metric that counts rows is not wrong where only their number differs";

fn document(errors: &MetricErrors) -> Document {
    let is_refuted = errors.systems.iter().any(|system| !system.realistic.is_empty());
    let of_sets = if errors.truth.starts_with("verify-set") { OF_SETS } else { "" };
    let (truth, right, note, heads) = if is_refuted {
        (errors.truth.as_str(), "proved equal", format!("{WHOSE_FAULT}{of_sets}"), BY_VERDICTS)
    } else {
        ("the labels", "right", "percent of the labelled answers".to_owned(), BY_LABELS)
    };
    let title = format!("Where the metrics contradict {truth}");
    let mut rates = Table::new(["system", "metric", "judged"].into_iter().chain(heads.iter().copied()));
    let mut truths = Table::new(["system", "judged", right, "of these up to a bound", "undecided"]);
    for system in &errors.systems {
        for id in &errors.metrics {
            rates.push([system.system.clone(), id.clone()].into_iter().chain(cells(system, id, heads.len())));
        }
        let truth = system.truth;
        let numbers = [truth.right + truth.wrong, truth.right, truth.right_up_to_bound, truth.undecided];
        truths.push(std::iter::once(system.system.clone()).chain(numbers.map(|number| number.to_string())));
    }
    let mut section = Section::new(title, note, rates);
    section.blocks.push(Block::note(format!("What {truth} says of the answers:")));
    section.blocks.push(truths.into());
    Document::of(section)
}

/// The number of answers that have a score of the metric, as exact set match has none for a gold that its parser cannot read, and its rates.
fn cells(system: &SystemErrors, id: &str, heads: usize) -> Vec<String> {
    let Some(counts) = system.metrics.get(id) else { return vec![NONE.to_owned(); heads + 1] };
    let mut rates = vec![counts.false_positives];
    rates.extend(system.realistic.get(id));
    rates.push(counts.false_negatives);
    std::iter::once(counts.judged.to_string())
        .chain(rates.into_iter().map(|count| share(count, counts)))
        .collect()
}

fn share(count: u64, counts: &ErrorCounts) -> String {
    match counts.judged {
        0 => NONE.to_owned(),
        judged => format!("{:.1}", 100.0 * count as f64 / judged as f64),
    }
}

/// The false positives and false negatives in percent, as in `16.3 / 0.0`.
pub(crate) fn both_rates(counts: &ErrorCounts) -> String {
    format!("{} / {}", share(counts.false_positives, counts), share(counts.false_negatives, counts))
}
