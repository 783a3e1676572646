//! One set of answers under several versions of the golds: `sqlgauge score --gold A=… --gold B=…`.
//!
//! # Contract
//! - Versions may cover different items, found by their ids; a system's answers are read once, over the items of all versions, and each
//!   version scores those that it has. Each version is a run of its own, `OUT/NAME`.
//! - A score has the interval of its run and its number of items. Ranks, swaps and Kendall's tau are over the items that every version
//!   scores, so that no system gains by the items that a version has. Ranks count the systems that are better; equal ones share a rank.
//! - A swap is a pair of systems that stands in opposite orders under two versions. Its probability is the share of 2,000 resamples of
//!   the items in which both orders hold, each strictly; an item is drawn with all that it has, its scores of every system and version.
//! - First comes each system on the items that both versions score, paired by item, with an interval and a test. The agreement of
//!   versions is over those items too.
//! - Of systems with lists of answers, all of this is about the first answers. Each version is a run of [`SamplesJob`], and a table has
//!   the rates of the lists under each.
//! - All randomness has a fixed seed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sqlgauge_base::stats::{self, Interval};
use sqlgauge_base::{Random, counted};
use sqlgauge_dataset::{Benchmark, Example, Prediction, parse_benchmark};
use sqlgauge_metrics::{MetricKind, lower_is_better};
use sqlgauge_report::document::{Block, Cell, Document, Drawing, Extent, Section, Table, Text};
use sqlgauge_report::words::{NONE, grouped, many, minus, share};
use sqlgauge_report::{Nature, clusters, number};
use sqlgauge_run::{
    ClusterPlace, ClusterPlaces, Clustered, Clusters, MISSING, PlainDifference, RunError, RunFiles,
    ScoreSummary, Summary, SummaryBuilder, SystemSummary, gold_key, paired_test,
};

use crate::context::Context;
use crate::error::Error;
use crate::samples::{SampleRules, SamplesJob, SystemSamples, numbered_name, rate_text};
use crate::score::{ScoreJob, System};
use crate::source::Source;

/// Scores systems under several versions of the golds.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, Source, VersionsJob};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let job = sample.score_job(&["ex"], folder.path().join("versions"))?;
/// // The second version has a defect: its first gold returns nothing.
/// let mut golds: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(&sample.questions)?)?;
/// golds[0]["gold"] = "SELECT 1 WHERE 0".into();
/// let other = folder.path().join("other.json");
/// std::fs::write(&other, serde_json::to_string(&golds)?)?;
///
/// let versions = vec![("first".to_owned(), job.gold.clone()), ("second".to_owned(), Source::from(other))];
/// let compared = VersionsJob { versions, job, lists: None }.run(&Context::default())?;
/// assert_eq!(compared.items, [41, 41]);
/// assert_eq!(compared.changes[0].lost.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct VersionsJob {
    /// Names and golds of the versions, in their order.
    pub versions: Vec<(String, Source)>,
    /// How each is scored; its golds are not read, and its folder holds those of the versions.
    pub job: ScoreJob,
    /// What is said of lists of answers; without, each prediction is one answer.
    pub lists: Option<SampleRules>,
}

/// Changes that stand in words above the tables.
const MOST_SAID: usize = 4;

/// Systems under versions.
#[derive(Debug, Clone, Default)]
pub struct Versions {
    /// The metric, with its version.
    pub metric: String,
    /// Names of the versions.
    pub versions: Vec<String>,
    /// Names of the systems that every version has.
    pub systems: Vec<String>,
    /// By version: items that some system has a score on.
    pub items: Vec<usize>,
    /// By version, then by system.
    pub scores: Vec<Vec<ScoreSummary>>,
    /// By version, then by system: the questions without an answer.
    pub missing: Vec<Vec<usize>>,
    /// The questions that intervals are about, after "95 % intervals".
    pub about: String,
    /// Items that every version scores.
    pub shared: usize,
    /// Those of them whose question or evidence is not the same in every version.
    pub reworded: usize,
    /// By version, then by system: the mean over those.
    pub shared_means: Vec<Vec<f64>>,
    /// By version, then by system: the rank by those means, from 1.
    pub ranks: Vec<Vec<usize>>,
    /// Pairs that change places.
    pub swaps: Vec<Swap>,
    /// What a system gains and loses from the first version to each other one.
    pub changes: Vec<VersionChange>,
    /// Of every two versions.
    pub agreements: Vec<Agreement>,
    /// By version: the rates of lists of answers; empty where each prediction is one answer.
    pub samples: Vec<Vec<SystemSamples>>,
    /// What was scored: each version's run.
    pub runs: Vec<PathBuf>,
}

