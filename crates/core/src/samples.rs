//! Systems that give several answers to a question, or none on purpose: what `score` prints of lists.
//!
//! # Contract
//! With n answers to an item, of which c are right by the metric:
//! - `pass@k` = 1 - C(n-c, k) / C(n, k), the unbiased share of draws of k answers with a right one (Chen et al. 2021);
//! - `pass^k` = C(c, k) / C(n, k), the unbiased share of draws of k answers that are all right;
//! - `first` is the first answer, `best-of-n` the upper bound of any choice: 1 if c > 0.
//!
//! An item without an answer is 0 in all of them. An item with fewer than k answers is in neither `pass@k` nor `pass^k`, and their
//! number of items says so; if no item has k answers, the rate is left out. Intervals have the level 95 % and take clusters of questions into account. The plain
//! intervals are Wilson's for rates of items that are right or wrong, and a percentile bootstrap over items for shares of draws.
//!
//! Abstention, over the first answers, with a penalty p (`TrustSQL`, EHRSQL's reliability score): an answerable item is +1 if right, 0 if
//! abstained, -p if wrong; an unanswerable one +1 if abstained, else -p. `N` is the number of items: one wrong answer outweighs all
//! others. Coverage is the share that is answered, accuracy the share of right ones among them.
//!
//! Every answer is scored in a run of its own system `NAME#1`, `NAME#2`, … in the run directory, where an answer that repeats another
//! one is executed once.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use sqlgauge_base::stats::{bootstrap_mean, wilson};
use sqlgauge_base::verb_for;
use sqlgauge_dataset::{Benchmark, Columns, Example, parse_workload};
use sqlgauge_metrics::MetricKind;
use sqlgauge_report::charts::{StepLine, lines_by_step};
use sqlgauge_report::document::{Block, Document, Section, Table, Text};
use sqlgauge_report::words::{many, percent};
use sqlgauge_report::{Report, clusters};
use sqlgauge_run::{ClusterPlace, ClusterPlaces, Clustered, RunError, ScoreSummary, gold_key, score_of};

use crate::answers::{AnswerList, read_answers};
use crate::context::Context;
use crate::error::Error;
use crate::score::{ScoreJob, System};
use crate::settings::default_metrics;
use crate::source::Source;

/// Scores systems with lists of answers.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, SampleRules, SamplesJob, Source, System};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let golds: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(&sample.questions)?)?;
/// // A question with several golds has a list of them.
/// let first = |item: &serde_json::Value| item["gold"].get(0).unwrap_or(&item["gold"]).clone();
/// let rows = golds.iter().map(|gold| serde_json::json!({"id": gold["id"], "predictions": [first(gold), "SELECT 0", "SELECT 0"]}).to_string() + "\n");
/// let lists = Source::Memory { name: "lists".into(), bytes: rows.collect::<String>().into_bytes().into() };
///
/// let mut job = sample.score_job(&["ex"], folder.path().join("run"))?;
/// job.systems = vec![System::new("mine", lists)];
/// let rules = SampleRules { ks: vec![1, 2, 4], ..SampleRules::default() };
/// let scored = SamplesJob { job, rules }.run(&Context::default())?;
/// let pass = |name: &str| scored.systems[0].rates.iter().find(|rate| rate.name == name).expect("a rate");
/// assert!((pass("pass@1").score.mean.expect("items") - 1.0 / 3.0).abs() < 0.05);
/// assert_eq!(pass("pass@4").score.count, 0);
/// # Ok(())
/// # }
/// ```
pub struct SamplesJob {
    /// How each answer is scored, and whose answers: the systems' predictions are lists.
    pub job: ScoreJob,
    /// What is said of them.
    pub rules: SampleRules,
}

/// What is said of lists of answers.
#[derive(Debug, Clone)]
pub struct SampleRules {
    /// The k of `pass@k` and `pass^k`.
    pub ks: Vec<usize>,
    /// Questions that have no answer, which a system should abstain from.
    pub unanswerable: Option<Source>,
    /// The penalties, besides the number of items.
    pub penalties: Vec<f64>,
}

impl Default for SampleRules {
    /// k of 1, 2, 4 and 8; penalties of 0, 1 and 10.
    fn default() -> Self {
        Self { ks: vec![1, 2, 4, 8], unanswerable: None, penalties: vec![0.0, 1.0, 10.0] }
    }
}

