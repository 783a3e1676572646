//! Two systems of a run, or of two runs, beside each other: `sqlgauge compare`.
//!
//! # Contract
//! Items of two runs are the same if their id, database and golds are; the others are left out and counted. Scores of metrics that
//! both runs have, by the same version, are compared.
//! Two runs that differ in an option on which the values of a metric depend ([`unlike`]) are not compared by it. Where no metric is
//! named that is an error; where one is named whose values do not depend on it, the others are left out.

#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of a raw item is of one lifetime; a walk needs one of all"
)]

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sqlgauge_metrics::lower_is_better;
use sqlgauge_report::part;
use sqlgauge_report::words::many;
use sqlgauge_run::{
    Comparison, Item, Manifest, RunError, RunFiles, Summary, SummaryBuilder, systems_named, unlike,
};

use crate::error::Error;
use crate::settings::NOW;
use crate::show::no_system;

/// Compares two systems of a run: paired tests, intervals of the difference, and the items that differ.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{CompareJob, Context, Sample};
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
    /// A second run, from which the second system is; without, both are from the one.
    pub other: Option<PathBuf>,
    /// The two systems, a name each or with commas between; empty where the run has two, or two runs have one each or share one name.
    pub systems: Vec<String>,
    /// The metric whose differing items are listed, with or without its version; the first of the run without it.
    pub metric: Option<String>,
    /// Whether items that ask for the time are left out where two runs took another for now; without, such runs are not compared.
    pub at_other_times: bool,
}

/// What came of a comparison.
#[derive(Debug, Clone)]
pub struct SystemComparison {
    /// The scores of both systems, the first of the job first, and what tells them apart.
    pub summary: Summary,
    /// Id of the metric whose differing items are listed.
    pub metric: String,
    /// Ids of the items on which the first system scores better, in the order of the golds.
    pub only_first: Vec<String>,
    /// Ids of the items on which the second system scores better.
    pub only_second: Vec<String>,
    /// Items of two runs that are not compared.
    pub left_out: LeftOut,
    /// What a reader must know of the two runs, each in one sentence without its full stop.
    pub notes: Vec<String>,
}

/// Items of two runs that are not the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Items that only the first run has.
    pub only_first: usize,
    /// Items that only the second run has.
    pub only_second: usize,
    /// Items with another gold or database.
    pub changed: usize,
    /// Items that ask for the time, of runs that took another for now.
    pub of_time: usize,
}