/// Two systems in opposite orders.
#[derive(Debug, Clone, PartialEq)]
pub struct Swap {
    /// The system that is better under the first version.
    pub first: String,
    /// The one that is better under the second.
    pub second: String,
    /// The two versions.
    pub versions: [String; 2],
    /// Mean of `first` less that of `second` under each.
    pub differences: [f64; 2],
    /// Share of the resamples in which both orders hold.
    pub probability: f64,
}

/// One system on the items that two versions score.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionChange {
    /// The system.
    pub system: String,
    /// The two versions.
    pub versions: [String; 2],
    /// Items scored under both.
    pub shared: usize,
    /// Those of them that the system has no answer to.
    pub missing: usize,
    /// The mean over them under each.
    pub means: [f64; 2],
    /// The second mean less the first, with its interval of 95 %, paired by item.
    pub difference: f64,
    /// Its interval.
    pub interval: Interval,
    /// Of the test by clusters.
    pub p_value: f64,
    /// What interval and test take together.
    pub clusters: Option<Clusters>,
    /// Interval and test if items were independent, where there are clusters.
    pub plain: Option<PlainDifference>,
    /// Ids of those with a higher score under the second.
    pub gained: Vec<String>,
    /// Ids of those with a lower one.
    pub lost: Vec<String>,
}

/// How far two versions say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// The two versions.
    pub versions: [String; 2],
    /// Items that both have.
    pub shared: usize,
    /// Scores of a system on an item that both have.
    pub pairs: usize,
    /// Those that are equal.
    pub equal: usize,
    /// Kendall's tau-b of the means of the systems over the items of every version; `None` where one has them all equal.
    pub kendall: Option<f64>,
}

impl VersionsJob {
    /// Scores every version and compares them, by the first metric of the job.
    ///
    /// # Errors
    /// As [`ScoreJob::run`], and when there are not two versions with names of their own.
    pub fn run(&self, context: &Context<'_>) -> Result<Versions, Error> {
        self.check()?;
        let read = |(_, gold): &(String, Source)| {
            Ok(parse_benchmark(&gold.read()?, None, gold.format(self.job.format)?, &self.job.columns)?)
        };
        let benchmarks = self.versions.iter().map(read).collect::<Result<Vec<Benchmark>, Error>>()?;
        let union = union(&benchmarks);
        let answers = self.job.systems.iter().map(|system| self.answers(system, &union));
        let answers = answers.collect::<Result<Vec<_>, Error>>()?;
        let (mut runs, mut samples) = (Vec::new(), Vec::new());
        for ((name, gold), benchmark) in self.versions.iter().zip(&benchmarks) {
            let out = self.job.out.join(name);
            let others = others(&union, benchmark);
            let systems = self.job.systems.iter().zip(&answers);
            let systems =
                systems.map(|(system, answers)| answers_without(system, answers, &others)).collect();
            let job = ScoreJob {
                gold: gold.clone(),
                systems,
                prediction_format: None,
                extract: false,
                out: out.clone().into(),
                ..self.job.clone()
            };
            match &self.lists {
                None => drop(job.run(context)?),
                Some(rules) => samples.push(SamplesJob { job, rules: rules.clone() }.run(context)?.systems),
            }
            runs.push((name.clone(), out));
        }
        let metric = self.job.metrics.first().map(|metric| metric.id());
        let names = self.job.systems.iter().map(|system| match &self.lists {
            None => system.name.clone(),
            Some(_) => numbered_name(&system.name, 0),
        });
        let mut versions = compare(&runs, metric, &names.collect::<Vec<_>>())?;
        versions.systems = self.job.systems.iter().map(|system| system.name.clone()).collect();
        versions.samples = samples;
        versions.document().write_to(&self.job.out, "versions", &versions.to_json())?;
        Ok(versions)
    }

    /// A system's answers to all items, as rows by id.
    fn answers(&self, system: &System, all: &Benchmark) -> Result<Answers, Error> {
        if let Some(rules) = &self.lists {
            return rules.rows(system, all, &self.job);
        }
        let set = system.read(all, self.job.prediction_format, self.job.extract, true)?;
        let row = |(example, prediction): (&Example, Option<Prediction>)| {
            let row = |answer: Prediction| json!({"id": example.id, "prediction": answer.sql, "confidence": answer.confidence});
            (example.id.clone(), prediction.map(row))
        };
        Ok(all.examples.iter().zip(set.predictions).map(row).collect())
    }

