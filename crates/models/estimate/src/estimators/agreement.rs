//! `agreement`: accuracy moves as the agreement with other systems does.

use crate::calibrate::{Calibration, mean_label};
use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::{Estimate, SignalValue};
use crate::items::ItemModel;
use crate::outcome::{AGREEMENT, EstimateDraft};
use crate::pool::{QuestionIndex, SystemIndex};
use sqlgauge_base::counted;
use sqlgauge_base::probit::{normal_cdf, probit};

use super::Estimator;

/// What it does: agreement on the line (Baek et al., 2022). On the probit scale the accuracy differs from where it is
/// known to the target as the share of other systems that return the same does (slope 1). Where the system has no
/// labels, the distance of accuracy from agreement is the mean of the other known systems'.
///
/// An answer that does not run agrees with nobody. The interval comes from the same line on sets cut out of the known runs.
#[derive(Debug, Clone, Copy)]
pub struct FromAgreement;

/// Accuracy above agreement on the probit scale.
fn height(accuracy: (f64, f64), agreement: (f64, f64)) -> f64 {
    probit(accuracy.0, accuracy.1) - probit(agreement.0, agreement.1)
}

/// The accuracy at that agreement on the line of that height.
fn on_line(height: f64, agreement: (f64, f64)) -> f64 {
    normal_cdf(height + probit(agreement.0, agreement.1))
}

/// Sum and number of the shares of peers that return the same, over answers that can be compared.
fn mean_share(case: &TargetCase<'_>, system: SystemIndex, questions: &[QuestionIndex]) -> (f64, f64) {
    let shares = questions.iter().map(|&question| case.agreement(system, question));
    let compared = shares.filter(|agreement| agreement.peers > 0);
    compared.fold((0.0, 0.0), |(sum, count), agreement| (sum + agreement.share, count + 1.0))
}

/// The height of a system's line, from its labels for these questions.
fn height_of(case: &TargetCase<'_>, system: SystemIndex, questions: &[QuestionIndex]) -> Option<f64> {
    let accuracy = mean_label(case, system, questions)?;
    let compared = mean_share(case, system, questions);
    let count = questions.len() as f64;
    (compared.1 > 0.0).then(|| height((accuracy * count, count), compared))
}

impl Estimator for FromAgreement {
    fn id(&self) -> &'static str {
        "agreement"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let questions = &case.evidence.questions;
        let abroad = mean_share(case, case.target, questions);
        if !case.has_peers() || abroad.1 == 0.0 {
            return Err(EstimateError::Needs {
                method: self.id(),
                needs:
                    "at least one other system that answers the target's questions, and one with a known run"
                        .to_owned(),
                remedy: "give predictions with --pred or --peer and runs with --known, best of the same systems",
            });
        }
        let own_height = height_of(case, case.target, &case.labelled(case.target));
        let heights: Vec<f64> = if let Some(height) = own_height {
            vec![height]
        } else {
            let sources = case.evidence.sources.iter();
            sources.filter_map(|&system| height_of(case, system, &case.labelled(system))).collect()
        };
        if heights.is_empty() {
            return Err(EstimateError::Needs {
                method: self.id(),
                needs: "a known run whose answers can be compared with other systems'".to_owned(),
                remedy: "give runs of at least two systems on the same questions with --known",
            });
        }
        let accuracy = on_line(heights.iter().sum::<f64>() / heights.len() as f64, abroad);
        let calibration = Calibration::new(case, &ItemModel::default());
        let interval = calibration.interval(case, accuracy, |cut| {
            let height = height_of(case, cut.system, &cut.source)?;
            Some(on_line(height, mean_share(case, cut.system, &cut.target)))
        });
        let shares: Vec<f64> = questions.iter().map(|&q| case.agreement(case.target, q).share).collect();
        let mut outcome = EstimateDraft::moved(case, &shares, accuracy, AGREEMENT);
        if let Some(source_accuracy) = case.pool().known_accuracy(case.target) {
            let home = mean_share(case, case.target, &case.labelled(case.target));
            outcome.effects.push(SignalValue {
                name: "agreement of all answers".to_owned(),
                known: (home.1 > 0.0).then(|| home.0 / home.1),
                target: Some(abroad.0 / abroad.1),
                effect: Some(accuracy - source_accuracy),
            });
        }
        outcome.notes.push(note(case, own_height.is_some()));
        Ok(outcome.estimate_at(case, self.id(), accuracy, interval))
    }
}

fn note(case: &TargetCase<'_>, is_own: bool) -> String {
    let name = &case.pool()[case.target];
    let line = if is_own {
        format!("{name}'s own known run")
    } else {
        format!("other systems, as {name} has no known run")
    };
    let others = |peers: &[SystemIndex]| peers.iter().filter(|&&peer| peer != case.target).count();
    format!(
        "the line is that of {line}; compared with {} where labels are and {} on the target: other systems there move the estimate",
        counted(others(&case.at_home), "system"),
        others(&case.abroad)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_moves_as_agreement_does_on_the_probit_scale() {
        // 997 of 1,998 plus one of each is one half: probit 0; with Φ(1) of agreement the height is −1. Agreement of
        // Φ(0) then gives an accuracy of Φ(−1).
        let of = |share: f64| (share * 100_000.0 - 1.0, 99_998.0);
        let line = height(of(0.5), of(0.841_344_746_068_543));
        assert!((line + 1.0).abs() < 1e-6, "{line}");
        for (share, accuracy) in
            [(0.5, 0.158_655_253_931_457), (0.977_249_868_051_821, 0.841_344_746_068_543)]
        {
            let estimate = on_line(line, of(share));
            assert!((estimate - accuracy).abs() < 1e-6, "{share}: {estimate}");
        }
        // The same agreement, the same accuracy.
        assert!((on_line(height((30.0, 40.0), (25.0, 40.0)), (25.0, 40.0)) - 31.0 / 42.0).abs() < 1e-6);
    }
}