impl SampleRules {
    /// The questions that have no answer.
    fn unanswerable(&self, columns: &Columns) -> Result<Option<Benchmark>, Error> {
        let read = |source: &Source| Ok(parse_workload(&source.read()?, source.format(None)?, columns)?);
        self.unanswerable.as_ref().map(read).transpose()
    }

    /// The lists of a system: the questions of a benchmark and those without an answer, each with its row if there is one.
    pub(crate) fn rows(
        &self,
        system: &System,
        benchmark: &Benchmark,
        job: &ScoreJob,
    ) -> Result<Vec<(String, Option<Value>)>, Error> {
        let all = together(benchmark, self.unanswerable(&job.columns)?.as_ref())?;
        let lists = read_answers(system, &all, job.prediction_format, job.extract)?.lists;
        let row = |(example, list): (&Example, Option<AnswerList>)| {
            (example.id.clone(), list.map(|list| list.to_row(&example.id)))
        };
        Ok(all.examples.iter().zip(lists).map(row).collect())
    }
}

/// What came of it.
pub struct Samples {
    /// The report of the run of all answers.
    pub report: Report,
    /// The metric that says right or wrong.
    pub metric: String,
    /// The systems, in their order.
    pub systems: Vec<SystemSamples>,
}

/// What came of one system.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemSamples {
    /// Its name.
    pub system: String,
    /// `first`, `pass@k`, `pass^k`, `best-of-n`.
    pub rates: Vec<Rate>,
    /// How it abstains.
    pub abstention: Abstention,
}

/// A mean over items.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// Its name.
    pub name: String,
    /// The mean with its interval of 95 %.
    pub score: ScoreSummary,
}

/// First answers by what became of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Abstention {
    /// Answerable items that are right.
    pub right: usize,
    /// Answerable items that are wrong.
    pub wrong: usize,
    /// Answerable items without an answer.
    pub abstained: usize,
    /// Unanswerable items without an answer.
    pub rightly_abstained: usize,
    /// Unanswerable items with an answer.
    pub wrongly_answered: usize,
    /// The shares that are answered, right among those, and rightly abstained from.
    pub shares: [ScoreSummary; 3],
    /// By penalty: the mean score of an item, from -penalty to 1.
    pub scores: Vec<(String, f64)>,
}

impl SamplesJob {
    /// Scores every answer and writes the run directory, with `samples.json`, `samples.md` and `samples.html`.
    ///
    /// # Errors
    /// As [`ScoreJob::run`], and when a list cannot be read.
    pub fn run(&self, context: &Context<'_>) -> Result<Samples, Error> {
        let benchmark = self.job.benchmark()?;
        let refused = self.rules.unanswerable(&self.job.columns)?;
        let all = together(&benchmark, refused.as_ref())?;
        let (mut lists, mut paired_by) = (Vec::new(), BTreeMap::new());
        for system in &self.job.systems {
            // The run extracts, and says what was removed.
            let answers = read_answers(system, &all, self.job.prediction_format, false)?;
            answers.notes.iter().for_each(|text| context.watcher().note(&format!("{}: {text}", system.name)));
            let most = answers.lists.iter().flatten().map(|list| list.candidates.len()).max().unwrap_or(0);
            let names = (0..most.max(1)).map(|at| numbered_name(&system.name, at));
            paired_by.extend(names.map(|name| (name, answers.paired_by.clone())));
            lists.push(answers.lists);
        }
        let answerable = benchmark.examples.len();
        let systems = self
            .job
            .systems
            .iter()
            .zip(&lists)
            .flat_map(|(system, lists)| numbered(system, &benchmark, &lists[..answerable]));
        let metrics =
            if self.job.metrics.is_empty() { default_metrics(&benchmark) } else { self.job.metrics.clone() };
        let metric = metrics.first().map(|metric| metric.id().to_owned()).unwrap_or_default();
        let systems = systems.collect();
        let job = ScoreJob { systems, metrics, paired_by, prediction_format: None, ..self.job.clone() };
        let report = job.run(context)?;
        let scores = scores(&report, &metric)?;
        let outcome = |(system, lists): (&System, &Vec<Option<AnswerList>>)| {
            self.outcome(&system.name, lists, [&benchmark.examples, &all.examples[answerable..]], &scores)
        };
        let systems: Vec<SystemSamples> = self.job.systems.iter().zip(&lists).map(outcome).collect();
        let samples = Samples { report, metric, systems };
        samples.document().write_to(&self.job.out, "samples", &samples.to_json())?;
        Ok(samples)
    }