impl LeftOut {
    /// The same in words; `None` where nothing is left out.
    fn sentence(self) -> Option<String> {
        let Self { only_first, only_second, changed, of_time } = self;
        let parts = [
            (only_first, "only of the first run"),
            (only_second, "only of the second"),
            (changed, "with another gold or database"),
            (of_time, "that ask for the time, which was another"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", many(count, "question")))
            .collect();
        (!parts.is_empty()).then(|| format!("not compared: {}", parts.join(", ")))
    }
}

impl CompareJob {
    /// The two systems of a run, by its first metric.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), other: None, systems: Vec::new(), metric: None, at_other_times: false }
    }

    /// Reads the run and compares.
    ///
    /// # Errors
    /// When the run cannot be read, or has not the systems or the metric.
    pub fn run(&self) -> Result<SystemComparison, Error> {
        let run = RunFiles::open(&self.folder)?;
        if let Some(other) = &self.other {
            return self.run_of_two(&run, &RunFiles::open(other)?, other);
        }
        let (first, second) = self.pair(&run.manifest)?;
        let metric = self.metric(&run.manifest)?;
        let manifest = Manifest { systems: vec![first.clone(), second.clone()], ..run.manifest };
        let mut builder = SummaryBuilder::new(&manifest);
        let mut scores = Scores::default();
        run.items.for_each_raw_of(
            &[&first, &second],
            |item| item.without_texts(),
            |item| {
                builder.add(&item.content);
                scores.add(&item.content, &metric, item.system == first);
                Ok::<(), RunError>(())
            },
        )?;
        let (only_first, only_second) = scores.differing(&metric);
        let notes =
            part(&manifest).map(|part| format!("the scores are those of {part}")).into_iter().collect();
        let left_out = LeftOut::default();
        Ok(SystemComparison { summary: builder.finish(), metric, only_first, only_second, left_out, notes })
    }

    fn run_of_two(
        &self,
        first: &RunFiles,
        second: &RunFiles,
        other: &Path,
    ) -> Result<SystemComparison, Error> {
        let (of_first, of_second) = self.pair_of_two(&first.manifest, &second.manifest)?;
        let questions = [asked_of(first, &of_first)?, asked_of(second, &of_second)?];
        let (shared, mut left_out) = Shared::of(&questions)?;
        let manifests = [&first.manifest, &second.manifest];
        let leaves_out =
            self.at_other_times && manifests[0].options.get(NOW) != manifests[1].options.get(NOW);
        let shared = if leaves_out { shared.without_time(&mut left_out)? } else { shared };
        let mut notes: Vec<String> = parts(manifests);
        notes.extend(same_run(&self.folder, other));
        notes.extend(left_out.sentence());
        let metrics = self.comparable(manifests, !shared.of_time.is_empty(), &mut notes)?;
        let label = |name: &str, folder: &Path| format!("{name} in {}", folder.display());
        let mut labels = [label(&of_first, &self.folder), label(&of_second, other)];
        // A run beside itself: two names all the same, so that both columns are filled.
        if labels[0] == labels[1] {
            labels[1].push_str(", again");
        }
        let examples = shared.ids.len();
        let manifest = Manifest { systems: labels.to_vec(), metrics, examples, ..first.manifest.clone() };
        let metric = self.metric(&manifest)?;
        let mut builder = SummaryBuilder::new(&manifest);
        let mut scores = Scores::default();
        for (run, system, label) in [(first, &of_first, &labels[0]), (second, &of_second, &labels[1])] {
            run.items.for_each_raw_of(
                &[system],
                |item| item.without_texts(),
                |item| {
                    if shared.ids.contains(&item.id) {
                        let item = Item { system: label.clone(), ..item.content };
                        builder.add(&item);
                        scores.add(&item, &metric, *label == labels[0]);
                    }
                    Ok::<(), RunError>(())
                },
            )?;
        }
        let (only_first, only_second) = scores.differing(&metric);
        Ok(SystemComparison { summary: builder.finish(), metric, only_first, only_second, left_out, notes })
    }

    /// The metrics of both runs whose values can be compared.
    fn comparable(
        &self,
        [first, second]: [&Manifest; 2],
        asks_time: bool,
        notes: &mut Vec<String>,
    ) -> Result<Vec<String>, Error> {
        let in_both = first.metrics.iter().filter(|id| second.metrics.contains(id));
        let (mut comparable, mut others) = (Vec::new(), Vec::<(String, Vec<&str>)>::new());
        for id in in_both {
            let why = unlike([first, second], id, asks_time).join(", ");
            if why.is_empty() {
                comparable.push(id.clone());
            } else if let Some((_, ids)) = others.iter_mut().find(|(other, _)| *other == why) {
                ids.push(id);
            } else {
                others.push((why, vec![id]));
            }
        }
        let sentences = others.iter().map(|(why, ids)| format!("by {}: {why}", ids.join(", ")));
        let is_named = |name: &String| comparable.iter().any(|id| is_meant(id, name));
        if others.is_empty() || self.metric.as_ref().is_some_and(is_named) {
            notes.extend(sentences.map(|text| format!("not compared {text}")));
            return Ok(comparable);
        }
        let sentences: Vec<String> = sentences.collect();
        Err(Error::Invalid(format!(
            "the runs cannot be compared {}; score both with the same options, or name a metric that does not depend on them with --metric",
            sentences.join("; ")
        )))
    }

    /// The system of each run: those named, or the only ones, or the only name that both have.
    fn pair_of_two(&self, first: &Manifest, second: &Manifest) -> Result<(String, String), Error> {
        let shared: Vec<&String> =
            first.systems.iter().filter(|name| second.systems.contains(name)).collect();
        let all = [first.systems.as_slice(), &second.systems].concat();
        let wanted = systems_named(&self.systems, &all);
        let (a, b) = match (wanted.as_slice(), shared.as_slice()) {
            ([a, b], _) => (a, b),
            ([both], _) => (both, both),
            ([], [both]) => (*both, *both),
            ([], []) if first.systems.len() == 1 && second.systems.len() == 1 => {
                (&first.systems[0], &second.systems[0])
            }
            _ => {
                let (first, second) = (first.systems.join(", "), second.systems.join(", "));
                return Err(Error::Invalid(format!(
                    "name a system of each run with --systems A,B; the first has {first}, the second {second}"
                )));
            }
        };
        for (name, manifest, which) in [(a, first, "first"), (b, second, "second")] {
            if !manifest.systems.contains(name) {
                let systems = manifest.systems.join(", ");
                return Err(Error::Invalid(format!(
                    "the {which} run has no system {name:?}; its systems are {systems}"
                )));
            }
        }
        Ok((a.clone(), b.clone()))
    }

    fn pair(&self, manifest: &Manifest) -> Result<(String, String), Error> {
        let systems = manifest.systems.join(", ");
        let wanted = if self.systems.is_empty() { &manifest.systems } else { &self.systems };
        let wanted = systems_named(wanted, &manifest.systems);
        let [first, second] = wanted.as_slice() else {
            let text = format!("name two systems with --systems A,B; the run has {systems}");
            return Err(Error::Invalid(text));
        };
        if let Some(name) = [first, second].into_iter().find(|name| !manifest.systems.contains(name)) {
            return Err(Error::Invalid(no_system(name, &systems)));
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
        let missing = || {
            let metrics = manifest.metrics.join(", ");
            Error::Invalid(format!("the run does not score {name:?}; its metrics are {metrics}"))
        };
        manifest.metrics.iter().find(|id| is_meant(id, name)).cloned().ok_or_else(missing)
    }
}

impl SystemComparison {
    /// The paired comparison on the metric; `None` where no item has a score of both systems.
    pub fn difference(&self) -> Option<&Comparison> {
        self.summary.comparisons.iter().find(|comparison| comparison.metric == self.metric)
    }

    /// By how many points the second system is below the first on the metric; negative where it is above.
    pub fn lost(&self) -> Option<f64> {
        let sign = if lower_is_better(&self.metric) { -100.0 } else { 100.0 };
        self.difference().map(|comparison| sign * comparison.difference)
    }

    /// The same, where the second system is below and the paired test takes that for real (p < 0.05).
    pub fn regression(&self) -> Option<f64> {
        let is_real = self.difference().is_some_and(|comparison| comparison.p_value < SURE);
        self.lost().filter(|lost| is_real && *lost > 0.0)
    }

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
            "left_out": {
                "only_first": self.left_out.only_first,
                "only_second": self.left_out.only_second,
                "changed": self.left_out.changed,
                "of_time": self.left_out.of_time,
            },
            "notes": self.notes,
        })
    }
}

