//! Compares predictions with those of systems whose accuracy is known.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use sqlgauge_base::Random;
use sqlgauge_base::stats::sample_deviation;
use sqlgauge_llm::{BatchProgress, ChatRequest, Client, Usage, digest};

use super::answer::{Answer, Undecided, read};
use super::strength::{Calibration, Points};
use super::{JudgeError, JudgeItem, JudgeOptions, TemplateKind, check, failed_by, stopped_by};

pub use super::strength::CalibrationError;

/// What the judge may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Verdict {
    #[serde(alias = "a")]
    A,
    #[serde(alias = "b")]
    B,
    #[serde(rename = "tie")]
    Tie,
    #[serde(rename = "unsure")]
    Unsure,
}

/// Another system on the same questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Opponent {
    pub name: String,
    /// Its accuracy on these questions in [0, 1]. Opponents without one are compared, and do not serve to turn wins
    /// into an accuracy.
    pub accuracy: Option<f64>,
    /// Its predictions by item id. Questions that it has none for are not compared.
    pub sql: HashMap<String, String>,
}

/// How the arena is held.
#[derive(Debug, Clone, PartialEq)]
pub struct ArenaOptions {
    pub judge: JudgeOptions,
    /// Questions to compare on, drawn by the seed; all if `None`. Each costs two requests per opponent.
    pub questions: Option<usize>,
    /// Seed of the draw and of the resampling.
    pub seed: u64,
}

/// Resamples of the questions for the standard error.
const RESAMPLES: u32 = 200;

/// How a comparison ended for the target.
#[derive(Debug, Clone, PartialEq)]
enum PairOutcome {
    /// The target's prediction is better in both orders, or the opponent has none.
    Win,
    /// Equal texts, a tie in at least one order, or each order favours another.
    Tie,
    /// The opponent's prediction is better in both orders, or the target has none.
    Loss,
    /// There is no verdict in at least one order.
    Undecided(Undecided),
}

impl PairOutcome {
    /// Points of the target: 1, ½, 0; `None` while undecided.
    fn points(&self) -> Option<f64> {
        match self {
            Self::Win => Some(1.0),
            Self::Tie => Some(0.5),
            Self::Loss => Some(0.0),
            Self::Undecided(_) => None,
        }
    }
}

/// The target against one opponent.
#[derive(Debug, Clone, PartialEq)]
pub struct OpponentReport {
    pub name: String,
    /// Comparisons that the target won.
    pub wins: usize,
    pub ties: usize,
    /// Comparisons that the target lost.
    pub losses: usize,
}

/// The target's accuracy. All accuracies in [0, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct ArenaEstimate {
    /// The accuracy at the target's strength on the line through the known opponents.
    pub accuracy: f64,
    /// Whether the target is stronger or weaker than all known opponents, so that the line is prolonged.
    pub outside: bool,
    /// Standard deviation over resamples of the questions; it does not hold the judge's own bias.
    pub standard_error: Option<f64>,
}

/// What came of the comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct ArenaReport {
    pub model: String,
    pub questions: usize,
    /// One entry per opponent, in their order.
    pub opponents: Vec<OpponentReport>,
    /// Comparisons without a verdict, by reason (see [`Undecided::name`]).
    pub undecided: BTreeMap<String, usize>,
    /// The accuracy, or why there is none.
    pub estimate: Result<ArenaEstimate, CalibrationError>,
    pub usage: Usage,
    /// Why the judge stopped before the end, if it did; asking again with the same cache goes on from there.
    pub stopped_by: Option<String>,
    /// What the first request that failed met, if one did.
    pub failed_by: Option<String>,
}

