//! Estimates that follow each other, and the alarms that they ring: `sqlgauge monitor`.

use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use sqlgauge_base::file::write_atomically;
use sqlgauge_engine::Moment;
use sqlgauge_estimate::Estimate;
use sqlgauge_estimate::report::drift::{self, AlarmRules, DriftPoint, Series};
use sqlgauge_estimate::report::{BatchName, History, Reliability};
use sqlgauge_estimate::watch::{AnswerValue, BatchAnswers};

use super::{EstimateJob, Estimated};
use crate::context::{Context, Watcher};
use crate::error::Error;
use crate::values::OutputPath;

/// The log of the batches, and when to ring.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = "Watch"))]
pub struct Watch {
    /// Log to compare with and to append to; the first batch in it is the reference
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", required_unless_present = "batch_size"))]
    pub log: Option<OutputPath>,
    /// Name of this batch in the log; a name that you give again replaces its batch [default: today's date, once a day]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT", requires = "log"))]
    pub as_of: Option<String>,
    /// Watch batches of N questions, in the order of the file, and no log; a rest below N/2 joins the last batch
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", conflicts_with = "log"))]
    pub batch_size: Option<usize>,
    /// Compare later batches with this one and those after it: after a change that is to stay
    #[cfg_attr(feature = "cli", arg(long, requires = "log"))]
    pub new_reference: bool,
    /// Batches a year: so often one false alarm is accepted
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Watch::PER_YEAR))]
    pub per_year: f64,
    /// Also ring if the whole interval of an estimate is below X (0 to 1)
    #[cfg_attr(feature = "cli", arg(long, value_name = "X"))]
    pub alarm_below: Option<f64>,
    /// Also write estimates and alarms to FILE in the text format of Prometheus
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub prometheus: Option<OutputPath>,
}

/// Watches over batches how sure the item model is of the answers, and whether they run. The known runs and peers must stay the same.
///
/// # Contract
/// The alarms are those of [`changes`](sqlgauge_estimate::watch::changes): without a change one a year for each system, at most, on
/// average. A batch that has rung rings no more in later calls.
#[derive(Clone)]
pub struct MonitorJob {
    /// What is estimated; its target is the new batch.
    pub estimate: EstimateJob,
    /// What it is compared with.
    pub watch: Watch,
}

impl MonitorJob {
    /// Estimates the batch, compares it with those before, and adds it to the log.
    ///
    /// # Errors
    /// As [`EstimateJob::run`], and if the log has a line that `monitor` did not write, or cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<Estimated, Error> {
        self.estimate.run_watched(context, Some(&self.watch))
    }
}

impl Watch {
    /// Weekly batches.
    pub const PER_YEAR: f64 = 52.0;

    pub(super) fn check(&self) -> Result<(), Error> {
        if let Some(value) = self.alarm_below.filter(|value| !(0.0..=1.0).contains(value)) {
            return Err(Error::Alarm { name: "--alarm-below", value });
        }
        if !(self.per_year.is_finite() && self.per_year > 0.0) {
            let text = format!("--per-year {}: write how many batches there are in a year", self.per_year);
            return Err(Error::Invalid(text));
        }
        if self.log.is_some() == self.batch_size.is_some() {
            return Err(Error::Invalid("monitor needs either --log or --batch-size".to_owned()));
        }
        if self.log.is_none() && (self.as_of.is_some() || self.new_reference) {
            return Err(Error::Invalid("--as-of and --new-reference need --log".to_owned()));
        }
        if self.batch_size == Some(0) {
            return Err(Error::EmptyBatch);
        }
        Ok(())
    }

    /// The files that are written, with their options.
    pub(super) fn outputs(&self) -> impl Iterator<Item = (&'static str, &OutputPath)> {
        [("--log", &self.log), ("--prometheus", &self.prometheus)]
            .into_iter()
            .filter_map(|(option, path)| Some((option, path.as_ref()?)))
    }

    /// The batches to estimate besides the whole, as ranges of the target's questions.
    pub(super) fn batches(&self, questions: usize) -> Vec<Range<usize>> {
        self.batch_size.map_or_else(Vec::new, |size| drift::batches(questions, size))
    }

    pub(super) fn read_log(&self, watcher: &dyn Watcher) -> Result<Option<History>, Error> {
        let log = self.log.as_ref().map(|file| History::read(file)).transpose()?;
        if let Some((log, line)) = log.as_ref().and_then(|log| Some((log, log.torn()?))) {
            watcher.note(&format!(
                "{}: line {line} is incomplete; it is skipped, and this estimate takes its place",
                log.path().display()
            ));
        }
        Ok(log)
    }

    fn label(&self, now: Moment) -> String {
        self.as_of
            .clone()
            .unwrap_or_else(|| now.to_string().chars().take_while(|char| *char != 'T').collect())
    }

