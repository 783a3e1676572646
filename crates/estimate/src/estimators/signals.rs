//! `signals`: what predictions show of themselves, and how accuracy moved with it where labels are known.

use crate::case::Case;
use crate::conformal::half_width_by_group;
use crate::error::EstimateError;
use crate::estimate::{Estimate, Interval};
use crate::items::ItemModel;
use crate::law::Law;
use crate::logistic::solve;
use crate::novelty::Novelty;
use crate::outcome::{Outcome, signals};
use crate::probit::{moved, normal_cdf, shift_to_mean};
use crate::sets::{Ease, Labelled, MetaSet, Sums, groups, meta_sets, shift, squared, sums_of, total};

use super::Estimator;

/// What it does: estimates the accuracy among the answers that run in two ways, and weighs them by how far each was
/// off on sets whose truth is known, at the distance at which the target lies.
///
/// - **The item model** (gradient boosting on the `features` of question, schema and prediction, and on agreement with
///   other systems) gives every answer a probability; the mean is corrected by how far the model is off on the
///   system's own labelled answers. Best near what is known; alone there where nobody's answers can be compared.
/// - **The law** moves the system's known accuracy on the probit scale, in proportion to how the
///   share of answers that run and the agreement with other systems moved. Best far away.
///
/// An answer that does not run as given counts as wrong, unless the target lies within what is known: then as often
/// right as such answers were there (Spider's official script scores the first of several statements).
///
/// The interval is conformal: the errors of the weighted estimate on the sets, each in units of the error that is
/// expected at its distance.
#[derive(Debug, Clone, Copy)]
pub struct FromSignals;

/// The share of a half-width by which an interval outside what is known is widened.
const WIDENED_OUTSIDE: f64 = 0.25;

/// How much more than its errors on known sets say the law is trusted near them: the sets of few databases cannot tell
/// the two ways apart well.
const ODDS_OF_LAW: f64 = 3.0;

/// A set of fewer groups can lie far away by chance.
const FEWEST_FAR_GROUPS: usize = 3;

/// Labelled answers after which the correction of the item model counts half.
const HALF_CORRECTION: f64 = 100.0;

impl Estimator for FromSignals {
    fn id(&self) -> &'static str {
        "signals"
    }

    fn summary(&self) -> &'static str {
        "execution, structure and agreement of the predictions, and how accuracy moved with them where it is known"
    }

    fn needs(&self) -> &'static str {
        "a known run of any system, best of the same one; predictions of other systems on the target help much"
    }

    fn estimate(&self, case: &Case<'_>) -> Result<Estimate, EstimateError> {
        if case.evidence.known.is_empty() {
            return Err(EstimateError::Needs {
                method: self.id(),
                needs: "labelled predictions of some system".to_owned(),
                remedy: "give a run with --known (`sqlgauge score` or `sqlgauge import` makes one)",
            });
        }
        let fit = Fit::new(case)?;
        let target = fit.target_sums(case);
        let groups = groups(case, &case.evidence.questions).len();
        let found = fit.accuracy_of_running(&target, groups);
        let outcome = fit.outcome(case, &found);
        let share = target.runs / case.evidence.questions.len().max(1) as f64;
        let width = fit.half_width(case.options.level, &found) * share;
        let interval = Interval::around(outcome.accuracy(), width, case.options.level);
        Ok(outcome.estimate(case, self.id(), interval, found.outside))
    }
}

/// The expected squared error of a way to estimate: `far · distance² + group · (1 / labelled groups + 1 / groups of the
/// target)`. Databases, not questions, are what chance draws.
#[derive(Debug, Clone, Copy)]
struct Expected {
    far: f64,
    group: f64,
}

/// An error on a set.
struct Point {
    distance: f64,
    per_group: f64,
    square: f64,
    weight: f64,
}

/// What chance has to do with a set: the fewer databases on either side, the more.
fn per_group(source: usize, target: usize) -> f64 {
    1.0 / source.max(1) as f64 + 1.0 / target.max(1) as f64
}

/// Squared length of a set's shift, without the part that chance adds to it.
fn distance_of(set: &MetaSet) -> f64 {
    (squared(set.shift) - set.noise[0] - set.noise[1]).max(0.0)
}

