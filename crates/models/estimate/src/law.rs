//! How accuracy moves when signals move: a line on the probit scale.
//!
//! The accuracy among answers that run, the share that runs, and the agreement with other systems are each put on
//! the probit scale. A set's accuracy then differs from its source's by `slopes · shift`. For agreement alone, slope
//! 1 is "agreement on the line" (Baek et al., 2022): accuracy and agreement move together, which holds far beyond
//! the sets that the slopes were learned on. For one system alone, a fall of the share that runs counts up to a bound.

use crate::logistic::solve;
use crate::sets::HeldOutSet;
use crate::sums::{Sums, share_moved, shift};
use sqlgauge_base::probit::normal_cdf;

/// What is believed of the slopes before any set is seen: accuracy moves as agreement does.
const PRIOR: [f64; 2] = [0.0, 1.0];

/// Slopes where nobody's answers can be compared with: of the share that runs, bounded ([`bounded`]) where fewer answers run,
/// and of what the structure of questions and predictions says ([`crate::structure`]). Sets of one benchmark cannot tell
/// them, as databases of one benchmark differ in little but what makes queries fail. They were found on two benchmarks with
/// systems of seven families, each family on each database judged by the other families on the other databases
/// (`research/estimation/README.md`, "One system alone, families left out"); rounded, since they differ with the families.
///
/// They differ with the direction: where fewer answers run, structure sees much of what else is harder; a model of answers to
/// hard questions does not see how easy others are, and the share that runs tells more.
const WHERE_FEWER_RUN: Alone = Alone { runs: 0.9, structure: 0.8 };
const WHERE_MORE_RUN: Alone = Alone { runs: 0.8, structure: 0.2 };

/// The same between databases of one kind: chosen on groups of BIRD's databases and, of the systems on Spider's, every second
/// one (`research/estimation/README.md`, "Groups of databases left out").
const OF_ONE_KIND: Alone = Alone { runs: 1.0, structure: 1.4 };

/// Variance of the change of the share that runs ([`share_moved`]) between groups of databases of one kind, chosen with
/// [`OF_ONE_KIND`], and between kinds, where nearly all of a change is more than chance.
const BETWEEN_GROUPS: f64 = 0.0225;
const BETWEEN_KINDS: f64 = 1.0;

/// Slopes of one system alone.
struct Alone {
    runs: f64,
    structure: f64,
}

/// The weight of that belief in units of all sets together. Slopes learned on sets of one benchmark differ with the
/// systems that are known by more than chance, so the sets never outweigh the belief.
const PRIOR_WEIGHT: f64 = 1.0;

/// The same for a target like the sets, which need belief only to stay calm when they are few.
const NEAR_PRIOR_WEIGHT: f64 = 0.3;

/// The steepest slope that is believed.
const STEEPEST: f64 = 2.0;

/// The largest part of the squared shifts that is put down to chance.
const MOST_CHANCE: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Law {
    /// Change of the accuracy's probit per unit of each of [`Law::moves`].
    pub slopes: [f64; 2],
    /// The same for what structure says.
    pub structure: f64,
    /// Whether the change of the share that runs is [`bounded`].
    pub is_bounded: bool,
    /// Variance of that change, by which it is drawn in ([`share_moved`]); `None` takes it as it is.
    pub between: Option<f64>,
}

impl Law {
    /// Learns the slopes for a target like the sets.
    pub(crate) fn near(sets: &[HeldOutSet]) -> Self {
        least_squares(&weighted(sets), NEAR_PRIOR_WEIGHT)
    }

    /// Learns the slopes for a target beyond the sets, where what is believed counts; larger sets weigh more. By least
    /// squares: the shifts of small sets are partly chance, which would flatten the slopes, so that their sampling variance
    /// is taken out of the normal equations (errors in variables; Fuller, 1987).
    pub(crate) fn far(sets: &[HeldOutSet]) -> Self {
        least_squares(&weighted(sets), PRIOR_WEIGHT)
    }

    /// The slopes where nobody's answers can be compared with, for a target of the same kind as what is labelled.
    pub(crate) fn alone_of_one_kind() -> Self {
        let Alone { runs, structure } = OF_ONE_KIND;
        Self { slopes: [runs, 0.0], structure, is_bounded: false, between: Some(BETWEEN_GROUPS) }
    }

    /// The slopes for a target of another kind where nobody's answers can be compared with; `more_run` says whether more
    /// answers run there than where labels are.
    pub(crate) fn alone(more_run: bool) -> Self {
        let Alone { runs, structure } = if more_run { WHERE_MORE_RUN } else { WHERE_FEWER_RUN };
        Self { slopes: [runs, 0.0], structure, is_bounded: !more_run, between: Some(BETWEEN_KINDS) }
    }

