//! The interval of a method that is a formula: the formula is evaluated on sets cut out of the known runs, where its
//! error can be seen.

use crate::case::Case;
use crate::conformal::half_width_by_group;
use crate::estimate::Interval;
use crate::items::ItemModel;
use crate::sets::{Ease, Labelled, MetaSet, meta_sets, shift, squared, sums_of, total};

/// By how much an interval outside what was seen is wider.
const WIDER_OUTSIDE: f64 = 2.0;

/// Half-width where no set can be cut, so that nothing is known of errors.
const UNKNOWN: f64 = 0.5;

/// A known run of one system, cut in two: as if only `source` had labels.
pub struct CutSet {
    /// Place of the system.
    pub system: usize,
    /// Questions whose labels a formula may use.
    pub source: Vec<usize>,
    /// Questions whose labels it is to do without.
    pub target: Vec<usize>,
}

/// The sets, and how far the target lies from them.
pub struct Calibration {
    labelled: Vec<Labelled>,
    sets: Vec<MetaSet>,
}

impl Calibration {
    /// Cuts the known runs. `items` orders questions by difficulty where few systems are known.
    pub fn new(case: &Case<'_>, items: &ItemModel) -> Self {
        let ease = Ease::new(case, items);
        let known = case.evidence.known.iter();
        let labelled: Vec<Labelled> =
            known.map(|&system| Labelled::new(case, system, items, &ease)).collect();
        let sets = meta_sets(&labelled, case.options.seed);
        Self { labelled, sets }
    }

    /// The interval around `accuracy`, conformal over the errors that `formula` makes on the sets (systems weigh the
    /// same), and whether the target lies outside: farther from the labelled answers, by the share that runs and by
    /// agreement, than any set from its source. Outside, the interval is twice as wide. Sets for which the formula
    /// gives nothing are left out; without any set the half-width is 0.5.
    pub fn interval(
        &self,
        case: &Case<'_>,
        accuracy: f64,
        formula: impl Fn(&CutSet) -> Option<f64>,
    ) -> (Interval, bool) {
        let errors: Vec<(usize, f64)> = self
            .sets
            .iter()
            .filter_map(|set| {
                let cut = self.cut(set)?;
                let truth = mean_label(case, cut.system, &cut.target)?;
                Some((cut.system, formula(&cut)? - truth))
            })
            .collect();
        let width = half_width_by_group(&errors, case.options.level).unwrap_or(UNKNOWN);
        let outside = self.is_outside(case);
        let width = if outside { WIDER_OUTSIDE * width } else { width };
        (Interval::around(accuracy, width, case.options.level), outside)
    }

    fn cut(&self, set: &MetaSet) -> Option<CutSet> {
        let of_system = self.labelled.iter().find(|of| of.system == set.system)?;
        let questions = |groups: &[usize]| {
            groups.iter().flat_map(|&group| of_system.questions[group].iter().copied()).collect()
        };
        let [source, target] = &set.groups;
        Some(CutSet { system: set.system, source: questions(source), target: questions(target) })
    }

    fn is_outside(&self, case: &Case<'_>) -> bool {
        let own = self.labelled.iter().find(|of| of.system == case.target && !of.groups.is_empty());
        let home = match own {
            Some(own) => total(&own.groups),
            None => total(self.labelled.iter().flat_map(|of| &of.groups)),
        };
        let questions = &case.evidence.questions;
        let abroad: Vec<_> = questions.iter().map(|&q| sums_of(case, case.target, q, 0.0)).collect();
        let farthest = self.sets.iter().map(|set| squared(set.shift)).fold(0.0, f64::max);
        squared(shift(&home, &total(&abroad))) > farthest
    }
}

/// Mean label of a system over questions; `None` without a label.
pub fn mean_label(case: &Case<'_>, system: usize, questions: &[usize]) -> Option<f64> {
    let labels = questions.iter().filter_map(|&question| case.pool().label(system, question));
    let (sum, count) = labels.fold((0.0, 0.0), |(sum, count), label| (sum + label, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
