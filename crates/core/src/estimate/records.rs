//! What an estimate leaves behind: its folder, its history, its alarms.

use std::borrow::Cow;
use std::ops::Range;

use sqlgauge_estimate::Estimate;
use sqlgauge_estimate::report::drift::{self, AlarmRules, DriftPoint, Series};
use sqlgauge_estimate::report::{FILES, History, Reliability};

use crate::context::Watcher;
use crate::error::Error;
use crate::guard::{keep_inputs, keep_run};
use crate::source::Source;
use crate::values::OutputPath;

/// A file of earlier estimates, and the name of the new one in it.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct EstimateHistory {
    /// Append this estimate to FILE and compare it with the earlier ones there
    #[cfg_attr(
        feature = "cli",
        arg(
            long = "history",
            id = "history",
            value_name = "FILE",
            requires = "as_of",
            required = false,
            help_heading = "Report and drift"
        )
    )]
    pub file: OutputPath,
    /// Name of this estimate in the history, e.g. a date or a version; replaces an estimate of the same name
    #[cfg_attr(
        feature = "cli",
        arg(
            long,
            value_name = "TEXT",
            requires = "history",
            required = false,
            help_heading = "Report and drift"
        )
    )]
    pub as_of: String,
}

/// What to write, and what to compare the estimate with.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct EstimateRecords {
    /// Folder to write: report.html, report.md, estimate.json, predictions.jsonl, run.json
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR", help_heading = "Report and drift"))]
    pub out: Option<OutputPath>,
    /// Also estimate batches of N questions, in the order of the target file; a rest below N/2 joins the last batch
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "N", conflicts_with = "history", help_heading = "Report and drift")
    )]
    pub batch_size: Option<usize>,
    /// Earlier estimates, to compare with and to append to.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub history: Option<EstimateHistory>,
    /// Exit with code 1 if the whole interval of an estimate is below X (0 to 1)
    #[cfg_attr(feature = "cli", arg(long, value_name = "X", help_heading = "Report and drift"))]
    pub alarm_below: Option<f64>,
    /// Exit with code 1 if an estimate dropped by D (0 to 1) since the first ones, and by more than intervals explain
    #[cfg_attr(feature = "cli", arg(long, value_name = "D", help_heading = "Report and drift"))]
    pub alarm_drop: Option<f64>,
}

impl EstimateRecords {
    pub(super) fn check(&self) -> Result<(), Error> {
        for (name, value) in [("--alarm-below", self.alarm_below), ("--alarm-drop", self.alarm_drop)] {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                return Err(Error::Alarm { name, value });
            }
        }
        if self.batch_size == Some(0) {
            return Err(Error::EmptyBatch);
        }
        if self.alarm_drop.is_some() && self.batch_size.is_none() && self.history.is_none() {
            return Err(Error::NothingToCompare);
        }
        self.out.as_deref().map_or(Ok(()), |out| keep_run("--out", out))
    }

    /// Refuses to write over what the estimate is made of.
    pub(super) fn keep_inputs(&self, inputs: &[(String, Cow<'_, Source>)]) -> Result<(), Error> {
        let inputs = || inputs.iter().filter_map(|(role, source)| Some((role.as_str(), source.file()?)));
        for path in self.out.iter().flat_map(|out| FILES.map(|name| out.join(name))) {
            keep_inputs("--out", &path, inputs())?;
        }
        let history = self.history.as_ref();
        history.map_or(Ok(()), |history| keep_inputs("--history", &history.file, inputs()))
    }

    /// Whether files are written that name the inputs.
    pub(super) fn writes(&self) -> bool {
        self.out.is_some() || self.history.is_some()
    }

    /// The batches to estimate besides the whole, as ranges of the target's questions.
    pub(super) fn batches(&self, questions: usize) -> Vec<Range<usize>> {
        self.batch_size.map_or_else(Vec::new, |size| drift::batches(questions, size))
    }

    pub(super) fn read_history(&self, watcher: &dyn Watcher) -> Result<Option<History>, Error> {
        let history = self.history.as_ref().map(|history| History::read(&history.file)).transpose()?;
        if let Some((history, line)) = history.as_ref().and_then(|history| Some((history, history.torn()?))) {
            watcher.note(&format!(
                "{}: line {line} is incomplete; it is skipped, and this estimate takes its place",
                history.path().display()
            ));
        }
        Ok(history)
    }

    /// Compares estimates that follow each other. `batches` has for each batch its range and the estimates of all
    /// systems; `whole` are those of the whole target.
    pub(super) fn series(
        &self,
        whole: &[Estimate],
        questions: usize,
        batches: &[(Range<usize>, Vec<Estimate>)],
        history: Option<&History>,
    ) -> Vec<Series> {
        let rules = AlarmRules { below: self.alarm_below, drop: self.alarm_drop };
        let label = self.history.as_ref().map_or("whole target", |history| &history.as_of);
        let series = whole.iter().enumerate().map(|(at, estimate)| {
            let name = estimate.system.clone();
            if !batches.is_empty() {
                let points = batches.iter().filter_map(|(range, estimates)| {
                    Some(DriftPoint::of(estimates.get(at)?, &drift::batch_label(range), range.len()))
                });
                return Series::judged(name, points.collect(), rules, 0);
            }
            let mut points = history.map(|history| history.before(estimate, label)).unwrap_or_default();
            points.push(DriftPoint::of(estimate, label, questions));
            let newest = points.len() - 1;
            Series::judged(name, points, rules, newest)
        });
        series.collect()
    }

    /// Whether the report shows the series as a chart.
    pub(super) fn shows_series(&self) -> bool {
        self.batch_size.is_some() || self.history.is_some() || self.alarm_below.is_some()
    }

    /// Writes the folder and the history, where they are asked for.
    pub(super) fn write(&self, report: &Reliability, history: Option<History>) -> Result<(), Error> {
        if let Some(out) = &self.out {
            report.write_to(out)?;
        }
        if let (Some(mut history), Some(EstimateHistory { as_of, .. })) = (history, &self.history) {
            history.append(&report.estimates, as_of, report.manifest.examples)?;
        }
        Ok(())
    }
}
