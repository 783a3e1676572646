//! `signals`: how accuracy moved with signals of the predictions on labelled data, carried over to the target.

use std::collections::HashMap;

use crate::case::TargetCase;
use crate::error::{EstimateError, LABELLED_RUN, NEEDED_LABELS};
use crate::errors::{ErrorPoint, Expected, Spread, UNKNOWN, half_width, per_group, together};
use crate::estimate::{AccuracyInterval, Estimate, LawSlopes, SignalValue};
use crate::items::ItemModel;
use crate::law::Law;
use crate::outcome::{AGREEMENT, EstimateDraft, FIRST_RUNS, RUNS};
use crate::pool::{QuestionIndex, SystemIndex};
use crate::sets::{HeldOutSet, LabelledGroups, cut_sets};
use crate::structure::{Structure, by_confidence};
use crate::sums::{Sums, databases, is_elsewhere, shift, squared, sums_of, total};
use sqlgauge_base::probit::{density_at, moved, normal_cdf, on_probit, shift_to_mean};
use sqlgauge_base::stats::normal_quantile;

use super::Estimator;

/// What it does: estimates the accuracy among the answers that run in two ways, and weighs them by how far each was
/// off on sets whose truth is known, at the distance at which the target lies.
///
/// - **The item model** (gradient boosting on the `features` of question, schema and prediction, and on agreement with
///   other systems) gives every answer a probability; the mean is corrected by how far the model is off on the
///   system's own labelled answers. Best near what is known, beside other systems.
/// - **The law** moves the system's known accuracy on the probit scale, in proportion to how the share of answers that run
///   and the agreement with other systems moved; without anybody to agree with, the share of answers that run and what
///   the structure of questions and predictions says. Best far away, and alone there and for a system alone. For a system
///   alone outside what is labelled, its own confidences count too, where it has them; where they and the law differ, the
///   interval is wider.
///
/// An answer that does not run as given counts as wrong, unless the target lies within what is known, or one system alone
/// is asked about data of the same kind: then as often right as such answers were there (Spider's official script scores
/// the first of several statements).
///
/// The interval follows the rule of `errors.rs`.
#[derive(Debug, Clone, Copy)]
pub struct FromSignals;

/// How much more than its errors on known sets say the law is trusted near them: the sets of few databases cannot tell
/// the two ways apart well.
const ODDS_OF_LAW: f64 = 3.0;

/// Labelled answers after which the correction of the item model counts half.
const HALF_CORRECTION: f64 = 100.0;

/// Of a change to data outside what is labelled, what a system's own confidences say by a threshold ([`by_confidence`]), where all its
/// answers carry one; the law says the rest. It was seen on one model, and the threshold then chosen on six measurements
/// (`research/estimation-real-model/README.md`, "Confidences beside the law").
const BY_CONFIDENCE: f64 = 2.0 / 3.0;

/// A rest of an effect that is put down to rounding and to the few answers that do not run as given.
const LEAST_REST: f64 = 5e-3;

/// What the item model or structure says, for who reads the signals.
const ITEMS: &str = "questions and predictions";

/// What the system's own confidences say, for who reads the signals.
const CONFIDENCE: &str = "own confidences";

impl Estimator for FromSignals {
    fn id(&self) -> &'static str {
        "signals"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        if case.evidence.sources.is_empty() {
            return Err(EstimateError::Needs {
                method: self.id(),
                needs: NEEDED_LABELS.to_owned(),
                remedy: LABELLED_RUN,
            });
        }
        let fit = Fit::new(case)?;
        let target = fit.target_sums(case);
        let running_accuracy = fit.accuracy_of_running(case, &target);
        let mut outcome = fit.outcome(case, &running_accuracy);
        outcome.effects = fit.effects(case, &running_accuracy, &target, outcome.accuracy());
        let interval = fit.interval(case, &running_accuracy, &target, outcome.accuracy());
        Ok(outcome.estimate(case, self.id(), interval))
    }
}

/// What was learned for one target system.
struct Fit {
    items: ItemModel,
    /// For a target like the known sets.
    near: Law,
    /// For a target beyond them.
    far: Law,
    /// What structure says, where nobody's answers can be compared with.
    structure: Option<Structure>,
    /// What its confidences say, for a system alone outside what is labelled.
    confident: Option<Structure>,
    labelled: Vec<LabelledGroups>,
    /// The labelled answers from which the target is reached: the system's own, or everybody's.
    home: Vec<Sums>,
    /// Groups of questions that these answers are about.
    home_groups: usize,
    is_own: bool,
    by_near: Expected,
    by_far: Expected,
    by_items: Expected,
    /// By system: error in units of what was expected.
    scores: Vec<(SystemIndex, f64)>,
}

