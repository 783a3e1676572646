//! From runs to the comparison.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use sqlgauge_base::stats::wilson;
use sqlgauge_dataset::{PredictionSet, is_abstention};
use sqlgauge_run::{
    ClusterPlace, ClusterPlaces, Comparison, Details, InputRecord, Item, Items, MISSING, Manifest, RunError,
    ScoreSummary, Summary, SummaryBuilder,
};

use crate::average::{Scores, macro_averages};
use crate::error::RobustnessError;
use crate::evolved::Evolved;
use crate::model::{
    ANSWERS_TO_ORIGINAL, AccuracyChange, DatabaseCell, METRICS, OutOfScopeRow, Robustness, RobustnessRow,
    SystemRobustness,
};

const LEVEL: f64 = 0.95;
/// The two sides of a comparison, as systems of a summary.
const EVOLVED: &str = "evolved";
const ORIGINAL: &str = "original";

/// What a system said to an item, without what is not needed here.
#[derive(Debug, Clone)]
struct Answer {
    id: String,
    db_id: String,
    status: String,
    metrics: BTreeMap<String, Option<f64>>,
    golds: Vec<String>,
    abstained: bool,
}

/// Questions, and those of them on which a system abstains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abstentions {
    /// Questions.
    pub items: usize,
    /// Without a prediction.
    pub missing: usize,
    pub abstained: usize,
}

impl Abstentions {
    pub fn of(set: &PredictionSet) -> Self {
        let mut counts = Self { items: set.predictions.len(), ..Self::default() };
        for prediction in &set.predictions {
            match prediction {
                None => counts.missing += 1,
                Some(prediction) => counts.abstained += usize::from(is_abstention(&prediction.sql)),
            }
        }
        counts
    }

    fn share(self) -> ScoreSummary {
        let interval = wilson(self.abstained as u64, self.items as u64, LEVEL);
        let if_any = |value: f64| (self.items > 0).then_some(value);
        ScoreSummary {
            mean: if_any(self.abstained as f64 / self.items.max(1) as f64),
            low: if_any(interval.low),
            high: if_any(interval.high),
            count: self.items,
            ..ScoreSummary::default()
        }
    }
}

/// The run of the original benchmark.
#[derive(Debug)]
pub struct Original {
    manifest: Manifest,
    /// By system, then by position in the gold file.
    answers: HashMap<String, HashMap<usize, Answer>>,
}

impl Original {
    /// The databases of the positions of its gold file that it scored.
    fn places(&self) -> BTreeMap<usize, ClusterPlace> {
        let answers = self.answers.values().flatten();
        let databases: BTreeMap<usize, &str> =
            answers.map(|(position, answer)| (*position, answer.db_id.as_str())).collect();
        let mut places = ClusterPlaces::default();
        databases.into_iter().map(|(position, db_id)| (position, places.place(db_id, None))).collect()
    }

    /// Reads what the run says of those systems.
    ///
    /// # Errors
    /// When the run lacks a metric or a system, or cannot be read.
    pub fn read(
        path: &Path,
        manifest: Manifest,
        items: &Items,
        systems: &[String],
    ) -> Result<Self, RobustnessError> {
        let path = path.to_owned();
        if let Some(metric) = METRICS.iter().find(|metric| !manifest.metrics.iter().any(|m| m == *metric)) {
            return Err(RobustnessError::Metric { path, metric: (*metric).to_owned() });
        }
        if let Some(name) = systems.iter().find(|name| !manifest.systems.contains(name)) {
            let systems = manifest.systems.join(", ");
            return Err(RobustnessError::System { path, name: name.clone(), systems });
        }
        let answers = answers(items, systems)?;
        Ok(Self { manifest, answers })
    }

    fn of(&self, system: &str) -> Vec<(usize, &Answer)> {
        let mut all: Vec<(usize, &Answer)> =
            self.answers.get(system).into_iter().flatten().map(|(at, answer)| (*at, answer)).collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all
    }
}

/// An evolved benchmark in scope with its run.
#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    /// The benchmark.
    pub evolved: &'a Evolved,
    /// The items of its run.
    pub items: &'a Items,
}

/// An evolved benchmark out of scope with the abstentions of each system, in the order of the systems.
#[derive(Debug, Clone)]
pub struct OutOfScopeAnswers<'a> {
    /// The benchmark.
    pub evolved: &'a Evolved,
    pub systems: Vec<Abstentions>,
}

