//! How far an estimate is expected to be off: one rule for every method that learns from known runs.
//!
//! The squared error is a sum of parts, as variances are:
//!
//! 1. `far · distance² + group · (1 / labelled databases + 1 / databases of the target)`, learned on sets that are cut
//!    out of the known runs. The distance is that of the signals, so a target farther away gets a wider interval.
//! 2. Outside of the labelled data: how much systems of different kinds, and databases, differ there ([`Spread`]).
//!    The known runs cannot tell; it was measured on models of several families (`research/estimation/README.md`).
//! 3. For one system alone: the chance of drawing these questions, on the target and on the labelled data.
//!
//! The half-width is the error expected on the target times a conformal quantile: that of actual by expected errors on the
//! sets. Parts 2 and 3 are added outside; for one system alone also where the target has databases without labels.

use sqlgauge_base::stats::normal_quantile;

use crate::conformal::half_width_by_group;
use crate::logistic::solve;
use crate::pool::SystemIndex;
use crate::sets::HeldOutSet;
use crate::sums::squared;
use sqlgauge_base::probit::{density_at, student_t};

/// The smallest squared error that is believed: half a point.
const SMALLEST_ERROR: f64 = 2.5e-5;

/// Half-width where no set can be cut, so that nothing is known of errors.
pub(crate) const UNKNOWN: f64 = 0.5;

/// Families of models over which [`Spread`] was seen, less one.
const FREEDOM: usize = 6;

/// Standard deviation of the slopes of the law, relative to them. That of the share that runs was 0.35 over the three pairs of data
/// on which it was seen: 0.23 between databases of Spider, 0.32 between those of BIRD, 0.9 from Spider to BIRD.
const SLOPE: f64 = 0.4;

/// How much accuracies outside what is labelled differ from an estimate, as standard deviations on the probit scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// What is the same for all databases of a target: from one kind of model to another, wider than what the few families
    /// show, so that the interval holds for one that nobody has seen; and how hard the databases are together.
    pub kind: f64,
    /// From one database to another.
    pub database: f64,
    /// Of the slopes of the law from one pair of data to another, relative to them: the farther it moves an accuracy, the less is
    /// known.
    pub slope: f64,
}

impl Spread {
    /// Of an estimate that compares answers with those of other systems. `bench-estimators --protocol leave-family-out` prints what
    /// families show, here and of one system alone.
    pub const WITH_PEERS: Self = Self { kind: 0.07, database: 0.20, slope: 0.0 };

    /// Of one that sees one system alone: variance components of what is left on families and databases that the law was
    /// not learned on, and of the slopes between databases of either benchmark and from one benchmark to the other
    /// (`research/estimation/README.md`, "One system alone, families left out"). The part of databases was 0.25 between those of BIRD. It is
    /// wider since groups of Spider's were left out: with 0.25 74 % of the 90 % intervals held there. The same spread serves
    /// databases of the same kind, which as a group are harder or easier in what nothing shows.
    pub const ALONE: Self = Self { kind: 0.10, database: 0.40, slope: SLOPE };

    /// Half-width on the probit scale of the accuracy of so many running answers, with what the choice of the questions
    /// adds, of the target and of the labels (`labels`: `Sums::level_noise`); the law moved it
    /// by `moved`.
    pub fn half_width_alone(
        self,
        databases: usize,
        moved: f64,
        level: f64,
        accuracy: f64,
        answers: f64,
        labels: f64,
    ) -> f64 {
        let z = normal_quantile(f64::midpoint(1.0, level));
        let target = accuracy * (1.0 - accuracy) / answers.max(1.0) / density_at(accuracy).powi(2);
        together(self.half_width(databases, moved, level), z * (target + labels).sqrt())
    }

    /// Half-width on the probit scale for a target of so many databases where the law moved the accuracy by `moved`;
    /// Student's t, as the families were few.
    pub fn half_width(self, databases: usize, moved: f64, level: f64) -> f64 {
        let between = self.database.powi(2) / databases.max(1) as f64;
        let variance = self.kind.powi(2) + between + (self.slope * moved).powi(2);
        student_t(FREEDOM, level) * variance.sqrt()
    }
}

/// What chance has to do with a set: the fewer databases on either side, the more. Databases, not questions, are what
/// chance draws.
pub(crate) fn per_group(source: usize, target: usize) -> f64 {
    1.0 / source.max(1) as f64 + 1.0 / target.max(1) as f64
}

/// Squared length of a set's shift, without the part that chance adds to it.
pub(crate) fn distance_of(set: &HeldOutSet) -> f64 {
    (squared(set.shift) - set.noise[0] - set.noise[1]).max(0.0)
}

/// An error on a set whose truth is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorPoint {
    pub system: SystemIndex,
    /// Squared distance of the set from its source.
    pub distance: f64,
    /// [`per_group`] of the set.
    pub per_group: f64,
    /// Estimate less truth.
    pub error: f64,
    /// How much the set counts.
    pub weight: f64,
}

impl ErrorPoint {
    pub(crate) fn of(set: &HeldOutSet, error: f64) -> Self {
        Self {
            system: set.system,
            distance: distance_of(set),
            per_group: per_group(set.groups[0].len(), set.groups[1].len()),
            error,
            weight: set.target.runs,
        }
    }
}

/// The expected squared error at a distance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    far: f64,
    group: f64,
}

