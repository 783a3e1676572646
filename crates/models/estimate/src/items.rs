//! The item model: a probability of being right for every answer that runs, learned on labelled answers.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::case::TargetCase;
use crate::classifier::Classifier;
use crate::error::EstimateError;
use crate::pool::{QuestionIndex, SystemIndex};
use crate::sums::{groups, sums_of, total};

/// Answers that one model is trained on at most.
const MOST_ROWS: usize = 6_000;

/// Parts of the labelled questions that are predicted by a model which has not seen them.
const FOLDS: usize = 5;

/// The share of the training weight that the target system's own answers get, where it has any.
const OWN_SHARE: f64 = 0.3;

#[derive(Debug, Default)]
pub(crate) struct ItemModel {
    /// For labelled answers, by system and question: from a model that has seen no question of that database.
    pub source: HashMap<(SystemIndex, QuestionIndex), f64>,
    /// For the target's answers, by question.
    pub target: HashMap<QuestionIndex, f64>,
}

impl ItemModel {
    /// Learns from the labelled answers of the known systems and predicts the target system's answers.
    ///
    /// Folds are made of whole databases in the order of their difficulty, so that the hardest ones are predicted
    /// by a model of easier ones: the errors on them say what the model is worth on harder data.
    ///
    /// # Errors
    /// When a model cannot be fitted.
    pub(crate) fn fit(case: &TargetCase<'_>) -> Result<Self, EstimateError> {
        Self::fit_with(case, &(0..FOLDS).map(Some).chain([None]).collect::<Vec<_>>())
    }

    /// The same for the target's answers alone: the labelled ones get no probability.
    ///
    /// # Errors
    /// When the model cannot be fitted.
    pub(crate) fn fit_target(case: &TargetCase<'_>) -> Result<Self, EstimateError> {
        Self::fit_with(case, &[None])
    }

    /// One model for each fold that is held out, the last one with all answers.
    fn fit_with(case: &TargetCase<'_>, held_out: &[Option<usize>]) -> Result<Self, EstimateError> {
        let rows = training_rows(case, &folds(case));
        if rows.len() < 20 {
            return Ok(Self::default());
        }
        let models =
            held_out.par_iter().map(|&fold| fit_without(&rows, fold, case)).collect::<Result<Vec<_>, _>>()?;
        let Some((whole, folds)) = models.split_last() else { return Ok(Self::default()) };
        let mut source = HashMap::new();
        for (fold, model) in folds.iter().enumerate() {
            let of_fold: Vec<&Row> = rows.iter().filter(|row| row.fold == fold).collect();
            let inputs: Vec<Vec<f64>> = of_fold.iter().map(|row| row.features.clone()).collect();
            for (row, probability) in of_fold.iter().zip(model.predict(&inputs)) {
                source.insert((row.system, row.question), probability);
            }
        }
        let questions: Vec<QuestionIndex> = case
            .evidence
            .questions
            .iter()
            .copied()
            .filter(|&question| case.runs(case.target, question))
            .collect();
        let inputs: Vec<Vec<f64>> =
            questions.iter().filter_map(|&question| features(case, case.target, question)).collect();
        let target = questions.into_iter().zip(whole.predict(&inputs)).collect();
        Ok(Self { source, target })
    }
}

struct Row {
    system: SystemIndex,
    question: QuestionIndex,
    fold: usize,
    features: Vec<f64>,
    label: f64,
}

/// For each labelled question its fold.
fn folds(case: &TargetCase<'_>) -> HashMap<QuestionIndex, usize> {
    let sources = &case.evidence.sources;
    let mut questions: Vec<QuestionIndex> =
        sources.iter().flat_map(|&system| case.labelled(system)).collect();
    questions.sort_unstable();
    questions.dedup();
    let mut groups: Vec<(f64, Vec<QuestionIndex>)> = groups(case, &questions)
        .into_iter()
        .map(|group| {
            let sums = sources.iter().flat_map(|&s| group.iter().map(move |&q| (s, q)));
            let sums = total(&sums.map(|(s, q)| sums_of(case, s, q, 0.0)).collect::<Vec<_>>());
            let ease = sums.runs / sums.answers.max(1.0) + sums.agreement / sums.compared.max(1.0);
            (ease, group)
        })
        .collect();
    groups.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut fold_of = HashMap::new();
    let mut seen = 0;
    for (_, group) in groups {
        let fold = (seen * FOLDS / questions.len().max(1)).min(FOLDS - 1);
        seen += group.len();
        fold_of.extend(group.into_iter().map(|question| (question, fold)));
    }
    fold_of
}

