//! The interval of a method that is a formula, from the formula's errors on sets cut out of the known runs.

use crate::case::TargetCase;
use crate::errors::{ErrorPoint, Expected, Spread, half_width, per_group, together};
use crate::estimate::AccuracyInterval;
use crate::items::ItemModel;
use crate::pool::{QuestionIndex, SystemIndex};
use crate::sets::{HeldOutSet, LabelledGroups, cut_sets};
use crate::sums::{databases, shift, squared, sums_over, total};
use sqlgauge_base::probit::density_at;

/// A known run of one system, cut in two: as if only `source` had labels.
pub(crate) struct CutSet {
    pub system: SystemIndex,
    /// Questions whose labels a formula may use.
    pub source: Vec<QuestionIndex>,
    /// Questions whose labels it is to do without.
    pub target: Vec<QuestionIndex>,
}

/// The sets, and how far the target lies from them.
pub(crate) struct Calibration {
    labelled: Vec<LabelledGroups>,
    sets: Vec<HeldOutSet>,
}

impl Calibration {
    /// Cuts the known runs. `items` orders questions by difficulty where few systems are known.
    pub(crate) fn new(case: &TargetCase<'_>, items: &ItemModel) -> Self {
        let (labelled, sets) = cut_sets(case, items);
        Self { labelled, sets }
    }

    /// The interval around `accuracy`, by the rule of [`crate::errors`] over the errors that `formula` makes on the sets.
    /// Sets for which the formula gives nothing are left out; without any set the half-width is 0.5.
    pub(crate) fn interval(
        &self,
        case: &TargetCase<'_>,
        accuracy: f64,
        formula: impl Fn(&CutSet) -> Option<f64>,
    ) -> AccuracyInterval {
        let points: Vec<ErrorPoint> = self
            .sets
            .iter()
            .filter_map(|set| {
                let cut = self.cut(set)?;
                let truth = mean_label(case, cut.system, &cut.target)?;
                Some(ErrorPoint::of(set, formula(&cut)? - truth))
            })
            .collect();
        let expected = Expected::fit(&points);
        let score = |point: &ErrorPoint| {
            (point.system, point.error / expected.at(point.distance, point.per_group).sqrt())
        };
        let scores: Vec<(SystemIndex, f64)> = points.iter().map(score).collect();
        let (distance, chance) = self.place(case);
        let level = case.options.level;
        let mut width = half_width(&scores, expected.at(distance, chance), level);
        if case.standing().is_outside() {
            let spread = if case.has_peers() { Spread::WITH_PEERS } else { Spread::ALONE };
            let on_probit = spread.half_width(databases(case, &case.evidence.questions), 0.0, level);
            // A formula may miss all that the signals moved by, and accuracy moves as they do (see [`crate::law`]): more than
            // the slope may be off.
            width = together(width, together(on_probit, distance.sqrt()) * density_at(accuracy));
        }
        AccuracyInterval::around(accuracy, width, level)
    }

    fn cut(&self, set: &HeldOutSet) -> Option<CutSet> {
        let of_system = self.labelled.iter().find(|of| of.system == set.system)?;
        let questions = |groups: &[usize]| {
            groups.iter().flat_map(|&group| of_system.questions[group].iter().copied()).collect()
        };
        let [source, target] = &set.groups;
        Some(CutSet { system: set.system, source: questions(source), target: questions(target) })
    }

    /// The target's squared distance from the labelled answers of its system (or of all), and what chance has to do with
    /// it.
    fn place(&self, case: &TargetCase<'_>) -> (f64, f64) {
        let source = self.labelled.iter().find(|of| of.system == case.target && !of.groups.is_empty());
        let home = match source {
            Some(source) => total(&source.groups),
            None => total(self.labelled.iter().flat_map(|of| &of.groups)),
        };
        let questions = &case.evidence.questions;
        let abroad = sums_over(case, case.target, questions);
        let [from, to] = [home.noise(), abroad.noise()];
        let noise = from[0] + from[1] + to[0] + to[1];
        let groups = source.or(self.labelled.first()).map_or(1, |of| of.groups.len());
        let distance = (squared(shift(&home, &abroad)) - noise).max(0.0);
        (distance, per_group(groups, databases(case, questions)))
    }
}

/// Mean label of a system over questions; `None` without a label.
pub(crate) fn mean_label(
    case: &TargetCase<'_>,
    system: SystemIndex,
    questions: &[QuestionIndex],
) -> Option<f64> {
    let labels = questions.iter().filter_map(|&question| case.pool().label(system, question));
    let (sum, count) = labels.fold((0.0, 0.0), |(sum, count), label| (sum + label, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