    fn outcome(
        &self,
        system: &str,
        lists: &[Option<AnswerList>],
        [answerable, refused]: [&[Example]; 2],
        scores: &Scores,
    ) -> SystemSamples {
        let mut items: Vec<(ClusterPlace, Vec<bool>)> = Vec::new();
        let mut unanswerable: Vec<(ClusterPlace, f64)> = Vec::new();
        let mut places = ClusterPlaces::default();
        let mut abstention = Abstention::default();
        for (example, answers) in answerable.iter().zip(lists) {
            let count = answers.as_ref().map_or(0, |answers| answers.candidates.len());
            let score = |at: usize| scores.get(&(numbered_name(system, at), example.id.clone())).copied();
            let values: Vec<bool> = (0..count).filter_map(score).map(|value| value >= 1.0).collect();
            // Of an item whose gold fails nobody knows anything.
            if values.is_empty() && count > 0 {
                continue;
            }
            match values.first() {
                Some(true) => abstention.right += 1,
                Some(false) => abstention.wrong += 1,
                None => abstention.abstained += 1,
            }
            let place = places.place(&example.db_id, gold_key(&example.db_id, &example.golds));
            items.push((place, values));
        }
        for (example, answers) in refused.iter().zip(&lists[answerable.len()..]) {
            let abstains = answers.as_ref().is_none_or(AnswerList::abstains);
            *(if abstains { &mut abstention.rightly_abstained } else { &mut abstention.wrongly_answered }) +=
                1;
            unanswerable.push((places.place(&example.db_id, None), number(abstains)));
        }
        let coverage: Vec<_> =
            items.iter().map(|(place, values)| (*place, number(!values.is_empty()))).collect();
        let accuracy = items.iter().filter_map(|(place, values)| Some((*place, number(*values.first()?))));
        abstention.shares = [coverage, accuracy.collect(), unanswerable].map(|values| mean_of(&values));
        let total = items.len() + abstention.rightly_abstained + abstention.wrongly_answered;
        let penalties = self.rules.penalties.iter().map(|penalty| (penalty.to_string(), *penalty));
        let penalties = penalties.chain([("N".to_owned(), total as f64)]);
        abstention.scores = penalties.map(|(name, penalty)| (name, abstention.score(penalty))).collect();
        SystemSamples { system: system.to_owned(), rates: rates(&items, &self.rules.ks), abstention }
    }
}

impl Abstention {
    /// The mean score of an item under a penalty; 0 without items.
    pub fn score(&self, penalty: f64) -> f64 {
        let good = (self.right + self.rightly_abstained) as f64;
        let bad = (self.wrong + self.wrongly_answered) as f64;
        let total = good + bad + self.abstained as f64;
        if total > 0.0 { (good - penalty * bad) / total } else { 0.0 }
    }
}

/// The questions that have an answer, then those that have none. Where neither file has ids, the numbers go on.
fn together(benchmark: &Benchmark, refused: Option<&Benchmark>) -> Result<Benchmark, Error> {
    let mut all = benchmark.clone();
    let is_numbered = |part: &Benchmark| part.examples.iter().all(|one| one.id == one.index.to_string());
    if let Some(refused) = refused.filter(|refused| is_numbered(benchmark) && is_numbered(refused)) {
        let numbered = refused.examples.iter().zip(benchmark.examples.len()..);
        all.examples.extend(numbered.map(|(example, id)| Example { id: id.to_string(), ..example.clone() }));
        return Ok(all);
    }
    for example in refused.iter().flat_map(|refused| &refused.examples) {
        if benchmark.examples.iter().any(|other| other.id == example.id) {
            return Err(Error::Invalid(format!(
                "the id {:?} is both answerable and unanswerable; give the questions ids of their own",
                example.id
            )));
        }
        all.examples.push(example.clone());
    }
    Ok(all)
}

/// What the run calls the answers of that place.
pub(crate) fn numbered_name(system: &str, at: usize) -> String {
    format!("{system}#{}", at + 1)
}