/// The accuracy among running answers.
struct RunningAccuracy {
    accuracy: f64,
    outside: bool,
    /// What the law alone says.
    by_law: f64,
    /// Whether an answer that does not run as given counts as wrong, and not as such answers did where labels are.
    refused_are_wrong: bool,
    /// Whether the law alone says how many are right.
    is_by_law: bool,
    expected: f64,
    law: Law,
}

impl Fit {
    fn new(case: &TargetCase<'_>) -> Result<Self, EstimateError> {
        // Outside, the law alone says how many are right; the item model only orders the answers.
        let outside = case.standing().is_outside();
        let items = if outside { ItemModel::fit_target(case) } else { ItemModel::fit(case) }?;
        let (labelled, sets) = cut_sets(case, &items);
        let near = Law::near(&sets);
        let expected = |estimate: &dyn Fn(&HeldOutSet) -> f64| {
            let point = |set| ErrorPoint::of(set, estimate(set) - set.target.accuracy());
            Expected::fit(&sets.iter().map(point).collect::<Vec<_>>())
        };
        let source = labelled.iter().find(|of| of.system == case.target && total(&of.groups).runs > 0.0);
        let home = match source {
            Some(source) => vec![total(&source.groups)],
            None => labelled.iter().map(|of| total(&of.groups)).filter(|sums| sums.runs > 0.0).collect(),
        };
        let far = match (case.has_peers(), case.standing().is_other_kind) {
            (true, _) => Law::far(&sets),
            (false, true) => Law::alone(more_run(case, &home)),
            (false, false) => Law::alone_of_one_kind(),
        };
        let mut fit = Self {
            items,
            near,
            far,
            structure: if case.has_peers() { None } else { Structure::fit(case) },
            confident: if outside && !case.has_peers() { by_confidence(case) } else { None },
            home,
            home_groups: source.or(labelled.first()).map_or(1, |of| of.groups.len()),
            is_own: source.is_some(),
            by_near: expected(&|set| near.accuracy(&set.source, &set.target)),
            by_far: expected(&|set| far.accuracy(&set.source, &set.target)),
            by_items: expected(&|set| corrected(&set.source, &set.target)),
            scores: Vec::new(),
            labelled,
        };
        let score = |set: &HeldOutSet| {
            let chance = per_group(set.groups[0].len(), set.groups[1].len());
            let (accuracy, expected) = fit.weigh(&[set.source], &set.target, chance, outside);
            (set.system, (accuracy - set.target.accuracy()) / expected.sqrt())
        };
        fit.scores = sets.iter().map(score).collect();
        Ok(fit)
    }

    fn target_sums(&self, case: &TargetCase<'_>) -> Sums {
        let sums = case.evidence.questions.iter().map(|&question| {
            let probability = self.items.target.get(&question).copied().unwrap_or_default();
            sums_of(case, case.target, question, probability)
        });
        total(&sums.collect::<Vec<_>>())
    }

    /// The change that structure says, on the probit scale.
    fn structural_change(&self) -> f64 {
        self.structure.map_or(0.0, |structure| on_probit(structure.target) - on_probit(structure.home))
    }

    /// The weighted estimate and its expected squared error; outside what is known, the law's alone.
    fn weigh(&self, home: &[Sums], target: &Sums, chance: f64, outside: bool) -> (f64, f64) {
        let mean = |estimate: &dyn Fn(&Sums) -> f64| {
            home.iter().map(estimate).sum::<f64>() / home.len().max(1) as f64
        };
        let distance = mean(&|from| squared(shift(from, target)));
        if outside {
            return (mean(&|from| self.far.accuracy(from, target)), self.by_far.at(distance, chance));
        }
        let by_items = mean(&|from| corrected(from, target));
        let items = self.by_items.at(distance, chance);
        if target.compared == 0.0 {
            return (by_items, items);
        }
        let law = self.by_near.at(distance, chance);
        let weight = ODDS_OF_LAW * items / (law + ODDS_OF_LAW * items);
        let by_law = mean(&|from| self.near.accuracy(from, target));
        (weight * by_law + (1.0 - weight) * by_items, law * items / (law + items))
    }