impl Expected {
    /// Least squares on squared errors, neither part below 0; larger sets weigh more.
    fn fit(points: &[Point]) -> Self {
        let sum = |of: &dyn Fn(&Point) -> f64| points.iter().map(|p| p.weight * of(p)).sum::<f64>();
        let (dd, dg) = (sum(&|p| p.distance * p.distance), sum(&|p| p.distance * p.per_group));
        let gg = sum(&|p| p.per_group * p.per_group);
        let (de, ge) = (sum(&|p| p.distance * p.square), sum(&|p| p.per_group * p.square));
        let alone = |cross: f64, square: f64| if square > 1e-12 { (cross / square).max(0.0) } else { 0.0 };
        let both = solve(vec![vec![dd, dg], vec![dg, gg]], vec![de, ge]);
        let (far, group) = match (both[0] >= 0.0, both[1] >= 0.0) {
            (true, true) => (both[0], both[1]),
            (false, _) => (0.0, alone(ge, gg)),
            (true, false) => (alone(de, dd), 0.0),
        };
        Self { far, group }
    }

    fn at(&self, distance: f64, chance: f64) -> f64 {
        (self.far * distance + self.group * chance).max(SMALLEST_ERROR)
    }
}

/// The smallest squared error that is believed: half a point.
const SMALLEST_ERROR: f64 = 2.5e-5;

/// What was learned for one target system.
struct Fit {
    items: ItemModel,
    /// For a target like the known sets.
    near: Law,
    /// For a target beyond them.
    far: Law,
    labelled: Vec<Labelled>,
    /// The labelled answers from which the target is reached: the system's own, or everybody's.
    home: Vec<Sums>,
    /// Groups of questions that these answers are about.
    home_groups: usize,
    is_own: bool,
    by_near: Expected,
    by_far: Expected,
    by_items: Expected,
    /// By system: error in units of what was expected, near and far.
    scores: [Vec<(usize, f64)>; 2],
    farthest: f64,
    novelty: Option<Novelty>,
}

/// The accuracy among running answers.
struct Found {
    accuracy: f64,
    outside: bool,
    expected: f64,
    by_law: Option<(f64, Law)>,
    effects: [f64; 2],
}

impl Fit {
    fn new(case: &Case<'_>) -> Result<Self, EstimateError> {
        let items = ItemModel::fit(case)?;
        let ease = Ease::new(case, &items);
        let labelled: Vec<Labelled> =
            case.evidence.known.iter().map(|&system| Labelled::new(case, system, &items, &ease)).collect();
        let sets = meta_sets(&labelled, case.options.seed);
        let (near, far) = (Law::near(&sets), Law::far(&sets));
        let errors = |estimate: &dyn Fn(&MetaSet) -> f64| -> Vec<Point> {
            let point = |set| Point {
                distance: distance_of(set),
                per_group: per_group(set.groups[0].len(), set.groups[1].len()),
                square: (estimate(set) - set.target.accuracy()).powi(2),
                weight: set.target.runs,
            };
            sets.iter().map(point).collect()
        };
        let by_near = Expected::fit(&errors(&|set| near.accuracy(&set.source, &set.target)));
        let by_far = Expected::fit(&errors(&|set| far.accuracy(&set.source, &set.target)));
        let by_items = Expected::fit(&errors(&|set| corrected(&set.source, &set.target)));
        let own = labelled.iter().find(|of| of.system == case.target && total(&of.groups).runs > 0.0);
        let home = match own {
            Some(own) => vec![total(&own.groups)],
            None => labelled.iter().map(|of| total(&of.groups)).filter(|sums| sums.runs > 0.0).collect(),
        };
        let mut fit = Self {
            items,
            near,
            far,
            home,
            home_groups: own.or(labelled.first()).map_or(1, |of| of.groups.len()),
            is_own: own.is_some(),
            by_near,
            by_far,
            by_items,
            scores: [Vec::new(), Vec::new()],
            farthest: sets
                .iter()
                .filter(|set| set.groups[1].len() >= FEWEST_FAR_GROUPS)
                .map(distance_of)
                .fold(0.0, f64::max),
            labelled,
            novelty: Novelty::of(case),
        };
        fit.scores = [false, true].map(|outside| {
            let score = |set: &MetaSet| {
                let chance = per_group(set.groups[0].len(), set.groups[1].len());
                let (accuracy, expected) = fit.weigh(&[set.source], &set.target, chance, outside);
                (set.system, (accuracy - set.target.accuracy()) / expected.sqrt())
            };
            sets.iter().map(score).collect()
        });
        Ok(fit)
    }

