//! Sums up items: means with intervals, breakdowns, paired comparisons.
//!
//! | what | how |
//! |---|---|
//! | interval | 95 %, by the clusters of `clusters.rs`, with the plain one in it |
//! | plain interval of a 0/1 metric | Wilson |
//! | plain interval of another metric | percentile bootstrap over items; 1,000 resamples, in a breakdown 200; from 10,000 items on by its expansion |
//! | comparison of two systems | over the items that both were scored on, by clusters and plain, see [`Comparison`]; of a 0/1 metric one exact test gives the plain p and interval |
//! | `hardness`, `difficulty`, `db_id`, `feature`, `turn` | the items of that label; an item counts under each of its features |
//! | `interaction`, group `joint_all` | conversations (`SParC`, `CoSQL`) with every turn right, 0/1 metrics only |
//!
//! Up to 12 systems are compared pairwise; of more, on each metric the best with every other, since the number
//! of pairs grows with the square. All randomness has a fixed seed: the same items give the same bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use rayon::prelude::*;
use sqlgauge_base::stats;
use sqlgauge_metrics::{Metric, MetricKind, Reads};

use crate::clusters::{ClusterPlace, ClusterPlaces, Clustered, score_of};
use crate::earlier::EarlierCounts;
use crate::error::RunError;
use crate::facts::{GoldState, Labels, Verdict};
use crate::fixes::Fixes;
use crate::index::Line;
use crate::items::{Entry, Items, Prepared};
use crate::raw::RawItem;
use crate::reasons::{Reason, Reasons};
use crate::record::{
    AsWritten, Comparison, Counts, GoldCounts, Item, MISSING, Manifest, PAIRED_BY, PlainDifference,
    ScoreSummary, Summary, SystemSummary,
};

/// Above this number of systems only the best is compared with the others.
pub(crate) const MAX_SYSTEMS_FOR_ALL_PAIRS: usize = 12;

const RESAMPLES: usize = 1000;
const RESAMPLES_IN_BREAKDOWN: usize = 200;
const SEED: u64 = 0x5eed;
const CONFIDENCE: f64 = 0.95;
/// Columns that are summarised in one piece of work, because they share their draws; long ones draw nothing.
const TOGETHER: usize = 64;

/// Takes items one by one and makes their summary; holds scores and labels, not the items.
#[derive(Debug)]
pub struct SummaryBuilder {
    metrics: Vec<Column>,
    system_of_name: HashMap<String, usize>,
    systems: Vec<Answers>,
    statuses: Names<String>,
    row_of_id: HashMap<String, usize>,
    rows: Vec<Row>,
    groups: Names<(String, String)>,
    clusters: ClusterPlaces,
    causes: Names<Vec<String>>,
    /// Whether the items are a sample of questions: of pairs that somebody put together no interval is about anything.
    is_sample: bool,
}

#[derive(Debug)]
struct Column {
    id: String,
    kind: MetricKind,
    higher_is_better: bool,
    reads_rows: bool,
}

/// What one system's items say.
#[derive(Debug, Default)]
struct Answers {
    name: String,
    paired_by: Option<String>,
    counts: Counts,
    statuses: BTreeMap<String, usize>,
    /// By row.
    marks: Vec<Option<Mark>>,
    /// By metric, then by row; not a number where the metric does not apply or the item is not there.
    scores: Vec<Vec<f64>>,
    /// By row, where there are any: metrics, and the scores of the texts as they are written.
    as_written: BTreeMap<usize, Vec<(usize, f64)>>,
    /// By row, of the wrong answers: the number of their causes.
    causes: BTreeMap<usize, usize>,
    /// By row, of the transcripts of several queries.
    earlier: BTreeMap<usize, EarlierCounts>,
}

/// A verdict without its scores.
#[derive(Debug, Clone, Copy)]
struct Mark {
    status: u32,
    scored: bool,
    gold_failed: bool,
    volatile: bool,
}

/// Where an example counts.
#[derive(Debug, Default, Clone)]
struct Row {
    groups: Vec<usize>,
    interaction: Option<u64>,
    gold: GoldState,
    cluster: Option<ClusterPlace>,
}