    fn check(&self) -> Result<(), Error> {
        let invalid = |text: String| Err(Error::Invalid(text));
        if self.versions.len() < 2 {
            return invalid("give two versions of the golds or more, each as --gold NAME=FILE".to_owned());
        }
        let mut seen = HashSet::new();
        for (name, _) in &self.versions {
            let is_name = !name.is_empty() && !name.contains(['/', '\\']) && name != "." && name != "..";
            if !is_name || !seen.insert(name) {
                return invalid(format!(
                    "{name:?} cannot be the name of a version; give each --gold a name of its own that can be a folder"
                ));
            }
        }
        Ok(())
    }
}

/// The items of all versions, those of the first one first.
fn union(benchmarks: &[Benchmark]) -> Benchmark {
    let mut seen = HashSet::new();
    let all = benchmarks.iter().flat_map(|benchmark| &benchmark.examples);
    let distinct = all.filter(|example| seen.insert(example.id.as_str())).cloned().enumerate();
    let examples = distinct.map(|(index, example)| Example { index, ..example }).collect();
    let sources = benchmarks.iter().flat_map(|benchmark| benchmark.sources.clone()).collect();
    Benchmark {
        examples,
        sources,
        has_ids: benchmarks.iter().any(|benchmark| benchmark.has_ids),
        notes: Vec::new(),
    }
}

/// Ids of all items with what a system says to them.
type Answers = Vec<(String, Option<Value>)>;

/// Ids of the items that a version has not.
fn others<'u>(union: &'u Benchmark, version: &Benchmark) -> HashSet<&'u str> {
    let ids: HashSet<&str> = version.examples.iter().map(|example| example.id.as_str()).collect();
    union.examples.iter().map(|example| example.id.as_str()).filter(|id| !ids.contains(id)).collect()
}

/// A system with its answers to all items but those.
fn answers_without(system: &System, answers: &Answers, others: &HashSet<&str>) -> System {
    let rest = answers.iter().filter(|(id, _)| !others.contains(id.as_str()));
    let rows: String = rest.filter_map(|(_, row)| Some(row.as_ref()?.to_string() + "\n")).collect();
    let name = system.predictions.path().to_owned();
    System::new(system.name.clone(), Source::Memory { name, bytes: rows.into_bytes().into() })
}

/// What the runs say of each item.
struct Scores {
    ids: Vec<String>,
    /// By item, of the first version that has it.
    places: Vec<ClusterPlace>,
    /// By version, system and item; not a number where there is no score.
    values: Vec<Vec<Vec<f64>>>,
    /// By system and item: whether the answer is missing.
    missing: Vec<Vec<bool>>,
    /// By item.
    texts: Vec<QuestionText>,
}

/// What is asked of an item.
#[derive(Clone, Default)]
struct QuestionText {
    /// As the first version has it.
    question: Option<String>,
    evidence: Option<String>,
    /// Whether a later version has other words.
    is_reworded: bool,
}

/// Compares those systems of runs as versions, by a metric of all of them; the first one's first without it.
fn compare(runs: &[(String, PathBuf)], metric: Option<&str>, systems: &[String]) -> Result<Versions, Error> {
    let opened = runs.iter().map(|(_, path)| Ok(RunFiles::open(path)?)).collect::<Result<Vec<_>, Error>>()?;
    let Some(first) = opened.first() else { return Err(Error::Invalid("give runs to compare".to_owned())) };
    let is_in_all = |id: &String| opened.iter().all(|run| run.manifest.metrics.contains(id));
    let is_meant =
        |id: &&String| metric.is_none_or(|name| id.as_str() == name || id.split('@').next() == Some(name));
    let metric = first.manifest.metrics.iter().filter(|id| is_in_all(id)).find(is_meant).cloned();
    let metric = metric.ok_or_else(|| {
        Error::Invalid("the runs have not that metric in common; score them by the same".to_owned())
    })?;
    let scores = read_scores(&opened, systems, &metric)?;
    let summaries = opened.iter().map(summary_of).collect::<Result<Vec<_>, Error>>()?;
    let names: Vec<String> = runs.iter().map(|(name, _)| name.clone()).collect();
    let mut versions = Versions {
        scores: of_systems(&summaries, systems, |system| {
            system.scores.get(&metric).copied().unwrap_or_default()
        }),
        missing: of_systems(&summaries, systems, |system| system.counts.missing),
        about: summaries.first().map(clusters::about).unwrap_or_default(),
        metric,
        items: scores
            .values
            .iter()
            .map(|version| {
                (0..scores.ids.len())
                    .filter(|item| version.iter().any(|values| !values[*item].is_nan()))
                    .count()
            })
            .collect(),
        versions: names,
        systems: systems.to_vec(),
        runs: runs.iter().map(|(_, path)| path.clone()).collect(),
        ..Versions::default()
    };
    if !versions.compare(&scores) {
        let text = "the versions have not an item in common, so ranks cannot be compared; give versions of one benchmark, with its ids";
        return Err(Error::Invalid(text.to_owned()));
    }
    Ok(versions)
}

