//! How often each metric of a run is wrong: `sqlgauge report --errors`.
//!
//! # Contract
//! - Counted are answers whose truth is known and that have a score of the metric. Rates are shares of these answers, as in
//!   Table 6 of the ETM paper.
//! - By verdicts: equivalent is right, by rules or up to the bound of a proof; different, refused and missing are wrong; unknown is
//!   counted apart. The rules of `etm@1` are the first stage of `verify`, so its own errors show only where a later stage decided
//!   or people did.
//! - Against verdicts a false positive is a refutation: the metric calls the answer right, and some database tells it from the gold.
//!   Few of them are the model's fault, so those with a counterexample like the given rows are counted beside.
//! - Metrics that say neither right nor wrong are left out, and `verify` where it is the truth.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use sqlgauge_metrics::{MetricKind, find};
use sqlgauge_run::{Item, RunError, RunFiles};

use crate::error::Error;
use crate::truth::{ErrorCounts, Truth, Truths};

/// Counts the false positives and false negatives of a run's metrics.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, MetricErrorsJob, Sample};
///
/// let folder = tempfile::tempdir()?;
/// let run = folder.path().join("run");
/// Sample::unpack(folder.path())?.score_job(&["ex", "etm", "verify"], &run)?.run(&Context::default())?;
///
/// let errors = MetricErrorsJob::new(run).run()?;
/// let careful = &errors.systems[0];
/// assert!(careful.metrics["ex@1"].false_positives > careful.metrics["etm@1"].false_positives);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct MetricErrorsJob {
    /// Run directory.
    pub folder: PathBuf,
    /// Labels of people, or of another judge; without, the verdicts of `verify` are the truth.
    pub labels: Option<PathBuf>,
}

/// How often the metrics of a run are wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MetricErrors {
    /// What the metrics are held against: the id of `verify`, or `labels`.
    pub truth: String,
    /// Ids of the metrics, in the order of the run.
    pub metrics: Vec<String>,
    /// The systems, in the order of the run.
    pub systems: Vec<SystemErrors>,
}

/// How often the metrics are wrong about one system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SystemErrors {
    /// Its name.
    pub system: String,
    /// What is known of its answers.
    pub truth: TruthCounts,
    /// By metric id.
    pub metrics: BTreeMap<String, ErrorCounts>,
    /// By metric id: false positives that a realistic counterexample refutes. Empty against labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub realistic: BTreeMap<String, u64>,
}

/// What is known of a system's answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TruthCounts {
    /// Right answers, those up to a bound among them.
    pub right: u64,
    /// Those of the right ones that are so for tables of few rows only.
    pub right_up_to_bound: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Answers that `verify` cannot decide.
    pub undecided: u64,
    /// Answers without a label, or to a question whose gold fails.
    pub not_judged: u64,
    /// Answers whose label is of an earlier answer.
    pub other_answer: u64,
}

impl TruthCounts {
    fn add(&mut self, truth: Truth) {
        match truth {
            Truth::Right { bounded } => {
                self.right += 1;
                self.right_up_to_bound += u64::from(bounded);
            }
            Truth::Wrong => self.wrong += 1,
            Truth::Undecided => self.undecided += 1,
            Truth::NotJudged => self.not_judged += 1,
            Truth::OtherAnswer => self.other_answer += 1,
        }
    }
}

impl MetricErrorsJob {
    /// The errors by the verdicts of the run.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), labels: None }
    }

    /// Reads the run and counts.
    ///
    /// # Errors
    /// When the run or the labels cannot be read, or neither says which answers are right.
    pub fn run(&self) -> Result<MetricErrors, Error> {
        let RunFiles { manifest, items, .. } = RunFiles::open(&self.folder)?;
        let truths = Truths::of(&self.folder, &manifest, self.labels.as_ref())?;
        let says_right = |id: &&String| {
            id.as_str() != truths.name() && find(id).is_ok_and(|metric| metric.kind() == MetricKind::Binary)
        };
        let metrics: Vec<String> = manifest.metrics.iter().filter(says_right).cloned().collect();
        let counted = metrics.iter().filter(|_| matches!(truths, Truths::Verdicts(_)));
        let realistic: BTreeMap<String, u64> = counted.map(|id| (id.clone(), 0)).collect();
        let empty = |system: &String| SystemErrors {
            system: system.clone(),
            realistic: realistic.clone(),
            ..SystemErrors::default()
        };
        let mut systems: Vec<SystemErrors> = manifest.systems.iter().map(empty).collect();
        items.for_each(|item| {
            if let Some(system) = systems.iter_mut().find(|system| system.system == item.system) {
                system.add(item, truths.of_item(item), &metrics);
            }
            Ok::<(), RunError>(())
        })?;
        Ok(MetricErrors { truth: truths.name().to_owned(), metrics, systems })
    }
}

impl SystemErrors {
    fn add(&mut self, item: &Item, truth: Truth, metrics: &[String]) {
        self.truth.add(truth);
        let Some(is_right) = truth.decided() else { return };
        let is_realistic = item.details.verdict.as_ref().and_then(|verdict| verdict.realistic) == Some(true);
        for id in metrics {
            let counts = self.metrics.entry(id.clone()).or_default();
            let Some(score) = item.metrics.get(id).copied().flatten() else { continue };
            counts.add(score >= 1.0, is_right);
            if let Some(realistic) = self.realistic.get_mut(id) {
                *realistic += u64::from(score >= 1.0 && !is_right && is_realistic);
            }
        }
    }
}

impl MetricErrors {
    /// A line per system and metric, with a head: counts, and rates in percent.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "system,metric,judged,undecided,called_right,false_positives,false_negatives,realistic\n",
        );
        for system in &self.systems {
            for (id, counts) in self.metrics.iter().filter_map(|id| Some((id, system.metrics.get(id)?))) {
                let ErrorCounts { judged, called_right, false_positives, false_negatives } = counts;
                let name = quoted(&system.system);
                let undecided = system.truth.undecided;
                let realistic = system.realistic.get(id).map(u64::to_string).unwrap_or_default();
                let _infallible = writeln!(
                    text,
                    "{name},{id},{judged},{undecided},{called_right},{false_positives},{false_negatives},{realistic}"
                );
            }
        }
        text
    }
}

/// A field of a CSV file.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