/// Compares the target's predictions with those of other systems (`ArenaCmp`, section V-C of the `FusionSQL` paper,
/// after the pairwise judge of MT-Bench and Chatbot Arena).
///
/// Each pair is asked in both orders; only a preference that holds in both counts as a win. The share of points (a tie
/// is half) against an opponent gives its Bradley-Terry strength relative to the target. A line of least squares from
/// strength to the log odds of accuracy through the opponents of known accuracy, read at the target's strength, is the
/// estimate. Two or more such opponents are needed.
///
/// # Errors
/// When there is no opponent, ids are repeated, an accuracy is out of range, or the template is for another judge.
/// Failed requests are outcomes; an accuracy that cannot be had is `estimate`.
pub fn judge_arena(
    client: &Client,
    options: &ArenaOptions,
    target: &[JudgeItem],
    opponents: &[Opponent],
    progress: Option<&mut (dyn FnMut(&BatchProgress) + Send)>,
) -> Result<ArenaReport, JudgeError> {
    check(&options.judge, TemplateKind::Arena, target)?;
    check_opponents(opponents)?;
    let drawn = draw(target, options);
    let pairs = pairs(&drawn, opponents);
    let requests: Vec<ChatRequest> = pairs
        .iter()
        .filter(|pair| pair.settled.is_none())
        .flat_map(|pair| pair.requests(&options.judge))
        .collect();
    let batch = client.chat_batch(&requests, progress);
    let (stopped_by, failed_by) = (stopped_by(&batch.results), failed_by(&batch.results));
    let mut answers = batch.results.chunks_exact(2);
    let outcomes: Vec<PairOutcome> = pairs
        .iter()
        .map(|pair| match &pair.settled {
            Some(outcome) => outcome.clone(),
            None => answers.next().map_or(PairOutcome::Undecided(Undecided::Unasked), |both| {
                combined(read(&both[0]), read(&both[1]))
            }),
        })
        .collect();
    let table = Table::new(&pairs, &outcomes, opponents, drawn.len());
    Ok(ArenaReport {
        model: options.judge.model.clone(),
        questions: drawn.len(),
        opponents: opponent_reports(&pairs, &outcomes, opponents),
        undecided: reasons(&outcomes),
        estimate: table.estimate(options),
        usage: batch.usage,
        stopped_by,
        failed_by,
    })
}

fn check_opponents(opponents: &[Opponent]) -> Result<(), JudgeError> {
    if opponents.is_empty() {
        return Err(JudgeError::NoOpponent);
    }
    for opponent in opponents {
        if let Some(accuracy) = opponent.accuracy.filter(|accuracy| !(0.0..=1.0).contains(accuracy)) {
            return Err(JudgeError::Accuracy { name: opponent.name.clone(), accuracy });
        }
    }
    Ok(())
}

/// The questions to compare on, in their order. Which ones are drawn depends on seed and ids alone.
fn draw<'a>(target: &'a [JudgeItem], options: &ArenaOptions) -> Vec<&'a JudgeItem> {
    let wanted = options.questions.unwrap_or(target.len()).min(target.len());
    let mut by_lot: Vec<usize> = (0..target.len()).collect();
    if wanted < target.len() {
        by_lot
            .sort_by_cached_key(|index| digest(format!("{}:{}", options.seed, target[*index].id).as_bytes()));
        by_lot.truncate(wanted);
        by_lot.sort_unstable();
    }
    by_lot.into_iter().map(|index| &target[index]).collect()
}

/// One question and one opponent.
struct Pair<'a> {
    question: usize,
    opponent: usize,
    item: &'a JudgeItem,
    theirs: &'a str,
    /// The outcome where no judge is needed.
    settled: Option<PairOutcome>,
}

fn pairs<'a>(drawn: &[&'a JudgeItem], opponents: &'a [Opponent]) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    for (question, item) in drawn.iter().enumerate() {
        for (opponent, other) in opponents.iter().enumerate() {
            if let Some(theirs) = other.sql.get(&item.id) {
                let settled = settled(&item.sql, theirs);
                pairs.push(Pair { question, opponent, item, theirs: theirs.trim(), settled });
            }
        }
    }
    pairs
}

fn settled(ours: &str, theirs: &str) -> Option<PairOutcome> {
    let bare = |sql: &'_ str| sql.trim().trim_end_matches(';').trim_end().to_owned();
    let (ours, theirs) = (bare(ours), bare(theirs));
    match (ours.is_empty(), theirs.is_empty()) {
        _ if ours == theirs => Some(PairOutcome::Tie),
        (true, _) => Some(PairOutcome::Loss),
        (_, true) => Some(PairOutcome::Win),
        _ => None,
    }
}

impl Pair<'_> {
    /// The target's prediction first, then second.
    fn requests(&self, judge: &JudgeOptions) -> [ChatRequest; 2] {
        let ours = self.item.sql.trim();
        [(ours, self.theirs), (self.theirs, ours)]
            .map(|(a, b)| judge.request(self.item, &[("sql_a", a), ("sql_b", b)]))
    }
}

/// The outcome of both orders.
fn combined(
    first: Result<Answer<Verdict>, Undecided>,
    second: Result<Answer<Verdict>, Undecided>,
) -> PairOutcome {
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first.verdict, second.verdict),
        (Err(undecided), _) | (_, Err(undecided)) => return PairOutcome::Undecided(undecided),
    };
    match (first, second) {
        (Verdict::Unsure, _) | (_, Verdict::Unsure) => PairOutcome::Undecided(Undecided::Unsure),
        (Verdict::A, Verdict::B) => PairOutcome::Win,
        (Verdict::B, Verdict::A) => PairOutcome::Loss,
        _ => PairOutcome::Tie,
    }
}

fn reasons(outcomes: &[PairOutcome]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for outcome in outcomes {
        if let PairOutcome::Undecided(undecided) = outcome {
            *reasons.entry(undecided.name().to_owned()).or_insert(0) += 1;
        }
    }
    reasons
}