fn read_scores(runs: &[RunFiles], systems: &[String], metric: &str) -> Result<Scores, Error> {
    let (mut ids, mut clusters, mut numbers) = (Vec::new(), Vec::new(), ClusterPlaces::default());
    let mut texts = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut read = Vec::new();
    let system_of: HashMap<&str, usize> = systems.iter().map(String::as_str).zip(0..).collect();
    for (version, run) in runs.iter().enumerate() {
        run.items.for_each(|item| {
            let place = *places.entry(item.id.clone()).or_insert_with(|| {
                ids.push(item.id.clone());
                texts.push(QuestionText {
                    question: item.details.question.clone(),
                    evidence: item.details.evidence.clone(),
                    is_reworded: false,
                });
                clusters.push(numbers.place(&item.db_id, gold_key(&item.db_id, item.details.golds())));
                ids.len() - 1
            });
            let text: &mut QuestionText = &mut texts[place];
            text.is_reworded |=
                text.question != item.details.question || text.evidence != item.details.evidence;
            if let (Some(system), Some(value)) =
                (system_of.get(item.system.as_str()), item.metrics.get(metric).copied().flatten())
            {
                read.push((version, *system, place, value, item.status == MISSING));
            }
            Ok::<(), RunError>(())
        })?;
    }
    let mut values = vec![vec![vec![f64::NAN; ids.len()]; systems.len()]; runs.len()];
    let mut missing = vec![vec![false; ids.len()]; systems.len()];
    for (version, system, item, value, is_missing) in read {
        values[version][system][item] = value;
        missing[system][item] = is_missing;
    }
    Ok(Scores { ids, places: clusters, values, missing, texts })
}

fn summary_of(run: &RunFiles) -> Result<Summary, Error> {
    Ok(match &run.summary {
        Some(summary) => summary.clone(),
        None => SummaryBuilder::of(&run.manifest, &run.items)?,
    })
}

/// By version, then by system: what its summary says.
fn of_systems<T: Default>(
    summaries: &[Summary],
    systems: &[String],
    value: impl Fn(&SystemSummary) -> T,
) -> Vec<Vec<T>> {
    let of = |summary: &Summary, name: &String| {
        let system = summary.systems.iter().find(|system| system.system == *name);
        system.map(&value).unwrap_or_default()
    };
    summaries.iter().map(|summary| systems.iter().map(|name| of(summary, name)).collect()).collect()
}

const LEVEL: f64 = 0.95;
const RESAMPLES: usize = 2000;
const SEED: u64 = 0x5eed;

/// The interval of paired differences, and the p-value of their test, if items were independent.
fn tested(kind: MetricKind, differences: &[f64]) -> (Interval, f64) {
    if kind == MetricKind::Binary {
        let count = |moved: fn(&&f64) -> bool| differences.iter().filter(moved).count() as u64;
        let (gained, lost) = (count(|moved| **moved > 0.0), count(|moved| **moved < 0.0));
        let interval = stats::paired_difference(gained, lost, differences.len() as u64, LEVEL);
        return (interval, stats::mcnemar_exact(gained, lost));
    }
    let interval = stats::bootstrap_mean(differences, LEVEL, RESAMPLES, SEED);
    let interval = interval.unwrap_or(Interval { low: f64::NAN, high: f64::NAN });
    (interval, stats::sign_flip_test(differences, RESAMPLES, SEED))
}

impl Versions {
    /// Compares; false where not an item is shared.
    fn compare(&mut self, scores: &Scores) -> bool {
        let sign = if lower_is_better(&self.metric) { -1.0 } else { 1.0 };
        let is_scored = |item: usize| {
            scores.values.iter().all(|version| version.iter().any(|values| !values[item].is_nan()))
        };
        let all: Vec<usize> = (0..scores.ids.len()).filter(|item| is_scored(*item)).collect();
        if all.is_empty() {
            return false;
        }
        let means = means(scores, &all, sign);
        self.shared = all.len();
        self.reworded = all.iter().filter(|item| scores.texts[**item].is_reworded).count();
        self.shared_means =
            means.iter().map(|version| version.iter().map(|mean| sign * mean).collect()).collect();
        let better =
            |version: &Vec<f64>, value: f64| 1 + version.iter().filter(|mean| **mean > value).count();
        self.ranks =
            means.iter().map(|version| version.iter().map(|mean| better(version, *mean)).collect()).collect();
        let mut random = Random::new([SEED]);
        let resampled: Vec<Vec<Vec<f64>>> = (0..RESAMPLES)
            .map(|_| {
                self::means(
                    scores,
                    &(0..all.len()).map(|_| all[random.below(all.len())]).collect::<Vec<_>>(),
                    sign,
                )
            })
            .collect();
        for a in 0..self.versions.len() {
            for b in a + 1..self.versions.len() {
                self.add_swaps([a, b], &means, &resampled);
                self.agreements.push(self.agreement([a, b], scores, &means));
            }
            if a > 0 {
                let changes: Vec<VersionChange> =
                    (0..self.systems.len()).map(|system| self.change(system, [0, a], scores, sign)).collect();
                self.changes.extend(changes);
            }
        }
        self.swaps.sort_by(|x, y| y.probability.total_cmp(&x.probability));
        true
    }

