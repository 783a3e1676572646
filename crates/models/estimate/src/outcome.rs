//! From a probability per answer to the estimate that people read.

use std::collections::{BTreeMap, HashMap};

use sqlgauge_dataset::extract_sql;
use sqlgauge_encode::Matrix;
use sqlgauge_shift::{Slices, shift as describe_shift};
use sqlgauge_sql::{Features, resolve};

use crate::case::TargetCase;
use crate::estimate::{
    ACCURACY, AccuracyInterval, Estimate, EstimatePart, ItemEstimate, LawSlopes, SignalValue,
};
use crate::overlap::Overlap;
use crate::pool::{QuestionIndex, SystemIndex};
use crate::sums::{Sums, sums_over};
use sqlgauge_base::probit::{moved, shift_to_mean};

pub(crate) struct EstimateDraft {
    /// For each question of the target the probability that the answer is right.
    pub probabilities: Vec<f64>,
    /// What moved the estimate away from the known accuracy, as far as it can be told apart.
    pub effects: Vec<SignalValue>,
    /// What the rest of the difference follows from.
    pub rest: &'static str,
    /// The law that moved the estimate.
    pub law: Option<LawSlopes>,
    /// In sentences.
    pub notes: Vec<String>,
}

impl EstimateDraft {
    /// Probabilities, with all of the difference from the known accuracy put down to one thing.
    pub(crate) fn new(probabilities: Vec<f64>, rest: &'static str) -> Self {
        Self { probabilities, effects: Vec::new(), rest, law: None, notes: Vec::new() }
    }

    pub(crate) fn flat(case: &TargetCase<'_>, accuracy: f64, rest: &'static str) -> Self {
        Self::new(vec![accuracy; case.evidence.questions.len()], rest)
    }

    /// The confidences of the answers, moved on the probit scale so that their mean is the accuracy; those of 0 stay.
    pub(crate) fn moved(
        case: &TargetCase<'_>,
        confidences: &[f64],
        accuracy: f64,
        rest: &'static str,
    ) -> Self {
        let some: Vec<f64> = confidences.iter().copied().filter(|&p| p > 0.0).collect();
        let wanted = accuracy * confidences.len() as f64 / some.len().max(1) as f64;
        if some.is_empty() || wanted >= 1.0 {
            return Self::flat(case, accuracy, rest);
        }
        let by = shift_to_mean(&some, wanted);
        let probabilities = confidences.iter().map(|&p| if p > 0.0 { moved(p, by) } else { 0.0 }).collect();
        Self::new(probabilities, rest)
    }

    pub(crate) fn accuracy(&self) -> f64 {
        self.probabilities.iter().sum::<f64>() / self.probabilities.len().max(1) as f64
    }

    /// The estimate with its breakdown, at the mean probability.
    pub(crate) fn estimate(
        self,
        case: &TargetCase<'_>,
        method: &str,
        interval: AccuracyInterval,
    ) -> Estimate {
        let accuracy = self.accuracy();
        self.estimate_at(case, method, accuracy, interval)
    }

    /// The estimate with its breakdown, at an accuracy that the method found without the probabilities.
    pub(crate) fn estimate_at(
        mut self,
        case: &TargetCase<'_>,
        method: &str,
        accuracy: f64,
        interval: AccuracyInterval,
    ) -> Estimate {
        let pool = case.pool();
        let source_accuracy = pool.known_accuracy(case.target);
        let by_database = self.parts(case, source_accuracy, |question| {
            vec![pool.databases[pool[question].database].db_id.clone()]
        });
        let kinds: HashMap<QuestionIndex, Vec<String>> =
            case.evidence.questions.iter().map(|&q| (q, kinds(case, q))).collect();
        let by_kind = self.parts(case, source_accuracy, |question| kinds[&question].clone());
        let descriptors = descriptors(case, &mut self.notes);
        let questions = &case.evidence.questions;
        if questions.iter().all(|&question| !pool.databases[pool[question].database].has_rows) {
            self.notes.push(
                "no database of the target has rows: its predictions were compiled and compared on generated data"
                    .to_owned(),
            );
        }
        let system = pool[case.target].clone();
        let overlap = Overlap::of(pool, case.target, questions);
        self.notes.extend(overlap.notes(&system));
        self.notes.extend(case.peers_left_out());
        let standing = case.standing();
        Estimate {
            accuracy,
            interval: interval.at_least_of(accuracy, questions.len()).at_most(accuracy, may_be_right(case)),
            outside: standing.is_outside(),
            outside_because: standing.reasons.clone(),
            labelled: case.labelled(case.target).len(),
            overlap,
            method: method.to_owned(),
            metric: pool.metrics.iter().cloned().collect::<Vec<_>>().join(", "),
            signals: self.signals(case, accuracy),
            descriptors,
            by_database,
            by_kind,
            items: self.items(case),
            law: self.law,
            notes: self.notes,
            system,
        }
    }