fn training_rows(case: &TargetCase<'_>, folds: &HashMap<QuestionIndex, usize>) -> Vec<Row> {
    let mut answers: Vec<(SystemIndex, QuestionIndex)> = Vec::new();
    for &system in &case.evidence.sources {
        let runs = |&question: &QuestionIndex| case.runs(system, question);
        answers.extend(case.labelled(system).into_iter().filter(runs).map(|question| (system, question)));
    }
    let is_own = |&(system, _): &(SystemIndex, QuestionIndex)| system == case.target;
    let (home, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(is_own);
    let step = others.len().div_ceil(MOST_ROWS.saturating_sub(home.len()).max(1)).max(1);
    let sample = home.into_iter().chain(others.into_iter().step_by(step));
    let sample: Vec<(SystemIndex, QuestionIndex)> = sample.collect();
    sample
        .par_iter()
        .filter_map(|&(system, question)| {
            Some(Row {
                system,
                question,
                fold: *folds.get(&question)?,
                features: features(case, system, question)?,
                label: case.pool().label(system, question)?,
            })
        })
        .collect()
}

fn fit_without(
    rows: &[Row],
    fold: Option<usize>,
    case: &TargetCase<'_>,
) -> Result<Classifier, EstimateError> {
    let training: Vec<&Row> = rows.iter().filter(|row| Some(row.fold) != fold).collect();
    let home = training.iter().filter(|row| row.system == case.target).count() as f64;
    let others = training.len() as f64 - home;
    let own_weight = if home > 0.0 && others > 0.0 {
        (OWN_SHARE / (1.0 - OWN_SHARE) * others / home).max(1.0)
    } else {
        1.0
    };
    let inputs: Vec<Vec<f64>> = training.iter().map(|row| row.features.clone()).collect();
    let labels: Vec<f64> = training.iter().map(|row| row.label).collect();
    let weights: Vec<f64> =
        training.iter().map(|row| if row.system == case.target { own_weight } else { 1.0 }).collect();
    Classifier::fit(&inputs, &labels, &weights, case.options.seed)
}

/// The features of question and prediction. What is the same for all questions of a database is left out: it would tell
/// the few labelled databases apart by name.
pub(crate) fn structural_features(
    case: &TargetCase<'_>,
    system: SystemIndex,
    question: QuestionIndex,
) -> Option<Vec<f64>> {
    let seen = case.observed(system, question)?;
    let names = &case.evidence.table.feature_names;
    let of_item = names.iter().zip(&seen.features).filter(|(name, _)| !name.starts_with("schema."));
    Some(of_item.map(|(_, &value)| f64::from(value)).collect())
}

/// What the item model sees of an answer.
fn features(case: &TargetCase<'_>, system: SystemIndex, question: QuestionIndex) -> Option<Vec<f64>> {
    let seen = case.observed(system, question)?;
    let mut features = structural_features(case, system, question)?;
    features.push(f64::from(seen.runs_as_given));
    let returns_nothing = match (case.ground, seen.result) {
        (crate::peer_agreement::AgreementGround::Real, Some(result)) => f64::from(result.rows == 0),
        _ => 0.0,
    };
    features.push(returns_nothing);
    if case.has_peers() {
        let agreement = case.agreement(system, question);
        features.extend([
            agreement.share,
            agreement.share_of_running.unwrap_or(agreement.share),
            agreement.runs,
            agreement.largest,
            f64::from(agreement.is_with_largest()),
        ]);
    }
    Some(features)
}