/// Compares.
///
/// # Errors
/// When a run cannot be read, or an evolved item is none of the original run.
pub fn measure(
    manifest: Manifest,
    original: &Original,
    scored: &[Scored<'_>],
    out_of_scope: &[OutOfScopeAnswers<'_>],
) -> Result<Robustness, RobustnessError> {
    let mut systems: Vec<SystemRobustness> = Vec::with_capacity(manifest.systems.len());
    let mut gathered: Vec<Vec<(usize, BTreeMap<String, Scores>)>> = Vec::new();
    for (at, system) in manifest.systems.iter().enumerate() {
        let answers = original.of(system);
        gathered.push(vec![(0, scores_of(answers.iter().copied()))]);
        let rows =
            out_of_scope.iter().filter_map(|row| Some(row_out_of_scope(row.evolved, *row.systems.get(at)?)));
        systems.push(SystemRobustness {
            system: system.clone(),
            items: answers.len(),
            original: summary(
                &[ORIGINAL],
                answers.iter().map(|(_, answer)| (ORIGINAL, answer.db_id.as_str(), *answer)),
                answers.len(),
            )
            .systems
            .remove(0)
            .scores,
            false_positives: abstentions(answers.iter().map(|(_, answer)| *answer)).share(),
            rows: Vec::new(),
            average_over_changes: BTreeMap::new(),
            average_with_original: BTreeMap::new(),
            not_asked_again: not_asked_again(&manifest, &original.manifest, system),
            out_of_scope: rows.collect(),
        });
    }
    let mut groups: Vec<&Evolved> = Vec::new();
    for Scored { evolved, items } in scored {
        let answers = answers(items, &manifest.systems)?;
        let group = (evolved.header.step.is_none()).then(|| group(&mut groups, evolved));
        for (system, gathered) in systems.iter_mut().zip(&mut gathered) {
            let pairs = pairs(original, evolved, &system.system, &answers)?;
            system.rows.push(row(evolved, &pairs));
            let of_items = scores_of(pairs.iter().map(|pair| (pair.source, pair.evolved)));
            gathered.extend(group.map(|group| (group + 1, of_items)));
        }
    }
    let places = original.places();
    for (system, gathered) in systems.iter_mut().zip(&gathered) {
        system.average_over_changes = macro_averages(&METRICS, &gathered[1..], &places);
        system.average_with_original = macro_averages(&METRICS, gathered, &places);
    }
    Ok(Robustness { manifest, systems })
}

/// How many files of a system's predictions are its answers to the original: by [`ANSWERS_TO_ORIGINAL`], as the same bytes as
/// those that the original was scored with, or as one file under several names.
fn not_asked_again(manifest: &Manifest, original: &Manifest, system: &str) -> usize {
    let role = format!("predictions:{system}");
    let is_of_system =
        |input: &&InputRecord| input.role.rsplit_once(':').is_some_and(|(of_system, _)| of_system == role);
    let files: Vec<&str> =
        manifest.inputs.iter().filter(is_of_system).map(|input| input.sha256.as_str()).collect();
    if manifest.options.get(ANSWERS_TO_ORIGINAL) == Some(&true.into()) {
        return files.len();
    }
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    let before = original.inputs.iter().filter(|input| input.role == role).map(|input| input.sha256.as_str());
    for file in before.chain(files.iter().copied()) {
        *times.entry(file).or_default() += 1;
    }
    files.iter().filter(|file| times[*file] > 1).count()
}

/// The number of the benchmark's kind; without a kind, of the benchmark.
fn group<'a>(groups: &mut Vec<&'a Evolved>, evolved: &'a Evolved) -> usize {
    let same = |other: &&Evolved| match other.header.kind {
        Some(kind) => evolved.header.kind == Some(kind),
        None => evolved.header.kind.is_none() && other.label == evolved.label,
    };
    groups.iter().position(same).unwrap_or_else(|| {
        groups.push(evolved);
        groups.len() - 1
    })
}

/// What the systems said, by system and position in the gold file.
fn answers(
    items: &Items,
    systems: &[String],
) -> Result<HashMap<String, HashMap<usize, Answer>>, RobustnessError> {
    let mut answers: HashMap<String, HashMap<usize, Answer>> =
        systems.iter().map(|system| (system.clone(), HashMap::new())).collect();
    items.for_each(|item| {
        let Some(by_position) = answers.get_mut(&item.system) else { return Ok(()) };
        let text = item.details.prediction.as_deref();
        let answer = Answer {
            id: item.id.clone(),
            db_id: item.db_id.clone(),
            status: item.status.clone(),
            metrics: item.metrics.clone(),
            golds: item.details.golds().to_vec(),
            abstained: item.status != MISSING && text.is_some_and(is_abstention),
        };
        by_position.insert(item.index, answer);
        Ok::<(), RunError>(())
    })?;
    Ok(answers)
}

/// One question on both schemas.
struct Pair<'a> {
    /// Position in the original.
    source: usize,
    db_id: &'a str,
    evolved: &'a Answer,
    original: &'a Answer,
}