    /// One system has no rank, and one question gives none.
    fn is_ranked(&self) -> bool {
        self.systems.len() > 1 && self.shared > 1
    }

    fn names(&self, versions: [usize; 2]) -> [String; 2] {
        versions.map(|version| self.versions[version].clone())
    }

    fn add_swaps(&mut self, versions: [usize; 2], means: &[Vec<f64>], resampled: &[Vec<Vec<f64>>]) {
        for x in 0..self.systems.len() {
            for y in 0..self.systems.len() {
                let differences =
                    |means: &[Vec<f64>]| versions.map(|version| means[version][x] - means[version][y]);
                let is_swap = |[first, second]: [f64; 2]| first > 0.0 && second < 0.0;
                let seen = differences(means);
                if !is_swap(seen) {
                    continue;
                }
                let real = resampled.iter().filter(|means| is_swap(differences(means))).count();
                self.swaps.push(Swap {
                    first: self.systems[x].clone(),
                    second: self.systems[y].clone(),
                    versions: self.names(versions),
                    differences: seen,
                    probability: real as f64 / resampled.len() as f64,
                });
            }
        }
    }

    fn change(&self, system: usize, versions: [usize; 2], scores: &Scores, sign: f64) -> VersionChange {
        let [before, after] = versions.map(|version| &scores.values[version][system]);
        let both = (0..scores.ids.len()).filter(|item| !before[*item].is_nan() && !after[*item].is_nan());
        let ids = |moved: &dyn Fn(f64) -> bool| {
            both.clone()
                .filter(|item| moved(sign * (after[*item] - before[*item])))
                .map(|item| scores.ids[item].clone())
                .collect()
        };
        let differences: Vec<f64> = both.clone().map(|item| after[item] - before[item]).collect();
        let kind = Nature::of(&self.metric).kind;
        let plain = tested(kind, &differences);
        let places = both.clone().map(|item| scores.places[item]);
        let clustered = Clustered::of(places.zip(differences.iter().copied()));
        let (interval, p_value) = clustered.map_or(plain, |of| of.of_differences(kind, LEVEL, plain));
        let shared = differences.len().max(1) as f64;
        let mean = |of: &[f64]| both.clone().map(|item| of[item]).sum::<f64>() / shared;
        VersionChange {
            system: self.systems[system].clone(),
            versions: self.names(versions),
            shared: differences.len(),
            missing: both.clone().filter(|item| scores.missing[system][*item]).count(),
            means: [mean(before), mean(after)],
            difference: differences.iter().sum::<f64>() / shared,
            interval,
            p_value,
            clusters: clustered.map(|of| of.clusters),
            plain: clustered.map(|_| PlainDifference {
                low: plain.0.low,
                high: plain.0.high,
                p_value: plain.1,
            }),
            gained: ids(&|moved| moved > 0.0),
            lost: ids(&|moved| moved < 0.0),
        }
    }

    fn agreement(&self, versions: [usize; 2], scores: &Scores, means: &[Vec<f64>]) -> Agreement {
        let [first, second] = versions.map(|version| &scores.values[version]);
        let mut agreement =
            Agreement { versions: self.names(versions), shared: 0, pairs: 0, equal: 0, kendall: None };
        for item in 0..scores.ids.len() {
            let both = first.iter().zip(second).map(|(a, b)| (a[item], b[item]));
            let both: Vec<(f64, f64)> = both.filter(|(a, b)| !a.is_nan() && !b.is_nan()).collect();
            agreement.shared += usize::from(!both.is_empty());
            agreement.pairs += both.len();
            agreement.equal += both.iter().filter(|(a, b)| (a - b).abs() < 1e-12).count();
        }
        agreement.kendall = kendall(&means[versions[0]], &means[versions[1]]);
        agreement
    }

