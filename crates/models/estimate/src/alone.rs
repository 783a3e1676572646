//! How far a system moved that is seen alone, for those who measure the law itself.

use sqlgauge_base::probit::on_probit;

use crate::case::TargetCase;
use crate::law::Law;
use crate::pool::QuestionIndex;
use crate::structure::Structure;
use crate::sums::{shift, sums_over};

/// What the law of one system alone sees of a target, on the probit scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AloneMoves {
    /// Accuracy among the running labelled answers.
    pub level: f64,
    /// Its sampling variance.
    pub labels: f64,
    /// Change of the share that runs, as the law counts it, and of what structure says.
    pub moves: [f64; 2],
}

impl AloneMoves {
    /// `None` where structure says nothing: too few labelled answers run, or all of them are right or all wrong.
    pub fn of(case: &TargetCase<'_>) -> Option<Self> {
        let sums = |questions: &[QuestionIndex]| sums_over(case, case.target, questions);
        let (home, there) = (sums(&case.labelled(case.target)), sums(&case.evidence.questions));
        let structure = Structure::fit(case)?;
        let law = Law::alone(shift(&home, &there)[0] > 0.0);
        let [runs, _] = law.moves(&home, &there);
        Some(Self {
            level: home.level(),
            labels: home.level_noise(),
            moves: [runs, on_probit(structure.target) - on_probit(structure.home)],
        })
    }
}
