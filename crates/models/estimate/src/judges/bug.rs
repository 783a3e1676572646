//! Asks for each prediction whether it answers its question.

use std::collections::BTreeMap;

use serde::Deserialize;
use sqlgauge_llm::{BatchProgress, ChatAnswer, ChatRequest, Client, LlmError, Usage};

use super::answer::{Undecided, read};
use super::{JudgeError, JudgeItem, JudgeOptions, TemplateKind, check, failed_by, stopped_by};

/// What the judge may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Correct,
    Incorrect,
    Unsure,
}

/// What came of one prediction.
#[derive(Debug, Clone, PartialEq)]
pub enum BugOutcome {
    /// The judge has a verdict.
    Decided {
        /// Whether it finds the prediction right.
        correct: bool,
        /// The probability that the prediction is right, in [0, 1]: the judge's confidence if it finds it right, one
        /// minus that if not.
        p_correct: f64,
    },
    /// There is no prediction; wrong without asking.
    Empty,
    /// There is no verdict.
    Undecided(Undecided),
}

impl BugOutcome {
    /// The probability that the prediction is right; `None` while undecided.
    pub fn p_correct(&self) -> Option<f64> {
        match self {
            Self::Decided { p_correct, .. } => Some(*p_correct),
            Self::Empty => Some(0.0),
            Self::Undecided(_) => None,
        }
    }

    fn found_correct(&self) -> bool {
        matches!(self, Self::Decided { correct: true, .. })
    }
}

/// The accuracy of a set, as the judge sees it. All shares in [0, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct BugEstimate {
    /// Mean probability of being right over the decided items: undecided ones are taken to be like the others.
    pub accuracy: f64,
    /// Standard error of that mean over items; `None` for one item. It does not hold the judge's own bias.
    pub standard_error: Option<f64>,
    /// Share of decided items that the judge finds right, whatever its confidence.
    pub accuracy_by_verdict: f64,
    /// The mean if every undecided item were wrong.
    pub lowest: f64,
    /// The mean if every undecided item were right.
    pub highest: f64,
}

/// What the judge made of a set of predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct BugReport {
    pub model: String,
    /// What came of each item, in their order.
    pub outcomes: Vec<BugOutcome>,
    /// Items with a verdict, empty predictions among them.
    pub decided: usize,
    /// Items without a verdict, by reason (see [`Undecided::name`]).
    pub undecided: BTreeMap<String, usize>,
    /// The accuracy; `None` when no item is decided.
    pub estimate: Option<BugEstimate>,
    pub usage: Usage,
    /// Why the judge stopped before the end, if it did; asking again with the same cache goes on from there.
    pub stopped_by: Option<String>,
    /// What the first request that failed met, if one did.
    pub failed_by: Option<String>,
}

/// Asks for each prediction whether it answers its question (`BugJudge`, section V-C of the `FusionSQL` paper, after
/// the semantic error detection of NL2SQL-BUGs). The estimate is the mean of the items' probabilities.
///
/// Items are asked in their order and all results are kept: when the budget is used up, the report covers what was
/// answered, and says so.
///
/// # Errors
/// When ids are repeated or the template is for another judge. Failed requests are outcomes, not errors.
pub fn judge_bug(
    client: &Client,
    options: &JudgeOptions,
    items: &[JudgeItem],
    progress: Option<&mut (dyn FnMut(&BatchProgress) + Send)>,
) -> Result<BugReport, JudgeError> {
    check(options, TemplateKind::Bug, items)?;
    let candidates: Vec<&JudgeItem> = items.iter().filter(|item| !item.sql.trim().is_empty()).collect();
    let requests: Vec<ChatRequest> =
        candidates.iter().map(|item| options.request(item, &[("sql", item.sql.trim())])).collect();
    let batch = client.chat_batch(&requests, progress);
    let (stopped_by, failed_by) = (stopped_by(&batch.results), failed_by(&batch.results));
    let mut answers = batch.results.iter();
    let outcomes = items.iter().map(|item| {
        let answer = if item.sql.trim().is_empty() { None } else { answers.next() };
        answer.map_or(BugOutcome::Empty, outcome)
    });
    let outcomes: Vec<BugOutcome> = outcomes.collect();
    Ok(BugReport {
        model: options.model.clone(),
        decided: outcomes.iter().filter(|outcome| outcome.p_correct().is_some()).count(),
        undecided: reasons(&outcomes),
        estimate: estimate(&outcomes),
        outcomes,
        usage: batch.usage,
        stopped_by,
        failed_by,
    })
}

fn outcome(result: &Result<ChatAnswer, LlmError>) -> BugOutcome {
    let answer = match read::<Verdict>(result) {
        Ok(answer) => answer,
        Err(undecided) => return BugOutcome::Undecided(undecided),
    };
    let p_correct = match answer.verdict {
        Verdict::Correct => answer.confidence,
        Verdict::Incorrect => 1.0 - answer.confidence,
        Verdict::Unsure => return BugOutcome::Undecided(Undecided::Unsure),
    };
    BugOutcome::Decided { correct: answer.verdict == Verdict::Correct, p_correct }
}

fn reasons(outcomes: &[BugOutcome]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for outcome in outcomes {
        if let BugOutcome::Undecided(undecided) = outcome {
            *reasons.entry(undecided.name().to_owned()).or_insert(0) += 1;
        }
    }
    reasons
}

fn estimate(outcomes: &[BugOutcome]) -> Option<BugEstimate> {
    let decided: Vec<f64> = outcomes.iter().filter_map(BugOutcome::p_correct).collect();
    if decided.is_empty() {
        return None;
    }
    let count = decided.len() as f64;
    let sum: f64 = decided.iter().sum();
    let accuracy = sum / count;
    let squares: f64 = decided.iter().map(|p| (p - accuracy).powi(2)).sum();
    let all = outcomes.len() as f64;
    Some(BugEstimate {
        accuracy,
        standard_error: (decided.len() > 1).then(|| (squares / (count * (count - 1.0))).sqrt()),
        accuracy_by_verdict: outcomes.iter().filter(|outcome| outcome.found_correct()).count() as f64 / count,
        lowest: sum / all,
        highest: (sum + all - count) / all,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(correct: bool, p_correct: f64) -> BugOutcome {
        BugOutcome::Decided { correct, p_correct }
    }

    #[test]
    fn undecided_items_count_neither_way_and_give_the_bounds() {
        let items = [
            decided(true, 0.9),
            decided(true, 0.6),
            decided(false, 0.3),
            BugOutcome::Empty,
            BugOutcome::Undecided(Undecided::Unsure),
        ];
        let result = estimate(&items).unwrap();
        // Decided: 0.9, 0.6, 0.3, 0. Mean 0.45, sum of squares 0.45, standard error sqrt(0.45 / 12).
        for (value, expected) in [
            (result.accuracy, 0.45),
            (result.standard_error.unwrap(), 0.193_649_167_310_370_9),
            (result.accuracy_by_verdict, 0.5),
            (result.lowest, 0.36),
            (result.highest, 0.56),
        ] {
            assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
        }
        assert_eq!(estimate(&items[4..]), None);
        assert_eq!(estimate(&items[..1]).unwrap().standard_error, None);
        assert_eq!(reasons(&items), BTreeMap::from([("unsure".to_owned(), 1)]));
    }
}