fn pairs<'a>(
    original: &'a Original,
    evolved: &'a Evolved,
    system: &str,
    answers: &'a HashMap<String, HashMap<usize, Answer>>,
) -> Result<Vec<Pair<'a>>, RobustnessError> {
    let (before, after) = (&original.answers[system], &answers[system]);
    let mut pairs = Vec::with_capacity(evolved.items.len());
    for (at, item) in evolved.items.iter().enumerate() {
        let stranger = |present: String| RobustnessError::Stranger {
            path: evolved.benchmark(),
            id: item.question_id.clone(),
            index: item.source_index,
            present,
        };
        let answer = before.get(&item.source_index).ok_or_else(|| stranger("none".to_owned()))?;
        if answer.id != item.question_id || answer.db_id != item.source_db_id {
            return Err(stranger(format!("{:?} of {:?}", answer.id, answer.db_id)));
        }
        // A run that was broken off lacks the last ones.
        let Some(evolved) = after.get(&at) else { continue };
        pairs.push(Pair { source: item.source_index, db_id: &item.source_db_id, evolved, original: answer });
    }
    Ok(pairs)
}

fn row(evolved: &Evolved, pairs: &[Pair<'_>]) -> RobustnessRow {
    let sides = pairs
        .iter()
        .flat_map(|pair| [(EVOLVED, pair.db_id, pair.evolved), (ORIGINAL, pair.db_id, pair.original)]);
    let Summary { mut systems, comparisons, .. } = summary(&[EVOLVED, ORIGINAL], sides, pairs.len());
    let (original, changed) = (systems.pop(), systems.pop());
    let by_database = |side: &Option<sqlgauge_run::SystemSummary>, name: &str| {
        side.as_ref()?.breakdown.get("db_id")?.get(name)?.get(METRICS[2]).copied()
    };
    let mut databases: BTreeMap<String, DatabaseCell> = BTreeMap::new();
    for pair in pairs {
        databases.entry(pair.db_id.to_owned()).or_insert_with(|| DatabaseCell {
            items: 0,
            evolved: by_database(&changed, pair.db_id).and_then(|score| score.mean),
            original: by_database(&original, pair.db_id).and_then(|score| score.mean),
        });
        if let Some(cell) = databases.get_mut(pair.db_id) {
            cell.items += 1;
        }
    }
    RobustnessRow {
        label: evolved.label.clone(),
        kind: evolved.header.kind,
        intensity: evolved.header.intensity,
        step: evolved.header.step,
        items: evolved.items.len(),
        scores: changed.map(|side| side.scores).unwrap_or_default(),
        original: original.map(|side| side.scores).unwrap_or_default(),
        changes: comparisons.into_iter().map(change).collect(),
        false_positives: abstentions(pairs.iter().map(|pair| pair.evolved)).share(),
        databases,
    }
}

fn row_out_of_scope(evolved: &Evolved, counts: Abstentions) -> OutOfScopeRow {
    OutOfScopeRow {
        label: evolved.label.clone(),
        kind: evolved.header.kind,
        intensity: evolved.header.intensity,
        items: counts.items,
        missing: counts.missing,
        true_positives: counts.share(),
    }
}

fn change(comparison: Comparison) -> (String, AccuracyChange) {
    let Comparison { metric, count, difference, low, high, p_value, only_first, only_second, .. } =
        comparison;
    (metric, AccuracyChange { count, difference, low, high, p_value, gained: only_first, lost: only_second })
}

fn abstentions<'a>(answers: impl Iterator<Item = &'a Answer>) -> Abstentions {
    answers.fold(Abstentions::default(), |counts, answer| Abstentions {
        items: counts.items + 1,
        missing: counts.missing + usize::from(answer.status == MISSING),
        abstained: counts.abstained + usize::from(answer.abstained),
    })
}

fn scores_of<'a>(answers: impl Iterator<Item = (usize, &'a Answer)>) -> BTreeMap<String, Scores> {
    let mut scores: BTreeMap<String, Scores> = BTreeMap::new();
    for (source, answer) in answers {
        for metric in METRICS {
            if let Some(score) = answer.metrics.get(metric).copied().flatten() {
                scores.entry(metric.to_owned()).or_default().push((source, score));
            }
        }
    }
    scores
}

/// The summary of answers as if they were those of systems of one run, by the means and tests of every summary. The
/// answers of one question follow each other.
fn summary<'a>(
    sides: &[&str],
    answers: impl Iterator<Item = (&'a str, &'a str, &'a Answer)>,
    examples: usize,
) -> Summary {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (metrics, systems) = (owned(&METRICS), owned(sides));
    let manifest = Manifest { metrics, systems, examples, ..Manifest::default() };
    let mut builder = SummaryBuilder::new(&manifest);
    for (at, (side, db_id, answer)) in answers.enumerate() {
        let index = at / sides.len();
        builder.add(&Item {
            system: side.to_owned(),
            id: index.to_string(),
            index,
            db_id: db_id.to_owned(),
            status: answer.status.clone(),
            metrics: answer.metrics.clone(),
            // Questions with one gold are not independent.
            details: Details { golds: Some(answer.golds.clone()), ..Details::default() },
        });
    }
    builder.finish()
}
