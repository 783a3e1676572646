//! Sums over answers, and what they show together.

use std::collections::BTreeMap;

use sqlgauge_base::probit::{normal_density, probit};
use sqlgauge_base::stats::normal_quantile;

use crate::case::TargetCase;
use crate::pool::{QuestionIndex, SystemIndex};

/// Fewest groups that sets are drawn from; fewer databases are cut into more groups.
const FEWEST_GROUPS: usize = 8;

/// Sums over the answers of one system to one group of questions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sums {
    /// Answers that hold SQL.
    pub answers: f64,
    /// Those that run.
    pub runs: f64,
    /// Labels of those that run.
    pub right: f64,
    /// Share of running peers that return the same, over answers that run and have such a peer.
    pub agreement: f64,
    /// Squares of those shares.
    pub agreement_squares: f64,
    /// Number of those answers.
    pub compared: f64,
    /// Probabilities of the item model, over answers that run.
    pub probability: f64,
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.answers += other.answers;
        self.runs += other.runs;
        self.right += other.right;
        self.agreement += other.agreement;
        self.agreement_squares += other.agreement_squares;
        self.compared += other.compared;
        self.probability += other.probability;
    }

    /// Share of right among those that run.
    pub(crate) fn accuracy(&self) -> f64 {
        self.right / self.runs.max(1.0)
    }

    /// On the probit scale: share that runs, and agreement.
    pub(crate) fn position(&self) -> [f64; 2] {
        [probit(self.runs, self.answers), probit(self.agreement, self.compared)]
    }

    /// Sampling variance of [`Sums::position`]: what other questions of the same kind would have changed.
    pub(crate) fn noise(&self) -> [f64; 2] {
        let [runs, agreement] = self.position();
        let share = self.runs / self.answers.max(1.0);
        let mean = self.agreement / self.compared.max(1.0);
        let spread = self.agreement_squares / self.compared.max(1.0) - mean * mean;
        let of = |variance: f64, count: f64, z: f64| {
            variance.max(0.0) / count.max(1.0) / normal_density(z).powi(2)
        };
        [of(share * (1.0 - share), self.answers, runs), of(spread, self.compared, agreement)]
    }

    /// Share of right on the probit scale.
    pub(crate) fn level(&self) -> f64 {
        probit(self.right, self.runs)
    }

    /// Sampling variance of [`Sums::level`].
    pub(crate) fn level_noise(&self) -> f64 {
        let share = (self.right + 1.0) / (self.runs + 2.0);
        share * (1.0 - share) / (self.runs + 2.0) / normal_density(self.level()).powi(2)
    }
}

/// Sum of several groups.
pub(crate) fn total<'s>(groups: impl IntoIterator<Item = &'s Sums>) -> Sums {
    groups.into_iter().fold(Sums::default(), |mut all, group| {
        all.add(group);
        all
    })
}

/// How far a set lies from another: share that runs, agreement (0 where nobody is compared with), on the probit
/// scale.
pub(crate) fn shift(from: &Sums, to: &Sums) -> [f64; 2] {
    let (from_position, to_position) = (from.position(), to.position());
    let is_compared = from.compared > 0.0 && to.compared > 0.0;
    let agreement = if is_compared { to_position[1] - from_position[1] } else { 0.0 };
    [to_position[0] - from_position[0], agreement]
}

/// The change of the share that runs from one set to another on the probit scale, less what chance makes of it: `between` is the
/// variance of that change where every answer counts.
///
/// Near 1 a probit follows single answers. So both shares are taken as if of the same number of answers, for which equal
/// shares do not count as a change; the rest shrinks by its sampling variance (empirical Bayes with a normal prior).
pub(crate) fn share_moved(from: &Sums, to: &Sums, between: f64) -> f64 {
    let count = from.answers.min(to.answers);
    let share = |sums: &Sums| (count * sums.runs / sums.answers.max(1.0) + 1.0) / (count + 2.0);
    let level = |sums: &Sums| normal_quantile(share(sums));
    let chance = |sums: &Sums| {
        let share = share(sums);
        share * (1.0 - share) / sums.answers.max(1.0) / normal_density(level(sums)).powi(2)
    };
    (level(to) - level(from)) * between / (between + chance(from) + chance(to))
}