    /// By how much the share that runs and agreement moved, in the units of the slopes.
    pub(crate) fn moves(&self, source: &Sums, target: &Sums) -> [f64; 2] {
        let [all, agreement] = shift(source, target);
        let runs = self.between.map_or(all, |between| share_moved(source, target, between));
        [if self.is_bounded { bounded(runs) } else { runs }, agreement]
    }

    /// Accuracy among the running answers of `target`, given the labelled answers of the same system.
    pub(crate) fn accuracy(&self, source: &Sums, target: &Sums) -> f64 {
        normal_cdf(source.level() + self.change(source, target))
    }

    /// Change on the probit scale.
    pub(crate) fn change(&self, source: &Sums, target: &Sums) -> f64 {
        let moves = self.moves(source, target);
        self.slopes[0] * moves[0] + self.slopes[1] * moves[1]
    }
}

/// A change of the share that runs, on the probit scale, between -1 and 1.
///
/// A share that falls says that the target is of another kind than what is labelled, and a large fall says so hardly louder
/// than a middling one: which names a system guesses wrongly tells little of those that it guesses rightly.
pub(crate) fn bounded(change: f64) -> f64 {
    change.signum() * (1.0 - (-change.abs()).exp())
}

fn change_of(set: &HeldOutSet) -> f64 {
    set.target.level() - set.source.level()
}

/// The sets with weights of mean 1, in proportion to their size.
fn weighted(sets: &[HeldOutSet]) -> Vec<(&HeldOutSet, f64)> {
    let mean_size = sets.iter().map(|set| set.target.runs).sum::<f64>() / sets.len().max(1) as f64;
    sets.iter().map(|set| (set, set.target.runs / mean_size.max(1.0))).collect()
}

fn least_squares(sets: &[(&HeldOutSet, f64)], prior_weight: f64) -> Law {
    let mut matrix = vec![vec![0.0; 2]; 2];
    let (mut right, mut chance) = (vec![0.0; 2], [0.0; 2]);
    for &(set, weight) in sets {
        let moved = change_of(set);
        for a in 0..2 {
            right[a] += weight * set.shift[a] * moved;
            chance[a] += weight * set.noise[a];
            let row = matrix[a].iter_mut().zip(set.shift);
            row.for_each(|(sum, shift)| *sum += weight * set.shift[a] * shift);
        }
    }
    for at in 0..2 {
        matrix[at][at] -= chance[at].min(MOST_CHANCE * matrix[at][at]);
        let belief = prior_weight * matrix[at][at] + 1e-9;
        matrix[at][at] += belief;
        right[at] += belief * PRIOR[at];
    }
    let slopes = solve(matrix, right);
    Law {
        slopes: [slopes[0], slopes[1]].map(|slope| slope.clamp(0.0, STEEPEST)),
        structure: 0.0,
        is_bounded: false,
        between: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(share: f64) -> Sums {
        Sums { answers: 998.0, runs: 998.0 * share, right: 600.0 * share, ..Sums::default() }
    }

    #[test]
    fn a_change_is_bounded_and_nearly_whole_where_it_is_small() {
        let changes = [-9.0, -1.0, -0.05, 0.0, 0.05, 1.0, 9.0];
        let bounds = changes.map(bounded);
        assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
        assert!(bounds[0] >= -1.0 && bounds[6] <= 1.0);
        assert!(
            (bounds[2] + 0.05).abs() < 0.002 && (bounds[1] + bounds[5]).abs() < 1e-12 && bounds[3] == 0.0
        );
    }

    #[test]
    fn one_system_alone_loses_a_bounded_amount_however_few_answers_run() {
        let law = Law::alone(false);
        let change = |share: f64| law.change(&sums(0.95), &sums(share));
        assert!(change(0.4) < change(0.8) && change(0.8) < 0.0);
        assert!(change(0.001) >= -WHERE_FEWER_RUN.runs);
        let accuracy = |share: f64| law.accuracy(&sums(0.95), &sums(share));
        assert!(accuracy(0.9) - accuracy(0.8) > accuracy(0.4) - accuracy(0.3));
    }

    #[test]
    fn within_a_kind_of_data_the_share_moves_as_far_up_as_down() {
        let law = Law::alone_of_one_kind();
        let [up, down] = [(0.8, 0.9), (0.9, 0.8)].map(|(from, to)| law.change(&sums(from), &sums(to)));
        assert!(up > 0.0 && (up + down).abs() < 1e-12 && law.structure > 0.0);
        assert!((up - OF_ONE_KIND.runs * share_moved(&sums(0.8), &sums(0.9), BETWEEN_GROUPS)).abs() < 1e-12);
    }

    #[test]
    fn where_more_run_the_share_moves_without_a_bound() {
        let law = Law::alone(true);
        let [moved, _] = law.moves(&sums(0.05), &sums(0.95));
        assert!((moved / shift(&sums(0.05), &sums(0.95))[0] - 1.0).abs() < 0.02 && moved > 1.0);
    }
}