    /// The tables.
    pub fn document(&self) -> Document {
        let mut document = Document::new("Versions of the golds");
        document.lead.extend(self.changes.iter().take(MOST_SAID).map(|change| self.said(change)));
        document.lead.extend((self.reworded > 0).then(|| {
            Block::note(format!(
                "Question or evidence is not worded alike in all versions for {} of {}.",
                self.reworded,
                counted(self.shared, "shared question"),
            ))
        }));
        let of = if self.samples.is_empty() { "" } else { " of the first answers" };
        let test = self.changes.first().map_or_else(String::new, |change| {
            paired_test(Nature::of(&self.metric).kind, change.clusters, change.shared)
        });
        let note =
            format!("{}{of}; the change with its 95 % interval{}; p by {test}", self.metric, self.about);
        document.add(Section::new("The same questions under two versions", note, self.changed()));
        document.add(
            Section::new("Questions gained and lost", "", self.moved_items())
                .folded()
                .terminal(Extent::Nothing),
        );
        let note = format!(
            "{}{of}, over all questions of each version. Shared: over the {} that all versions have{}",
            self.metric,
            counted(self.shared, "question"),
            if self.is_ranked() { "; #: the rank" } else { "" }
        );
        let mut alone = Section::new("Each version alone", note, self.scores());
        alone.blocks.extend(self.unanswered().into_iter().map(Block::note));
        document.add(alone);
        let note = format!(
            "{}, percent with 95 % intervals{}, and the number of questions",
            self.metric, self.about
        );
        document.add(Section::new("Several answers by version", note, self.lists()));
        let note = "points between the two systems; real: how often resampled questions give the same swap";
        document.add(Section::new("Ranks that change", note, self.swapped()));
        let note = "equal: questions with the same score under both; tau: Kendall's rank correlation, from four systems on";
        document.add(Section::new("Agreement of the versions", note, self.agreeing()));
        document
    }

    /// `On plat instead of orig, mine goes from 48.8 to 53.7 % (ex@1, 41 questions): +4.9 points [−2.1, +12.0], p = 0.500.`
    fn said(&self, change: &VersionChange) -> Block {
        let nature = Nature::of(&self.metric);
        let [from, to] = &change.versions;
        let [before, after] = change.means.map(|mean| number::score(Some(mean), nature));
        let [unit, points] = if nature.has_own_unit() { ["", ""] } else { [" %", " points"] };
        let text = format!(
            " goes from {before} to {after}{unit} ({}, {}): {}{points}, {}.",
            self.metric,
            answered(change.shared, change.missing),
            number::difference_with(change.difference, change.interval, nature),
            number::p_in_words(change.p_value)
        );
        let start = format!("On {to} instead of {from}, ");
        Block::lead(Text::from(start).strong(&change.system).plain(text))
    }

    fn scores(&self) -> Table {
        let nature = Nature::of(&self.metric);
        let shared = self.versions.iter().map(|name| format!("{name}, shared"));
        let mut table =
            Table::new(std::iter::once("system".to_owned()).chain(self.versions.clone()).chain(shared));
        for (at, system) in self.systems.iter().enumerate() {
            let intervals = self.scores.iter().map(|version| number::interval(&version[at], nature));
            let shared = self.shared_means.iter().zip(&self.ranks);
            let shared = shared.map(|(means, ranks)| {
                let rank = if self.is_ranked() { format!(" #{}", ranks[at]) } else { String::new() };
                format!("{}{rank}", number::score(Some(means[at]), nature))
            });
            table.push(std::iter::once(system.clone()).chain(intervals).chain(shared));
        }
        table
    }

    /// A sentence for each version and system that has questions without an answer.
    fn unanswered(&self) -> Vec<String> {
        let of_version = |(at, version): (usize, &String)| -> Vec<String> {
            let systems = self.systems.iter().enumerate();
            let missing = systems.filter(|(system, _)| self.missing[at][*system] > 0);
            let sentence = |(system, name): (usize, &String)| {
                let questions = answered(self.scores[at][system].count, self.missing[at][system]);
                format!("{name} under {version}: {questions}. A missing answer counts as wrong.")
            };
            missing.map(sentence).collect()
        };
        self.versions.iter().enumerate().flat_map(of_version).collect()
    }

    /// The rates of lists of answers under each version.
    fn lists(&self) -> Table {
        let versions = self.versions.iter().map(String::as_str);
        let mut table = Table::new(["system", "rate"].into_iter().chain(versions));
        for (system, samples) in self.samples.first().into_iter().flatten().enumerate() {
            for (at, rate) in samples.rates.iter().enumerate() {
                let cells = self.samples.iter().map(|version| rate_text(&version[system].rates[at].score));
                table.push([samples.system.clone(), rate.name.clone()].into_iter().chain(cells));
            }
        }
        table
    }