    fn accuracy_of_running(&self, case: &TargetCase<'_>, target: &Sums) -> RunningAccuracy {
        let outside = case.standing().is_outside();
        let refused_are_wrong = outside && (case.has_peers() || case.standing().is_other_kind);
        let chance = per_group(self.home_groups, databases(case, &case.evidence.questions));
        let (weighed, expected) = self.weigh(&self.home, target, chance, outside);
        let is_by_law = outside || self.structure.is_some();
        let by_law = if is_by_law {
            let sum: f64 = self.home.iter().map(|from| self.far.accuracy(from, target)).sum();
            let by_law = sum / self.home.len().max(1) as f64;
            normal_cdf(on_probit(by_law) + self.far.structure * self.structural_change())
        } else {
            weighed
        };
        let accuracy = self.confident.map_or(by_law, |confident| {
            let [law, confidence] = [by_law, confident.target].map(on_probit);
            normal_cdf(law + BY_CONFIDENCE * (confidence - law))
        });
        let law = if is_by_law { self.far } else { self.near };
        RunningAccuracy { accuracy, outside, by_law, refused_are_wrong, is_by_law, expected, law }
    }

    /// Whether the target has a database without labels of its system, or of anybody where it has none.
    fn is_elsewhere(&self, case: &TargetCase<'_>) -> bool {
        let everybody = || case.evidence.sources.iter().flat_map(|&system| case.labelled(system)).collect();
        let labelled = if self.is_own { case.labelled(case.target) } else { everybody() };
        is_elsewhere(case, &labelled)
    }

    /// The interval of the accuracy of all answers, of which those that run are this accurate.
    fn interval(
        &self,
        case: &TargetCase<'_>,
        running_accuracy: &RunningAccuracy,
        target: &Sums,
        accuracy: f64,
    ) -> AccuracyInterval {
        let level = case.options.level;
        let databases = databases(case, &case.evidence.questions);
        let share = accuracy / running_accuracy.accuracy.max(1e-9);
        let is_alone = running_accuracy.is_by_law && !case.has_peers();
        if is_alone && (running_accuracy.outside || self.is_elsewhere(case)) {
            // Far away on the probit scale, where the spread was seen: 0 and 1 are never passed.
            let centre = on_probit(running_accuracy.accuracy);
            let by_law: f64 = self.home.iter().map(|from| running_accuracy.law.change(from, target)).sum();
            let moved = by_law / self.home.len().max(1) as f64
                + running_accuracy.law.structure * self.structural_change();
            // Where two say different things, each may be the right one.
            let (moved, apart) = self.confident.map_or((moved, 0.0), |confident| {
                let apart = on_probit(confident.target) - on_probit(running_accuracy.by_law);
                let deviation = apart.abs() * (BY_CONFIDENCE * (1.0 - BY_CONFIDENCE)).sqrt();
                ((1.0 - BY_CONFIDENCE) * moved, normal_quantile(f64::midpoint(1.0, level)) * deviation)
            });
            // Other systems were asked the same questions, so chance in the choice of questions is not smaller for several of them.
            let labels = self.home.iter().map(Sums::level_noise).sum::<f64>() / self.home.len().max(1) as f64;
            let width = Spread::ALONE.half_width_alone(
                databases,
                moved,
                level,
                running_accuracy.accuracy,
                target.runs,
                labels,
            );
            let width = together(width, apart);
            let [low, high] = [centre - width, centre + width].map(|end| (share * normal_cdf(end)).min(1.0));
            return AccuracyInterval { level, low, high };
        }
        // Without sets whose truth is known nothing is known of errors.
        if self.scores.is_empty() {
            return AccuracyInterval::around(accuracy, UNKNOWN, level);
        }
        let mut width = half_width(&self.scores, running_accuracy.expected, level);
        let spread = match (running_accuracy.outside, case.has_peers()) {
            (true, _) => Some(Spread::WITH_PEERS),
            (false, false) if self.is_elsewhere(case) => Some(Spread::ALONE),
            (false, _) => None,
        };
        if let Some(spread) = spread {
            let spread = spread.half_width(databases, 0.0, level);
            width = together(width, spread * density_at(running_accuracy.accuracy));
        }
        AccuracyInterval::around(accuracy, width * share.min(1.0), level)
    }

