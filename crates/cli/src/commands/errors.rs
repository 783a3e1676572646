//! `sqlgauge errors`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use comfy_table::{Table, presets};
use sqlgauge_base::counted;
use sqlgauge_core::cli::stdin::input_file;
use sqlgauge_core::{ErrorCounts, MetricErrors, MetricErrorsJob, SystemErrors};

use crate::Verdict;
use crate::output::{note, print, print_json};

/// Count the false positives and false negatives of a run's metrics
///
/// The truth is the verdict of `verify`, which must be among the run's metrics, or labels. Rates are shares of the answers whose
/// truth is known; answers that `verify` cannot decide are counted apart.
#[derive(Debug, Args)]
pub struct Errors {
    /// Run directory of `score`
    run: PathBuf,
    /// Labels of people instead of the verdicts: TSV, CSV or JSONL with id and correct, or with a column per system
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    correct: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl Errors {
    pub fn run(self) -> Result<Verdict> {
        let job = MetricErrorsJob { labels: self.correct, ..MetricErrorsJob::new(self.run) };
        let errors = job.run()?;
        if self.json {
            print_json(&errors)?;
        } else if self.csv {
            print(&errors.to_csv())?;
        } else {
            print(&table(&errors))?;
        }
        let others: u64 = errors.systems.iter().map(|system| system.truth.other_answer).sum();
        if others > 0 {
            let answers = counted(usize::try_from(others).unwrap_or(usize::MAX), "answer");
            note(format_args!("left out: {answers} with the label of an earlier answer"));
        }
        Ok(Verdict::Done)
    }
}

fn table(errors: &MetricErrors) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let head = ["system", "judged", "right", "up to a bound", "undecided"].map(str::to_owned);
    table.set_header(head.into_iter().chain(errors.metrics.iter().cloned()));
    for system in &errors.systems {
        let truth = system.truth;
        let numbers = [truth.right + truth.wrong, truth.right, truth.right_up_to_bound, truth.undecided];
        let cells = errors.metrics.iter().map(|id| cell(system, id));
        let row = [system.system.clone()].into_iter().chain(numbers.map(|number| number.to_string()));
        table.add_row(row.chain(cells));
    }
    format!(
        "False positives / false negatives in percent of the judged answers, held against {}\n{}",
        errors.truth,
        trimmed(&table)
    )
}

/// The rates of a metric; with the number of answers where it has no score of some, as exact set match has none for a gold that its
/// parser cannot read.
fn cell(system: &SystemErrors, id: &str) -> String {
    let Some(counts) = system.metrics.get(id) else { return "-".to_owned() };
    let rates = both_rates(counts);
    let all = system.truth.right + system.truth.wrong;
    if counts.judged == all { rates } else { format!("{rates} (n={})", counts.judged) }
}

/// The false positives and false negatives in percent, as in `16.3 / 0.0`.
pub(super) fn both_rates(counts: &ErrorCounts) -> String {
    let percent = |count: u64| 100.0 * count as f64 / counts.judged as f64;
    if counts.judged == 0 {
        return "-".to_owned();
    }
    format!("{:.1} / {:.1}", percent(counts.false_positives), percent(counts.false_negatives))
}

/// The lines of a table without the blanks at their ends.
pub(super) fn trimmed(table: &Table) -> String {
    table.to_string().lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