    /// Compares estimates that follow each other. `batches` has for each batch its range and the estimates of all
    /// systems; `whole` and `answers` are those of the whole target. The watcher is told if this batch replaces a different one.
    ///
    /// # Errors
    /// When the batches before come from other known runs, or this one has the name of a different one only because no name was given.
    pub(super) fn series(
        &self,
        whole: &[Estimate],
        answers: &[Vec<AnswerValue>],
        batches: &[(Range<usize>, Vec<Estimate>)],
        log: Option<&History>,
        (now, watcher): (Moment, &dyn Watcher),
    ) -> Result<Vec<Series>, Error> {
        let rules = AlarmRules { below: self.alarm_below, per_year: Some(self.per_year) };
        let label = self.label(now);
        if let Some(log) = log.filter(|log| !self.new_reference && log.has_other_runs(whole, &label)) {
            return Err(Error::Invalid(format!(
                "{} has batches that were estimated from different known runs, so this one cannot be compared with \
                 them; give their --known, or start anew with --new-reference",
                log.path().display()
            )));
        }
        if let Some(log) = log.filter(|log| log.has_other(whole, answers, &label)) {
            let path = log.path().display();
            if self.as_of.is_none() {
                return Err(Error::Invalid(format!(
                    "{path} has a batch {label} with different answers; name this one with --as-of, or replace that one with --as-of {label}"
                )));
            }
            watcher
                .note(&format!("{path}: {label} replaces the earlier {label}, which has different answers"));
        }
        let series = whole.iter().zip(answers).enumerate().map(|(at, (estimate, answers))| {
            let of = |estimate: &Estimate, label: &str, answers: &[AnswerValue]| {
                (DriftPoint::of(estimate, label, answers.len()), BatchAnswers::of(answers))
            };
            let mut batches: Vec<_> = batches
                .iter()
                .filter_map(|(range, all)| {
                    Some(of(all.get(at)?, &drift::batch_label(range), answers.get(range.clone())?))
                })
                .collect();
            let mut from = 0;
            if batches.is_empty() {
                let earlier = log.filter(|_| !self.new_reference);
                batches = earlier.map(|log| log.before(estimate, &label)).unwrap_or_default();
                from = batches.len();
                batches.push(of(estimate, &label, answers));
            }
            let (points, answers): (Vec<_>, Vec<_>) = batches.into_iter().unzip();
            Series::judged(estimate.system.clone(), points, &answers, rules, from)
        });
        Ok(series.collect())
    }

    /// Adds the batch to the log, and writes the metrics of Prometheus.
    pub(super) fn write(
        &self,
        report: &Reliability,
        answers: &[Vec<AnswerValue>],
        log: Option<History>,
        now: Moment,
    ) -> Result<(), Error> {
        if let Some(mut log) = log {
            let (label, count) = (self.label(now), report.manifest.examples);
            let batch = BatchName { label: &label, is_reference: self.new_reference, count };
            log.append(&report.estimates, answers, batch)?;
        }
        let Some(path) = &self.prometheus else { return Ok(()) };
        let text = prometheus(&report.drift);
        write_atomically::<io::Error>(path, |file| io::Write::write_all(file, text.as_bytes()))
            .map_err(|source| Error::Unwritable { path: path.to_path_buf(), source })
    }
}

/// The newest point of each system in the text format of Prometheus, version 0.0.4.
fn prometheus(all: &[Series]) -> String {
    type Value = fn(&Series, &DriftPoint) -> f64;
    const GAUGES: [(&str, &str, Value); 5] = [
        ("accuracy", "Estimated accuracy, 0 to 1", |_, point| point.accuracy),
        ("accuracy_low", "Lower end of its interval", |_, point| point.low),
        ("accuracy_high", "Upper end of its interval", |_, point| point.high),
        ("questions", "Questions of the batch", |_, point| point.count as f64),
        ("alarm", "1 if the batch rings", |series, point| f64::from(u8::from(series.rings_at(&point.label)))),
    ];
    let mut text = String::new();
    for (name, help, value) in GAUGES {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP sqlgauge_{name} {help}\n# TYPE sqlgauge_{name} gauge");
        for (series, point) in all.iter().filter_map(|series| Some((series, series.points.last()?))) {
            let system = series.system.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            let _ = writeln!(text, "sqlgauge_{name}{{system=\"{system}\"}} {}", value(series, point));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_line() {
        let point = DriftPoint {
            label: "may".to_owned(),
            count: 3,
            accuracy: 0.5,
            low: 0.25,
            high: 0.75,
            outside: false,
        };
        let name = "a\"} 1\nb\\".to_owned();
        let series = Series { system: name, points: vec![point], alarms: Vec::new() };
        let text = prometheus(&[series]);
        assert!(text.contains("sqlgauge_accuracy{system=\"a\\\"} 1\\nb\\\\\"} 0.5\n"), "{text}");
        assert_eq!(text.lines().count(), 15);
    }
}
