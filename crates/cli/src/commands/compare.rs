//! `sqlgauge compare`.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use sqlgauge_core::{CompareJob, SystemComparison};
use sqlgauge_report::Versus;

use crate::Verdict;
use crate::options::GoldBar;
use crate::output::{note, print_json, print_painted, text_tables};

/// Compare two systems: paired test, interval of the difference, items that differ
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Run directory
    run: PathBuf,
    /// A second run, which has the second system; items with the same id, database and gold are compared
    other: Option<PathBuf>,
    /// The two systems, separated by a comma, or each by an option of its own; may be left out when the run has two, or two runs have
    /// one each
    #[arg(long, value_name = "A,B")]
    systems: Vec<String>,
    /// Metric whose differing items are listed; the run's first without it
    #[arg(long)]
    metric: Option<String>,
    /// Number of differing items to list for each side
    #[arg(long, alias = "limit", value_name = "N", default_value_t = 20)]
    items: usize,
    /// Exit with code 1 if the second system is lower by more than this many points on the metric, and the paired test takes that
    /// for real (p < 0.05)
    #[arg(long, value_name = "POINTS")]
    max_regression: Option<f64>,
    #[command(flatten)]
    gold_bar: GoldBar,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub(crate) fn run(self) -> Result<Verdict> {
        ensure!(self.max_regression.is_none_or(is_bar), NOT_A_BAR);
        let job = CompareJob {
            other: self.other,
            systems: self.systems,
            metric: self.metric,
            ..CompareJob::new(self.run)
        };
        let comparison = job.run()?;
        ensure!(
            self.max_regression.is_none() || comparison.difference().is_some(),
            "{}: no item has a score of both systems, so --max-regression cannot be checked; name another --metric",
            comparison.metric
        );
        if self.json {
            comparison.notes.iter().for_each(note);
            print_json(&comparison.to_json())?;
            return Ok(gate(&comparison, self.max_regression, self.gold_bar));
        }
        print_compared(&comparison, self.items)?;
        Ok(gate(&comparison, self.max_regression, self.gold_bar))
    }
}

/// Prints both systems beside each other, with so many items of each side.
pub(super) fn print_compared(comparison: &SystemComparison, limit: usize) -> Result<()> {
    let SystemComparison { summary, metric, only_first, only_second, notes, .. } = comparison;
    let versus = Versus { summary, metric, only_first, only_second, notes, limit };
    print_painted(&versus.render(text_tables())?)
}

/// Said of what [`is_bar`] refuses.
pub(super) const NOT_A_BAR: &str = "--max-regression is a number of points from 0 on, as in 1.0";

/// Whether so many points may be the most that are lost.
pub(super) fn is_bar(most: f64) -> bool {
    most.is_finite() && most >= 0.0
}

/// Whether the second system is lower by no more than so many points, or by so few items that chance explains it.
pub(super) fn gate(comparison: &SystemComparison, most: Option<f64>, golds: GoldBar) -> Verdict {
    let (Some(most), Some(lost)) = (most, comparison.lost()) else { return Verdict::Done };
    if !golds.holds(&comparison.summary) {
        return Verdict::GateFailed;
    }
    if lost <= most {
        return Verdict::Done;
    }
    let sentence = format!("{} is lower by {lost:.1} points, more than {most}", comparison.metric);
    if comparison.regression().is_some() {
        note(sentence);
        return Verdict::GateFailed;
    }
    let plain = comparison.difference().and_then(sqlgauge_report::clusters::only_plain);
    let plain = plain.map_or_else(String::new, |text| format!("; {text}"));
    note(format!("{sentence}, but the paired test does not take that for real{plain}"));
    Verdict::Done
}
