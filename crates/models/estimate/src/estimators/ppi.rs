//! `ppi`: prediction-powered inference from a few labels of the target.

use sqlgauge_base::stats::normal_quantile;

use crate::case::TargetCase;
use crate::confidence::{ConfidenceScope, Confidences, mean};
use crate::error::EstimateError;
use crate::estimate::{AccuracyInterval, Estimate, LABELS};
use crate::outcome::EstimateDraft;
use crate::pool::QuestionIndex;

use super::Estimator;

/// Labels without which there is no variance.
const FEWEST: usize = 2;

/// Labels from which an asymptotic interval is trusted.
const ENOUGH: usize = 30;

/// What it does: with a probability p of being right for every answer of the target, and labels y of n of them, the
/// estimate is the mean of λp over the N others, plus the rectifier, the mean of y − λp over the labelled ones
/// (Angelopoulos et al., 2023, "Prediction-powered inference"). λ in [0, 1] makes the variance least
/// (Angelopoulos et al., 2023, "PPI++", section 6: power tuning; Boyeau et al., 2025, "`AutoEval` done right").
///
/// The interval is asymptotic: the estimate ± z √(λ² var(p) / N + var(y − λp) / n). It holds for labels drawn at random
/// from the target, and for the accuracy on questions like these.
#[derive(Debug, Clone, Copy)]
pub struct Ppi;

/// Answers with labels, and the probabilities of the others.
struct Input {
    labels: Vec<f64>,
    labelled: Vec<f64>,
    others: Vec<f64>,
}

/// An estimate and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Inference {
    lambda: f64,
    accuracy: f64,
    standard_error: f64,
}

/// The variance of the values, over their number.
fn variance(values: &[f64]) -> f64 {
    let center = mean(values);
    mean(&values.iter().map(|value| (value - center).powi(2)).collect::<Vec<_>>())
}

impl Input {
    /// The λ of least variance, `cov(y, p) / ((1 + n / N) var(p))`, with the variance over all answers and the covariance
    /// over the labelled ones; 0 where p does not vary or no answer is without a label.
    fn lambda(&self) -> f64 {
        let (n, others) = (self.labels.len() as f64, self.others.len() as f64);
        if self.others.is_empty() {
            return 0.0;
        }
        let (label, labelled) = (mean(&self.labels), mean(&self.labelled));
        let both = self.labels.iter().zip(&self.labelled);
        let covariance = mean(&both.map(|(y, p)| (y - label) * (p - labelled)).collect::<Vec<_>>());
        let all: Vec<f64> = self.labelled.iter().chain(&self.others).copied().collect();
        let spread = variance(&all) * all.len() as f64 / (all.len() as f64 - 1.0);
        if spread > 0.0 { (covariance / ((1.0 + n / others) * spread)).clamp(0.0, 1.0) } else { 0.0 }
    }

    fn infer(&self) -> Inference {
        let lambda = self.lambda();
        let rectifiers: Vec<f64> =
            self.labels.iter().zip(&self.labelled).map(|(label, p)| label - lambda * p).collect();
        let (n, others) = (self.labels.len() as f64, self.others.len().max(1) as f64);
        let variance = lambda * lambda * variance(&self.others) / others + variance(&rectifiers) / n;
        let accuracy = lambda * mean(&self.others) + mean(&rectifiers);
        Inference { lambda, accuracy, standard_error: variance.sqrt() }
    }
}

