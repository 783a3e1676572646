//! From items to scores: means with intervals, breakdowns, paired comparisons.
//!
//! | what | how |
//! |---|---|
//! | interval of a 0/1 metric | Wilson, 95 % |
//! | interval of another metric | percentile bootstrap over items, 95 %; 1,000 resamples, in a breakdown 200 |
//! | comparison of two systems | over the items that both were scored on, see [`Comparison`] |
//! | `hardness`, `difficulty`, `db_id`, `feature`, `turn` | the items of that label; an item counts under each of its features |
//! | `interaction`, group `joint_all` | conversations (`SParC`, `CoSQL`) with every turn right, 0/1 metrics only |
//!
//! Up to 12 systems are compared pairwise; of more, on each metric the best with every other, since the number
//! of pairs grows with the square. All randomness has a fixed seed: the same items give the same bytes.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use serde_json::Value;
use sqlgauge_metrics::{Metric, MetricKind, stats};

use crate::record::{Comparison, Counts, Item, Manifest, ScoreSummary, Summary, SystemSummary};
use crate::scorer::{GOLD_FAILED, MISSING};

/// Above this number of systems only the best is compared with the others.
pub const MAX_SYSTEMS_FOR_ALL_PAIRS: usize = 12;

const RESAMPLES: usize = 1000;
const RESAMPLES_IN_BREAKDOWN: usize = 200;
const SEED: u64 = 0x5eed;
const CONFIDENCE: f64 = 0.95;

/// Takes items one by one and makes their summary; holds scores and labels, not the items.
#[derive(Debug)]
pub struct SummaryBuilder {
    metrics: Vec<Column>,
    system_of_name: HashMap<String, usize>,
    systems: Vec<Answers>,
    row_of_id: HashMap<String, usize>,
    rows: Vec<Labels>,
}

#[derive(Debug)]
struct Column {
    id: String,
    kind: MetricKind,
    higher_is_better: bool,
}

/// What one system's items say.
#[derive(Debug, Default)]
struct Answers {
    name: String,
    counts: Counts,
    statuses: BTreeMap<String, usize>,
    /// By metric, then by row; `None` where the metric does not apply or the item is not there.
    scores: Vec<Vec<Option<f64>>>,
}

/// Where an example counts.
#[derive(Debug, Default)]
struct Labels {
    groups: Vec<(&'static str, String)>,
    interaction: Option<u64>,
}

impl SummaryBuilder {
    /// An empty summary of that run. A metric that this version does not know counts as a fraction.
    pub fn new(manifest: &Manifest) -> Self {
        let column = |id: &String| {
            let metric = sqlgauge_metrics::find(id).ok();
            Column {
                id: id.clone(),
                kind: metric.map_or(MetricKind::Fraction, Metric::kind),
                higher_is_better: metric.is_none_or(Metric::higher_is_better),
            }
        };
        let answers = |name: &String| Answers {
            name: name.clone(),
            scores: vec![Vec::new(); manifest.metrics.len()],
            counts: Counts { requested: manifest.examples, ..Counts::default() },
            ..Answers::default()
        };
        Self {
            metrics: manifest.metrics.iter().map(column).collect(),
            system_of_name: manifest.systems.iter().cloned().zip(0..).collect(),
            systems: manifest.systems.iter().map(answers).collect(),
            row_of_id: HashMap::with_capacity(manifest.examples),
            rows: Vec::with_capacity(manifest.examples),
        }
    }

    /// Counts an item; one of a system that the run does not have is passed over.
    pub fn add(&mut self, item: &Item) {
        let Some(&system) = self.system_of_name.get(&item.system) else { return };
        let row = self.row_of(&item.id);
        // An item that met an internal error lacks labels: another system's may have them.
        let labels = Labels::of(item);
        if labels.groups.len() > self.rows[row].groups.len() {
            self.rows[row] = labels;
        }
        let answers = &mut self.systems[system];
        answers.count(item);
        for (column, scores) in self.metrics.iter().zip(&mut answers.scores) {
            if scores.len() <= row {
                scores.resize(row + 1, None);
            }
            scores[row] = item.metrics.get(&column.id).copied().flatten().filter(|score| score.is_finite());
        }
    }