    /// How the signals moved the estimate away from the known accuracy, one after the other: which answers count at all,
    /// how many of them run, what the law says of each signal, what structure says. Each has the sign of its change.
    fn effects(
        &self,
        case: &TargetCase<'_>,
        running_accuracy: &RunningAccuracy,
        target: &Sums,
        accuracy: f64,
    ) -> Vec<SignalValue> {
        let (Some(source_accuracy), true) = (case.pool().known_accuracy(case.target), self.is_own) else {
            return Vec::new();
        };
        let from = self.home.first().copied().unwrap_or_default();
        let (counted, share) = Self::counted(case, running_accuracy, source_accuracy);
        let moves = running_accuracy.law.moves(&from, target);
        let mut effects =
            vec![effect(FIRST_RUNS, counted - source_accuracy), effect(RUNS, counted * (share - 1.0))];
        let mut reached = counted * share;
        let level = from.level();
        if running_accuracy.is_by_law || target.compared > 0.0 {
            let mut at = level;
            // One row where both shares are the same, or answers that do not run count as where labels are.
            let is_one = (running_accuracy.is_by_law && !running_accuracy.refused_are_wrong)
                || Self::runs_are_one(case);
            let share = if is_one { RUNS } else { FIRST_RUNS };
            for (part, name) in [(0, share), (1, AGREEMENT)] {
                let next = at + running_accuracy.law.slopes[part] * moves[part];
                let by = reached * (normal_cdf(next) / normal_cdf(at).max(1e-9) - 1.0);
                match effects.iter_mut().find(|effect| effect.name == name) {
                    Some(same) => same.effect = same.effect.map(|effect| effect + by),
                    None => effects.push(effect(name, by)),
                }
                reached += by;
                at = next;
            }
        }
        if running_accuracy.is_by_law && !running_accuracy.refused_are_wrong {
            if let Some(structure) = self.structure {
                effects.push(between(ITEMS, accuracy - reached, [structure.home, structure.target]));
            }
        } else if running_accuracy.is_by_law {
            if let Some(structure) = self.structure {
                let now = on_probit(running_accuracy.by_law);
                let before = normal_cdf(now - running_accuracy.law.structure * self.structural_change());
                let by = reached * (running_accuracy.by_law / before.max(1e-9) - 1.0);
                let by_confidence =
                    (reached + by) * (running_accuracy.accuracy / running_accuracy.by_law.max(1e-9) - 1.0);
                if let Some(confident) = self.confident {
                    effects.push(between(CONFIDENCE, by_confidence, [confident.home, confident.target]));
                }
                // What rounding leaves is no signal of its own.
                let rest = accuracy - reached - by - by_confidence;
                let by = if rest.abs() < LEAST_REST { by + rest } else { by };
                effects.push(between(ITEMS, by, [structure.home, structure.target]));
            }
        } else if target.compared == 0.0 {
            let shares = [from.accuracy(), corrected(&from, target)];
            effects.push(between(ITEMS, accuracy - reached, shares));
        }
        effects.retain(|effect| effect.effect.is_some_and(|by| by.abs() > 1e-9));
        effects
    }

    /// Whether each answer that runs does so as given, and not only its first statement.
    fn runs_are_one(case: &TargetCase<'_>) -> bool {
        let home = case.labelled(case.target);
        let mut seen =
            home.iter().chain(&case.evidence.questions).filter_map(|&q| case.observed(case.target, q));
        seen.all(|seen| seen.runs == seen.runs_as_given)
    }

    /// The known accuracy if only answers counted that do so on the target, and by what factor more of them run there.
    fn counted(
        case: &TargetCase<'_>,
        running_accuracy: &RunningAccuracy,
        source_accuracy: f64,
    ) -> (f64, f64) {
        let home = case.labelled(case.target);
        let running = |questions: &[QuestionIndex], as_given: bool| {
            let holds = |&&question: &&QuestionIndex| {
                let seen = case.observed(case.target, question);
                seen.is_some_and(|seen| if as_given { seen.runs_as_given } else { seen.runs })
            };
            questions.iter().filter(holds).count() as f64 / questions.len().max(1) as f64
        };
        let before = running(&home, true);
        let after = running(&case.evidence.questions, true);
        let share = if before > 0.0 { after / before } else { 1.0 };
        if !running_accuracy.refused_are_wrong {
            return (source_accuracy, share);
        }
        let right: f64 = home
            .iter()
            .filter(|&&question| case.observed(case.target, question).is_some_and(|seen| seen.runs_as_given))
            .filter_map(|&question| case.pool().label(case.target, question))
            .sum();
        (right / home.len().max(1) as f64, share)
    }

