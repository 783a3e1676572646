//! Chooses one of several answers: `sqlgauge vote`.
//!
//! # Contract
//! - Answers that mean the same stand in one group, by one of [`VoteBy`]:
//!   - `result`: their results on the database have the same number of rows and the same set of them (numbers to nine digits);
//!   - `proof`: their results are equal, and `etm` or `verify` proves that they are equal on every database of the schema;
//!   - `both`: their results are equal, and `verify` finds no database, given or made, on which they differ. So answers that agree only
//!     by the luck of the rows at hand part.
//! - An answer that does not run is in no group; where all fail, the first one is chosen with confidence 0.
//! - The group with the largest sum of weights wins; of equal ones, that whose first answer comes first. Its heaviest answer is
//!   chosen; of equal ones the first. Sums within a billionth are equal.
//! - The confidence is the weight of the group over the weight of all answers, those that fail too.
//! - An abstention stays one, with its reason.
//! - With golds, the chosen and the first answers are scored; the gain has a paired interval (the run's comparison of both), and a curve
//!   says how accuracy rises as the items with the lowest confidence are left unanswered.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use sqlgauge_base::counted;
use sqlgauge_base::pool::Pool;
use sqlgauge_dataset::{Databases, Example, chat_note, parse_workload};
use sqlgauge_engine::{Engine, Moment};
use sqlgauge_metrics::Target;
use sqlgauge_report::clusters;
use sqlgauge_report::document::{Block, Document, Section, Table};
use sqlgauge_report::number::p_in_words;
use sqlgauge_report::words::{optional, percent, points};
use sqlgauge_run::{
    ClusterPlace, ClusterPlaces, Comparison, RunError, ScoreSummary, UsedDatabases, gold_key,
};

use crate::answers::{AnswerList, PairedAnswers, read_answers};
use crate::context::Context;
use crate::error::Error;
use crate::lines::write_lines;
use crate::one_database::name_database;
use crate::same::{Sameness, VoteBy, result_key};
use crate::samples::{mean_of, rate_text};
use crate::score::{ScoreJob, System};
use crate::source::Source;
use crate::subset::{self, pick};

/// Chooses one of several answers to every question.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, Source, System, VoteJob};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let golds: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(&sample.questions)?)?;
/// // A question with several golds has a list of them.
/// let first = |item: &serde_json::Value| item["gold"].get(0).unwrap_or(&item["gold"]).clone();
/// let rows = golds.iter().map(|gold| serde_json::json!({"id": gold["id"], "predictions": ["SELECT 0", first(gold), first(gold)]}).to_string() + "\n");
/// let lists = Source::Memory { name: "lists".into(), bytes: rows.collect::<String>().into_bytes().into() };
///
/// let job = sample.score_job(&["ex"], folder.path().join("vote"))?;
/// let voted = VoteJob::new(job, System::new("mine", lists)).run(&Context::default())?;
/// let gain = voted.gain.expect("there are golds");
/// assert!(gain.difference > 0.9 && gain.low > 0.5);
/// # Ok(())
/// # }
/// ```
pub struct VoteJob {
    /// Golds or questions, databases, limits, metrics and folder.
    pub job: ScoreJob,
    /// The system; its predictions are lists.
    pub system: System,
    /// When two answers mean the same.
    pub by: VoteBy,
    /// Whether the golds are read, and the choice is scored.
    pub has_golds: bool,
}

/// What came of a vote.
#[derive(Debug, Clone)]
pub struct Vote {
    /// By question, in their order.
    pub choices: Vec<VotedAnswer>,
    /// The metric of the gain.
    pub metric: String,
    /// What the interval of the gain is about, as in ` for new databases like these 20`.
    pub about: String,
    /// The choice less the first answer, where there are golds.
    pub gain: Option<Comparison>,
    /// How accuracy rises as coverage falls, where there are golds.
    pub curve: Vec<CurvePoint>,
    /// The file with the chosen answers.
    pub file: PathBuf,
}

/// The choice for one question.
#[derive(Debug, Clone, PartialEq)]
pub struct VotedAnswer {
    /// Id of the question.
    pub id: String,
    /// The chosen SQL; `None` for an abstention.
    pub sql: Option<String>,
    /// Share of the weights that its group has.
    pub confidence: f64,
    /// Whether another group weighs as much.
    pub is_tie: bool,
    /// Groups of answers.
    pub groups: usize,
    /// Answers that do not run.
    pub failed: usize,
    /// Why the system abstains.
    pub reason: Option<String>,
}