    fn swapped(&self) -> Table {
        let nature = Nature::of(&self.metric);
        let mut table = Table::new(["first", "behind", "under", "points", "under", "points", "real"]);
        for swap in self.swaps.iter().filter(|_| self.is_ranked()) {
            let [a, b] = swap.versions.clone();
            let [before, after] = swap.differences.map(|points| number::difference(points, nature));
            let probability = format!("{:.0} %", 100.0 * swap.probability);
            table.push([swap.first.clone(), swap.second.clone(), a, before, b, after, probability]);
        }
        table
    }

    fn changed(&self) -> Table {
        let nature = Nature::of(&self.metric);
        let columns = [
            "system",
            "versions",
            "change",
            "p",
            "drawn",
            "before",
            "after",
            "questions",
            "missing",
            "gained",
            "lost",
        ];
        let row = |change: &VersionChange| {
            let [old, new] = change.means;
            let moved = number::difference_with(change.difference, change.interval, nature);
            let drawn = if nature.has_own_unit() {
                Cell::default()
            } else {
                Cell::drawn(Drawing::Change { from: old, to: new })
            };
            let names =
                [change.system.clone(), change.versions.join(" → "), moved, number::p_value(change.p_value)];
            let means = change.means.map(|mean| Cell::new(number::score(Some(mean), nature)));
            let counts = [change.shared, change.missing, change.gained.len(), change.lost.len()];
            let counts = counts.map(|count| Cell::new(count.to_string()));
            names.map(Cell::new).into_iter().chain([drawn]).chain(means).chain(counts).collect()
        };
        Table::of(columns, self.changes.iter().map(row))
    }

    /// The items behind the numbers gained and lost.
    fn moved_items(&self) -> Table {
        let row = |change: &VersionChange| {
            let names = [change.system.clone(), change.versions.join(" → ")];
            let ids = [&change.gained, &change.lost].map(|ids| ids.join(", "));
            names.into_iter().chain(ids).map(Cell::new).collect()
        };
        let moved = self.changes.iter().filter(|change| !change.gained.is_empty() || !change.lost.is_empty());
        Table::of(["system", "versions", "gained", "lost"], moved.map(row))
    }

    fn agreeing(&self) -> Table {
        let mut table = Table::new(["versions", "questions", "scores", "equal", "tau"]);
        for group in &self.agreements {
            let equal = share(group.equal, group.pairs);
            let tau = group
                .kendall
                .filter(|_| self.systems.len() >= 4)
                .map_or_else(|| NONE.to_owned(), |tau| minus(format!("{tau:.2}")));
            let names = group.versions.join(", ");
            table.push([names, group.shared.to_string(), group.pairs.to_string(), equal, tau]);
        }
        table
    }

    /// All of it as JSON.
    pub fn to_json(&self) -> Value {
        let version = |at: usize| {
            let systems = self.systems.iter().enumerate().map(|(system, name)| {
                let score = json!({"score": self.scores[at][system], "missing": self.missing[at][system], "shared": self.shared_means[at][system], "rank": self.ranks[at][system]});
                (name.clone(), score)
            });
            let systems: BTreeMap<String, Value> = systems.collect();
            let mut version = json!({"version": self.versions[at], "items": self.items[at], "run": path(&self.runs[at]), "systems": systems});
            if let Some(samples) = self.samples.get(at) {
                version["samples"] = samples.iter().map(SystemSamples::to_json).collect();
            }
            version
        };
        let swap = |swap: &Swap| json!({"first": swap.first, "second": swap.second, "versions": swap.versions, "differences": swap.differences, "probability": swap.probability});
        let change = |change: &VersionChange| json!({"system": change.system, "versions": change.versions, "shared": change.shared, "missing": change.missing, "means": change.means, "difference": change.difference, "low": change.interval.low, "high": change.interval.high, "p_value": change.p_value, "clusters": change.clusters, "plain": change.plain, "gained": change.gained, "lost": change.lost});
        let agreement = |row: &Agreement| json!({"versions": row.versions, "items": row.shared, "scores": row.pairs, "equal": row.equal, "kendall": row.kendall});
        json!({
            "metric": self.metric,
            "shared": self.shared,
            "versions": (0..self.versions.len()).map(version).collect::<Vec<_>>(),
            "swaps": self.swaps.iter().map(swap).collect::<Vec<_>>(),
            "changes": self.changes.iter().map(change).collect::<Vec<_>>(),
            "agreements": self.agreements.iter().map(agreement).collect::<Vec<_>>(),
        })
    }
}