    /// The probability of every answer of the target, so that their mean over running ones is what was found.
    fn outcome(&self, case: &TargetCase<'_>, running_accuracy: &RunningAccuracy) -> EstimateDraft {
        let questions = &case.evidence.questions;
        let of = |question: QuestionIndex| case.observed(case.target, question);
        let running: Vec<QuestionIndex> =
            questions.iter().copied().filter(|&question| of(question).is_some_and(|s| s.runs)).collect();
        let raw: Vec<f64> = running
            .iter()
            .map(|question| self.items.target.get(question).copied().unwrap_or(running_accuracy.accuracy))
            .collect();
        let by = shift_to_mean(&raw, running_accuracy.accuracy);
        let right: HashMap<QuestionIndex, f64> =
            running.iter().zip(&raw).map(|(&question, &p)| (question, moved(p, by))).collect();
        let rates = if running_accuracy.refused_are_wrong {
            Rates::default()
        } else {
            Rates::of(case, &self.labelled)
        };
        let probabilities = questions
            .iter()
            .map(|&question| match (right.get(&question), of(question)) {
                (Some(p), Some(seen)) if seen.runs_as_given => *p,
                (Some(p), Some(_)) => (p * rates.first_statement).min(1.0),
                _ => rates.refused,
            })
            .collect();
        let rest = if running_accuracy.is_by_law { "everything else" } else { "item model" };
        let mut outcome = EstimateDraft::new(probabilities, rest);
        if running_accuracy.is_by_law {
            let Law { slopes: [runs, agreement], structure, .. } = running_accuracy.law;
            outcome.law = Some(LawSlopes { runs, agreement, structure });
        }
        self.add_notes(case, running_accuracy, &mut outcome.notes);
        outcome
    }

    fn add_notes(&self, case: &TargetCase<'_>, running_accuracy: &RunningAccuracy, notes: &mut Vec<String>) {
        if running_accuracy.outside && running_accuracy.refused_are_wrong {
            notes.push("an answer that does not run as given counts as wrong".to_owned());
        }
        if !self.is_own {
            notes.push(format!(
                "no scored run of {} on other questions was given, so the estimate rests on other systems; give one with --known",
                case.pool()[case.target]
            ));
        }
        if !case.has_peers() && case.peers_left_out().is_none() {
            notes.push(
                "agreement, the best signal, is missing: it needs another system that answers the labelled questions and these; \
                 give its scored run with --known, and its answers here with --peer"
                    .to_owned(),
            );
        }
        if self.is_own {
            notes.push(format!(
                "of the predictions that run, {:.1} % are estimated to be right",
                100.0 * running_accuracy.accuracy
            ));
        }
    }
}

/// Whether more answers run on the target than where labels are.
fn more_run(case: &TargetCase<'_>, home: &[Sums]) -> bool {
    let answers: Vec<Sums> =
        case.evidence.questions.iter().map(|&q| sums_of(case, case.target, q, 0.0)).collect();
    let target = total(&answers);
    home.iter().map(|from| shift(from, &target)[0]).sum::<f64>() > 0.0
}

fn effect(name: &str, by: f64) -> SignalValue {
    SignalValue { name: name.to_owned(), known: None, target: None, effect: Some(by) }
}

/// The effect of what went from one value to another.
fn between(name: &str, by: f64, [home, target]: [f64; 2]) -> SignalValue {
    SignalValue { known: Some(home), target: Some(target), ..effect(name, by) }
}

/// The item model's mean on the target, corrected by what it is off on the source.
fn corrected(source: &Sums, target: &Sums) -> f64 {
    let mean = target.probability / target.runs.max(1.0);
    let off = (source.right - source.probability) / source.runs.max(1.0);
    (mean + off * source.runs / (source.runs + HALF_CORRECTION)).clamp(0.0, 1.0)
}

/// How often answers that do not run as given are right, by the labels.
#[derive(Debug, Clone, Copy, Default)]
struct Rates {
    /// Of those whose first statement runs, relative to those that run as given.
    first_statement: f64,
    /// Of all others.
    refused: f64,
}

impl Rates {
    fn of(case: &TargetCase<'_>, labelled: &[LabelledGroups]) -> Self {
        let home: Vec<&LabelledGroups> = labelled.iter().filter(|of| of.system == case.target).collect();
        let systems = if home.is_empty() { labelled.iter().collect() } else { home };
        let (mut whole, mut first, mut refused) = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0));
        for of in systems {
            for &question in of.questions.iter().flatten() {
                let (Some(seen), Some(label)) =
                    (case.observed(of.system, question), case.pool().label(of.system, question))
                else {
                    continue;
                };
                let rate = match (seen.runs_as_given, seen.runs) {
                    (true, _) => &mut whole,
                    (false, true) => &mut first,
                    (false, false) => &mut refused,
                };
                rate.0 += label;
                rate.1 += 1.0;
            }
        }
        let share = |(right, count): (f64, f64)| if count > 0.0 { right / count } else { 0.0 };
        let first_statement = if share(whole) > 0.0 { share(first) / share(whole) } else { 0.0 };
        Self { first_statement, refused: share(refused) }
    }
}