impl Estimator for Ppi {
    fn id(&self) -> &'static str {
        "ppi"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let label = |question: QuestionIndex| case.evidence.labels.get(case.target, question);
        let questions = &case.evidence.questions;
        let count = questions.iter().filter(|&&question| label(question).is_some()).count();
        if count < FEWEST {
            return Err(EstimateError::Needs {
                method: self.id(),
                needs: format!(
                    "at least {FEWEST} labels of {}'s predictions on the target, and has {count}",
                    case.pool()[case.target]
                ),
                remedy: "give a file of ids and labels with --labels",
            });
        }
        let confidences = match Confidences::new(case, ConfidenceScope::Target, self.id()) {
            Err(EstimateError::Needs { .. }) => {
                let labels: Vec<f64> = questions.iter().filter_map(|&question| label(question)).collect();
                return Ok(of_labels_alone(case, &labels));
            }
            confidences => confidences?,
        };
        let mut input = Input { labels: Vec::new(), labelled: Vec::new(), others: Vec::new() };
        for &question in questions {
            let p = confidences.of_target(question);
            match label(question) {
                Some(label) => {
                    input.labels.push(label);
                    input.labelled.push(p);
                }
                None => input.others.push(p),
            }
        }
        let inference = input.infer();
        let accuracy = inference.accuracy.clamp(0.0, 1.0);
        let width = inference.standard_error * normal_quantile(f64::midpoint(1.0, case.options.level));
        let mut interval = AccuracyInterval::around(inference.accuracy, width, case.options.level);
        if input.labels.iter().all(|label| (label - input.labels[0]).abs() < 1e-9) {
            // Labels that are all the same show no spread, which is not to say that there is none.
            interval = interval.at_least_of(accuracy, input.labels.len());
        }
        let all: Vec<f64> = questions.iter().map(|&question| confidences.of_target(question)).collect();
        let mut outcome = EstimateDraft::moved(case, &all, accuracy, "labels of the target");
        outcome.notes.extend([confidences.note(), note(&input, inference)]);
        let estimate = outcome.estimate_at(case, self.id(), accuracy, interval);
        Ok(Estimate { metric: LABELS.to_owned(), ..estimate })
    }
}

/// Where nothing says more of the other answers: the share of the labels, with Wilson's interval.
fn of_labels_alone(case: &TargetCase<'_>, labels: &[f64]) -> Estimate {
    let accuracy = mean(labels);
    let point = AccuracyInterval::around(accuracy, 0.0, case.options.level);
    let interval = point.at_least_of(accuracy, labels.len());
    let mut outcome = EstimateDraft::flat(case, accuracy, "labels of the target");
    outcome.notes.push(format!(
        "{} labels of the target alone, drawn at random: neither a known run nor confidences say more of the other answers",
        labels.len()
    ));
    Estimate { metric: LABELS.to_owned(), ..outcome.estimate_at(case, "ppi", accuracy, interval) }
}

fn note(input: &Input, inference: Inference) -> String {
    let few = if input.labels.len() < ENOUGH { ", and with so few labels too narrow" } else { "" };
    format!(
        "{} labels of the target, λ {:.2}; the interval is asymptotic and takes the labels to be drawn at random{few}",
        input.labels.len(),
        inference.lambda
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Reference {
        labels: Vec<f64>,
        labelled: Vec<f64>,
        others: Vec<f64>,
        point: f64,
        low: f64,
        high: f64,
    }

    #[test]
    fn agrees_with_the_authors_library() {
        let text = include_str!("../../tests/fixtures/ppi.json");
        let references: Vec<Reference> = serde_json::from_str(text).unwrap();
        assert!(references.len() >= 4);
        for reference in references {
            let Reference { labels, labelled, others, point, low, high } = reference;
            let inference = Input { labels, labelled, others }.infer();
            assert!((inference.accuracy - point).abs() < 1e-9, "{inference:?} {point}");
            let width = inference.standard_error * normal_quantile(0.95);
            assert!((inference.accuracy - width - low).abs() < 1e-7, "{inference:?} {low}");
            assert!((inference.accuracy + width - high).abs() < 1e-7, "{inference:?} {high}");
        }
    }

    #[test]
    fn without_spread_or_others_the_labels_alone_count() {
        let labels = vec![1.0, 0.0, 1.0, 1.0];
        for others in [vec![0.5; 6], Vec::new()] {
            let inference = Input { labels: labels.clone(), labelled: vec![0.5; 4], others }.infer();
            // Mean 3/4, variance 3/16, standard error √(3/64).
            assert_eq!((inference.lambda, inference.accuracy), (0.0, 0.75));
            assert!((inference.standard_error - 0.216_506_350_946_109_66).abs() < 1e-12);
        }
    }
}
