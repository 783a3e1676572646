//! How well a system does on questions and queries that look like the target's: a linear model of its labelled answers. Features are
//! also the confidences, where all answers have one, and whether an answer returns nothing, where all ran.
//!
//! Boosted trees cannot extrapolate, a line can. Its penalty is high, and a feature counts for at most four standard
//! deviations, since the target is not like the labelled data.

use crate::case::TargetCase;
use crate::confidence::confidence_of;
use crate::items::structural_features;
use crate::logistic::Logistic;
use crate::pool::{QuestionIndex, SystemIndex};
use crate::threshold::Threshold;

/// Penalty on squared weights of standardised features.
const RIDGE: f64 = 100.0;

/// Standard deviations from the labelled mean beyond which a feature counts no further.
const BOUND: f64 = 4.0;

/// Labelled answers that it is learned from at most.
const MOST_ROWS: usize = 4000;

/// The least confidence that is told from none, so that its logarithm is finite.
const LEAST_CONFIDENCE: f64 = 1e-12;

/// Fewest labelled answers that say anything.
const FEWEST_ROWS: usize = 20;

/// Shares of right answers, among those that run, by structure alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Structure {
    /// Of the labelled answers, which is their share of right ones.
    pub home: f64,
    /// Of the target's answers.
    pub target: f64,
}

impl Structure {
    /// Learns from the labelled answers of the target system, or of all where it has none. `None` if they are too few, or
    /// all are right or all wrong.
    pub(crate) fn fit(case: &TargetCase<'_>) -> Option<Self> {
        let of = |system: SystemIndex| {
            let labelled = case.labelled(system).into_iter();
            labelled
                .filter(move |&question| case.runs(system, question))
                .map(move |question| (system, question))
        };
        let home_answers: Vec<(SystemIndex, QuestionIndex)> = of(case.target).collect();
        let is_own = !home_answers.is_empty();
        let answers = if home_answers.is_empty() {
            case.evidence.sources.iter().flat_map(|&system| of(system)).collect()
        } else {
            home_answers
        };
        let target_answers =
            case.evidence.questions.iter().copied().filter(|&question| case.runs(case.target, question));
        let target_answers: Vec<(SystemIndex, QuestionIndex)> =
            target_answers.map(|question| (case.target, question)).collect();
        let is_sure = is_own
            && answers
                .iter()
                .chain(&target_answers)
                .all(|&(system, question)| confidence_of(case, system, question).is_some());
        let is_executed = answers.iter().chain(&target_answers).all(|&(system, question)| {
            case.observed(system, question).is_some_and(|seen| seen.result.is_some())
        });
        let row = |&(system, question): &(SystemIndex, QuestionIndex)| {
            seen_of(case, system, question, (is_sure, is_executed))
        };
        let step = answers.len().div_ceil(MOST_ROWS).max(1);
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for answer in answers.iter().step_by(step) {
            rows.push(row(answer)?);
            labels.push(case.pool().label(answer.0, answer.1)?);
        }
        let home = labels.iter().sum::<f64>() / labels.len().max(1) as f64;
        if rows.len() < FEWEST_ROWS || home <= 0.0 || home >= 1.0 {
            return None;
        }
        let model = Logistic::fit(&rows, &labels, RIDGE);
        let probabilities: Vec<f64> =
            target_answers.iter().filter_map(row).map(|row| model.predict_within(&row, BOUND)).collect();
        let count = probabilities.len();
        (count > 0).then(|| Self { home, target: probabilities.iter().sum::<f64>() / count as f64 })
    }
}

/// Shares of right answers, among those that run, by the system's own confidences alone: as many are taken for right as lie
/// above the threshold that as many labelled answers exceed as are right (Garg et al., 2022). A curve over the confidences
/// would take a model at its word where it is as sure of harder questions; which answers it is surest of, it knows better.
///
/// Learned from the labelled answers of the target system; `None` where it has too few, all are right or all wrong, or an
/// answer on either side carries no confidence.
pub(crate) fn by_confidence(case: &TargetCase<'_>) -> Option<Structure> {
    let runs = |question: &QuestionIndex| case.runs(case.target, *question);
    let sure = |question: &QuestionIndex| confidence_of(case, case.target, *question);
    let questions: Vec<QuestionIndex> = case.labelled(case.target).into_iter().filter(runs).collect();
    let home_confidences: Vec<f64> = questions.iter().map(sure).collect::<Option<_>>()?;
    let label = |question: &QuestionIndex| case.pool().label(case.target, *question);
    let labels: Vec<f64> = questions.iter().map(label).collect::<Option<_>>()?;
    let target_questions = case.evidence.questions.iter().filter(|question| runs(question));
    let target_confidences: Vec<f64> = target_questions.map(sure).collect::<Option<_>>()?;
    let home = labels.iter().sum::<f64>() / labels.len().max(1) as f64;
    if home_confidences.len() < FEWEST_ROWS || target_confidences.is_empty() || home <= 0.0 || home >= 1.0 {
        return None;
    }
    // A few answers may all lie on one side, and say by that neither none nor all.
    let count = target_confidences.len() as f64;
    let above = Threshold::fit(&home_confidences, home).share(&target_confidences) * count;
    Some(Structure { home, target: (above + 0.5) / (count + 1.0) })
}

/// The features of an answer, with the logarithm of its confidence where every answer has one, and whether it returns
/// nothing where every answer was executed.
fn seen_of(
    case: &TargetCase<'_>,
    system: SystemIndex,
    question: QuestionIndex,
    (is_sure, is_executed): (bool, bool),
) -> Option<Vec<f64>> {
    let mut features = structural_features(case, system, question)?;
    if is_executed {
        let result = case.observed(system, question)?.result?;
        features.push(f64::from(result.rows == 0));
    }
    if is_sure {
        features.push(confidence_of(case, system, question)?.max(LEAST_CONFIDENCE).ln());
    }
    Some(features)
}
