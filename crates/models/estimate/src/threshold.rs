//! A threshold on the scores of answers: as many answers score above it as are right.

/// Name of the signal: the share of answers above the threshold.
pub(crate) const ABOVE: &str = "answers above the threshold";

/// A threshold: answers with a higher score count as right, those with just this score count in part.
///
/// Source: Garg et al., 2022, "Leveraging unlabeled data to predict out-of-distribution performance", section 4. Scores
/// there have no ties; the item model's have some, and so have answers that do not run. The part makes
/// the source's share its accuracy with ties too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Threshold {
    score: f64,
    part: f64,
}

impl Threshold {
    /// The threshold at which the share of `scores` above it is `accuracy`: the smallest score that is still needed.
    pub(crate) fn fit(scores: &[f64], accuracy: f64) -> Self {
        let wanted = accuracy * scores.len() as f64;
        // Less by what rounding may add, so that 0.6 · 5 asks for 3 scores and not for 4.
        let least = wanted - 1e-9;
        let mut sorted = scores.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let needed = sorted.iter().zip(1_u32..).find(|(_, rank)| f64::from(*rank) >= least);
        let Some((&score, _)) = needed.filter(|_| least > 0.0) else {
            return Self { score: f64::INFINITY, part: 0.0 };
        };
        let above = scores.iter().filter(|&&other| other > score).count() as f64;
        let ties = scores.iter().filter(|other| other.total_cmp(&score).is_eq()).count() as f64;
        Self { score, part: ((wanted - above) / ties).clamp(0.0, 1.0) }
    }

    pub(crate) fn share(&self, scores: &[f64]) -> f64 {
        let count = |score: &f64| match score.total_cmp(&self.score) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => self.part,
            std::cmp::Ordering::Less => 0.0,
        };
        scores.iter().map(count).sum::<f64>() / scores.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_of_the_source_lie_above_as_are_right() {
        // Scores, accuracy, other scores, share of those: worked out by hand.
        let cases: [(&[f64], f64, &[f64], f64); 6] = [
            // The three best of five: the threshold is 0.6.
            (&[0.9, 0.8, 0.6, 0.4, 0.1], 0.6, &[0.7, 0.65, 0.6, 0.59], 0.75),
            // Two are wanted, one lies above the tie of two, so each of the tie counts half.
            (&[0.9, 0.5, 0.5, 0.1], 0.5, &[0.5, 0.2, 1.0, 0.5], 0.5),
            (&[0.9, 0.5, 0.5, 0.1], 0.5, &[0.9, 0.5, 0.5, 0.1], 0.5),
            (&[0.3, 0.2], 0.0, &[0.9, 1.0], 0.0),
            (&[0.3, 0.2], 1.0, &[0.9, 0.1], 0.5),
            // One and a half of three.
            (&[0.3, 0.2, 0.1], 0.5, &[0.2, 0.25], 0.75),
        ];
        for (scores, accuracy, others, share) in cases {
            let threshold = Threshold::fit(scores, accuracy);
            assert!((threshold.share(scores) - accuracy).abs() < 1e-12, "{threshold:?}");
            assert!(
                (threshold.share(others) - share).abs() < 1e-12,
                "{threshold:?} {}",
                threshold.share(others)
            );
        }
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(Threshold::fit(&[], 0.5).share(&[0.4]).abs() < 1e-12);
        assert!(Threshold::fit(&[0.4], 0.5).share(&[]).abs() < 1e-12);
    }
}
