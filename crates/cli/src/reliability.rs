//! Options of `estimate` about what it leaves behind: its folder, its history, its alarms.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge::{Source, keep_inputs, keep_run};
use sqlgauge_estimate::Estimate;
use sqlgauge_estimate::report::drift::{self, Point, Rules, Series};
use sqlgauge_estimate::report::{FILES, History, Reliability};

use crate::output::note;

/// Report, drift and alarms.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Report and drift")]
pub struct ReliabilityOptions {
    /// Folder to write: report.html, report.md, estimate.json, predictions.jsonl, run.json
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Estimate batches of N questions too, in the order of the target file; a rest below N/2 joins the last one
    #[arg(long, value_name = "N", conflicts_with = "history")]
    batch_size: Option<usize>,
    /// File to which this estimate is appended, and with whose earlier ones it is compared
    #[arg(long, value_name = "FILE", requires = "as_of")]
    history: Option<PathBuf>,
    /// What this estimate is called in the history, as a date or a version; the same again replaces it
    #[arg(long, value_name = "TEXT", requires = "history")]
    as_of: Option<String>,
    /// Exit with code 1 if the whole interval of an estimate is below X, from 0 to 1
    #[arg(long, value_name = "X")]
    alarm_below: Option<f64>,
    /// Exit with code 1 if an estimate is D or more below the first ones, from 0 to 1, and more than intervals explain
    #[arg(long, value_name = "D")]
    alarm_drop: Option<f64>,
}

impl ReliabilityOptions {
    /// Says what makes no sense before anything is computed.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("--alarm-below", self.alarm_below), ("--alarm-drop", self.alarm_drop)] {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                bail!("{name} {value} is no share from 0 to 1; 40 % is 0.4");
            }
        }
        if self.batch_size == Some(0) {
            bail!("--batch-size 0: a batch has at least one question");
        }
        if self.alarm_drop.is_some() && self.batch_size.is_none() && self.history.is_none() {
            bail!("--alarm-drop compares estimates that follow each other; give --batch-size or --history");
        }
        Ok(self.out.as_deref().map_or(Ok(()), |out| keep_run("--out", out))?)
    }

    /// Refuses to write over what the estimate is made of.
    pub fn keep_inputs(&self, inputs: &[(String, Cow<'_, Source>)]) -> Result<()> {
        let inputs = || inputs.iter().filter_map(|(role, source)| Some((role.as_str(), source.file()?)));
        for path in self.out.iter().flat_map(|out| FILES.map(|name| out.join(name))) {
            keep_inputs("--out", &path, inputs())?;
        }
        let history = self.history.as_deref();
        Ok(history.map_or(Ok(()), |history| keep_inputs("--history", history, inputs()))?)
    }

    /// Whether files are written that name the inputs.
    pub fn writes(&self) -> bool {
        self.out.is_some() || self.history.is_some()
    }

    /// The batches to estimate beside the whole, as ranges of the target file.
    pub fn batches(&self, questions: usize) -> Vec<Range<usize>> {
        self.batch_size.map_or_else(Vec::new, |size| drift::batches(questions, size))
    }

    /// The history, if one is kept.
    pub fn history(&self) -> Result<Option<History>> {
        let history = self.history.as_deref().map(History::read).transpose()?;
        if let Some((history, line)) = history.as_ref().and_then(|history| Some((history, history.torn()?))) {
            note(format!(
                "{}: line {line} was not written to its end; it is passed over, and this estimate takes its place",
                history.path().display()
            ));
        }
        Ok(history)
    }

    /// Compares estimates that follow each other. `batches` has for each batch its range and the estimates of all
    /// systems; `whole` are those of the whole target.
    pub fn series(
        &self,
        whole: &[Estimate],
        questions: usize,
        batches: &[(Range<usize>, Vec<Estimate>)],
        history: Option<&History>,
    ) -> Vec<Series> {
        let rules = Rules { below: self.alarm_below, drop: self.alarm_drop };
        let label = self.as_of.as_deref().unwrap_or("whole target");
        let series = whole.iter().enumerate().map(|(at, estimate)| {
            let name = estimate.system.clone();
            if !batches.is_empty() {
                let points = batches.iter().filter_map(|(range, estimates)| {
                    Some(Point::of(estimates.get(at)?, &drift::batch_label(range), range.len()))
                });
                return Series::judged(name, points.collect(), rules, 0);
            }
            let mut points = history.map(|history| history.before(estimate, label)).unwrap_or_default();
            points.push(Point::of(estimate, label, questions));
            let newest = points.len() - 1;
            Series::judged(name, points, rules, newest)
        });
        series.collect()
    }

    /// Whether the series are worth a chart, beyond the alarms.
    pub fn is_about_time(&self) -> bool {
        self.batch_size.is_some() || self.history.is_some() || self.alarm_below.is_some()
    }

    /// The bar, for the chart.
    pub fn alarm_below(&self) -> Option<f64> {
        self.alarm_below
    }

    /// Writes the folder and the history, where they are wanted.
    pub fn write(&self, report: &Reliability, history: Option<History>) -> Result<()> {
        if let Some(out) = &self.out {
            report.write_to(out)?;
        }
        if let (Some(mut history), Some(label)) = (history, &self.as_of) {
            history.append(&report.estimates, label, report.manifest.examples)?;
        }
        Ok(())
    }
}