    fn row_of(&mut self, id: &str) -> usize {
        if let Some(row) = self.row_of_id.get(id) {
            return *row;
        }
        self.row_of_id.insert(id.to_owned(), self.rows.len());
        self.rows.push(Labels::default());
        self.rows.len() - 1
    }

    /// The summary of the items so far.
    pub fn finish(mut self) -> Summary {
        for scores in self.systems.iter_mut().flat_map(|s| &mut s.scores) {
            scores.resize(self.rows.len(), None);
        }
        let groups = self.groups();
        let interactions = self.interactions();
        let systems =
            self.systems.par_iter().map(|answers| self.system(answers, &groups, &interactions)).collect();
        Summary {
            metrics: self.metrics.iter().map(|column| column.id.clone()).collect(),
            systems,
            comparisons: self.comparisons(),
        }
    }

    fn groups(&self) -> BTreeMap<(&'static str, &str), Vec<usize>> {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (row, labels) in self.rows.iter().enumerate() {
            for (dimension, group) in &labels.groups {
                groups.entry((*dimension, group.as_str())).or_default().push(row);
            }
        }
        groups
    }

    fn interactions(&self) -> Vec<Vec<usize>> {
        let mut interactions: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (row, labels) in self.rows.iter().enumerate() {
            if let Some(interaction) = labels.interaction {
                interactions.entry(interaction).or_default().push(row);
            }
        }
        interactions.into_values().collect()
    }