/// The items that are answered if those below a confidence are not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// The lowest confidence that is answered.
    pub confidence: f64,
    /// Items that are answered.
    pub answered: usize,
    /// Right ones among them.
    pub right: usize,
    /// Their share, with an interval that takes clusters of questions into account, as that of the gain does.
    pub accuracy: ScoreSummary,
    /// Items that have a score.
    pub items: usize,
}

impl VoteJob {
    /// A vote by results over golds.
    pub fn new(job: ScoreJob, system: System) -> Self {
        Self { job, system, by: VoteBy::default(), has_golds: true }
    }

    /// Chooses, and writes `NAME.jsonl` with the chosen answers, the tables, and with golds a run in `run`.
    ///
    /// # Errors
    /// When an input cannot be read, a query could not be run, or a file cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<Vote, Error> {
        let gold = &self.job.gold;
        let mut benchmark = if self.has_golds {
            self.job.benchmark()?
        } else {
            parse_workload(&gold.read()?, gold.format(self.job.format)?, &self.job.columns)?
        };
        let PairedAnswers { lists: answers, notes, .. } =
            read_answers(&self.system, &benchmark, self.job.prediction_format, self.job.extract)?;
        let texts = answers.iter().flatten().flat_map(|list| &list.candidates);
        let chat = if self.job.extract { None } else { chat_note(texts.map(|answer| answer.sql.as_str())) };
        notes.iter().chain(&chat).for_each(|text| context.watcher().note(text));
        let no_databases =
            || Error::Invalid("a vote runs the answers: give --db with the databases".to_owned());
        let db = self.job.db.as_ref().ok_or_else(no_databases)?;
        let now = self.job.now.unwrap_or_else(Moment::now);
        let engine = context.engine_for(Some(db), self.job.connections.into(), self.job.limits, now)?;
        let by = self.by.on(engine.as_ref(), context.watcher())?;
        name_database(&mut benchmark, Some(db), None)?;
        let selection =
            subset::select(&self.job.subset, &benchmark.examples, db, engine.as_ref(), context.watcher())?;
        benchmark.examples = pick(benchmark.examples, selection.positions.as_deref());
        let answers = pick(answers, selection.positions.as_deref());
        let used = UsedDatabases::locate(&Databases::open(db)?, &benchmark.examples, false)
            .map_err(|error| Error::asked_in_part(gold.path(), error))?;
        let targets = used.open(engine.as_ref(), None)?;
        let pairs: Vec<(&Example, &Option<AnswerList>)> = benchmark.examples.iter().zip(&answers).collect();
        let choose = |at: usize| {
            let (example, answers) = pairs[at];
            self.choose(example, answers.as_ref(), (engine.as_ref(), by), &targets)
        };
        let choices = Pool::of(self.job.jobs).try_map(pairs.len(), choose)?;
        let out = &self.job.out;
        std::fs::create_dir_all(out)
            .map_err(|source| Error::Unwritable { path: out.to_path_buf(), source })?;
        let file = out.join(format!("{}.jsonl", self.system.name));
        write_lines(&file, &choices.iter().map(VotedAnswer::to_json).collect::<Vec<_>>())?;
        let (metric, about) = (String::new(), String::new());
        let mut vote = Vote { choices, metric, about, gain: None, curve: Vec::new(), file };
        if self.has_golds {
            self.measure(&mut vote, &answers, &benchmark.examples, context)?;
        }
        vote.document(self.by).write_to(out, "vote", &vote.to_json(self.by))?;
        Ok(vote)
    }

    fn choose(
        &self,
        example: &Example,
        answers: Option<&AnswerList>,
        (engine, by): (&dyn Engine, VoteBy),
        targets: &HashMap<String, Arc<Target>>,
    ) -> Result<VotedAnswer, Error> {
        let abstention = VotedAnswer {
            id: example.id.clone(),
            sql: None,
            confidence: 0.0,
            is_tie: false,
            groups: 0,
            failed: 0,
            reason: answers.and_then(|answers| answers.reason.clone()),
        };
        let Some(answers) = answers.filter(|answers| !answers.abstains()) else { return Ok(abstention) };
        let target = targets
            .get(&example.db_id)
            .ok_or_else(|| Error::Invalid(format!("no database {:?}; check --db", example.db_id)))?;
        let texts: Vec<&str> = answers.candidates.iter().map(|candidate| candidate.sql.as_str()).collect();
        let sameness = Sameness { by, verify: &self.job.verify, engine, database: &target.database };
        let groups = sameness.groups(&texts)?;
        let weights: Vec<f64> = answers.candidates.iter().map(|candidate| candidate.weight).collect();
        let elected = elect(&groups, &weights);
        Ok(VotedAnswer {
            sql: Some(texts[elected.answer].to_owned()),
            confidence: elected.confidence,
            is_tie: elected.is_tie,
            groups: groups.len(),
            failed: texts.len() - groups.iter().map(Vec::len).sum::<usize>(),
            ..abstention
        })
    }

    /// Scores the first answers and the chosen ones.
    fn measure(
        &self,
        vote: &mut Vote,
        answers: &[Option<AnswerList>],
        examples: &[Example],
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let rows = |sql: &dyn Fn(usize) -> Option<String>| {
            let row = |(at, choice): (usize, &VotedAnswer)| {
                Some(json!({"id": choice.id, "prediction": sql(at)?}).to_string() + "\n")
            };
            vote.choices.iter().enumerate().filter_map(row).collect::<String>().into_bytes()
        };
        let first = rows(&|at| Some(answers[at].as_ref()?.candidates.first()?.sql.clone()));
        let chosen = rows(&|at| vote.choices[at].sql.clone());
        let name = self.system.predictions.path();
        let source = |bytes: Vec<u8>| Source::Memory { name: name.to_owned(), bytes: bytes.into() };
        let systems = vec![System::new("vote", source(chosen)), System::new("first", source(first))];
        let job = ScoreJob {
            systems,
            prediction_format: None,
            out: self.job.out.join("run").into(),
            ..self.job.clone()
        };
        let report = job.run(context)?;
        vote.metric = report.summary.metrics.first().cloned().unwrap_or_default();
        vote.about = clusters::about(&report.summary);
        vote.gain =
            report.summary.comparisons.iter().find(|comparison| comparison.metric == vote.metric).cloned();
        let mut right: HashMap<String, bool> = HashMap::new();
        report.items.for_each(|item| {
            if let (true, Some(Some(score))) = (item.system == "vote", item.metrics.get(&vote.metric)) {
                right.insert(item.id.clone(), *score >= 1.0);
            }
            Ok::<(), RunError>(())
        })?;
        let mut places = ClusterPlaces::default();
        let scored = vote.choices.iter().zip(examples).filter_map(|(choice, example)| {
            let place = places.place(&example.db_id, gold_key(&example.db_id, &example.golds));
            Some((choice, place, *right.get(&choice.id)?))
        });
        vote.curve = curve(&scored.collect::<Vec<_>>());
        Ok(())
    }
}