/// Scores of one system on one metric, with the rows that they are of.
struct Sample {
    kind: MetricKind,
    rows: Vec<usize>,
    values: Vec<f64>,
}

/// Distinct names, each kept once.
#[derive(Debug)]
struct Names<T> {
    all: Vec<T>,
    places: HashMap<T, usize>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self { all: Vec::new(), places: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Names<T> {
    fn place(&mut self, name: T) -> usize {
        if let Some(place) = self.places.get(&name) {
            return *place;
        }
        self.all.push(name.clone());
        self.places.insert(name, self.all.len() - 1);
        self.all.len() - 1
    }
}

impl SummaryBuilder {
    /// An empty summary of that run. A metric that this version does not know counts as a fraction.
    pub fn new(manifest: &Manifest) -> Self {
        let column = |id: &String| {
            let metric = sqlgauge_metrics::recorded(id);
            Column {
                id: id.clone(),
                kind: metric.map_or(MetricKind::Fraction, Metric::kind),
                higher_is_better: metric.is_none_or(Metric::higher_is_better),
                reads_rows: metric.is_some_and(|metric| metric.reads() != Reads::NoRows),
            }
        };
        let answers = |name: &String| Answers {
            name: name.clone(),
            paired_by: manifest
                .options
                .get(PAIRED_BY)
                .and_then(|by| by.get(name)?.as_str())
                .map(str::to_owned),
            scores: vec![Vec::new(); manifest.metrics.len()],
            counts: Counts { requested: manifest.examples, ..Counts::default() },
            ..Answers::default()
        };
        Self {
            metrics: manifest.metrics.iter().map(column).collect(),
            system_of_name: manifest.systems.iter().cloned().zip(0..).collect(),
            systems: manifest.systems.iter().map(answers).collect(),
            statuses: Names::default(),
            row_of_id: HashMap::new(),
            rows: Vec::new(),
            groups: Names::default(),
            clusters: ClusterPlaces::default(),
            causes: Names::default(),
            is_sample: !manifest.is_of_pairs(),
        }
    }

    /// The summary of those items: from the index of their log where it has one, else from the items.
    ///
    /// # Errors
    /// [`RunError`] when the log cannot be read.
    pub fn of(manifest: &Manifest, items: &Items) -> Result<Summary, RunError> {
        Ok(Self::over(manifest, items)?.finish())
    }

    /// The same with why answers are wrong.
    ///
    /// # Errors
    /// As [`SummaryBuilder::of`].
    pub fn explained(manifest: &Manifest, items: &Items, reasons: &Reasons) -> Result<Summary, RunError> {
        let mut builder = Self::over(manifest, items)?;
        if builder.deciding().is_some() {
            builder.explain(items, reasons)?;
        }
        Ok(builder.finish())
    }

    fn over(manifest: &Manifest, items: &Items) -> Result<Self, RunError> {
        let mut builder = Self::new(manifest);
        let index = items.index_of(manifest);
        let facts = index.as_ref().and_then(|index| Some((&index.lines, index.facts()?)));
        if let Some((lines, (verdicts, labels))) = facts {
            builder.add_all(lines, verdicts, labels, manifest.examples);
        } else {
            items.for_each_entry(|entry| {
                builder.take(entry);
                Ok::<(), RunError>(())
            })?;
        }
        Ok(builder)
    }

    /// Counts the causes of wrong answers. Rows are numbered as the items are first met, as in every log.
    fn explain(&mut self, items: &Items, reasons: &Reasons) -> Result<(), RunError> {
        let causes = |item: &RawItem<'_>| {
            let reason = reasons.of_raw(item).ok().flatten();
            reason.map(Reason::counted_causes).unwrap_or_default()
        };
        let mut row_of_id: HashMap<String, usize> = HashMap::new();
        let mut row_of = |id: String| {
            let next = row_of_id.len();
            *row_of_id.entry(id).or_insert(next)
        };
        items.for_each_raw(causes, |entry| {
            let (system, row, causes) = match entry {
                Entry::New(Prepared { system, id, content }) => {
                    let causes = (!content.is_empty()).then(|| self.causes.place(content));
                    (self.system_of_name.get(&system).copied(), row_of(id), causes)
                }
                Entry::Same { system, like, id } => {
                    let row = row_of(id.to_owned());
                    let like = self.system_of_name.get(like).map(|like| &self.systems[*like]);
                    (
                        self.system_of_name.get(system).copied(),
                        row,
                        like.and_then(|like| like.causes.get(&row).copied()),
                    )
                }
            };
            if let (Some(system), Some(causes)) = (system, causes) {
                self.systems[system].causes.insert(row, causes);
            }
            Ok::<(), RunError>(())
        })
    }

    /// The metric by which answers are wrong in the list of what to fix.
    fn deciding(&self) -> Option<usize> {
        let is_deciding = |column: &Column| column.kind == MetricKind::Binary && column.reads_rows;
        self.metrics.iter().position(is_deciding)
    }

    /// Counts an entry of a walk over the items.
    pub fn take(&mut self, entry: Entry<'_>) {
        match entry {
            Entry::New(item) => self.add(item),
            Entry::Same { system, like, id } => self.repeat(system, like, id),
        }
    }

    /// Counts an item; one of a system that the run does not have is passed over.
    pub fn add(&mut self, item: &Item) {
        let Some(&system) = self.system_of_name.get(&item.system) else { return };
        let row = self.row_of(&item.id);
        let labels = self.place(Labels::of(item));
        self.label(row, &labels);
        let verdict = Verdict::of(item, self.metrics.iter().map(|column| &column.id));
        let mark = self.mark(&verdict);
        self.systems[system].count(mark, &verdict.status, 1);
        self.systems[system].put(row, mark, &scores_of(&verdict), &verdict.as_written);
        self.because(system, row, &verdict);
    }

    /// Counts the lines of a log, which stand in canonical order, by the numbers of their verdicts and labels.
    fn add_all(&mut self, lines: &[Line], verdicts: Vec<Verdict>, labels: Vec<Labels>, examples: usize) {
        let verdicts: Vec<(Mark, Vec<f64>, Verdict)> =
            verdicts.into_iter().map(|verdict| (self.mark(&verdict), scores_of(&verdict), verdict)).collect();
        let labels: Vec<Row> = labels.into_iter().map(|labels| self.place(labels)).collect();
        self.rows.resize(lines.len().min(examples), Row::default());
        for (lines, system) in lines.chunks(examples.max(1)).zip(0..) {
            let mut counts = vec![0; verdicts.len()];
            for (row, line) in lines.iter().enumerate() {
                counts[line.verdict as usize] += 1;
                let (mark, scores, verdict) = &verdicts[line.verdict as usize];
                self.systems[system].put(row, *mark, scores, &verdict.as_written);
                self.because(system, row, verdict);
                self.label(row, &labels[line.labels as usize]);
            }
            for ((mark, _, verdict), count) in verdicts.iter().zip(counts).filter(|(_, count)| *count > 0) {
                self.systems[system].count(*mark, &verdict.status, count);
            }
        }
    }

    fn mark(&mut self, verdict: &Verdict) -> Mark {
        Mark {
            status: u32::try_from(self.statuses.place(verdict.status.clone())).unwrap_or(u32::MAX),
            scored: verdict.scored,
            gold_failed: verdict.gold_failed,
            volatile: verdict.volatile,
        }
    }

    fn place(&mut self, labels: Labels) -> Row {
        let Labels { groups, interaction, gold, gold_key } = labels;
        let database = groups.iter().find(|(dimension, _)| dimension == "db_id");
        let cluster = database.map(|(_, db_id)| self.clusters.place(db_id, gold_key));
        let groups = groups.into_iter().map(|group| self.groups.place(group)).collect();
        Row { groups, interaction, gold, cluster }
    }

    /// An item that met an internal error lacks labels: another system's may have them.
    fn label(&mut self, row: usize, labels: &Row) {
        let wealth = |row: &Row| (row.groups.len(), row.cluster.is_some_and(ClusterPlace::has_gold));
        if wealth(labels) > wealth(&self.rows[row]) {
            self.rows[row] = labels.clone();
        }
    }

    /// Counts the item of `system` that says what the item of `like` on the same example says.
    fn repeat(&mut self, system: &str, like: &str, id: &str) {
        let places = (self.system_of_name.get(system), self.system_of_name.get(like), self.row_of_id.get(id));
        let (Some(&system), Some(&like), Some(&row)) = places else { return };
        let Some(mark) = self.systems[like].marks.get(row).copied().flatten() else { return };
        let scores: Vec<f64> = self.systems[like].scores.iter().map(|scores| scores[row]).collect();
        let status = self.statuses.all.get(mark.status as usize).map_or("", String::as_str);
        self.systems[system].count(mark, status, 1);
        let as_written = self.systems[like].as_written.get(&row).cloned().unwrap_or_default();
        self.systems[system].put(row, mark, &scores, &as_written);
        if let Some(causes) = self.systems[like].causes.get(&row).copied() {
            self.systems[system].causes.insert(row, causes);
        }
        if let Some(earlier) = self.systems[like].earlier.get(&row).copied() {
            self.systems[system].earlier.insert(row, earlier);
        }
    }

    /// Keeps why an answer is wrong, and what came before it.
    fn because(&mut self, system: usize, row: usize, verdict: &Verdict) {
        if !verdict.causes.is_empty() {
            let causes = self.causes.place(verdict.causes.clone());
            self.systems[system].causes.insert(row, causes);
        }
        if let Some(earlier) = verdict.earlier {
            self.systems[system].earlier.insert(row, earlier);
        }
    }

    /// The list of what to fix of a system.
    fn fixes(&self, answers: &Answers) -> Option<Fixes> {
        let metric = self.deciding()?;
        let causes = |row| Some(self.causes.all.get(*answers.causes.get(&row)?)?.as_slice());
        Fixes::of(&self.metrics[metric].id, &answers.scores[metric], causes)
    }

    fn row_of(&mut self, id: &str) -> usize {
        if let Some(row) = self.row_of_id.get(id) {
            return *row;
        }
        self.row_of_id.insert(id.to_owned(), self.rows.len());
        self.rows.push(Row::default());
        self.rows.len() - 1
    }

    /// The summary of the items so far.
    pub fn finish(mut self) -> Summary {
        for scores in self.systems.iter_mut().flat_map(|s| &mut s.scores) {
            scores.resize(self.rows.len(), f64::NAN);
        }
        let whole = self.scores(&(0..self.rows.len()).collect::<Vec<_>>(), RESAMPLES);
        let mut systems: Vec<SystemSummary> = self
            .systems
            .iter()
            .zip(whole)
            .map(|(answers, scores)| SystemSummary {
                system: answers.name.clone(),
                paired_by: answers.paired_by.clone(),
                counts: answers.counts,
                statuses: answers.statuses.clone(),
                as_written: self.as_written(answers),
                fixes: self.fixes(answers),
                transcripts: EarlierCounts::sum(answers.earlier.values()),
                scores,
                breakdown: BTreeMap::new(),
            })
            .collect();
        let mut put = |dimension: &str, group: &str, scores: Vec<BTreeMap<String, ScoreSummary>>| {
            for (system, scores) in systems.iter_mut().zip(scores) {
                let groups = system.breakdown.entry(dimension.to_owned()).or_default();
                groups.insert(group.to_owned(), scores);
            }
        };
        for ((dimension, group), rows) in self.groups() {
            put(dimension, group, self.scores(&rows, RESAMPLES_IN_BREAKDOWN));
        }
        let interactions = self.interactions();
        if !interactions.is_empty() {
            let joint = self.systems.iter().map(|answers| self.joint_all(answers, &interactions));
            put("interaction", "joint_all", joint.collect());
        }
        Summary {
            metrics: self.metrics.iter().map(|column| column.id.clone()).collect(),
            golds: self.golds(),
            systems,
            comparisons: self.comparisons(),
        }
    }

    /// What the scores of a system are over the texts as they are written, where any is another.
    fn as_written(&self, answers: &Answers) -> BTreeMap<String, AsWritten> {
        let mut changes: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (row, scores) in &answers.as_written {
            for (metric, written) in scores {
                changes.entry(*metric).or_default().push(written - answers.scores[*metric][*row]);
            }
        }
        let summed = |(metric, changes): (usize, Vec<f64>)| {
            let scores: Vec<f64> = numbers_of(&answers.scores[metric]).collect();
            let mean = mean_of(&scores)? + changes.iter().sum::<f64>() / scores.len() as f64;
            let gained = Some(changes.iter().filter(|change| **change > 0.0).count());
            Some((self.metrics[metric].id.clone(), AsWritten { items: changes.len(), gained, mean }))
        };
        changes.into_iter().filter_map(summed).collect()
    }

    fn golds(&self) -> GoldCounts {
        let count = |is: fn(&GoldState) -> bool| self.rows.iter().filter(|labels| is(&labels.gold)).count();
        let on_empty = self.rows.iter().filter(|labels| labels.gold.on_empty_database);
        let groups = on_empty.flat_map(|labels| &labels.groups).map(|group| &self.groups.all[*group]);
        let databases: BTreeSet<String> =
            groups.filter(|(dimension, _)| dimension == "db_id").map(|(_, name)| name.clone()).collect();
        GoldCounts {
            examples: self.rows.len(),
            failed: count(|gold| gold.failed),
            unanswerable: count(|gold| gold.unanswerable),
            empty: count(|gold| gold.empty),
            empty_databases: databases.into_iter().collect(),
            on_empty_databases: count(|gold| gold.on_empty_database),
        }
    }

    fn groups(&self) -> BTreeMap<(&str, &str), Vec<usize>> {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (row, labels) in self.rows.iter().enumerate() {
            for group in &labels.groups {
                let (dimension, group) = &self.groups.all[*group];
                groups.entry((dimension.as_str(), group.as_str())).or_default().push(row);
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

    /// Per system the scores on every metric, over those rows.
    fn scores(&self, rows: &[usize], resamples: usize) -> Vec<BTreeMap<String, ScoreSummary>> {
        let cells: Vec<(usize, usize)> = (0..self.systems.len())
            .flat_map(|system| (0..self.metrics.len()).map(move |metric| (system, metric)))
            .collect();
        let scored: Vec<ScoreSummary> = cells
            .par_chunks(self.together())
            .flat_map_iter(|cells| {
                let samples: Vec<Sample> =
                    cells.iter().map(|(system, metric)| self.sample(*system, *metric, rows)).collect();
                self.summarise(&samples, resamples)
            })
            .collect();
        let per_system = scored.chunks(self.metrics.len().max(1));
        let ids = || self.metrics.iter().map(|column| column.id.clone());
        let named = per_system.map(|scores| ids().zip(scores.iter().copied()).collect());
        let mut named: Vec<BTreeMap<String, ScoreSummary>> = named.collect();
        named.resize(self.systems.len(), BTreeMap::new());
        named
    }

    fn sample(&self, system: usize, metric: usize, rows: &[usize]) -> Sample {
        let scores = &self.systems[system].scores[metric];
        let rows: Vec<usize> = rows.iter().copied().filter(|row| scores[*row].is_finite()).collect();
        let values = rows.iter().map(|row| scores[*row]).collect();
        Sample { kind: self.metrics[metric].kind, rows, values }
    }

    /// What values of those rows come to by their clusters; `None` where that says no more than the values alone.
    fn clustered(&self, rows: &[usize], values: &[f64]) -> Option<Clustered> {
        rows.iter().all(|row| self.rows[*row].cluster.is_some()).then_some(())?;
        let places = rows.iter().filter_map(|row| self.rows[*row].cluster);
        Clustered::of(places.zip(values.iter().copied()))
    }

    fn joint_all(&self, answers: &Answers, interactions: &[Vec<usize>]) -> BTreeMap<String, ScoreSummary> {
        let joint = |metric: usize| {
            let all_right = |rows: &Vec<usize>| {
                let turns = pick(&answers.scores[metric], rows);
                let is_right = f64::from(u8::from(turns.iter().all(|s| *s >= 1.0)));
                (turns.len() == rows.len()).then_some((*rows.first()?, is_right))
            };
            let (rows, values) = interactions.iter().filter_map(all_right).unzip();
            Sample { kind: MetricKind::Binary, rows, values }
        };
        let binary = self.metrics.iter().enumerate().filter(|(_, column)| column.kind == MetricKind::Binary);
        let (ids, samples): (Vec<String>, Vec<Sample>) =
            binary.map(|(metric, column)| (column.id.clone(), joint(metric))).unzip();
        ids.into_iter().zip(self.summarise(&samples, RESAMPLES)).collect()
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let pairs: Vec<(usize, usize, usize)> =
            (0..self.metrics.len()).flat_map(|metric| self.pairs(metric)).collect();
        pairs.par_chunks(self.together()).flat_map_iter(|pairs| self.compare(pairs)).collect()
    }

    fn together(&self) -> usize {
        if self.rows.len() < stats::LONG { TOGETHER } else { 1 }
    }

    /// Which systems to compare on a metric, as (metric, first, second).
    fn pairs(&self, metric: usize) -> Vec<(usize, usize, usize)> {
        let count = self.systems.len();
        if count <= MAX_SYSTEMS_FOR_ALL_PAIRS {
            return (0..count).flat_map(|a| (a + 1..count).map(move |b| (metric, a, b))).collect();
        }
        let mean = |system: usize| {
            let scores: Vec<f64> = numbers_of(&self.systems[system].scores[metric]).collect();
            mean_of(&scores)
        };
        let ranked: Vec<(usize, f64)> = (0..count).filter_map(|s| Some((s, mean(s)?))).collect();
        let better = |a: f64, b: f64| if self.metrics[metric].higher_is_better { a > b } else { a < b };
        let best =
            ranked.iter().copied().reduce(|best, next| if better(next.1, best.1) { next } else { best });
        let Some((best, _)) = best else { return Vec::new() };
        (0..count).filter(|other| *other != best).map(|other| (metric, best, other)).collect()
    }

    /// The comparisons of those pairs, as (metric, first, second); none where nothing is in common.
    fn compare(&self, pairs: &[(usize, usize, usize)]) -> Vec<Comparison> {
        let differences: Vec<Sample> = pairs
            .iter()
            .map(|pair| {
                let (mut rows, mut values) =
                    (Vec::with_capacity(self.rows.len()), Vec::with_capacity(self.rows.len()));
                self.in_common(*pair).for_each(|(row, first, second)| {
                    rows.push(row);
                    values.push(first - second);
                });
                Sample { kind: self.metrics[pair.0].kind, rows, values }
            })
            .collect();
        let is_drawn = |pair: &(usize, usize, usize)| self.metrics[pair.0].kind != MetricKind::Binary;
        let drawn: Vec<&[f64]> = pairs
            .iter()
            .zip(&differences)
            .filter(|(pair, _)| is_drawn(pair))
            .map(|(_, of)| of.values.as_slice())
            .collect();
        let mut intervals = stats::bootstrap_means(&drawn, CONFIDENCE, RESAMPLES, SEED).into_iter();
        let all = pairs.iter().zip(&differences);
        all.filter_map(|(pair, differences)| {
            let interval = if is_drawn(pair) { intervals.next().flatten() } else { None };
            self.comparison(*pair, differences, interval)
        })
        .collect()
    }

    /// The rows that two systems were both scored on, with their scores.
    fn in_common(
        &self,
        (metric, first, second): (usize, usize, usize),
    ) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        let (a, b) = (&self.systems[first].scores[metric], &self.systems[second].scores[metric]);
        let pairs = a.iter().zip(b).enumerate().map(|(row, (a, b))| (row, *a, *b));
        pairs.filter(|(_, a, b)| a.is_finite() && b.is_finite())
    }

    fn comparison(
        &self,
        pair: (usize, usize, usize),
        Sample { kind, rows, values: differences }: &Sample,
        interval: Option<stats::Interval>,
    ) -> Option<Comparison> {
        let (metric, first, second) = pair;
        let difference = mean_of(differences)?;
        let only_first = differences.iter().filter(|d| **d > 0.0).count();
        let only_second = differences.iter().filter(|d| **d < 0.0).count();
        let (first_only, second_only) = (only_first as u64, only_second as u64);
        let (plain_p, plain) = match kind {
            MetricKind::Binary => (
                stats::mcnemar_exact(first_only, second_only),
                stats::paired_difference(first_only, second_only, differences.len() as u64, CONFIDENCE),
            ),
            MetricKind::Fraction | MetricKind::Unbounded => (
                stats::sign_flip_test(differences, RESAMPLES, SEED),
                interval.unwrap_or(stats::Interval { low: difference, high: difference }),
            ),
        };
        let clustered = self.clustered(rows, differences);
        let (interval, p_value) =
            clustered.map_or((plain, plain_p), |of| of.of_differences(*kind, CONFIDENCE, (plain, plain_p)));
        let mean = |sum: f64| Some(sum / differences.len() as f64);
        Some(Comparison {
            metric: self.metrics[metric].id.clone(),
            first: self.systems[first].name.clone(),
            second: self.systems[second].name.clone(),
            count: differences.len(),
            first_mean: mean(self.in_common(pair).map(|(_, first, _)| first).sum()),
            second_mean: mean(self.in_common(pair).map(|(_, _, second)| second).sum()),
            difference,
            low: interval.low,
            high: interval.high,
            p_value,
            only_first,
            only_second,
            clusters: clustered.map(|of| of.clusters),
            plain: clustered.map(|_| PlainDifference { low: plain.low, high: plain.high, p_value: plain_p }),
        })
    }

    /// The scores of some samples.
    fn summarise(&self, samples: &[Sample], resamples: usize) -> Vec<ScoreSummary> {
        let drawn: Vec<&[f64]> = samples
            .iter()
            .filter(|sample| sample.kind != MetricKind::Binary)
            .map(|sample| sample.values.as_slice())
            .collect();
        let mut intervals = stats::bootstrap_means(&drawn, CONFIDENCE, resamples, SEED).into_iter();
        let score = |Sample { kind, rows, values }: &Sample| {
            let plain = match kind {
                MetricKind::Binary => wilson(values),
                MetricKind::Fraction | MetricKind::Unbounded => intervals.next().flatten(),
            };
            let plain = plain.filter(|_| self.is_sample);
            score_of(*kind, values, plain, self.clustered(rows, values), CONFIDENCE)
        };
        samples.iter().map(score).collect()
    }
}

impl Answers {
    /// Counts that many items of a verdict.
    fn count(&mut self, mark: Mark, status: &str, items: usize) {
        if let Some(count) = self.statuses.get_mut(status) {
            *count += items;
        } else {
            self.statuses.insert(status.to_owned(), items);
        }
        self.counts.scored += items * usize::from(mark.scored);
        self.counts.missing += items * usize::from(status == MISSING);
        self.counts.gold_failed += items * usize::from(mark.gold_failed);
        self.counts.volatile += items * usize::from(mark.volatile);
    }

    fn put(&mut self, row: usize, mark: Mark, scores: &[f64], as_written: &[(usize, f64)]) {
        put_at(&mut self.marks, row, Some(mark), None);
        if !as_written.is_empty() {
            self.as_written.insert(row, as_written.to_vec());
        }
        for (column, score) in self.scores.iter_mut().zip(scores) {
            put_at(column, row, *score, f64::NAN);
        }
    }
}

fn scores_of(verdict: &Verdict) -> Vec<f64> {
    verdict.scores.iter().map(|score| score.unwrap_or(f64::NAN)).collect()
}

fn put_at<T: Clone>(column: &mut Vec<T>, row: usize, value: T, empty: T) {
    if column.len() <= row {
        column.resize(row + 1, empty);
    }
    column[row] = value;
}

fn pick(scores: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|row| scores[*row]).filter(|score| score.is_finite()).collect()
}

fn numbers_of(scores: &[f64]) -> impl Iterator<Item = f64> + '_ {
    scores.iter().copied().filter(|score| score.is_finite())
}

fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// `None` without values: then nothing is known, not even that the score is between 0 and 1.
fn wilson(values: &[f64]) -> Option<stats::Interval> {
    let right = values.iter().filter(|value| **value >= 1.0).count();
    (!values.is_empty()).then(|| stats::wilson(right as u64, values.len() as u64, CONFIDENCE))
}
