//! Options of `estimate` about what it leaves behind: its folder, its history, its alarms.

use clap::Args;
use sqlgauge_core::{EstimateHistory, EstimateRecords};

use crate::values::OutputPath;

/// Report, drift and alarms.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Report and drift")]
pub(crate) struct ReliabilityOptions {
    /// Folder to write: report.html, report.md, estimate.json, predictions.jsonl, run.json
    #[arg(long, value_name = "DIR")]
    pub out: Option<OutputPath>,
    /// Also estimate batches of N questions, in the order of the target file; a rest below N/2 joins the last batch
    #[arg(long, value_name = "N", conflicts_with = "history")]
    batch_size: Option<usize>,
    /// Append this estimate to FILE and compare it with the earlier ones there
    #[arg(long, value_name = "FILE", requires = "as_of")]
    history: Option<OutputPath>,
    /// Name of this estimate in the history, e.g. a date or a version; replaces an estimate of the same name
    #[arg(long, value_name = "TEXT", requires = "history")]
    as_of: Option<String>,
    /// Exit with code 1 if the whole interval of an estimate is below X (0 to 1)
    #[arg(long, value_name = "X")]
    alarm_below: Option<f64>,
    /// Exit with code 1 if an estimate dropped by D (0 to 1) since the first ones, and by more than intervals explain
    #[arg(long, value_name = "D")]
    alarm_drop: Option<f64>,
}

impl ReliabilityOptions {
    /// The same for the job.
    pub(crate) fn records(&self) -> EstimateRecords {
        let named = self.history.clone().map(Into::into).zip(self.as_of.clone());
        EstimateRecords {
            out: self.out.clone().map(Into::into),
            batch_size: self.batch_size,
            history: named.map(|(file, as_of)| EstimateHistory { file, as_of }),
            alarm_below: self.alarm_below,
            alarm_drop: self.alarm_drop,
        }
    }
}