impl Sameness<'_> {
    /// The groups of answers to one question, each with the places of its answers; those that do not run are in none.
    fn groups(&self, texts: &[&str]) -> Result<Vec<Vec<usize>>, Error> {
        let mut first_of: HashMap<&str, usize> = HashMap::new();
        let mut by_result: BTreeMap<(usize, usize, u64), Vec<Vec<usize>>> = BTreeMap::new();
        let mut group_of: HashMap<usize, (usize, usize, u64)> = HashMap::new();
        for (at, text) in texts.iter().enumerate() {
            if let Some(twin) = first_of.get(text) {
                // The same text is in the group of its twin.
                let groups = group_of.get(twin).and_then(|key| by_result.get_mut(key));
                let home = groups.into_iter().flatten().find(|group| group.contains(twin));
                home.into_iter().for_each(|group| group.push(at));
                continue;
            }
            first_of.insert(text, at);
            let execution = self.engine.run(self.database, text);
            self.engine.check()?;
            let Some(rows) = execution.rows() else { continue };
            let key = result_key(rows);
            group_of.insert(at, key);
            let groups = by_result.entry(key).or_default();
            let mut joined = None;
            for (place, group) in groups.iter().enumerate() {
                if self.holds(texts[group[0]], text)? {
                    joined = Some(place);
                    break;
                }
            }
            match joined {
                Some(place) => groups[place].push(at),
                None => groups.push(vec![at]),
            }
        }
        let mut groups: Vec<Vec<usize>> = by_result.into_values().flatten().collect();
        groups.sort_by_key(|group| group[0]);
        Ok(groups)
    }
}

