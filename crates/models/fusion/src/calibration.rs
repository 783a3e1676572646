//! Half-widths of intervals from errors on held-out groups (see the module's documentation).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::blob::{Blob, BlobValues, Blobs};
use super::transfer::HeldOutPart;
use sqlgauge_base::probit::student_t;

/// Smallest error that is expected of an estimate beside the noise of its items.
const LEAST_TAU: f64 = 0.005;

/// What an interval stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "groups", rename_all = "snake_case")]
pub enum Basis {
    /// Split conformal over that many held-out groups.
    Conformal(usize),
    /// Too few held-out groups for the level: Student's t over that many.
    FewGroups(usize),
    /// No held-out group: the interval is `[0, 1]`.
    Nothing,
}

/// One held-out set: estimate, truth, items, excess outside training, group.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldOut {
    pub estimate: f64,
    pub truth: f64,
    pub items: Option<usize>,
    pub excess: f64,
    pub group: u32,
}

/// Scores of held-out sets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calibration {
    /// Error beside the noise of the items.
    tau: f64,
    /// Items of a set whose size is unknown; 0 where no size is known, and noise is left out.
    items: usize,
    group: Vec<u32>,
    score: Vec<f64>,
}

impl Calibration {
    /// `tau` from validation sets, scores from held-out ones.
    pub(crate) fn new(validation: &[HeldOut], held_out: &[HeldOut]) -> Self {
        let mut sizes: Vec<usize> = held_out.iter().filter_map(|set| set.items).collect();
        sizes.sort_unstable();
        let items =
            if sizes.len() == held_out.len() { sizes.get(sizes.len() / 2).copied().unwrap_or(0) } else { 0 };
        let mut calibration = Self { tau: LEAST_TAU, items, group: Vec::new(), score: Vec::new() };
        let unexplained =
            |set: &HeldOut| (set.truth - set.estimate).powi(2) - calibration.noise(set.estimate, set.items);
        let variance = validation.iter().map(unexplained).sum::<f64>() / validation.len().max(1) as f64;
        calibration.tau = variance.max(LEAST_TAU * LEAST_TAU).sqrt();
        calibration.group = held_out.iter().map(|set| set.group).collect();
        calibration.score = held_out
            .iter()
            .map(|set| {
                (set.truth - set.estimate).abs() / calibration.scale(set.estimate, set.items, set.excess)
            })
            .collect();
        calibration
    }

    /// From parts of a target's labels, each held out once; none without a part.
    pub(crate) fn measured(parts: &[HeldOutPart]) -> Option<Self> {
        let items = parts.iter().map(|part| part.items).sum::<usize>() as f64;
        let right: f64 = parts.iter().map(|part| part.truth * part.items as f64).sum();
        // With one more right and one more wrong: ten labels that are all wrong do not make it certain.
        let accuracy = (right + 1.0) / (items + 2.0);
        let noise = |items: f64| accuracy * (1.0 - accuracy) / items;
        let square = |part: &HeldOutPart| (part.truth - part.estimate).powi(2);
        let unexplained = |part: &HeldOutPart| square(part) - noise(part.items as f64);
        let unexplained = parts.iter().map(unexplained).sum::<f64>() / parts.len() as f64;
        let unexplained = unexplained.max(LEAST_TAU * LEAST_TAU);
        let score = |part: &HeldOutPart| (square(part) / (unexplained + noise(part.items as f64))).sqrt();
        let mut score: Vec<f64> = parts.iter().map(score).collect();
        // Parts that agree better than their noise lets them do so by chance.
        let mean_square = score.iter().map(|score| score * score).sum::<f64>() / parts.len() as f64;
        if mean_square < 1.0 {
            let larger = |score: &f64| (score * score + 1.0 - mean_square).sqrt();
            score = score.iter().map(larger).collect();
        }
        (items > 0.0).then(|| Self {
            tau: (unexplained + noise(items)).sqrt(),
            items: 0,
            group: (0..).take(parts.len()).collect(),
            score,
        })
    }