fn opponent_reports(
    pairs: &[Pair<'_>],
    outcomes: &[PairOutcome],
    opponents: &[Opponent],
) -> Vec<OpponentReport> {
    let report = |(index, opponent): (usize, &Opponent)| {
        let count = |wanted: &PairOutcome| {
            let ended = pairs.iter().zip(outcomes);
            ended.filter(|(pair, outcome)| pair.opponent == index && *outcome == wanted).count()
        };
        OpponentReport {
            name: opponent.name.clone(),
            wins: count(&PairOutcome::Win),
            ties: count(&PairOutcome::Tie),
            losses: count(&PairOutcome::Loss),
        }
    };
    opponents.iter().enumerate().map(report).collect()
}

/// Points by question and opponent.
struct Table {
    rows: Vec<Vec<Option<f64>>>,
    accuracies: Vec<Option<f64>>,
}

impl Table {
    fn new(pairs: &[Pair<'_>], outcomes: &[PairOutcome], opponents: &[Opponent], questions: usize) -> Self {
        let mut rows = vec![vec![None; opponents.len()]; questions];
        for (pair, outcome) in pairs.iter().zip(outcomes) {
            rows[pair.question][pair.opponent] = outcome.points();
        }
        Self { rows, accuracies: opponents.iter().map(|opponent| opponent.accuracy).collect() }
    }

    /// Points against each opponent on those questions.
    fn points(&self, questions: impl Iterator<Item = usize>) -> Vec<Points> {
        let mut sums = vec![Points::default(); self.accuracies.len()];
        for question in questions {
            for (sum, points) in sums.iter_mut().zip(&self.rows[question]) {
                if let Some(points) = points {
                    sum.points += points;
                    sum.comparisons += 1.0;
                }
            }
        }
        sums
    }

    fn calibration(&self, questions: impl Iterator<Item = usize>) -> Result<Calibration, CalibrationError> {
        let sums = self.points(questions);
        let decided = sums.iter().zip(&self.accuracies).filter(|(sum, _)| sum.comparisons > 0.0);
        let points: Vec<(f64, f64)> =
            decided.filter_map(|(sum, accuracy)| Some((sum.opponent_strength(), (*accuracy)?))).collect();
        Calibration::fit(&points, self.rows.len())
    }

    fn estimate(&self, options: &ArenaOptions) -> Result<ArenaEstimate, CalibrationError> {
        let whole = self.calibration(0..self.rows.len())?;
        let mut random = Random::new([options.seed]);
        let resampled: Vec<f64> = (0..RESAMPLES)
            .filter_map(|_| {
                let questions: Vec<usize> = self.rows.iter().map(|_| random.below(self.rows.len())).collect();
                self.calibration(questions.into_iter()).ok().map(|calibration| calibration.accuracy)
            })
            .collect();
        Ok(ArenaEstimate {
            accuracy: whole.accuracy,
            outside: whole.outside,
            standard_error: sample_deviation(&resampled),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(verdict: Verdict) -> Answer<Verdict> {
        Answer { verdict, confidence: 0.9, errors: Vec::new(), reason: String::new() }
    }

    #[test]
    fn only_a_preference_in_both_orders_wins() {
        use Verdict::{A, B, Tie, Unsure};
        let unsure = || PairOutcome::Undecided(Undecided::Unsure);
        for (first, second, outcome) in [
            (A, B, PairOutcome::Win),
            (B, A, PairOutcome::Loss),
            (A, A, PairOutcome::Tie),
            (B, B, PairOutcome::Tie),
            (Tie, Tie, PairOutcome::Tie),
            (A, Tie, PairOutcome::Tie),
            (Tie, A, PairOutcome::Tie),
            (Unsure, B, unsure()),
            (Tie, Unsure, unsure()),
        ] {
            assert_eq!(combined(Ok(answer(first)), Ok(answer(second))), outcome, "{first:?} {second:?}");
        }
        let cut = PairOutcome::Undecided(Undecided::Truncated);
        assert_eq!(combined(Ok(answer(A)), Err(Undecided::Truncated)), cut);
    }

    #[test]
    fn equal_and_missing_predictions_need_no_judge() {
        for (ours, theirs, outcome) in [
            ("SELECT 1", " SELECT 1 ;\n", Some(PairOutcome::Tie)),
            ("", " ; ", Some(PairOutcome::Tie)),
            ("", "SELECT 1", Some(PairOutcome::Loss)),
            ("SELECT 1", "", Some(PairOutcome::Win)),
            ("SELECT 1", "SELECT 2", None),
        ] {
            assert_eq!(settled(ours, theirs), outcome, "{ours} {theirs}");
        }
    }
}