impl Expected {
    /// Least squares on squared errors, neither part below 0; larger sets weigh more.
    pub(crate) fn fit(points: &[ErrorPoint]) -> Self {
        let sum = |of: &dyn Fn(&ErrorPoint) -> f64| points.iter().map(|p| p.weight * of(p)).sum::<f64>();
        let (dd, dg) = (sum(&|p| p.distance * p.distance), sum(&|p| p.distance * p.per_group));
        let gg = sum(&|p| p.per_group * p.per_group);
        let (de, ge) = (sum(&|p| p.distance * p.error.powi(2)), sum(&|p| p.per_group * p.error.powi(2)));
        let alone = |cross: f64, square: f64| if square > 1e-12 { (cross / square).max(0.0) } else { 0.0 };
        let both = solve(vec![vec![dd, dg], vec![dg, gg]], vec![de, ge]);
        let (far, group) = match (both[0] >= 0.0, both[1] >= 0.0) {
            (true, true) => (both[0], both[1]),
            (false, _) => (0.0, alone(ge, gg)),
            (true, false) => (alone(de, dd), 0.0),
        };
        Self { far, group }
    }

    /// At a squared distance, with a [`per_group`].
    pub(crate) fn at(&self, distance: f64, per_group: f64) -> f64 {
        (self.far * distance + self.group * per_group).max(SMALLEST_ERROR)
    }
}

/// Half-width within what is labelled: the conformal quantile of errors in units of what was expected of each, systems
/// weighing the same, times what is expected of the target.
pub(crate) fn half_width(scores: &[(SystemIndex, f64)], expected: f64, level: f64) -> f64 {
    half_width_by_group(scores, level).map_or(UNKNOWN, |score| score * expected.sqrt())
}

/// The half-width of the sum of two independent errors.
pub(crate) fn together(one: f64, other: f64) -> f64 {
    one.hypot(other)
}

#[cfg(test)]
mod tests {
    use sqlgauge_base::probit::normal_cdf;

    use super::*;
    use crate::sums::Sums;

    fn point(system: SystemIndex, distance: f64, error: f64) -> ErrorPoint {
        ErrorPoint { system, distance, per_group: 0.1, error, weight: 1.0 }
    }

    #[test]
    fn errors_that_grow_with_the_distance_are_expected_to_go_on_growing() {
        // Squared error = 4 · distance² + 0.01 · (per group 0.1).
        let points: Vec<ErrorPoint> = [0.01_f64, 0.04, 0.09, 0.16]
            .iter()
            .map(|&distance| point(SystemIndex(0), distance, (4.0 * distance + 0.001).sqrt()))
            .collect();
        let expected = Expected::fit(&points);
        for (distance, square) in [(0.0, 0.001), (0.25, 1.001), (1.0, 4.001)] {
            assert!((expected.at(distance, 0.1) - square).abs() < 1e-9, "{distance}");
        }
    }

    #[test]
    fn no_part_of_an_expected_error_is_negative() {
        let falling = [point(SystemIndex(0), 0.0, 0.2), point(SystemIndex(0), 1.0, 0.0)];
        let expected = Expected::fit(&falling);
        assert!(expected.at(10.0, 0.0) >= SMALLEST_ERROR && expected.at(0.0, 0.1) > 0.0);
    }

    #[test]
    fn one_database_is_less_sure_than_many_and_kinds_remain() {
        let wide = [1, 2, 11, 1_000_000].map(|databases| Spread::ALONE.half_width(databases, 0.0, 0.9));
        assert!(wide.is_sorted_by(|a, b| a > b), "{wide:?}");
        assert!((wide[3] - student_t(FREEDOM, 0.9) * Spread::ALONE.kind).abs() < 1e-3);
        assert!(Spread::ALONE.half_width(3, 0.0, 0.95) > Spread::ALONE.half_width(3, 0.0, 0.9));
        assert!(Spread::WITH_PEERS.half_width(3, 0.0, 0.9) < Spread::ALONE.half_width(3, 0.0, 0.9));
    }

    #[test]
    fn the_farther_the_law_moves_the_less_is_known() {
        let wide = [0.0, -0.3, 0.6, -1.0]
            .map(|moved| Spread::ALONE.half_width_alone(5, moved, 0.9, 0.5, 100.0, 0.01));
        assert!(wide.is_sorted_by(|a, b| a < b), "{wide:?}");
    }

    #[test]
    fn few_labels_leave_more_open_than_they_do_by_themselves() {
        let of = |right: f64, runs: f64| {
            let labels = Sums { answers: runs, runs, right, ..Sums::default() };
            let z = Spread::ALONE.half_width_alone(1000, 0.0, 0.9, 0.5, 1e6, labels.level_noise());
            (normal_cdf(z) - normal_cdf(-z)) / 2.0
        };
        // Of 20 labels alone: 1.64 times the root of 0.5 * 0.5 / 20, 18 points.
        assert!(
            of(10.0, 20.0) > 0.17 && of(1000.0, 2000.0) < 0.09,
            "{} {}",
            of(10.0, 20.0),
            of(1000.0, 2000.0)
        );
        // Five right answers of five say less than fifty of fifty.
        assert!(of(5.0, 5.0) > of(50.0, 50.0));
    }

    #[test]
    fn without_an_error_nothing_is_known() {
        assert!((half_width(&[], 1.0, 0.9) - UNKNOWN).abs() < 1e-12);
        assert!((together(3.0, 4.0) - 5.0).abs() < 1e-12);
    }
}