    /// Variance of the accuracy of a set of items.
    fn noise(&self, estimate: f64, items: Option<usize>) -> f64 {
        match (self.items, items.unwrap_or(self.items)) {
            (0, _) | (_, 0) => 0.0,
            (_, items) => estimate * (1.0 - estimate) / items as f64,
        }
    }

    /// The error expected of an estimate.
    fn scale(&self, estimate: f64, items: Option<usize>, excess: f64) -> f64 {
        (self.tau * self.tau + self.noise(estimate, items)).sqrt() * (1.0 + excess)
    }

    /// Number of held-out groups.
    pub(crate) fn groups(&self) -> usize {
        self.by_group().len()
    }

    fn by_group(&self) -> BTreeMap<u32, Vec<f64>> {
        let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (&group, &score) in self.group.iter().zip(&self.score) {
            groups.entry(group).or_default().push(score);
        }
        groups
    }

    /// Half-width of the interval at a level, and what it stands on.
    pub(crate) fn half_width(
        &self,
        level: f64,
        estimate: f64,
        items: Option<usize>,
        excess: f64,
    ) -> (f64, Basis) {
        let groups = self.by_group();
        let scale = self.scale(estimate, items, excess);
        if groups.is_empty() {
            (1.0, Basis::Nothing)
        } else if let Some(quantile) = hierarchical_quantile(&groups, level) {
            (quantile * scale, Basis::Conformal(groups.len()))
        } else {
            let mean_square = |scores: &Vec<f64>| {
                scores.iter().map(|score| score * score).sum::<f64>() / scores.len() as f64
            };
            let square = groups.values().map(mean_square).sum::<f64>() / groups.len() as f64;
            (student_t(groups.len(), level) * square.sqrt() * scale, Basis::FewGroups(groups.len()))
        }
    }

    pub(crate) fn blobs(&self) -> Vec<Blob> {
        let group = Blob::new("group", vec![self.group.len()], BlobValues::U32(self.group.clone()));
        let score = Blob::new("score", vec![self.score.len()], BlobValues::F64(self.score.clone()));
        let tau = Blob::new("tau", vec![1], BlobValues::F64(vec![self.tau]));
        let items = u32::try_from(self.items).unwrap_or(u32::MAX);
        vec![group, score, tau, Blob::new("items", vec![1], BlobValues::U32(vec![items]))]
    }

    pub(crate) fn load(blobs: &Blobs<'_>) -> Result<Self, String> {
        let (group, score) = (blobs.u32s("group")?, blobs.f64s("score")?.1);
        let (tau, items) = (blobs.f64s("tau")?.1, blobs.u32s("items")?);
        match (tau, items) {
            (&[tau], &[items]) if group.len() == score.len() => {
                Ok(Self { tau, items: items as usize, group: group.to_vec(), score: score.to_vec() })
            }
            _ => Err("the parts of its calibration do not belong together".to_owned()),
        }
    }
}

