//! How sure a system is of each answer, and methods that are a formula of that.

use std::collections::HashMap;

use crate::calibrate::Calibration;
use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::{Estimate, SignalValue};
use crate::items::ItemModel;
use crate::outcome::EstimateDraft;
use crate::pool::{QuestionIndex, SystemIndex};

/// Whose confidence is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    System,
    /// The item model's probability.
    ItemModel,
}

/// Where a confidence must be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfidenceScope {
    Target,
    /// On the target and where the system has labels.
    TargetAndSource,
}

/// The confidence of answers, in [0, 1]: the system's own where all its predictions carry one, else the item model's
/// probability. That of an answer that does not run is 0.
pub(crate) struct Confidences {
    pub origin: Origin,
    /// The item model; empty if the confidences are the system's own.
    pub items: ItemModel,
    target: HashMap<QuestionIndex, f64>,
}

impl Confidences {
    /// The confidences that a method needs.
    ///
    /// # Errors
    /// When there are none: the predictions carry none, and there are too few labelled answers for an item model.
    pub(crate) fn new(
        case: &TargetCase<'_>,
        scope: ConfidenceScope,
        method: &'static str,
    ) -> Result<Self, EstimateError> {
        let mut questions = case.evidence.questions.clone();
        if scope == ConfidenceScope::TargetAndSource {
            questions.extend(case.labelled(case.target));
        }
        let is_said = |&question: &QuestionIndex| {
            !case.runs(case.target, question)
                || case.pool().get(case.target, question).is_some_and(|answer| answer.confidence.is_some())
        };
        let some_run = case.evidence.questions.iter().any(|&question| case.runs(case.target, question));
        if some_run && questions.iter().all(is_said) {
            let with_confidence =
                |&question: &QuestionIndex| confidence_of(case, case.target, question).map(|p| (question, p));
            let target = case.evidence.questions.iter().filter_map(with_confidence).collect();
            return Ok(Self { origin: Origin::System, items: ItemModel::default(), target });
        }
        let items = ItemModel::fit(case)?;
        if some_run && items.target.is_empty() {
            return Err(EstimateError::Needs {
                method,
                needs: "a confidence of every answer".to_owned(),
                remedy: "give predictions with a column `confidence`, or a known run (--known) of at least 20 answers \
                         that run, from which one is learned",
            });
        }
        Ok(Self { origin: Origin::ItemModel, target: items.target.clone(), items })
    }

    /// Of the target's answer to one of its questions.
    pub(crate) fn of_target(&self, question: QuestionIndex) -> f64 {
        self.target.get(&question).copied().unwrap_or_default()
    }

    /// Of an answer with a label. `None` where the system did not say one, and its own are used.
    pub(crate) fn of_known(
        &self,
        case: &TargetCase<'_>,
        system: SystemIndex,
        question: QuestionIndex,
    ) -> Option<f64> {
        match self.origin {
            Origin::ItemModel => {
                Some(self.items.source.get(&(system, question)).copied().unwrap_or_default())
            }
            Origin::System => match case.observed(system, question) {
                Some(seen) if seen.runs => confidence_of(case, system, question),
                _ => Some(0.0),
            },
        }
    }

    pub(crate) fn note(&self) -> String {
        match self.origin {
            Origin::System => "confidence: the system's own, as its predictions carry it; 0 for one that does not run",
            Origin::ItemModel => {
                "confidence: the item model's probability, as the predictions carry none of their own (or not all do); 0 \
                 for one that does not run"
            }
        }
        .to_owned()
    }
}

/// How sure the system said that it is of an answer that runs.
pub(crate) fn confidence_of(
    case: &TargetCase<'_>,
    system: SystemIndex,
    question: QuestionIndex,
) -> Option<f64> {
    case.observed(system, question).filter(|seen| seen.runs)?;
    case.pool().get(system, question)?.confidence
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LabelledSample {
    pub confidences: Vec<f64>,
    pub labels: Vec<f64>,
}

impl LabelledSample {
    pub(crate) fn accuracy(&self) -> f64 {
        mean(&self.labels)
    }

    fn of(
        case: &TargetCase<'_>,
        confidences: &Confidences,
        system: SystemIndex,
        questions: &[QuestionIndex],
    ) -> Option<Self> {
        let mut sample = Self::default();
        for &question in questions {
            sample.confidences.push(confidences.of_known(case, system, question)?);
            sample.labels.push(case.pool().label(system, question)?);
        }
        Some(sample)
    }
}

/// The mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// An accuracy, or another share, from labelled answers and confidences.
pub(crate) type Formula<'f> = &'f dyn Fn(&LabelledSample, &[f64]) -> f64;

/// What rounding leaves of a difference.
const REST: &str = "confidence";

/// The estimate by a formula of labelled answers and of the confidences on the target. Its interval comes from the same
/// formula on sets cut out of the known runs. `reading` is the signal that the formula moves by, with its name.
///
/// # Errors
/// [`EstimateError::Needs`] without a known run of the system, or without confidences.
pub(crate) fn estimate_by(
    case: &TargetCase<'_>,
    method: &'static str,
    formula: Formula<'_>,
    reading: (&str, Formula<'_>),
) -> Result<Estimate, EstimateError> {
    let home_questions = case.labelled(case.target);
    if home_questions.is_empty() {
        return Err(own_run_needed(case, method));
    }
    let confidences = Confidences::new(case, ConfidenceScope::TargetAndSource, method)?;
    let source = LabelledSample::of(case, &confidences, case.target, &home_questions).unwrap_or_default();
    let target: Vec<f64> = case.evidence.questions.iter().map(|&q| confidences.of_target(q)).collect();
    let accuracy = formula(&source, &target);
    let calibration = Calibration::new(case, &confidences.items);
    let interval = calibration.interval(case, accuracy, |cut| {
        let source = LabelledSample::of(case, &confidences, cut.system, &cut.source)?;
        let target = LabelledSample::of(case, &confidences, cut.system, &cut.target)?;
        Some(formula(&source, &target.confidences))
    });
    let mut outcome = EstimateDraft::moved(case, &target, accuracy, REST);
    if let Some(source_accuracy) = case.pool().known_accuracy(case.target) {
        let (name, value) = reading;
        outcome.effects.push(SignalValue {
            name: name.to_owned(),
            known: Some(value(&source, &source.confidences)),
            target: Some(value(&source, &target)),
            effect: Some(accuracy - source_accuracy),
        });
    }
    outcome.notes.push(confidences.note());
    Ok(outcome.estimate_at(case, method, accuracy, interval))
}

/// Why a method that carries a system's own accuracy over has nothing to carry.
pub(crate) fn own_run_needed(case: &TargetCase<'_>, method: &'static str) -> EstimateError {
    let name = &case.pool()[case.target];
    let withheld = case.pool().withheld.iter().filter(|(system, _)| *system == case.target).count();
    let needs = if withheld > 0 {
        format!(
            "a known run of {name} on other questions than the target's, to which all its {withheld} labels belong"
        )
    } else {
        format!("a known run of {name}")
    };
    EstimateError::Needs { method, needs, remedy: "give one with --known, or choose another --method" }
}