/// `41 questions`; `129 questions: answered 52, missing 77`.
fn answered(questions: usize, missing: usize) -> String {
    let all = many(questions, "question");
    match missing {
        0 => all,
        missing => format!("{all}: answered {}, missing {}", grouped(questions - missing), grouped(missing)),
    }
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// By version and system: the mean over those items that have a score, times `sign`; 0 where none has.
fn means(scores: &Scores, items: &[usize], sign: f64) -> Vec<Vec<f64>> {
    let mean = |system: &Vec<f64>| {
        let values = items.iter().map(|item| system[*item]).filter(|value| !value.is_nan());
        let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), value| (sum + value, count + 1));
        if count == 0 { 0.0 } else { sign * sum / count as f64 }
    };
    scores.values.iter().map(|version| version.iter().map(mean).collect()).collect()
}

/// Kendall's tau-b.
fn kendall(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mut agree, mut only_a, mut only_b) = (0_i64, 0_u32, 0_u32);
    let mut untied = 0_u32;
    for x in 0..a.len() {
        for y in 0..x {
            let (p, q) = ((a[x] - a[y]), (b[x] - b[y]));
            match (p == 0.0, q == 0.0) {
                (true, true) => {}
                (true, false) => only_b += 1,
                (false, true) => only_a += 1,
                (false, false) => {
                    untied += 1;
                    agree += if (p > 0.0) == (q > 0.0) { 1 } else { -1 };
                }
            }
        }
    }
    let scale = (f64::from(untied + only_a) * f64::from(untied + only_b)).sqrt();
    (scale > 0.0).then(|| agree as f64 / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(values: Vec<Vec<Vec<f64>>>) -> (Versions, Scores) {
        let items = values[0][0].len();
        let none = ScoreSummary::default();
        let versions = Versions {
            metric: "ex@1".to_owned(),
            versions: (0..values.len()).map(|at| format!("v{at}")).collect(),
            systems: (0..values[0].len()).map(|at| format!("s{at}")).collect(),
            scores: vec![vec![none; values[0].len()]; values.len()],
            missing: vec![vec![0; values[0].len()]; values.len()],
            ..Versions::default()
        };
        (
            versions,
            Scores {
                ids: (0..items).map(|at| at.to_string()).collect(),
                places: vec![ClusterPlaces::default().place("d", None); items],
                missing: vec![(0..items).map(|at| at % 2 == 1).collect(); values[0].len()],
                texts: (0..items)
                    .map(|at| QuestionText { is_reworded: at == 0, ..QuestionText::default() })
                    .collect(),
                values,
            },
        )
    }

    #[test]
    fn a_swap_by_many_items_is_real_and_one_by_a_single_item_is_not() {
        let many = |right: usize| (0..100).map(|at| f64::from(u8::from(at < right))).collect::<Vec<_>>();
        let (mut sure, of_sure) = scores(vec![vec![many(90), many(50)], vec![many(50), many(90)]]);
        assert!(sure.compare(&of_sure));
        assert_eq!(sure.swaps.len(), 1);
        assert!(sure.swaps[0].probability > 0.99, "{:?}", sure.swaps);
        assert_eq!(sure.ranks, [[1, 2], [2, 1]]);
        assert_eq!((sure.agreements[0].kendall, sure.reworded), (Some(-1.0), 1));
        let (mut unsure, of_unsure) = scores(vec![vec![many(51), many(50)], vec![many(50), many(51)]]);
        assert!(unsure.compare(&of_unsure));
        assert!(unsure.swaps[0].probability < 0.7, "{:?}", unsure.swaps);
    }

    #[test]
    fn every_number_is_over_the_items_that_both_versions_have() {
        let none = f64::NAN;
        let (mut versions, scores) =
            scores(vec![vec![vec![1.0, 0.0, 1.0, none]], vec![vec![0.0, 1.0, none, 1.0]]]);
        assert!(versions.compare(&scores));
        let change = &versions.changes[0];
        assert_eq!(
            (change.shared, change.gained.as_slice(), change.lost.as_slice()),
            (2, &["1".to_owned()][..], &["0".to_owned()][..])
        );
        assert_eq!((versions.agreements[0].pairs, versions.agreements[0].equal), (2, 0));
        assert_eq!(answered(change.shared, change.missing), "2 questions: answered 1, missing 1");
    }

    #[test]
    fn ties_do_not_count_as_orders() {
        assert_eq!(kendall(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), Some(1.0));
        assert_eq!(kendall(&[1.0, 1.0], &[1.0, 2.0]), None);
    }
}