/// Smallest score below which the share `level` of the weight lies, a new group at infinity included; none if that
/// is infinite.
fn hierarchical_quantile(groups: &BTreeMap<u32, Vec<f64>>, level: f64) -> Option<f64> {
    let mut weighted: Vec<(f64, f64)> = groups
        .values()
        .flat_map(|scores| {
            let weight = 1.0 / ((groups.len() + 1) as f64 * scores.len() as f64);
            scores.iter().map(move |&score| (score, weight))
        })
        .collect();
    weighted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    // The sum of the weights may fall short of K / (K + 1) by rounding.
    weighted.iter().find_map(|&(score, weight)| {
        sum += weight;
        (sum >= level - 1e-9).then_some(score)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided 90 % and 95 % quantiles of printed tables.
    #[test]
    fn quantiles_of_student() {
        for (freedom, level, expected) in [
            (1, 0.90, 6.3138),
            (2, 0.90, 2.9200),
            (3, 0.90, 2.3534),
            (4, 0.95, 2.7764),
            (5, 0.90, 2.0150),
            (8, 0.90, 1.8595),
            (9, 0.95, 2.2622),
        ] {
            let value = student_t(freedom, level);
            assert!((value - expected).abs() < 5e-5, "t({freedom}, {level}) = {value}");
        }
    }

    fn held_out(groups: u32, error: impl Fn(u32, u32) -> f64) -> Vec<HeldOut> {
        (0..groups)
            .flat_map(|group| (0..4).map(move |set| (group, set)))
            .map(|(group, set)| HeldOut {
                estimate: 0.5,
                truth: 0.5 + error(group, set),
                items: None,
                excess: 0.0,
                group,
            })
            .collect()
    }

    #[test]
    fn nine_groups_give_the_largest_score_and_fewer_give_students_t() {
        let sets = held_out(9, |group, set| f64::from(group * 4 + set) / 100.0);
        let (half, basis) = Calibration::new(&[], &sets).half_width(0.9, 0.5, None, 0.0);
        assert_eq!(basis, Basis::Conformal(9));
        assert!((half - 0.35).abs() < 1e-12, "{half}");
        // With 19 groups of equal sets, 18 of 20 shares are reached at the 18th group.
        let sets = held_out(19, |group, _| f64::from(group) / 100.0);
        let (half, _) = Calibration::new(&[], &sets).half_width(0.9, 0.5, None, 0.0);
        assert!((half - 0.17).abs() < 1e-12, "{half}");
        let (half, basis) = Calibration::new(&[], &held_out(1, |_, _| 0.02)).half_width(0.9, 0.5, None, 0.0);
        assert_eq!(basis, Basis::FewGroups(1));
        assert!((half - 6.3138 * 0.02).abs() < 1e-5, "{half}");
        assert_eq!(Calibration::new(&[], &[]).half_width(0.9, 0.5, None, 0.0), (1.0, Basis::Nothing));
    }

    #[test]
    fn labels_of_the_target_that_were_held_out_make_the_interval() {
        let part = |estimate: f64, truth: f64| HeldOutPart { estimate, truth, items: 100 };
        // Ten points off in each of five parts, where the noise of a part is five points and that of all labels two: one more is right, and one more wrong.
        let off: Vec<HeldOutPart> = (0..5).map(|_| part(0.5, 0.6)).collect();
        let (half, basis) = Calibration::measured(&off).unwrap().half_width(0.9, 0.5, Some(1000), 0.0);
        assert_eq!(basis, Basis::FewGroups(5));
        let noise = |items: f64| 301.0 / 502.0 * 201.0 / 502.0 / items;
        let tau = (0.01_f64 - noise(100.0) + noise(500.0)).sqrt();
        assert!((half - 2.0150 * tau).abs() < 1e-5, "{half}");
        // Where all parts agree, what is left is the noise of all labels.
        let good: Vec<HeldOutPart> =
            (0..5).map(|at| part(0.5, if at % 2 == 0 { 0.55 } else { 0.45 })).collect();
        let (half, _) = Calibration::measured(&good).unwrap().half_width(0.9, 0.5, Some(1000), 0.0);
        assert!(half > 0.04 && half < 0.06, "{half}");
        let wrong: Vec<HeldOutPart> =
            (0..5).map(|_| HeldOutPart { estimate: 0.0, truth: 0.0, items: 2 }).collect();
        let (half, _) = Calibration::measured(&wrong).unwrap().half_width(0.9, 0.0, Some(1000), 0.0);
        let noise = 1.0 / 12.0 * 11.0 / 12.0 / 10.0 + LEAST_TAU * LEAST_TAU;
        assert!((half - 2.0150 * noise.sqrt()).abs() < 1e-5, "{half}");
        assert!(Calibration::measured(&[]).is_none());
    }

    #[test]
    fn intervals_grow_outside_and_for_small_sets() {
        let sets: Vec<HeldOut> = held_out(12, |_, set| f64::from(set) / 50.0)
            .iter()
            .map(|set| HeldOut { items: Some(1000), ..*set })
            .collect();
        let calibration = Calibration::new(&sets, &sets);
        let width = |items, excess| calibration.half_width(0.9, 0.5, Some(items), excess).0;
        assert!((width(1000, 1.5) / width(1000, 0.0) - 2.5).abs() < 1e-12);
        assert!(width(20, 0.0) > 2.0 * width(1000, 0.0));
    }
}