/// What an election gives.
struct Elected {
    answer: usize,
    confidence: f64,
    is_tie: bool,
}

/// Sums of weights that differ by no more are equal.
const SAME: f64 = 1e-9;

/// The winner among groups, which are in the order of their first answers.
fn elect(groups: &[Vec<usize>], weights: &[f64]) -> Elected {
    let total: f64 = weights.iter().sum();
    let sums: Vec<f64> = groups.iter().map(|group| group.iter().map(|at| weights[*at]).sum()).collect();
    let most = sums.iter().copied().fold(0.0, f64::max);
    let margin = SAME * total;
    let best: Vec<usize> = (0..groups.len()).filter(|group| sums[*group] >= most - margin).collect();
    let Some(winner) = best.first() else { return Elected { answer: 0, confidence: 0.0, is_tie: false } };
    let heaviest = groups[*winner]
        .iter()
        .copied()
        .reduce(|best, at| if weights[at] > weights[best] { at } else { best });
    Elected {
        answer: heaviest.unwrap_or(0),
        confidence: if total > 0.0 { sums[*winner] / total } else { 0.0 },
        is_tie: best.len() > 1,
    }
}

/// Most points of a curve: each is a line for the reader, and has an interval of its own.
const MOST_POINTS: usize = 50;

/// A point for each confidence that occurs, the highest first; of more than [`MOST_POINTS`] as many, evenly apart, and the last. An
/// abstention is answered at no confidence.
fn curve(scored: &[(&VotedAnswer, ClusterPlace, bool)]) -> Vec<CurvePoint> {
    let mut answered: Vec<_> = scored.iter().filter(|(choice, ..)| choice.sql.is_some()).collect();
    answered.sort_by(|(a, ..), (b, ..)| b.confidence.total_cmp(&a.confidence));
    let values: Vec<(ClusterPlace, f64)> =
        answered.iter().map(|(_, place, right)| (*place, f64::from(u8::from(*right)))).collect();
    let confidence = |at: usize| answered[at].0.confidence;
    let is_last =
        |at: &usize| at + 1 == answered.len() || (confidence(*at) - confidence(at + 1)).abs() > SAME;
    let ends: Vec<usize> = (0..answered.len()).filter(is_last).collect();
    let count = ends.len().min(MOST_POINTS);
    let point = |nth: usize| {
        let at = ends[nth * ends.len() / count - 1];
        CurvePoint {
            confidence: confidence(at),
            answered: at + 1,
            right: answered[..=at].iter().filter(|(.., is_right)| *is_right).count(),
            accuracy: mean_of(&values[..=at]),
            items: scored.len(),
        }
    };
    (1..=count).map(point).collect()
}

impl VotedAnswer {
    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "prediction": self.sql, "confidence": self.confidence, "tie": self.is_tie, "groups": self.groups,
            "failed": self.failed, "reason": self.reason,
        })
    }
}

impl Vote {
    /// The tables.
    pub fn document(&self, by: VoteBy) -> Document {
        let mut document = Document::new("Vote");
        document.lead.extend(self.said());
        let note = match by {
            VoteBy::Result => "answers with equal results vote together",
            VoteBy::Proof => "answers that are proved equal vote together",
            VoteBy::Both => "answers with equal results vote together, unless `verify` tells them apart",
        };
        document.add(Section::new("Vote", note, self.summary()));
        let note = format!(
            "percent. Coverage: items whose confidence reaches the bar; accuracy: how many of them are right, with 95 % intervals{}",
            self.about
        );
        document.add(Section::new("Coverage and accuracy", note, self.curve()));
        document
    }

    /// `The choice is right by ex@1 for 80.1 % of 1034 questions, the first answer for 75.0 %: +5.0 points (70 won, 18 lost), …`
    fn said(&self) -> Option<Block> {
        let gain = self.gain.as_ref()?;
        let [difference, low, high] = [gain.difference, gain.low, gain.high].map(|share| points(Some(share)));
        Some(Block::lead(format!(
            "The choice is right by {} for {} % of {}, the first answer for {} %: {difference} points ({} won, {} lost), 95 % interval{} \
             [{low}, {high}], {}.",
            self.metric,
            optional(gain.first_mean),
            counted(gain.count, "question"),
            optional(gain.second_mean),
            gain.only_first,
            gain.only_second,
            self.about,
            p_in_words(gain.p_value)
        )))
    }