    fn target_sums(&self, case: &Case<'_>) -> Sums {
        let sums = case.evidence.questions.iter().map(|&question| {
            let probability = self.items.target.get(&question).copied().unwrap_or_default();
            sums_of(case, case.target, question, probability)
        });
        total(&sums.collect::<Vec<_>>())
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

    fn accuracy_of_running(&self, target: &Sums, groups: usize) -> Found {
        let count = self.home.len().max(1) as f64;
        let distance = self.home.iter().map(|from| squared(shift(from, target))).sum::<f64>() / count;
        let is_new = self.novelty.as_ref().is_some_and(Novelty::is_outside);
        let outside = is_new || (groups >= FEWEST_FAR_GROUPS && distance > self.farthest);
        let (accuracy, expected) =
            self.weigh(&self.home, target, per_group(self.home_groups, groups), outside);
        let from = self.home.first().copied().unwrap_or_default();
        let moves = shift(&from, target);
        let law = if outside { self.far } else { self.near };
        let effect = |part: usize| {
            let before = normal_cdf(from.level());
            normal_cdf(from.level() + law.slopes[part] * moves[part]) - before
        };
        Found {
            accuracy,
            outside,
            expected,
            by_law: self.is_own.then(|| (law.accuracy(&from, target), law)),
            effects: [effect(0), effect(1)],
        }
    }

    /// Half-width of the interval of the accuracy among running answers.
    fn half_width(&self, level: f64, found: &Found) -> f64 {
        let score = half_width_by_group(&self.scores[usize::from(found.outside)], level);
        // Without sets whose truth is known nothing is known of errors.
        let Some(score) = score else { return 0.5 };
        let widened = if found.outside { 1.0 + WIDENED_OUTSIDE } else { 1.0 };
        score * found.expected.sqrt() * widened
    }

    /// The probability of every answer of the target, so that their mean over running ones is what was found.
    fn outcome(&self, case: &Case<'_>, found: &Found) -> Outcome {
        let questions = &case.evidence.questions;
        let of = |question: usize| case.signals(case.target, question);
        let running: Vec<usize> =
            questions.iter().copied().filter(|&question| of(question).is_some_and(|s| s.runs)).collect();
        let raw: Vec<f64> = running
            .iter()
            .map(|question| self.items.target.get(question).copied().unwrap_or(found.accuracy))
            .collect();
        let by = shift_to_mean(&raw, found.accuracy);
        let right: std::collections::HashMap<usize, f64> =
            running.iter().zip(&raw).map(|(&question, &p)| (question, moved(p, by))).collect();
        let rates = if found.outside { Rates::default() } else { Rates::of(case, &self.labelled) };
        let probabilities = questions
            .iter()
            .map(|&question| match (right.get(&question), of(question)) {
                (Some(p), Some(signals)) if signals.runs_as_given => *p,
                (Some(p), Some(_)) => (p * rates.first_statement).min(1.0),
                _ => rates.refused,
            })
            .collect();
        let effects = if self.is_own { found.effects.map(Some) } else { [None, None] };
        let mut outcome = Outcome { probabilities, signals: signals(case, effects), notes: Vec::new() };
        self.add_notes(case, found, &mut outcome.notes);
        outcome
    }

    fn add_notes(&self, case: &Case<'_>, found: &Found, notes: &mut Vec<String>) {
        if found.outside && self.is_own {
            notes.push(format!(
                "the target lies outside what the labels cover ({}): the estimate is an extrapolation by the law, and a \
                 prediction that does not run as given counts as wrong",
                self.novelty.as_ref().map(Novelty::describe).unwrap_or_default()
            ));
        }
        if !self.is_own {
            notes.push(format!(
                "no known run of {}: the estimate rests on other systems alone; give its own run with --known",
                case.pool().systems[case.target]
            ));
        }
        if !case.has_peers() {
            notes.push(
                "no other system's predictions on the target: agreement, the best signal, is missing; give some \
                 with --pred or --peer"
                    .to_owned(),
            );
        }
        if let Some((by_law, law)) = found.by_law {
            notes.push(format!(
                "among predictions that run: {:.1} % right by the law (slopes {:.2} and {:.2}), {:.1} % together with the \
                 item model",
                100.0 * by_law,
                law.slopes[0],
                law.slopes[1],
                100.0 * found.accuracy
            ));
        }
    }
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
    fn of(case: &Case<'_>, labelled: &[Labelled]) -> Self {
        let own: Vec<&Labelled> = labelled.iter().filter(|of| of.system == case.target).collect();
        let systems = if own.is_empty() { labelled.iter().collect() } else { own };
        let (mut given, mut first, mut refused) = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0));
        for of in systems {
            for &question in of.questions.iter().flatten() {
                let (Some(signals), Some(label)) =
                    (case.signals(of.system, question), case.pool().label(of.system, question))
                else {
                    continue;
                };
                let rate = match (signals.runs_as_given, signals.runs) {
                    (true, _) => &mut given,
                    (false, true) => &mut first,
                    (false, false) => &mut refused,
                };
                rate.0 += label;
                rate.1 += 1.0;
            }
        }
        let share = |(right, count): (f64, f64)| if count > 0.0 { right / count } else { 0.0 };
        let first_statement = if share(given) > 0.0 { share(first) / share(given) } else { 0.0 };
        Self { first_statement, refused: share(refused) }
    }
}