/// One system per place in the lists.
fn numbered(system: &System, benchmark: &Benchmark, lists: &[Option<AnswerList>]) -> Vec<System> {
    let most = lists.iter().flatten().map(|answers| answers.candidates.len()).max().unwrap_or(0).max(1);
    let of_place = |at: usize| {
        let rows = benchmark.examples.iter().zip(lists).filter_map(|(example, answers)| {
            let sql = answers.as_ref()?.candidates.get(at)?;
            Some(json!({"id": example.id, "prediction": sql.sql}).to_string() + "\n")
        });
        let bytes = rows.collect::<String>().into_bytes().into();
        System::new(
            numbered_name(&system.name, at),
            Source::Memory { name: system.predictions.path().to_owned(), bytes },
        )
    };
    (0..most).map(of_place).collect()
}

type Scores = HashMap<(String, String), f64>;

fn scores(report: &Report, metric: &str) -> Result<Scores, Error> {
    let mut scores = HashMap::new();
    report.items.for_each(|item| {
        if let Some(value) = item.metrics.get(metric).copied().flatten() {
            scores.insert((item.system.clone(), item.id.clone()), value);
        }
        Ok::<(), RunError>(())
    })?;
    Ok(scores)
}

const LEVEL: f64 = 0.95;
const RESAMPLES: usize = 2000;
const SEED: u64 = 0x5eed;

/// The mean of values of items: Wilson's interval where each is right or wrong, a bootstrap where some are shares of draws.
pub(crate) fn mean_of(items: &[(ClusterPlace, f64)]) -> ScoreSummary {
    let values: Vec<f64> = items.iter().map(|(_, value)| *value).collect();
    let right = values.iter().filter(|value| **value >= 1.0).count() as u64;
    let is_binary = values.iter().all(|value| *value <= 0.0 || *value >= 1.0);
    let (kind, plain) = if is_binary {
        let plain = wilson(right, values.len() as u64, LEVEL);
        (MetricKind::Binary, (!values.is_empty()).then_some(plain))
    } else {
        (MetricKind::Fraction, bootstrap_mean(&values, LEVEL, RESAMPLES, SEED))
    };
    score_of(kind, &values, plain, Clustered::of(items.iter().copied()), LEVEL)
}