    fn summary(&self) -> Table {
        let count = |of: &dyn Fn(&VotedAnswer) -> bool| {
            self.choices.iter().filter(|choice| of(choice)).count().to_string()
        };
        let mut table = Table::new(["outcome", "questions"]);
        let mut row = |name: &str, value: String| table.push([name.to_owned(), value]);
        row("all questions", self.choices.len().to_string());
        row("abstained", count(&|choice| choice.sql.is_none()));
        row("tied", count(&|choice| choice.is_tie));
        row("no answer runs", count(&|choice| choice.sql.is_some() && choice.groups == 0));
        let Some(gain) = &self.gain else { return table };
        row("right only by vote", gain.only_first.to_string());
        row("right only by the first answer", gain.only_second.to_string());
        table
    }

    fn curve(&self) -> Table {
        let mut table = Table::new(["confidence from", "coverage", "accuracy, n: items"]);
        for point in &self.curve {
            table.push([
                format!("{:.3}", point.confidence),
                percent(point.answered as f64 / point.items.max(1) as f64),
                rate_text(&point.accuracy),
            ]);
        }
        table
    }

    /// All of it as JSON, without the choices, which have a file of their own.
    pub fn to_json(&self, by: VoteBy) -> Value {
        let point = |row: &CurvePoint| json!({"confidence": row.confidence, "answered": row.answered, "right": row.right, "interval": [row.accuracy.low, row.accuracy.high], "items": row.items});
        json!({
            "by": by.name(),
            "questions": self.choices.len(),
            "abstained": self.choices.iter().filter(|choice| choice.sql.is_none()).count(),
            "ties": self.choices.iter().filter(|choice| choice.is_tie).count(),
            "metric": self.metric,
            "gain": self.gain,
            "curve": self.curve.iter().map(point).collect::<Vec<_>>(),
            "file": self.file.display().to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_group_wins_and_ties_go_to_the_first() {
        let elected = elect(&[vec![0], vec![1, 2]], &[1.0, 1.0, 1.0]);
        assert_eq!((elected.answer, elected.is_tie), (1, false));
        assert!((elected.confidence - 2.0 / 3.0).abs() < 1e-12);
        let elected = elect(&[vec![0], vec![1]], &[0.1 + 0.2, 0.3]);
        assert_eq!((elected.answer, elected.is_tie), (0, true));
        // Of a group the heaviest answer; an answer that fails takes confidence away.
        let elected = elect(&[vec![0, 2]], &[1.0, 5.0, 2.0]);
        assert_eq!((elected.answer, elected.confidence), (2, 3.0 / 8.0));
        assert_eq!(elect(&[], &[1.0]).confidence.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn a_curve_has_a_point_per_confidence_and_counts_abstentions_as_unanswered() {
        let choice = |id: &str, confidence: f64, sql: Option<&str>| VotedAnswer {
            id: id.to_owned(),
            sql: sql.map(str::to_owned),
            confidence,
            is_tie: false,
            groups: 1,
            failed: 0,
            reason: None,
        };
        let choices = [
            choice("a", 1.0, Some("x")),
            choice("b", 0.5, Some("x")),
            choice("c", 0.5, Some("x")),
            choice("d", 0.0, None),
        ];
        let mut places = ClusterPlaces::default();
        let scored = choices.iter().zip([true, false, true, false]);
        let scored: Vec<_> =
            scored.map(|(choice, right)| (choice, places.place("db", None), right)).collect();
        let points: Vec<(usize, usize, usize)> =
            curve(&scored).iter().map(|point| (point.answered, point.right, point.items)).collect();
        assert_eq!(points, [(1, 1, 4), (3, 2, 4)]);
        // Of many confidences so many points, and the last.
        let many: Vec<VotedAnswer> =
            (0..199).map(|at| choice("x", f64::from(at) / 200.0, Some("x"))).collect();
        let scored: Vec<_> = many.iter().map(|choice| (choice, places.place("db", None), true)).collect();
        let answered: Vec<usize> = curve(&scored).iter().map(|point| point.answered).collect();
        assert_eq!((answered.len(), answered[0], answered[MOST_POINTS - 1]), (MOST_POINTS, 3, 199));
    }
}