pub(crate) fn squared(shift: [f64; 2]) -> f64 {
    shift.iter().map(|part| part * part).sum()
}

/// What one answer adds.
pub(crate) fn sums_of(
    case: &TargetCase<'_>,
    system: SystemIndex,
    question: QuestionIndex,
    probability: f64,
) -> Sums {
    let Some(seen) = case.observed(system, question).filter(|seen| seen.answers) else {
        return Sums::default();
    };
    let mut sums = Sums { answers: 1.0, ..Sums::default() };
    if seen.runs {
        sums.runs = 1.0;
        sums.right = case.pool().label(system, question).unwrap_or_default();
        sums.probability = probability;
        if let Some(share) = case.agreement(system, question).share_of_running {
            (sums.agreement, sums.agreement_squares, sums.compared) = (share, share * share, 1.0);
        }
    }
    sums
}

/// What the answers of a system to some questions add.
pub(crate) fn sums_over(case: &TargetCase<'_>, system: SystemIndex, questions: &[QuestionIndex]) -> Sums {
    let answers: Vec<Sums> = questions.iter().map(|&question| sums_of(case, system, question, 0.0)).collect();
    total(&answers)
}

/// Number of databases that the questions are about.
pub(crate) fn databases(case: &TargetCase<'_>, questions: &[QuestionIndex]) -> usize {
    by_database(case, questions).len()
}

pub(crate) fn by_database(
    case: &TargetCase<'_>,
    questions: &[QuestionIndex],
) -> BTreeMap<usize, Vec<QuestionIndex>> {
    let mut by_database: BTreeMap<usize, Vec<QuestionIndex>> = BTreeMap::new();
    for &question in questions {
        by_database.entry(case.pool()[question].database).or_default().push(question);
    }
    by_database
}

/// Whether the target asks about a database that none of those questions is about.
pub(crate) fn is_elsewhere(case: &TargetCase<'_>, labelled: &[QuestionIndex]) -> bool {
    let databases = by_database(case, labelled);
    by_database(case, &case.evidence.questions).keys().any(|database| !databases.contains_key(database))
}

/// Questions by database; a few databases are cut further, so that there are sets to draw.
pub(crate) fn groups(case: &TargetCase<'_>, questions: &[QuestionIndex]) -> Vec<Vec<QuestionIndex>> {
    let by_database = by_database(case, questions);
    let pieces = FEWEST_GROUPS.div_ceil(by_database.len().max(1));
    by_database
        .into_values()
        .flat_map(|all| {
            let pieces = pieces.min(all.len());
            (0..pieces).map(move |piece| all.iter().copied().skip(piece).step_by(pieces).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(runs: f64, answers: f64) -> Sums {
        Sums { answers, runs, ..Sums::default() }
    }

    #[test]
    fn the_same_share_is_no_change_however_many_answers_it_is_of() {
        for share in [0.5, 0.9, 1.0] {
            let moved = share_moved(&sums(900.0 * share, 900.0), &sums(40.0 * share, 40.0), 0.0225);
            assert!(moved.abs() < 1e-12, "{share}: {moved}");
        }
    }

    #[test]
    fn one_answer_in_a_hundred_hardly_counts_and_a_fall_of_many_does() {
        let moved = |to: f64, answers: f64| share_moved(&sums(992.0, 1000.0), &sums(to, answers), 0.0225);
        assert!((0.0..0.1).contains(&moved(249.0, 250.0)), "{}", moved(249.0, 250.0));
        assert!(moved(70.0, 100.0) < -0.5);
        // What more answers say counts for more.
        assert!(moved(98.0, 100.0) > moved(980.0, 1000.0) && moved(980.0, 1000.0) < 0.0);
    }
}
