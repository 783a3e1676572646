//! Wins and losses to strengths, strengths to an accuracy.

/// Added to the points of either side, as if one more comparison had been a tie: no share of wins is 0 or 1.
const HALF: f64 = 0.5;
/// Strengths closer than this do not tell known systems apart.
const SAME: f64 = 1e-9;

/// Points of the target against one opponent: 1 for a win, ½ for a tie.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Points {
    pub points: f64,
    pub comparisons: f64,
}

impl Points {
    /// The opponent's Bradley-Terry strength, the target's being 0. The target meets every opponent and no two
    /// opponents meet, so the likelihood falls apart into pairs, and the strength is the log odds of a win.
    pub(super) fn opponent_strength(self) -> f64 {
        let won = self.points + HALF;
        let lost = self.comparisons - self.points + HALF;
        (lost / won).ln()
    }
}

/// Why strengths cannot be turned into an accuracy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// A line needs two points.
    #[error(
        "{opponents} opponents with known accuracy have decided comparisons, and 2 are needed to turn wins into an accuracy; \
         add runs of other systems on the same questions"
    )]
    TooFewOpponents {
        /// Opponents with known accuracy and at least one decided comparison.
        opponents: usize,
    },
    /// The judge finds all known systems equally strong.
    #[error(
        "the judge finds the known systems equally strong, so their accuracies say nothing about the target's"
    )]
    SameStrength,
    /// Stronger in the judge's eyes means less accurate, or equally accurate.
    #[error(
        "the judge does not order the known systems as their accuracies do, so its verdicts cannot be trusted here"
    )]
    WrongOrder,
}

/// A line between strengths and log odds of accuracies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Calibration {
    /// Accuracy at strength 0, the target's.
    pub accuracy: f64,
    /// Whether the target is stronger or weaker than all known systems.
    pub outside: bool,
}

impl Calibration {
    /// Least squares over (strength, accuracy) of the known systems. An accuracy of 0 or 1 among `items` questions is
    /// moved inwards by half a question.
    pub(super) fn fit(points: &[(f64, f64)], items: usize) -> Result<Self, CalibrationError> {
        if points.len() < 2 {
            return Err(CalibrationError::TooFewOpponents { opponents: points.len() });
        }
        let edge = HALF / (items as f64 + 1.0);
        let log_odds = |accuracy: f64| {
            let inside = accuracy.clamp(edge, 1.0 - edge);
            (inside / (1.0 - inside)).ln()
        };
        let count = points.len() as f64;
        let mean_strength = points.iter().map(|(strength, _)| strength).sum::<f64>() / count;
        let mean_odds = points.iter().map(|(_, accuracy)| log_odds(*accuracy)).sum::<f64>() / count;
        let (mut spread, mut together) = (0.0, 0.0);
        for (strength, accuracy) in points {
            spread += (strength - mean_strength).powi(2);
            together += (strength - mean_strength) * (log_odds(*accuracy) - mean_odds);
        }
        if spread < SAME {
            return Err(CalibrationError::SameStrength);
        }
        let slope = together / spread;
        if slope <= 0.0 {
            return Err(CalibrationError::WrongOrder);
        }
        let accuracy = 1.0 / (1.0 + (slope * mean_strength - mean_odds).exp());
        let outside = points.iter().all(|(strength, _)| *strength > 0.0)
            || points.iter().all(|(strength, _)| *strength < 0.0);
        Ok(Self { accuracy, outside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_are_the_log_odds_of_a_win() {
        for (points, comparisons, expected) in [
            (5.0, 10.0, 0.0),
            (0.0, 0.0, 0.0),
            (10.0, 10.0, -(21.0_f64.ln())),
            (2.5, 9.0, (7.0_f64 / 3.0).ln()),
        ] {
            let strength = Points { points, comparisons }.opponent_strength();
            assert!((strength - expected).abs() < 1e-12, "{points} of {comparisons}: {strength}");
        }
    }

    #[test]
    fn a_system_between_two_known_ones_gets_an_accuracy_between_theirs() {
        // Equally far from 0.5 and 0.9 on the log odds: sqrt(1 · 9) = 3 to 1.
        let calibration = Calibration::fit(&[(-1.0, 0.5), (1.0, 0.9)], 1000).unwrap();
        assert!((calibration.accuracy - 0.75).abs() < 1e-12 && !calibration.outside, "{calibration:?}");
    }

    #[test]
    fn three_known_systems_give_the_line_of_least_squares() {
        // numpy.polyfit([-0.5, 0.25, 1], log(a / (1 - a)) of [0.4, 0.55, 0.7], 1) = [0.83517531, 0.00537399].
        let calibration = Calibration::fit(&[(-0.5, 0.4), (0.25, 0.55), (1.0, 0.7)], 1000).unwrap();
        let expected = 1.0 / (1.0 + (-0.005_373_99_f64).exp());
        assert!((calibration.accuracy - expected).abs() < 1e-7, "{calibration:?}");
    }

    #[test]
    fn what_cannot_be_calibrated_says_why() {
        let fit = |points: &[(f64, f64)]| Calibration::fit(points, 100).unwrap_err();
        assert_eq!(fit(&[]), CalibrationError::TooFewOpponents { opponents: 0 });
        assert_eq!(fit(&[(0.0, 0.5)]), CalibrationError::TooFewOpponents { opponents: 1 });
        assert_eq!(fit(&[(0.3, 0.5), (0.3, 0.9)]), CalibrationError::SameStrength);
        assert_eq!(fit(&[(0.0, 0.9), (1.0, 0.5)]), CalibrationError::WrongOrder);
        assert_eq!(fit(&[(0.0, 0.5), (1.0, 0.5)]), CalibrationError::WrongOrder);
        assert!(Calibration::fit(&[(1.0, 0.0), (2.0, 1.0)], 100).unwrap().outside);
    }
}