fn number(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

/// The rates over items, each by whether its answers are right.
fn rates(items: &[(ClusterPlace, Vec<bool>)], ks: &[usize]) -> Vec<Rate> {
    let rate = |name: String, of_item: &dyn Fn(&Vec<bool>) -> Option<f64>| {
        let placed: Vec<_> =
            items.iter().filter_map(|(place, answers)| Some((*place, of_item(answers)?))).collect();
        Rate { name, score: mean_of(&placed) }
    };
    let right = |answers: &Vec<bool>| answers.iter().filter(|right| **right).count();
    let mut rates = vec![rate("first".to_owned(), &|answers| Some(number(answers.first() == Some(&true))))];
    let most = items.iter().map(|(_, answers)| answers.len()).max().unwrap_or(0);
    let of_draws = |answers: &Vec<bool>, k: usize, value: fn(usize, usize, usize) -> f64| match answers.len()
    {
        0 => (k <= most).then_some(0.0),
        n => (k <= n).then(|| value(n, right(answers), k)),
    };
    for k in ks {
        rates.push(rate(format!("pass@{k}"), &|answers| {
            of_draws(answers, *k, |n, c, k| 1.0 - share_of_draws(n - c, n, k))
        }));
        rates.push(rate(format!("pass^{k}"), &|answers| {
            of_draws(answers, *k, |n, c, k| share_of_draws(c, n, k))
        }));
    }
    rates.push(rate("best-of-n".to_owned(), &|answers| Some(number(right(answers) > 0))));
    rates
}

/// C(part, k) / C(all, k): the share of draws of `k` of `all` that are within `part`.
fn share_of_draws(part: usize, all: usize, k: usize) -> f64 {
    if k > part {
        return 0.0;
    }
    (0..k).map(|drawn| (part - drawn) as f64 / (all - drawn) as f64).product()
}

impl Samples {
    /// The tables.
    pub fn document(&self) -> Document {
        let mut document = Document::new("Several answers");
        document.lead.extend(self.systems.iter().filter_map(|system| self.said(system)));
        document.lead.extend(self.chart().map(Block::chart));
        let about = clusters::about(&self.report.summary);
        let note = format!(
            "{}, percent with 95 % intervals{about}, n: number of questions, in pass@k and pass^k those with k answers or more, or none. \
             pass@k: one of k answers is right; pass^k: all k are; best-of-n: any is",
            self.metric
        );
        let mut rates = Section::new("Rates", note, self.rates());
        rates.blocks.extend(self.left_out().map(Block::note));
        document.add(rates);
        let note = format!(
            "by first answers, percent with 95 % intervals{about}. Penalty c: a right answer counts 1, an abstention 0, a wrong answer −c, \
             times 100; N is the number of questions"
        );
        document.add(Section::new("Abstention", note, self.abstentions()));
        document
    }

    /// `mine: the first answer is right by ex@1 for 61.2 % of 500 questions, one of the answers for 75.0 %.`
    fn said(&self, system: &SystemSamples) -> Option<Block> {
        let of = |name: &str| system.rates.iter().find(|rate| rate.name == name).map(|rate| rate.score);
        let (first, best) = (of("first")?, of("best-of-n")?);
        let text = format!(
            ": by {}, the first answer is right for {} % of {}, and one of the answers for {} %.",
            self.metric,
            percent(first.mean?),
            many(first.count, "question"),
            percent(best.mean?)
        );
        Some(Block::lead(Text::default().strong(&system.system).plain(text)))
    }

    /// How `pass@k` grows with k, one line per system; `None` where a single k has answers enough.
    fn chart(&self) -> Option<String> {
        let has_items = |name: &str| {
            let mut rates = self.systems.iter().flat_map(|system| &system.rates);
            rates.any(|rate| rate.name == name && rate.score.mean.is_some())
        };
        let names = self.systems.first()?.rates.iter().map(|rate| rate.name.as_str());
        let labels: Vec<&str> = names.filter(|name| name.starts_with("pass@") && has_items(name)).collect();
        let line = |system: &'_ SystemSamples| -> Vec<Option<f64>> {
            let rate = |label: &&str| system.rates.iter().find(|rate| rate.name == *label);
            labels.iter().map(|label| rate(label)?.score.mean).collect()
        };
        let lines: Vec<StepLine<'_>> = self
            .systems
            .iter()
            .map(|system| StepLine { name: &system.system, values: line(system) })
            .collect();
        (labels.len() > 1).then(|| lines_by_step("pass@k in percent", &labels, &lines))
    }

    fn rates(&self) -> Table {
        let systems = self.systems.iter().map(|system| system.system.as_str());
        let mut table = Table::new(std::iter::once("rate").chain(systems));
        let names = self.systems.first().into_iter().flat_map(|system| &system.rates);
        for (at, Rate { name, .. }) in names.enumerate() {
            if self.systems.iter().all(|system| system.rates[at].score.count == 0) {
                continue;
            }
            let cells = self.systems.iter().map(|system| rate_text(&system.rates[at].score));
            table.push(std::iter::once(name.clone()).chain(cells));
        }
        table
    }

    /// `pass@8 is left out: the most answers to a question are 5`.
    fn left_out(&self) -> Option<String> {
        let scored = &self.report.manifest.systems;
        let answers = |SystemSamples { system, .. }: &SystemSamples| {
            (0..scored.len()).take_while(|at| scored.contains(&numbered_name(system, *at))).count()
        };
        let most = self.systems.iter().map(answers).max()?;
        let mut names: Vec<&str> = self.systems[0].rates.iter().map(|rate| rate.name.as_str()).collect();
        names.retain(|name| {
            name.strip_prefix("pass@").is_some_and(|k| k.parse::<usize>().is_ok_and(|answers| answers > most))
        });
        let are = verb_for(&names.len(), ["is", "are"]);
        let listed = names.join(", ");
        (!names.is_empty())
            .then(|| format!("{listed} {are} left out: the most answers to a question are {most}"))
    }

    fn abstentions(&self) -> Table {
        let columns = ["system", "coverage", "accuracy", "abstained rightly"].map(str::to_owned);
        let penalties = self.systems.first().into_iter().flat_map(|system| &system.abstention.scores);
        let penalties = penalties.map(|(name, _)| format!("penalty {name}"));
        let mut table = Table::new(columns.into_iter().chain(penalties));
        for SystemSamples { system, abstention, .. } in &self.systems {
            let shares = abstention.shares.each_ref().map(rate_text);
            let scores = abstention.scores.iter().map(|(_, score)| percent(*score));
            table.push(std::iter::once(system.clone()).chain(shares).chain(scores));
        }
        table
    }

    /// All of it as JSON.
    pub fn to_json(&self) -> Value {
        let systems: Vec<Value> = self.systems.iter().map(SystemSamples::to_json).collect();
        json!({"metric": self.metric, "systems": systems})
    }
}