    /// The signals with their effects, which add up to the estimate less the known accuracy.
    fn signals(&self, case: &TargetCase<'_>, accuracy: f64) -> Vec<SignalValue> {
        let mut signals = signals(case);
        let Some(source_accuracy) = case.pool().known_accuracy(case.target) else { return signals };
        let mut rest = accuracy - source_accuracy;
        for effect in &self.effects {
            rest -= effect.effect.unwrap_or_default();
            match signals.iter_mut().find(|signal| signal.name == effect.name) {
                Some(signal) => signal.effect = effect.effect,
                None => signals.push(effect.clone()),
            }
        }
        // What is left of a difference that was told apart whole is rounding.
        if rest.abs() > 1e-9 {
            let name = self.rest.to_owned();
            signals.push(SignalValue { name, known: None, target: None, effect: Some(rest) });
        }
        signals
    }

    fn parts(
        &self,
        case: &TargetCase<'_>,
        source_accuracy: Option<f64>,
        names: impl Fn(QuestionIndex) -> Vec<String>,
    ) -> Vec<EstimatePart> {
        let mut parts: BTreeMap<String, (usize, f64, f64)> = BTreeMap::new();
        for (&question, &probability) in case.evidence.questions.iter().zip(&self.probabilities) {
            let runs = case.observed(case.target, question).is_some_and(|seen| seen.runs_as_given);
            for name in names(question) {
                let part = parts.entry(name).or_default();
                part.0 += 1;
                part.1 += probability;
                part.2 += f64::from(runs);
            }
        }
        let all = self.probabilities.len().max(1) as f64;
        let mut parts: Vec<EstimatePart> = parts
            .into_iter()
            .map(|(name, (count, right, runs))| EstimatePart {
                name,
                count,
                accuracy: right / count as f64,
                runs: runs / count as f64,
                pull: source_accuracy.map(|accuracy| (right - accuracy * count as f64) / all),
            })
            .collect();
        parts.sort_by(|a, b| {
            let key = |part: &EstimatePart| part.pull.unwrap_or(part.accuracy);
            key(a).total_cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        parts
    }

    fn items(&self, case: &TargetCase<'_>) -> Vec<ItemEstimate> {
        let pool = case.pool();
        case.evidence
            .questions
            .iter()
            .zip(&self.probabilities)
            .map(|(&question, &probability)| {
                let pool_question = &pool[question];
                let answer = pool.get(case.target, question);
                ItemEstimate {
                    id: pool_question.id.clone(),
                    db_id: pool.databases[pool_question.database].db_id.clone(),
                    question: pool_question.text.clone(),
                    prediction: answer.map(|answer| answer.sql.clone()).unwrap_or_default(),
                    status: answer
                        .and_then(|answer| answer.status.clone())
                        .unwrap_or_else(|| "missing".to_owned()),
                    probability,
                    reasons: reasons(case, question),
                }
            })
            .collect()
    }
}

/// The share of the target's answers that may be right: those that run, where no answer that does not was ever labelled right (the
/// official script of Spider runs some of them changed).
fn may_be_right(case: &TargetCase<'_>) -> f64 {
    let is_right = |system: SystemIndex, question: QuestionIndex| {
        case.pool().label(system, question).is_some_and(|label| label > 0.0)
    };
    let fails_rightly = |&system: &SystemIndex| {
        case.labelled(system).into_iter().any(|at| !case.runs(system, at) && is_right(system, at))
    };
    let questions = &case.evidence.questions;
    if questions.is_empty() || case.evidence.sources.iter().any(fails_rightly) {
        return 1.0;
    }
    questions.iter().filter(|&&at| case.runs(case.target, at)).count() as f64 / questions.len() as f64
}

/// Kinds of question, by the structure of the prediction; the gold is not there to ask.
fn kinds(case: &TargetCase<'_>, question: QuestionIndex) -> Vec<String> {
    let pool = case.pool();
    let database = &pool.databases[pool[question].database];
    let schema = &database.schema;
    let Some(answer) = pool.get(case.target, question) else { return vec!["no answer".to_owned()] };
    match resolve(&database.reading(&extract_sql(&answer.sql).sql), schema) {
        Ok(query) => {
            let labels = Features::of(&query, schema).labels();
            if labels.is_empty() {
                vec!["other".to_owned()]
            } else {
                labels.into_iter().map(str::to_owned).collect()
            }
        }
        Err(_) => vec!["does not resolve".to_owned()],
    }
}

fn reasons(case: &TargetCase<'_>, question: QuestionIndex) -> Vec<String> {
    let Some(seen) = case.observed(case.target, question) else {
        return vec!["there is no answer".to_owned()];
    };
    let mut reasons = Vec::new();
    if !seen.answers {
        reasons.push("the answer is empty".to_owned());
    } else if !seen.runs_as_given {
        reasons.push(format!("it does not run: {}", seen.status.replace('_', " ")));
    } else if seen.result.is_some_and(|result| result.rows == 0) {
        reasons.push("it returns nothing".to_owned());
    }
    let agreement = case.agreement(case.target, question);
    if seen.runs && agreement.peers > 0 {
        if agreement.share == 0.0 {
            reasons.push(match agreement.peers {
                1 => "the other system disagrees".to_owned(),
                peers => format!("none of the {peers} other systems agrees"),
            });
        } else if !agreement.is_with_largest() {
            reasons.push(format!(
                "{:.0} % of the other systems agree on something else",
                100.0 * agreement.largest
            ));
        }
    }
    reasons
}

/// Names of the signals that estimators move an accuracy by.
pub(crate) const RUNS: &str = "runs";
/// The share of answers of whose statements at least the first runs.
pub(crate) const FIRST_RUNS: &str = "first statement runs";
/// Agreement among answers that run.
pub(crate) const AGREEMENT: &str = "agreement with other systems";

/// The signals over the system's own labelled answers and over the target.
fn signals(case: &TargetCase<'_>) -> Vec<SignalValue> {
    let home_questions = case.labelled(case.target);
    let sum = |questions: &[QuestionIndex]| sums_over(case, case.target, questions);
    let (home, abroad) = (sum(&home_questions), sum(&case.evidence.questions));
    let share = |questions: &[QuestionIndex], holds: &dyn Fn(QuestionIndex) -> bool| {
        let count = questions.iter().filter(|&&question| holds(question)).count();
        (!questions.is_empty()).then(|| count as f64 / questions.len() as f64)
    };
    let both = |name: &str, holds: &dyn Fn(QuestionIndex) -> bool| SignalValue {
        name: name.to_owned(),
        known: share(&home_questions, holds),
        target: share(&case.evidence.questions, holds),
        effect: None,
    };
    let of = |question: QuestionIndex| case.observed(case.target, question);
    let mut signals = vec![
        SignalValue {
            name: ACCURACY.to_owned(),
            known: case.pool().known_accuracy(case.target),
            target: None,
            effect: None,
        },
        both("answered", &|q| of(q).is_some_and(|seen| seen.answers)),
        both(RUNS, &|q| of(q).is_some_and(|seen| seen.runs_as_given)),
        both(FIRST_RUNS, &|q| of(q).is_some_and(|seen| seen.runs)),
    ];
    let agreement = |sums: &Sums| (sums.compared > 0.0).then(|| sums.agreement / sums.compared);
    if agreement(&abroad).is_some() {
        signals.push(SignalValue {
            name: AGREEMENT.to_owned(),
            known: agreement(&home),
            target: agreement(&abroad),
            effect: None,
        });
    }
    let has_result = |q: QuestionIndex| of(q).is_some_and(|seen| seen.result.is_some());
    if case.evidence.questions.iter().any(|&q| has_result(q)) {
        signals.push(both("returns nothing", &|q| {
            of(q).is_some_and(|seen| seen.result.is_some_and(|result| result.rows == 0))
        }));
    }
    signals
}

/// Shift descriptors of the target's `features` vectors against those of the system's labelled answers, or of all
/// labelled answers where it has none.
fn descriptors(case: &TargetCase<'_>, notes: &mut Vec<String>) -> BTreeMap<String, f64> {
    let vectors = |answers: &[(SystemIndex, QuestionIndex)]| {
        let rows: Vec<&[f32]> = answers
            .iter()
            .filter_map(|&(system, question)| Some(case.observed(system, question)?.features.as_slice()))
            .collect();
        Matrix::new(rows.first().map_or(0, |row| row.len()), rows.concat())
    };
    let home_answers: Vec<(SystemIndex, QuestionIndex)> =
        case.labelled(case.target).into_iter().map(|q| (case.target, q)).collect();
    let source = if home_answers.is_empty() {
        let sources = case.evidence.sources.iter();
        sources.flat_map(|&system| case.labelled(system).into_iter().map(move |q| (system, q))).collect()
    } else {
        home_answers
    };
    let target: Vec<(SystemIndex, QuestionIndex)> =
        case.evidence.questions.iter().map(|&q| (case.target, q)).collect();
    let (Ok(source), Ok(target)) = (vectors(&source), vectors(&target)) else { return BTreeMap::new() };
    match describe_shift(&source, &target, Slices::default(), case.options.seed) {
        Ok((_, descriptors)) => {
            let names = sqlgauge_shift::Descriptors::names().iter().map(|name| (*name).to_owned());
            names.zip(descriptors.to_row()).collect()
        }
        Err(error) => {
            notes.push(format!("no shift descriptors: {error}"));
            BTreeMap::new()
        }
    }
}