/// p-value below which a difference is taken for real.
const SURE: f64 = 0.05;

/// Whether an id is that of a metric named with or without its version.
fn is_meant(id: &str, name: &str) -> bool {
    id == name || id.split('@').next() == Some(name)
}

/// Says what part of its benchmark each run scored.
fn parts([first, second]: [&Manifest; 2]) -> Vec<String> {
    match (part(first), part(second)) {
        (Some(first), Some(second)) if first == second => vec![format!("both runs scored {first}")],
        (first, second) => {
            let of_run =
                |(run, part): (&str, Option<String>)| Some(format!("the {run} run scored {}", part?));
            [("first", first), ("second", second)].into_iter().filter_map(of_run).collect()
        }
    }
}

/// Says so where two folders are one run.
fn same_run(first: &Path, second: &Path) -> Option<String> {
    let [first, second] = [first, second].map(|path| path.canonicalize().ok());
    let is_same = first.is_some() && first == second;
    is_same
        .then(|| "both folders are the same run: a system compared with itself differs in nothing".to_owned())
}

/// The items of two runs that are the same.
struct Shared<'a> {
    ids: HashSet<&'a String>,
    /// Those of them that ask for the time, in one run or the other.
    of_time: Vec<&'a String>,
}

impl<'a> Shared<'a> {
    fn of([first, second]: &'a [HashMap<String, Asked>; 2]) -> Result<(Self, LeftOut), Error> {
        let (mut ids, mut of_time, mut in_both) = (HashSet::new(), Vec::new(), 0);
        for (id, item) in first {
            let Some(other) = second.get(id) else { continue };
            in_both += 1;
            if item.question == other.question {
                ids.insert(id);
                of_time.extend((item.asks_time || other.asks_time).then_some(id));
            }
        }
        let left_out = LeftOut {
            only_first: first.len() - in_both,
            only_second: second.len() - in_both,
            changed: in_both - ids.len(),
            of_time: 0,
        };
        if ids.is_empty() {
            let text = "the two runs have no item in common: none of the same id, database and gold; give runs on one benchmark";
            return Err(Error::Invalid(text.to_owned()));
        }
        Ok((Self { ids, of_time }, left_out))
    }

    fn without_time(mut self, left_out: &mut LeftOut) -> Result<Self, Error> {
        for id in std::mem::take(&mut self.of_time) {
            self.ids.remove(id);
            left_out.of_time += 1;
        }
        if self.ids.is_empty() {
            let text = "the queries of all items ask for the time, and the runs took another for now";
            return Err(Error::Invalid(text.to_owned()));
        }
        Ok(self)
    }
}

/// What an item of a run asks.
struct Asked {
    /// Hash of database and golds.
    question: u64,
    asks_time: bool,
}

/// What a system was asked, by the id of the item.
fn asked_of(run: &RunFiles, system: &str) -> Result<HashMap<String, Asked>, Error> {
    let mut contents = HashMap::new();
    run.items.for_each_raw_of(
        &[system],
        |item| Ok(Asked { question: item.asked()?, asks_time: item.asks_time()? }),
        |item| {
            contents.insert(item.id, item.content);
            Ok::<(), RunError>(())
        },
    )?;
    Ok(contents)
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

    /// The items on which the first scores better, and those on which the second does.
    fn differing(self, metric: &str) -> (Vec<String>, Vec<String>) {
        let is_cost = lower_is_better(metric);
        let (mut only_first, mut only_second) = (Vec::new(), Vec::new());
        for (id, score) in self.first {
            let (Some(a), Some(Some(b))) = (score, self.second.get(&id)) else { continue };
            let first_wins = if is_cost { a < *b } else { a > *b };
            if first_wins {
                only_first.push(id);
            } else if a.total_cmp(b).is_ne() {
                only_second.push(id);
            }
        }
        (only_first, only_second)
    }
}