impl SystemSamples {
    pub(crate) fn to_json(&self) -> Value {
        let rate = |rate: &Rate| {
            let ScoreSummary { mean, low, high, count, clusters, plain } = rate.score;
            let ends = low.zip(high).map(|(low, high)| [low, high]);
            json!({"name": rate.name, "mean": mean, "interval": ends, "items": count, "clusters": clusters, "plain": plain})
        };
        let Abstention { right, wrong, abstained, rightly_abstained, wrongly_answered, scores, shares: _ } =
            &self.abstention;
        json!({
            "system": self.system,
            "rates": self.rates.iter().map(rate).collect::<Vec<_>>(),
            "abstention": {
                "right": right, "wrong": wrong, "abstained": abstained, "rightly_abstained": rightly_abstained,
                "wrongly_answered": wrongly_answered,
                "scores": scores.iter().map(|(name, score)| json!({"penalty": name, "score": score})).collect::<Vec<_>>(),
            },
        })
    }
}

/// A rate with its interval and its number of items.
pub(crate) fn rate_text(rate: &ScoreSummary) -> String {
    let ScoreSummary { mean, low, high, count, .. } = *rate;
    let Some(mean) = mean else { return "– n=0".to_owned() };
    let ends = low.zip(high).map(|(low, high)| format!(" [{}, {}]", percent(low), percent(high)));
    format!("{}{} n={count}", percent(mean), ends.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> ClusterPlace {
        ClusterPlaces::default().place("d", None)
    }

    fn mean(items: &[Vec<bool>], name: &str) -> (Option<f64>, usize) {
        let items: Vec<_> = items.iter().map(|answers| (place(), answers.clone())).collect();
        let rates = rates(&items, &[1, 2, 3]);
        let rate = rates.iter().find(|rate| rate.name == name).expect("a rate of that name");
        (rate.score.mean, rate.score.count)
    }

    #[test]
    fn rates_are_those_of_all_draws() {
        // Of three answers one is right: of the three pairs two have it, and not one pair is right as a whole.
        let items = [vec![false, true, false]];
        assert_eq!(mean(&items, "pass@1").0, Some(1.0 - 2.0 / 3.0));
        assert!((mean(&items, "pass@2").0.expect("items") - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!((mean(&items, "pass@3").0, mean(&items, "pass^2").0), (Some(1.0), Some(0.0)));
        assert_eq!((mean(&items, "first").0, mean(&items, "best-of-n").0), (Some(0.0), Some(1.0)));
        // Of single answers `first` and `pass@1` are one number, with one interval.
        let single = [vec![true], vec![false], vec![true]].map(|answers| (place(), answers));
        let [first, pass] = [0, 1].map(|at| rates(&single, &[1])[at].score);
        assert_eq!(first, pass);
        assert_eq!(mean(&[vec![true, true, false]], "pass^2").0, Some(2.0 / 3.0 * 0.5));
    }

    #[test]
    fn an_item_with_too_few_answers_is_left_out_and_one_without_any_is_wrong() {
        let items = [vec![true], vec![], vec![true, true]];
        assert_eq!(mean(&items, "pass@2"), (Some(0.5), 2));
        assert_eq!(mean(&items, "pass@1"), (Some(2.0 / 3.0), 3));
        assert_eq!(mean(&items, "pass@3"), (None, 0));
    }

    #[test]
    fn a_penalty_makes_a_wrong_answer_worse_than_none() {
        let counts = Abstention {
            right: 6,
            wrong: 1,
            abstained: 2,
            rightly_abstained: 1,
            wrongly_answered: 0,
            ..Abstention::default()
        };
        assert!((counts.score(0.0) - 0.7).abs() < 1e-12);
        assert!((counts.score(10.0) + 0.3).abs() < 1e-12);
    }
}
