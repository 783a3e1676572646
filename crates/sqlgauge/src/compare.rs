//! Two systems of a run beside each other: `sqlgauge compare`.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use sqlgauge_run::{Item, Manifest, RunError, RunFiles, Summary, SummaryBuilder};

use crate::error::Error;

/// Compares two systems of a run: paired tests, intervals of the difference, and the items that differ.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge::{CompareJob, Context, Sample};
///
/// let folder = tempfile::tempdir()?;
/// let run = folder.path().join("run");
/// Sample::unpack(folder.path())?.score_job(&["ex"], &run)?.run(&Context::default())?;
///
/// let mut job = CompareJob::new(run);
/// job.systems = ["careful", "baseline"].map(str::to_owned).to_vec();
/// let comparison = job.run()?;
/// assert!(comparison.only_first.len() > comparison.only_second.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CompareJob {
    /// The run directory.
    pub folder: PathBuf,
    /// The two systems; empty where the run has two.
    pub systems: Vec<String>,
    /// The metric whose differing items are listed, with or without its version; the first of the run without it.
    pub metric: Option<String>,
}

/// What came of a comparison.
#[derive(Debug, Clone)]
pub struct SystemComparison {
    /// The scores of both systems, the first of the job first, and what tells them apart.
    pub summary: Summary,
    /// Id of the metric whose differing items are listed.
    pub metric: String,
    /// Ids of the items on which the first system scores higher, in the order of the golds.
    pub only_first: Vec<String>,
    /// Ids of the items on which the second system scores higher.
    pub only_second: Vec<String>,
}

impl CompareJob {
    /// The two systems of a run, by its first metric.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), systems: Vec::new(), metric: None }
    }

    /// Reads the run and compares.
    ///
    /// # Errors
    /// When the run cannot be read, or has not the systems or the metric.
    pub fn run(&self) -> Result<SystemComparison, Error> {
        let run = RunFiles::open(&self.folder)?;
        let (first, second) = self.pair(&run.manifest)?;
        let metric = self.metric(&run.manifest)?;
        let manifest = Manifest { systems: vec![first.clone(), second.clone()], ..run.manifest };
        let mut builder = SummaryBuilder::new(&manifest);
        let mut scores = Scores::default();
        run.items.for_each(|item| {
            if item.system == first || item.system == second {
                builder.add(item);
                scores.add(item, &metric, item.system == first);
            }
            Ok::<(), RunError>(())
        })?;
        let (only_first, only_second) = scores.differing(&metric);
        Ok(SystemComparison { summary: builder.finish(), metric, only_first, only_second })
    }

    fn pair(&self, manifest: &Manifest) -> Result<(String, String), Error> {
        let systems = manifest.systems.join(", ");
        let named = if self.systems.is_empty() { &manifest.systems } else { &self.systems };
        let [first, second] = named.as_slice() else {
            let text = format!("name two systems with --systems A,B; the run has {systems}");
            return Err(Error::Invalid(text));
        };
        if let Some(name) = [first, second].into_iter().find(|name| !manifest.systems.contains(name)) {
            let text = format!("the run has no system {name:?}; its systems are {systems}");
            return Err(Error::Invalid(text));
        }
        if first == second {
            let text = format!("--systems names {first:?} twice; name two different systems of {systems}");
            return Err(Error::Invalid(text));
        }
        Ok((first.clone(), second.clone()))
    }

    fn metric(&self, manifest: &Manifest) -> Result<String, Error> {
        let Some(name) = &self.metric else {
            let first = manifest.metrics.first().cloned();
            return first.ok_or_else(|| Error::Invalid("the run has no metric".to_owned()));
        };
        let is_meant = |id: &&String| *id == name || id.split('@').next() == Some(name);
        let missing = || {
            let metrics = manifest.metrics.join(", ");
            Error::Invalid(format!("the run does not score {name:?}; its metrics are {metrics}"))
        };
        manifest.metrics.iter().find(is_meant).cloned().ok_or_else(missing)
    }
}

impl SystemComparison {
    /// The comparison as `sqlgauge compare --json` prints it.
    pub fn to_json(&self) -> Value {
        let [first, second] = [0, 1].map(|at| &self.summary.systems[at]);
        json!({
            "first": first.system,
            "second": second.system,
            "scores": {"first": first.scores, "second": second.scores},
            "comparisons": self.summary.comparisons,
            "metric": self.metric,
            "only_first": self.only_first,
            "only_second": self.only_second,
        })
    }
}

/// The two systems' scores on one metric, by item.
#[derive(Default)]
struct Scores {
    /// In the order of the gold file.
    first: Vec<(String, Option<f64>)>,
    second: HashMap<String, Option<f64>>,
}

impl Scores {
    fn add(&mut self, item: &Item, metric: &str, is_first: bool) {
        let score = item.metrics.get(metric).copied().flatten();
        if is_first {
            self.first.push((item.id.clone(), score));
        } else {
            self.second.insert(item.id.clone(), score);
        }
    }

    /// The items on which the first scores higher, and those on which the second does.
    fn differing(self, metric: &str) -> (Vec<String>, Vec<String>) {
        let higher_is_better =
            sqlgauge_metrics::find(metric).is_ok_and(sqlgauge_metrics::Metric::higher_is_better);
        let (mut only_first, mut only_second) = (Vec::new(), Vec::new());
        for (id, score) in self.first {
            let (Some(a), Some(Some(b))) = (score, self.second.get(&id)) else { continue };
            let first_wins = if higher_is_better { a > *b } else { a < *b };
            if first_wins {
                only_first.push(id);
            } else if a.total_cmp(b).is_ne() {
                only_second.push(id);
            }
        }
        (only_first, only_second)
    }
}