    fn system(
        &self,
        answers: &Answers,
        groups: &BTreeMap<(&'static str, &str), Vec<usize>>,
        interactions: &[Vec<usize>],
    ) -> SystemSummary {
        let mut breakdown: BTreeMap<String, BTreeMap<String, BTreeMap<String, ScoreSummary>>> =
            BTreeMap::new();
        let mut put = |dimension: &str, group: &str, scores| {
            breakdown.entry(dimension.to_owned()).or_default().insert(group.to_owned(), scores);
        };
        for ((dimension, group), rows) in groups {
            put(
                dimension,
                group,
                self.scores(|metric| pick(&answers.scores[metric], rows), RESAMPLES_IN_BREAKDOWN),
            );
        }
        if !interactions.is_empty() {
            put("interaction", "joint_all", self.joint_all(answers, interactions));
        }
        SystemSummary {
            system: answers.name.clone(),
            counts: answers.counts,
            statuses: answers.statuses.clone(),
            scores: self
                .scores(|metric| answers.scores[metric].iter().flatten().copied().collect(), RESAMPLES),
            breakdown,
        }
    }

    fn scores(&self, values: impl Fn(usize) -> Vec<f64>, resamples: usize) -> BTreeMap<String, ScoreSummary> {
        let score = |(metric, column): (usize, &Column)| {
            (column.id.clone(), summarise(column.kind, &values(metric), resamples))
        };
        self.metrics.iter().enumerate().map(score).collect()
    }

    fn joint_all(&self, answers: &Answers, interactions: &[Vec<usize>]) -> BTreeMap<String, ScoreSummary> {
        let joint = |metric: usize| {
            let all_right = |rows: &Vec<usize>| {
                let turns = pick(&answers.scores[metric], rows);
                (turns.len() == rows.len()).then(|| f64::from(u8::from(turns.iter().all(|s| *s >= 1.0))))
            };
            interactions.iter().filter_map(all_right).collect::<Vec<f64>>()
        };
        let binary = self.metrics.iter().enumerate().filter(|(_, column)| column.kind == MetricKind::Binary);
        binary
            .map(|(metric, column)| (column.id.clone(), summarise(column.kind, &joint(metric), RESAMPLES)))
            .collect()
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let pairs: Vec<(usize, usize, usize)> =
            (0..self.metrics.len()).flat_map(|metric| self.pairs(metric)).collect();
        pairs
            .into_par_iter()
            .filter_map(|(metric, first, second)| self.compare(metric, first, second))
            .collect()
    }

    /// Which systems to compare on a metric, as (metric, first, second).
    fn pairs(&self, metric: usize) -> Vec<(usize, usize, usize)> {
        let count = self.systems.len();
        if count <= MAX_SYSTEMS_FOR_ALL_PAIRS {
            return (0..count).flat_map(|a| (a + 1..count).map(move |b| (metric, a, b))).collect();
        }
        let mean = |system: usize| {
            let scores: Vec<f64> = self.systems[system].scores[metric].iter().flatten().copied().collect();
            mean_of(&scores)
        };
        let ranked: Vec<(usize, f64)> = (0..count).filter_map(|s| Some((s, mean(s)?))).collect();
        let better = |a: f64, b: f64| if self.metrics[metric].higher_is_better { a > b } else { a < b };
        let best =
            ranked.iter().copied().reduce(|best, next| if better(next.1, best.1) { next } else { best });
        let Some((best, _)) = best else { return Vec::new() };
        (0..count).filter(|other| *other != best).map(|other| (metric, best, other)).collect()
    }

    fn compare(&self, metric: usize, first: usize, second: usize) -> Option<Comparison> {
        let Column { id, kind, .. } = &self.metrics[metric];
        let (a, b) = (&self.systems[first].scores[metric], &self.systems[second].scores[metric]);
        let pairs: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
        let difference = mean_of(&differences)?;
        let only_first = differences.iter().filter(|d| **d > 0.0).count();
        let only_second = differences.iter().filter(|d| **d < 0.0).count();
        let (low, high) = bootstrap(&differences, RESAMPLES).unwrap_or((difference, difference));
        let p_value = match kind {
            MetricKind::Binary => stats::mcnemar_exact(only_first as u64, only_second as u64),
            MetricKind::Fraction | MetricKind::Cost => stats::sign_flip_test(&differences, RESAMPLES, SEED),
        };
        Some(Comparison {
            metric: id.clone(),
            first: self.systems[first].name.clone(),
            second: self.systems[second].name.clone(),
            count: pairs.len(),
            difference,
            low,
            high,
            p_value,
            only_first,
            only_second,
        })
    }
}

impl Answers {
    fn count(&mut self, item: &Item) {
        *self.statuses.entry(item.status.clone()).or_default() += 1;
        self.counts.scored += usize::from(item.metrics.values().any(Option::is_some));
        self.counts.missing += usize::from(item.status == MISSING);
        self.counts.gold_failed +=
            usize::from(item.status == GOLD_FAILED || item.details.contains_key("gold_error"));
    }
}

impl Labels {
    fn of(item: &Item) -> Self {
        let text = |key: &str| item.details.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut groups = vec![("db_id", item.db_id.clone())];
        groups.extend(["hardness", "difficulty"].into_iter().filter_map(|key| Some((key, text(key)?))));
        let features = item.details.get("features").and_then(Value::as_array);
        let features = features.into_iter().flatten().filter_map(Value::as_str);
        groups.extend(features.map(|feature| ("feature", feature.to_owned())));
        let place = |key: &str| item.details.get("turn")?.get(key)?.as_u64();
        // The buckets of SParC's and CoSQL's official table.
        groups.extend(place("turn").map(|t| ("turn", if t > 4 { ">4".to_owned() } else { t.to_string() })));
        Self { groups, interaction: place("interaction") }
    }
}

fn pick(scores: &[Option<f64>], rows: &[usize]) -> Vec<f64> {
    rows.iter().filter_map(|row| scores[*row]).collect()
}

fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// `None` without values: then nothing is known, not even that the score is between 0 and 1.
fn wilson(values: &[f64]) -> Option<(f64, f64)> {
    let right = values.iter().filter(|value| **value >= 1.0).count();
    let interval = stats::wilson(right as u64, values.len() as u64, CONFIDENCE);
    (!values.is_empty()).then_some((interval.low, interval.high))
}

fn bootstrap(values: &[f64], resamples: usize) -> Option<(f64, f64)> {
    let interval = stats::bootstrap_mean(values, CONFIDENCE, resamples, SEED)?;
    Some((interval.low, interval.high))
}

fn summarise(kind: MetricKind, values: &[f64], resamples: usize) -> ScoreSummary {
    let interval = match kind {
        MetricKind::Binary => wilson(values),
        MetricKind::Fraction | MetricKind::Cost => bootstrap(values, resamples),
    };
    ScoreSummary {
        mean: mean_of(values),
        low: interval.map(|i| i.0),
        high: interval.map(|i| i.1),
        count: values.len(),
    }
}
